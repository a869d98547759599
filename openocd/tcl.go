package openocd

import (
	"errors"
	"strings"
)

// errList is a Tcl list that does not come to its end.
var errList = errors.New("not a Tcl list")

// splitList splits a Tcl list into its words (Tcl manual, "lists": words are bare,
// in braces, or in quotes, with backslashes).
func splitList(s string) ([]string, error) {
	var words []string
	for i := 0; ; {
		for i < len(s) && isSpace(s[i]) {
			i++
		}
		if i == len(s) {
			return words, nil
		}
		w, next, err := word(s, i)
		if err != nil {
			return nil, err
		}
		words = append(words, w)
		i = next
	}
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// word reads the word at i.
func word(s string, i int) (w string, next int, err error) {
	switch s[i] {
	case '{':
		return braced(s, i+1)
	case '"':
		return plain(s, i+1, func(c byte) bool { return c == '"' }, 1)
	}
	return plain(s, i, isSpace, 0)
}

// braced reads up to the brace that matches. Backslashes stay, but hide a brace.
func braced(s string, i int) (string, int, error) {
	depth := 1
	for at := i; at < len(s); at++ {
		switch s[at] {
		case '\\':
			at++
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return s[i:at], at + 1, nil
			}
		}
	}
	return "", 0, errList
}

// plain reads up to a byte that ends the word; closed says whether it has to be
// there.
func plain(s string, i int, ends func(byte) bool, closed int) (string, int, error) {
	var b strings.Builder
	for ; i < len(s); i++ {
		c := s[i]
		if ends(c) {
			return b.String(), i + closed, nil
		}
		if c == '\\' && i+1 < len(s) {
			i++
			c = s[i]
			if e := strings.IndexByte("abfnrtv", c); e >= 0 {
				c = "\a\b\f\n\r\t\v"[e]
			}
		}
		b.WriteByte(c)
	}
	if closed > 0 {
		return "", 0, errList
	}
	return b.String(), i, nil
}

// quote makes one Tcl word of any text: nothing in it is a command or a variable.
func quote(s string) string {
	if s != "" && strings.IndexFunc(s, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && !strings.ContainsRune("_-./:", r)
	}) < 0 {
		return s
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range []byte(s) {
		switch c {
		case '"', '\\', '$', '[', ']', '{', '}', ';':
			b.WriteByte('\\')
			b.WriteByte(c)
		case '\n':
			b.WriteString(`\n`)
		case '\r':
			b.WriteString(`\r`)
		case end, 0:
			// Nothing can carry these to OpenOCD.
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
