package ui

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Escape makes a string from outside harmless on a terminal and in a line of
// text: control characters, invalid UTF-8 and invisible format characters
// (bidirectional overrides among them) become \n, \t, \xNN or \u{NNNN}.
// Everything else stays.
func Escape(s string) string {
	if clean(s, false) {
		return s
	}
	return escape(s, false)
}

// EscapeLines is Escape for text of several lines: line feeds and tabs stay.
func EscapeLines(s string) string {
	if clean(s, true) {
		return s
	}
	return escape(s, true)
}

func clean(s string, lines bool) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' && !(lines && (c == '\n' || c == '\t')) || c >= 0x7f {
			return false
		}
	}
	return true
}

func escape(s string, lines bool) string {
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case lines && (r == '\n' || r == '\t'):
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < 0x100 && unicode.IsControl(r):
			fmt.Fprintf(&b, `\x%02x`, r)
		case !unicode.IsGraphic(r):
			fmt.Fprintf(&b, `\u{%x}`, r)
		default:
			b.WriteRune(r)
		}
		s = s[n:]
	}
	return b.String()
}
