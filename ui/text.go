package ui

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"
)

// Text collects the text of a Result. Arguments are escaped, formats are not:
// what comes from outside is always an argument.
type Text struct {
	buf   bytes.Buffer
	paint func(color, s string) string
	rows  [][]string
	heads bool
}

// Linef writes one line.
func (t *Text) Linef(format string, args ...any) {
	t.flushTable()
	for i, a := range args {
		switch a := a.(type) {
		case string:
			args[i] = Escape(a)
		case error:
			args[i] = Escape(a.Error())
		case fmt.Stringer:
			args[i] = Escape(a.String())
		default:
			if v := reflect.ValueOf(a); v.Kind() == reflect.String {
				args[i] = Escape(v.String())
			}
		}
	}
	fmt.Fprintf(&t.buf, format, args...)
	t.buf.WriteByte('\n')
}

// Heading writes one line in bold.
func (t *Text) Heading(s string) {
	t.flushTable()
	t.buf.WriteString(t.paint(bold, Escape(s)) + "\n")
}

// Head begins a table with column titles.
func (t *Text) Head(cols ...string) {
	t.flushTable()
	t.rows, t.heads = [][]string{escaped(cols)}, true
}

// Row adds a row to the table. Columns are aligned over all rows up to the
// next call that is not Row.
func (t *Text) Row(cols ...string) { t.rows = append(t.rows, escaped(cols)) }

func escaped(cols []string) []string {
	out := make([]string, len(cols))
	for i, c := range cols {
		out[i] = Escape(c)
	}
	return out
}

func (t *Text) flushTable() {
	rows, heads := t.rows, t.heads
	t.rows, t.heads = nil, false
	var widths []int
	for _, r := range rows {
		for i, c := range r {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(c))
		}
	}
	for n, r := range rows {
		var line strings.Builder
		for i, c := range r {
			line.WriteString(c)
			if i < len(r)-1 {
				line.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(c)+2))
			}
		}
		s := strings.TrimRight(line.String(), " ")
		if heads && n == 0 {
			s = t.paint(bold, s)
		}
		t.buf.WriteString(s + "\n")
	}
}

func (t *Text) finish() []byte {
	t.flushTable()
	return t.buf.Bytes()
}

// RenderText returns r as plain text, for tests and for embedding.
func RenderText(r Result) string {
	t := &Text{paint: func(_, s string) string { return s }}
	r.Text(t)
	return string(t.finish())
}
