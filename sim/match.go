package sim

import "strings"

// matcher looks for texts in what a program prints: the expected ones in their
// order, the failing ones anywhere. Carriage returns do not count, since a UART
// console sends CR LF for a line end. It works byte by byte (Knuth, Morris and
// Pratt), so that it knows where in the output the matter was decided.
type matcher struct {
	expect []pattern // not yet seen
	fail   []pattern
	at     map[string]*progress
	// failed is the failing text that came.
	failed string
}

// pattern is a text with its table: next[i] is the length of the longest
// border of text[:i].
type pattern struct {
	text string
	next []int
}

// progress is how much of each text the end of one stream matches.
type progress struct {
	expect int
	fail   []int
}

func newMatcher(expect, fail []string) *matcher {
	return &matcher{expect: patterns(expect), fail: patterns(fail), at: map[string]*progress{}}
}

func patterns(texts []string) []pattern {
	var out []pattern
	for _, s := range texts {
		s = strings.ReplaceAll(s, "\r", "")
		if s == "" {
			continue
		}
		p := pattern{text: s, next: make([]int, len(s)+1)}
		for i, k := 1, 0; i < len(s); i++ {
			for k > 0 && s[i] != s[k] {
				k = p.next[k]
			}
			if s[i] == s[k] {
				k++
			}
			p.next[i+1] = k
		}
		out = append(out, p)
	}
	return out
}

// step takes one byte; k is how much matched before.
func (p pattern) step(k int, b byte) int {
	for k > 0 && (k == len(p.text) || p.text[k] != b) {
		k = p.next[k]
	}
	if p.text[k] == b {
		k++
	}
	return k
}

// pending are the expected texts that did not come.
func (m *matcher) pending() []string {
	var out []string
	for _, p := range m.expect {
		out = append(out, p.text)
	}
	return out
}

// put takes what was printed on a stream. decided is true when a failing text
// came, or the last expected one; n is how many bytes of p it took.
func (m *matcher) put(stream string, p []byte) (n int, decided bool) {
	if len(m.expect) == 0 && len(m.fail) == 0 {
		return 0, false
	}
	at := m.at[stream]
	if at == nil {
		at = &progress{fail: make([]int, len(m.fail))}
		m.at[stream] = at
	}
	for i, b := range p {
		if b == '\r' {
			continue
		}
		for f := range m.fail {
			at.fail[f] = m.fail[f].step(at.fail[f], b)
			if at.fail[f] == len(m.fail[f].text) {
				m.failed = m.fail[f].text
				return i + 1, true
			}
		}
		if len(m.expect) == 0 {
			continue
		}
		at.expect = m.expect[0].step(at.expect, b)
		if at.expect == len(m.expect[0].text) {
			m.expect = m.expect[1:]
			// The next one has to come behind this one, on whatever stream.
			for _, o := range m.at {
				o.expect = 0
			}
			if len(m.expect) == 0 {
				return i + 1, true
			}
		}
	}
	return 0, false
}
