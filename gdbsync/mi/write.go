package mi

import (
	"fmt"
	"strings"
)

// Command writes one command line, with its line feed. Parameters are quoted as
// gdb reads them; one with a byte that no line can carry is an error.
func Command(token int64, operation string, params ...string) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "%d-%s", token, operation)
	for _, p := range params {
		if i := strings.IndexAny(p, "\n\r\x00"); i >= 0 {
			return "", fmt.Errorf("gdb/MI: a parameter of %s has a control character at byte %d", operation, i)
		}
		b.WriteByte(' ')
		b.WriteString(Quote(p))
	}
	b.WriteByte('\n')
	return b.String(), nil
}

// Quote writes a parameter: bare where nothing in it means something to gdb,
// else as a C string.
func Quote(p string) string {
	if p != "" && strings.IndexFunc(p, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,+@%*", r)
	}) < 0 {
		return p
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(p) + `"`
}

// String writes a record as gdb does.
func (r Record) String() string {
	var b strings.Builder
	if r.Type == Prompt {
		return "(gdb) "
	}
	if r.Token >= 0 {
		fmt.Fprintf(&b, "%d", r.Token)
	}
	b.WriteByte(byte(r.Type))
	switch r.Type {
	case Console, Target, Log:
		writeString(&b, r.Text)
		return b.String()
	}
	b.WriteString(r.Class)
	for _, f := range r.Results {
		b.WriteByte(',')
		writeField(&b, f)
	}
	return b.String()
}

func writeField(b *strings.Builder, f Field) {
	if f.Name != "" {
		b.WriteString(f.Name)
		b.WriteByte('=')
	}
	v := f.Value
	if v.Kind == String {
		writeString(b, v.Text)
		return
	}
	open, closing := byte('{'), byte('}')
	if v.Kind == List {
		open, closing = '[', ']'
	}
	b.WriteByte(open)
	for i, e := range v.Fields {
		if i > 0 {
			b.WriteByte(',')
		}
		writeField(b, e)
	}
	b.WriteByte(closing)
}

func writeString(b *strings.Builder, s string) {
	b.WriteByte('"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c < 0x20 || c >= 0x7f:
			fmt.Fprintf(b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
}
