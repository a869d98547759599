package profiles

import (
	"encoding"
	"reflect"
	"sort"
	"strings"
)

// fields returns the keys of a table type with their types.
func fields(t reflect.Type) map[string]reflect.Type {
	for t != nil && (t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice) {
		t = t.Elem()
	}
	if t == nil || t.Kind() != reflect.Struct || isText(t) {
		return nil
	}
	m := map[string]reflect.Type{}
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			for k, v := range fields(f.Type) {
				m[k] = v
			}
			continue
		}
		if tag := f.Tag.Get("toml"); tag != "" {
			m[tag] = f.Type
		}
	}
	return m
}

// names returns the keys of a table type in order.
func names(t reflect.Type) []string {
	var out []string
	for k := range fields(t) {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}

// typeAt follows a dotted key, nil where it leads nowhere.
func typeAt(t reflect.Type, key []string) reflect.Type {
	for _, k := range key {
		t = fields(t)[k]
	}
	return t
}

// elsewhere finds a key of the same name in another table.
func elsewhere(t reflect.Type, key string) string {
	for _, table := range names(t) {
		for _, n := range names(fields(t)[table]) {
			if n == key {
				return table + "." + n
			}
		}
	}
	return ""
}

var textUnmarshaler = reflect.TypeOf((*encoding.TextUnmarshaler)(nil)).Elem()

func isText(t reflect.Type) bool { return reflect.PointerTo(t).Implements(textUnmarshaler) }

// kindAt says in words what a key wants.
func kindAt(t reflect.Type, key []string) string {
	t = typeAt(t, key)
	if t == nil {
		return ""
	}
	switch {
	case t == reflect.TypeOf(Size(0)):
		return `a size, such as "4 MiB"`
	case t == reflect.TypeOf(Duration{}):
		return `a time in quotes, such as "30s"`
	case isText(t):
		return "a text in quotes"
	}
	switch t.Kind() {
	case reflect.String:
		return "a text in quotes"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Uint32:
		return "a whole number"
	case reflect.Slice:
		return "a list"
	case reflect.Struct, reflect.Map:
		return "a table"
	}
	return ""
}

// misfit finds a value that is read from a text but is none; the decoder cannot
// say where such a value stands.
func misfit(t reflect.Type, table map[string]any, path string) (key, want string) {
	types := fields(t)
	for _, k := range names(t) {
		v, ok := table[k]
		if !ok {
			continue
		}
		if sub, ok := v.(map[string]any); ok {
			if key, want := misfit(types[k], sub, path+k+"."); key != "" {
				return key, want
			}
			continue
		}
		_, text := v.(string)
		_, whole := v.(int64)
		if isText(types[k]) && !text && !(whole && types[k] == reflect.TypeOf(Size(0))) {
			return path + k, kindAt(t, []string{k})
		}
	}
	return "", ""
}

// nearest returns the candidate with the fewest edits from word, if it is near
// enough to be what was meant.
func nearest(word string, candidates []string) string {
	best, limit := "", 1+len(word)/3
	for _, c := range candidates {
		if d := distance(strings.ToLower(word), c); d <= limit {
			best, limit = c, d-1
		}
	}
	return best
}

// distance counts insertions, deletions, replacements and swaps of neighbours.
func distance(a, b string) int {
	rows := [3][]int{make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)}
	for j := range rows[1] {
		rows[1][j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, prev, cur := rows[(i+2)%3], rows[i%3], rows[(i+1)%3]
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], before[j-2]+1)
			}
		}
	}
	return rows[(len(a)+1)%3][len(b)]
}
