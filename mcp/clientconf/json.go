package clientconf

import (
	"encoding/json"
	"fmt"
	"strings"
)

// mergeJSON sets the member at a path of a JSON file, which may have comments, as
// the clients allow.
func mergeJSON(old string, path []string, value any) (string, error) {
	if strings.TrimSpace(old) == "" {
		old = "{}\n"
	}
	var before, after map[string]any
	if err := json.Unmarshal([]byte(plain(old)), &before); err != nil {
		return "", unusable("JSON", err)
	}
	e := jsonEdit{s: old}
	text, err := e.set(path, value)
	if err != nil {
		return "", unusable("JSON", err)
	}
	if err := json.Unmarshal([]byte(plain(text)), &after); err != nil {
		return "", unusable("JSON", err)
	}
	if !same(before, after, path) {
		return "", unusable("JSON", nil)
	}
	return text, nil
}

// plain is a document without comments and without commas before a closing
// bracket; offsets stay.
func plain(s string) string {
	out := []byte(s)
	comma := -1
	for i := 0; i < len(out); {
		switch {
		case out[i] == '"':
			comma = -1
			i = stringEnd(s, i)
		case strings.HasPrefix(s[i:], "//"), strings.HasPrefix(s[i:], "/*"):
			end := commentEnd(s, i)
			for ; i < end; i++ {
				if out[i] != '\n' {
					out[i] = ' '
				}
			}
		default:
			switch out[i] {
			case ',':
				comma = i
			case '}', ']':
				if comma >= 0 {
					out[comma] = ' '
				}
				comma = -1
			case ' ', '\t', '\n', '\r':
			default:
				comma = -1
			}
			i++
		}
	}
	return string(out)
}

func stringEnd(s string, i int) int {
	for i++; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(s)
}

func commentEnd(s string, i int) int {
	end, skip := "\n", 0
	if s[i+1] == '*' {
		end, skip = "*/", 2
	}
	if n := strings.Index(s[i+2:], end); n >= 0 {
		return i + 2 + n + skip
	}
	return len(s)
}

// jsonEdit changes one member of a document and nothing else.
type jsonEdit struct{ s string }

func (e *jsonEdit) space(i int) int {
	for i < len(e.s) {
		switch {
		case strings.IndexByte(" \t\r\n", e.s[i]) >= 0:
			i++
		case strings.HasPrefix(e.s[i:], "//"), strings.HasPrefix(e.s[i:], "/*"):
			i = commentEnd(e.s, i)
		default:
			return i
		}
	}
	return i
}

// skip is the end of the value at i.
func (e *jsonEdit) skip(i int) int {
	if i >= len(e.s) {
		return i
	}
	switch e.s[i] {
	case '"':
		return stringEnd(e.s, i)
	case '{', '[':
		depth := 0
		for i < len(e.s) {
			switch {
			case e.s[i] == '"':
				i = stringEnd(e.s, i)
				continue
			case strings.HasPrefix(e.s[i:], "//"), strings.HasPrefix(e.s[i:], "/*"):
				i = commentEnd(e.s, i)
				continue
			case e.s[i] == '{' || e.s[i] == '[':
				depth++
			case e.s[i] == '}' || e.s[i] == ']':
				depth--
			}
			i++
			if depth == 0 {
				return i
			}
		}
		return i
	}
	for i < len(e.s) && strings.IndexByte(",}] \t\r\n/", e.s[i]) < 0 {
		i++
	}
	return i
}

func (e *jsonEdit) set(path []string, value any) (string, error) {
	at := e.space(0)
	for depth, key := range path {
		if at >= len(e.s) || e.s[at] != '{' {
			return "", fmt.Errorf("%s is no object", strings.Join(path[:depth], "."))
		}
		found, end, comma := e.member(at, key)
		last := depth == len(path)-1
		if found >= 0 && !last {
			at = found
			continue
		}
		if found >= 0 {
			doc, err := render(value, depth+1)
			return e.s[:found] + doc + e.s[e.skip(found):], err
		}
		// The rest of the path is new.
		v := value
		for i := len(path) - 1; i > depth; i-- {
			v = map[string]any{path[i]: v}
		}
		doc, err := render(v, depth+1)
		if err != nil {
			return "", err
		}
		indent := strings.Repeat("  ", depth+1)
		piece := "\n" + indent + quoted(key) + ": " + doc
		if comma {
			piece = "," + piece
		}
		rest := e.s[end:]
		if !strings.ContainsRune(rest[:len(rest)-len(strings.TrimLeft(rest, " \t\r\n"))], '\n') {
			piece += "\n" + strings.Repeat("  ", depth)
		}
		return e.s[:end] + piece + rest, nil
	}
	return "", fmt.Errorf("an empty path")
}

// member finds a member of the object at i: where its value begins. Without one it
// returns where another member would go, and whether a comma is needed before.
func (e *jsonEdit) member(i int, key string) (value, end int, comma bool) {
	i++
	end = i
	for {
		i = e.space(i)
		if i >= len(e.s) || e.s[i] != '"' {
			return -1, end, comma
		}
		stop := stringEnd(e.s, i)
		var name string
		_ = json.Unmarshal([]byte(e.s[i:stop]), &name)
		i = e.space(stop)
		if i < len(e.s) && e.s[i] == ':' {
			i = e.space(i + 1)
		}
		if name == key {
			return i, end, comma
		}
		end = e.skip(i)
		comma = true
		i = e.space(end)
		if i < len(e.s) && e.s[i] == ',' {
			i++
			if next := e.space(i); next >= len(e.s) || e.s[next] != '"' {
				return -1, i, false
			}
		}
	}
}

func render(v any, depth int) (string, error) {
	doc, err := json.MarshalIndent(v, strings.Repeat("  ", depth), "  ")
	return string(doc), err
}
