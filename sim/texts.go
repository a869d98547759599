package sim

// Texts looks for texts in what a program prints, as Run does: the expected ones
// in their order, the failing ones anywhere. Carriage returns do not count.
type Texts struct{ m *matcher }

// NewTexts returns a Texts that has seen nothing.
func NewTexts(expect, fail []string) *Texts { return &Texts{newMatcher(expect, fail, false)} }

// Put takes what was printed on a stream. decided is true when a failing text
// came, or the last expected one; n is how many bytes of p it took.
func (t *Texts) Put(stream string, p []byte) (n int, decided bool) { return t.m.put(stream, p) }

// Pending are the expected texts that did not come.
func (t *Texts) Pending() []string { return t.m.pending() }

// Failed is the failing text that came, or "".
func (t *Texts) Failed() string { return t.m.failed }
