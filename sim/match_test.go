package sim

import (
	"strings"
	"testing"
)

// FuzzMatch compares the matcher with a search in the whole text.
func FuzzMatch(f *testing.F) {
	f.Add("one\r\ntwo one", "one", "two", "x", 3)
	f.Add("aaabaaab", "aab", "aaab", "ba", 1)
	f.Add("abcabcabd", "abcabd", "", "bd", 2)
	f.Fuzz(func(t *testing.T, text, first, second, bad string, size int) {
		clean := func(s string) string { return strings.ReplaceAll(s, "\r", "") }
		m := newMatcher([]string{first, second}, []string{bad}, false)
		size = 1 + (size&0xff)%7
		decided := false
		for rest := text; rest != "" && !decided; {
			n := min(size, len(rest))
			_, decided = m.put("s", []byte(rest[:n]))
			rest = rest[n:]
		}

		// The same by searching: each expected text behind the one before, all
		// of it before the end of the first failing text.
		whole := clean(text)
		limit := len(whole) + 1
		if b := clean(bad); b != "" {
			if i := strings.Index(whole, b); i >= 0 {
				limit = i + len(b)
			}
		}
		at, left := 0, 0
		for _, want := range []string{clean(first), clean(second)} {
			if want == "" {
				continue
			}
			i := strings.Index(whole[min(at, len(whole)):], want)
			if left > 0 || i < 0 || at+i+len(want) >= limit {
				left++
				continue
			}
			at += i + len(want)
		}
		expects := clean(first) != "" || clean(second) != ""
		failed := limit <= len(whole) && (left > 0 || !expects)
		if len(m.pending()) != left || (m.failed != "") != failed {
			t.Fatalf("%q with %q, %q against %q in pieces of %d: %d pending, failed %q; want %d, %v",
				text, first, second, bad, size, len(m.pending()), m.failed, left, failed)
		}
	})
}

func TestMatchStreams(t *testing.T) {
	m := newMatcher([]string{"ab", "cd"}, nil, false)
	for _, p := range [][2]string{{"0", "a"}, {"1", "c"}, {"0", "b"}, {"1", "d"}, {"0", "c"}} {
		if _, done := m.put(p[0], []byte(p[1])); done {
			t.Fatalf("decided after %q: a text is not spread over streams, nor begun before the one it follows", p)
		}
	}
	if _, done := m.put("1", []byte("cd")); !done {
		t.Error("not decided")
	}
}
