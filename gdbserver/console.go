package gdbserver

import (
	"io"
	"sync"

	"github.com/stem-hw/stem-hw/target"
)

// consoleLimit bounds what is kept for gdb while the program is halted, in
// bytes. Older output is dropped, and that is said.
const consoleLimit = 64 << 10

// consolePump reads the target's console for as long as the target lives and
// keeps what no client has fetched yet.
type consolePump struct {
	mu      sync.Mutex
	buf     []byte
	dropped int
	ready   chan struct{} // holds one token while buf is not empty
	drainer target.Drainer
}

func newConsolePump(r io.Reader) *consolePump {
	p := &consolePump{ready: make(chan struct{}, 1)}
	if d, ok := r.(target.Drainer); ok {
		p.drainer = d
	} else if r != nil {
		go p.pump(r)
	}
	return p
}

// more delivers when there is something to take.
func (p *consolePump) more() <-chan struct{} {
	if p.drainer != nil {
		return p.drainer.Ready()
	}
	return p.ready
}

func (p *consolePump) pump(r io.Reader) {
	b := make([]byte, 4096)
	for {
		n, err := r.Read(b)
		p.add(b[:n])
		if err != nil {
			return
		}
	}
}

func (p *consolePump) add(b []byte) {
	if len(b) == 0 {
		return
	}
	p.mu.Lock()
	p.buf = append(p.buf, b...)
	if n := len(p.buf) - consoleLimit; n > 0 {
		p.dropped += n
		p.buf = append(p.buf[:0], p.buf[n:]...)
	}
	p.mu.Unlock()
	select {
	case p.ready <- struct{}{}:
	default:
	}
}

// take returns what is waiting, and how many bytes were lost before it.
func (p *consolePump) take() (out []byte, dropped int) {
	if p.drainer != nil {
		return p.drainer.Drain(), 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	out, dropped = p.buf, p.dropped
	p.buf, p.dropped = nil, 0
	return out, dropped
}

// Print takes what the program printed from whoever sees it first. What is
// printed before a stop is then shown before that stop, which reading the
// target's console from a goroutine cannot promise. A target that is printed for
// has a console that nothing is read from.
func (s *Server) Print(p []byte) { s.console.add(p) }
