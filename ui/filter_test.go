package ui

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestFilter(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"text", "hello\tworld\r\n", "hello\tworld\r\n"},
		{"colour", "\x1b[1;31mred\x1b[0m", "\x1b[1;31mred\x1b[0m"},
		{"colour with colons", "\x1b[38:2:1:2:3mx\x1b[m", "\x1b[38:2:1:2:3mx\x1b[m"},
		{"colour left on", "\x1b[31mred", "\x1b[31mred\x1b[0m"},
		{"clear screen", "a\x1b[2Jb", "ab"},
		{"private mode", "a\x1b[?25lb\x1b[?1049hc", "abc"},
		{"private SGR", "a\x1b[>4;2mb", "ab"},
		{"title", "a\x1b]0;evil\x07b", "ab"},
		{"title with ST", "a\x1b]0;evil\x1b\\b", "ab"},
		{"clipboard", "\x1b]52;c;ZXZpbA==\x07x", "x"},
		{"device control", "a\x1bP$q q\x1b\\b", "ab"},
		{"unterminated string ends with its line", "\x1b]0;evil\nnext", "\nnext"},
		{"string aborted", "\x1b]0;e\x18x", "x"},
		{"escape inside string", "\x1b]0;e\x1b[31mx", "\x1b[31mx\x1b[0m"},
		{"two-character", "a\x1bcb\x1b7c", "abc"},
		{"charset", "a\x1b(0b\x0ec\x0fd", "abcd"},
		{"escape escape", "\x1b\x1b[31mx\x1b[0m", "\x1b[31mx\x1b[0m"},
		{"line end inside CSI", "\x1b[3\n1mx", "\n1mx"},
		{"endless parameters", "\x1b[" + strings.Repeat("1;", 100) + "mx", "x"},
		{"UTF-8", "grün €\U0001f600", "grün €\U0001f600"},
		{"C1 in UTF-8", "a\u009b2Jb\u0085c", "abc"},
		{"C1 string in UTF-8", "a\u009d0;evil\x07b", "ab"},
		{"C1 as bytes", "a\x9b\x9d\x90b", "ab"},
		{"latin-1", "gr\xfcn", "gr\xfcn"},
		{"broken UTF-8", "a\xe2\x82b\xf0\x9f", "a\xe2b\xf0"},
		{"other controls", "a\x00\x01\x0b\x0c\x7fb\x07\x08", "ab\x07\x08"},
	} {
		// All at once, and byte by byte.
		for _, size := range []int{len(c.in), 1, 3} {
			var out bytes.Buffer
			f := NewFilter(&out)
			for in := c.in; len(in) > 0; {
				n := min(size, len(in))
				if k, err := f.Write([]byte(in[:n])); k != n || err != nil {
					t.Fatalf("%s: Write: %d, %v", c.name, k, err)
				}
				in = in[n:]
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			if out.String() != c.want {
				t.Errorf("%s in pieces of %d: %q, want %q", c.name, size, &out, c.want)
			}
		}
	}
}

// FuzzFilter checks that nothing but colours gets through, however it is cut.
func FuzzFilter(f *testing.F) {
	f.Add([]byte("a\x1b[31mb\x1b]0;t\x07\xc2\x9b2J"), 1)
	f.Add([]byte("\x1bP\x1b\x1b[0;1m\xf0\x9f\x98\x80"), 3)
	f.Fuzz(func(t *testing.T, in []byte, size int) {
		size = 1 + (size&0xff)%16
		var whole, pieces bytes.Buffer
		w := NewFilter(&whole)
		w.Write(in)
		w.Close()
		p := NewFilter(&pieces)
		for rest := in; len(rest) > 0; {
			n := min(size, len(rest))
			p.Write(rest[:n])
			rest = rest[n:]
		}
		p.Close()
		if !bytes.Equal(whole.Bytes(), pieces.Bytes()) {
			t.Fatalf("%q gives %q at once and %q in pieces of %d", in, &whole, &pieces, size)
		}
		out := whole.Bytes()
		for i := 0; i < len(out); {
			if out[i] == 0x1b {
				n := 1
				for n < len(out)-i && strings.IndexByte("[0123456789;:", out[i+n]) >= 0 {
					n++
				}
				if n >= len(out)-i || out[i+n] != 'm' || out[i+1] != '[' {
					t.Fatalf("%q lets %q through", in, out[i:])
				}
				i += n + 1
				continue
			}
			r, n := utf8.DecodeRune(out[i:])
			if r < 0x20 && !strings.ContainsRune("\n\r\t\b\a", r) || r == 0x7f || r >= 0x80 && r < 0xa0 ||
				r == utf8.RuneError && n == 1 && out[i] < 0xa0 {
				t.Fatalf("%q lets %#x through", in, r)
			}
			i += n
		}
	})
}

func FuzzEscape(f *testing.F) {
	f.Add("a\x1b[0m\n\u202e")
	f.Fuzz(func(t *testing.T, s string) {
		for i, out := range []string{Escape(s), EscapeLines(s)} {
			if !utf8.ValidString(out) {
				t.Fatalf("%q gives invalid UTF-8 %q", s, out)
			}
			for _, r := range out {
				if (r < 0x20 || r >= 0x7f && r < 0xa0) && !(i == 1 && (r == '\n' || r == '\t')) {
					t.Fatalf("%q gives %q with a control character", s, out)
				}
			}
		}
	})
}
