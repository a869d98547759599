package sim

import (
	"slices"
	"strings"
)

// matcher looks for texts in what a program prints: the expected ones in their
// order or in any, the failing ones anywhere. Carriage returns do not count, since a UART
// console sends CR LF for a line end. It works byte by byte (Knuth, Morris and
// Pratt), so that it knows where in the output the matter was decided.
type matcher struct {
	expect   []pattern // not yet seen
	fail     []pattern
	anyOrder bool
	at       map[string]*progress
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
	expect []int // by place in expect; only the first counts if order does
	fail   []int
}

func newMatcher(expect, fail []string, anyOrder bool) *matcher {
	return &matcher{expect: patterns(expect), fail: patterns(fail), anyOrder: anyOrder, at: map[string]*progress{}}
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
		at = &progress{fail: make([]int, len(m.fail)), expect: make([]int, len(m.expect))}
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
		if m.expected(at, b) && len(m.expect) == 0 {
			return i + 1, true
		}
	}
	return 0, false
}

// expected takes one byte and reports whether an expected text ended with it.
func (m *matcher) expected(at *progress, b byte) bool {
	came := false
	for e := 0; e < len(m.expect) && (m.anyOrder || e == 0); e++ {
		at.expect[e] = m.expect[e].step(at.expect[e], b)
		if at.expect[e] < len(m.expect[e].text) {
			continue
		}
		came = true
		m.expect = slices.Delete(m.expect, e, e+1)
		for _, o := range m.at {
			o.expect = slices.Delete(o.expect, e, e+1)
		}
		if !m.anyOrder {
			// The next one has to come behind this one, on whatever stream.
			for _, o := range m.at {
				clear(o.expect)
			}
			break
		}
		e--
	}
	return came
}
