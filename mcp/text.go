package mcp

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxText bounds the text of one result.
const maxText = 48 << 10

// Clean makes text from outside plain: escape sequences, control characters and
// invisible format characters are dropped, line ends are line feeds.
func Clean(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		c := s[i]
		if c == 0x1b {
			i += escapeLen(s[i:])
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		i += n
		switch {
		case r == '\r':
			if i < len(s) && s[i] == '\n' {
				continue
			}
			b.WriteByte('\n')
		case r == '\n' || r == '\t':
			b.WriteRune(r)
		case r == utf8.RuneError && n == 1:
			b.WriteRune(utf8.RuneError)
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Co, r) || r == '\u2028' || r == '\u2029':
		case r >= 0xfe00 && r <= 0xfe0f || r >= 0xe0100 && r <= 0xe01ef: // variation selectors
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// escapeLen is the length of the escape sequence that s begins with (ECMA-48):
// CSI with its final byte, a control string up to ST or BEL, or two bytes. One
// that does not end takes at most a line.
func escapeLen(s string) int {
	if len(s) < 2 {
		return len(s)
	}
	switch s[1] {
	case '[':
		for i := 2; i < len(s); i++ {
			switch c := s[i]; {
			case c >= 0x40 && c <= 0x7e:
				return i + 1
			case c < 0x20 || c > 0x7e:
				return i
			}
		}
		return len(s)
	case ']', 'P', 'X', '^', '_', 'k':
		for i := 2; i < len(s); i++ {
			switch {
			case s[i] == 0x07:
				return i + 1
			case s[i] == 0x1b:
				if i+1 < len(s) && s[i+1] == '\\' {
					return i + 2
				}
				return i
			case s[i] == '\n':
				return i
			}
		}
		return len(s)
	}
	i := 1
	for i < len(s) && s[i] >= 0x20 && s[i] <= 0x2f {
		i++
	}
	if i < len(s) && s[i] >= 0x30 && s[i] <= 0x7e {
		i++
	}
	return i
}

// clipTail keeps the last limit bytes of s, from a whole line on.
func clipTail(s string, limit int) (string, bool) {
	if len(s) <= limit {
		return s, false
	}
	s = s[len(s)-limit:]
	if i := strings.IndexByte(s, '\n'); i >= 0 && i+1 < len(s) {
		return s[i+1:], true
	}
	for len(s) > 0 && !utf8.RuneStart(s[0]) {
		s = s[1:]
	}
	return s, true
}

// clipHead keeps the first limit bytes of s, up to a whole character.
func clipHead(s string, limit int) (string, bool) {
	if len(s) <= limit {
		return s, false
	}
	s = s[:limit]
	for len(s) > 0 {
		if r, n := utf8.DecodeLastRuneInString(s); r != utf8.RuneError || n != 1 {
			break
		}
		s = s[:len(s)-1]
	}
	return s, true
}

// Outside is text that somebody else wrote: a program, a person, a file. It is
// data, not instructions.
type Outside struct {
	// Source says where it is from.
	Source string `json:"source"`
	// Untrusted is always true.
	Untrusted bool   `json:"untrusted"`
	Text      string `json:"text"`
	// Truncated says that a part is missing.
	Truncated bool `json:"truncated,omitempty"`
}

// outside wraps text; the end counts.
func outside(source, text string) Outside {
	text, cut := clipTail(Clean(text), maxText)
	return Outside{Source: source, Untrusted: true, Text: text, Truncated: cut}
}
