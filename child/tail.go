package child

import (
	"strings"
	"sync"
)

// Tail is a writer that keeps the last bytes written to it. It is safe for
// several writers.
type Tail struct {
	mu      sync.Mutex
	limit   int
	buf     []byte
	dropped bool
}

// NewTail returns a Tail that keeps limit bytes.
func NewTail(limit int) *Tail { return &Tail{limit: limit} }

// Write keeps the end of p. It never fails.
func (t *Tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(p)
	if len(p) > t.limit {
		p = p[len(p)-t.limit:]
		t.dropped = true
	}
	if over := len(t.buf) + len(p) - t.limit; over > 0 {
		t.buf = append(t.buf[:0], t.buf[over:]...)
		t.dropped = true
	}
	t.buf = append(t.buf, p...)
	return n, nil
}

// String returns what was kept. When something was dropped, it begins with a
// whole line.
func (t *Tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := string(t.buf)
	if t.dropped {
		if _, after, ok := strings.Cut(s, "\n"); ok {
			return after
		}
	}
	return s
}

// Lines returns the last n lines that are not empty.
func (t *Tail) Lines(n int) []string {
	all := strings.Split(strings.ReplaceAll(t.String(), "\r", ""), "\n")
	var lines []string
	for i := len(all) - 1; i >= 0 && len(lines) < n; i-- {
		if strings.TrimSpace(all[i]) != "" {
			lines = append([]string{all[i]}, lines...)
		}
	}
	return lines
}
