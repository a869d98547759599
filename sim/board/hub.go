package board

import (
	"sync"
)

// streams are the numbers of the streams in D frames of a console.
var streams = []string{"uart0", "uart1", "semihosting", "tb"}

func streamNumber(name string) byte {
	for i, s := range streams {
		if s == name {
			return byte(i)
		}
	}
	return 0
}

// Bounds on what is kept of a program's output.
const (
	historySize = 64 << 10
	backlogSize = 1 << 20
)

// hub spreads what the program prints. It never waits for a reader: one that
// does not keep up loses output, and is told.
type hub struct {
	mu      sync.Mutex
	history []frame // since the last reset
	size    int
	readers map[*reader]bool
	tap     func(p []byte) // of the debugger
}

// reader is one attached console.
type reader struct {
	mu     sync.Mutex
	cond   *sync.Cond
	queue  []frame
	size   int
	lost   int
	closed bool
}

func newHub() *hub { return &hub{readers: map[*reader]bool{}} }

// output spreads what was printed on a stream.
func (h *hub) output(stream string, p []byte) {
	body := append([]byte{streamNumber(stream)}, p...)
	f := frame{kindData, body}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.keep(f)
	if h.tap != nil {
		h.tap(body[1:])
	}
	for r := range h.readers {
		r.put(f)
	}
}

// keep adds a frame to the history; small neighbours on one stream are joined.
func (h *hub) keep(f frame) {
	if n := len(h.history); n > 0 {
		if last := &h.history[n-1]; last.body[0] == f.body[0] && len(last.body) < 4096 {
			last.body = append(last.body[:len(last.body):len(last.body)], f.body[1:]...)
			h.size += len(f.body) - 1
			h.trim()
			return
		}
	}
	h.history = append(h.history, f)
	h.size += len(f.body) - 1
	h.trim()
}

func (h *hub) trim() {
	for h.size > historySize && len(h.history) > 1 {
		h.size -= len(h.history[0].body) - 1
		h.history = h.history[1:]
	}
}

// event tells every console something. A reset begins a new history.
func (h *hub) event(e Event) {
	f := eventFrame(e)
	h.mu.Lock()
	defer h.mu.Unlock()
	if e.Event == "reset" {
		h.history, h.size = nil, 0
	}
	for r := range h.readers {
		r.put(f)
	}
}

// attach adds a console.
func (h *hub) attach(history bool) *reader {
	r := &reader{}
	r.cond = sync.NewCond(&r.mu)
	h.mu.Lock()
	defer h.mu.Unlock()
	if history {
		r.queue = append(r.queue, h.history...)
		r.size = h.size
	}
	h.readers[r] = true
	return r
}

func (h *hub) detach(r *reader) {
	h.mu.Lock()
	delete(h.readers, r)
	h.mu.Unlock()
	r.close()
}

func (h *hub) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.readers)
}

// setTap lets a debugger listen; nil ends it.
func (h *hub) setTap(tap func(p []byte)) {
	h.mu.Lock()
	h.tap = tap
	h.mu.Unlock()
}

// closeAll lets every console end once it has seen everything.
func (h *hub) closeAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for r := range h.readers {
		r.close()
	}
}

func (r *reader) put(f frame) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	if f.kind == kindData && r.size+len(f.body) > backlogSize {
		r.lost += len(f.body) - 1
		return
	}
	r.queue = append(r.queue, f)
	r.size += len(f.body)
	r.cond.Signal()
}

func (r *reader) close() {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.cond.Signal()
}

// next waits for frames; it returns nil at the end.
func (r *reader) next() (out []frame, lost int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.queue) == 0 && !r.closed {
		r.cond.Wait()
	}
	out, lost = r.queue, r.lost
	r.queue, r.size, r.lost = nil, 0, 0
	return out, lost
}
