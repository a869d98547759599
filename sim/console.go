package sim

import (
	"io"
	"sync"
)

// pipeSize bounds the input that waits for the program.
const pipeSize = 64 << 10

// pipe carries standard input to the worker. Writers wait while it is full; the
// worker never does.
type pipe struct {
	mu     sync.Mutex
	cond   *sync.Cond
	buf    []byte
	closed bool
	signal chan struct{} // has an element while there is something to see
}

func newPipe(open bool) *pipe {
	p := &pipe{signal: make(chan struct{}, 1), closed: !open}
	p.cond = sync.NewCond(&p.mu)
	return p
}

// write adds bytes. It opens a pipe that nobody had announced.
func (p *pipe) write(b []byte) (int, error) {
	n := 0
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(b) > 0 {
		for len(p.buf) >= pipeSize && !p.closed {
			p.cond.Wait()
		}
		if p.closed && len(p.buf) >= pipeSize {
			return n, io.ErrClosedPipe
		}
		k := min(len(b), pipeSize-len(p.buf))
		p.buf = append(p.buf, b[:k]...)
		b, n = b[k:], n+k
		p.wake()
	}
	return n, nil
}

func (p *pipe) wake() {
	select {
	case p.signal <- struct{}{}:
	default:
	}
}

func (p *pipe) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	p.cond.Broadcast()
	p.wake()
}

// ended reports whether nothing more will be written.
func (p *pipe) ended() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed
}

// state reports at one moment whether bytes wait and whether no more will be
// written.
func (p *pipe) state() (waiting, ended bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.buf) > 0, p.closed
}

// take moves up to n bytes to the end of dst.
func (p *pipe) take(dst []byte, n int) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	n = min(n, len(p.buf))
	if n == 0 {
		return dst
	}
	dst = append(dst, p.buf[:n]...)
	p.buf = p.buf[:copy(p.buf, p.buf[n:])]
	p.cond.Broadcast()
	return dst
}

// ready returns a channel that delivers after bytes were written, or the end.
func (p *pipe) ready() <-chan struct{} { return p.signal }

// ringSize bounds the output that waits for a reader of the console.
const ringSize = 256 << 10

// ring keeps the last output for readers of Console. The worker never waits:
// without a reader the oldest output is lost.
type ring struct {
	mu     sync.Mutex
	cond   *sync.Cond
	buf    []byte
	closed bool
	signal chan struct{} // has an element after something was put
}

func newRing() *ring {
	r := &ring{signal: make(chan struct{}, 1)}
	r.cond = sync.NewCond(&r.mu)
	return r
}

func (r *ring) put(p []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.buf = append(r.buf, p...)
	if over := len(r.buf) - ringSize; over > 0 {
		r.buf = r.buf[:copy(r.buf, r.buf[over:])]
	}
	r.cond.Broadcast()
	select {
	case r.signal <- struct{}{}:
	default:
	}
}

// drain takes everything that waits.
func (r *ring) drain() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.buf
	r.buf = nil
	return p
}

func (r *ring) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	r.cond.Broadcast()
}

func (r *ring) read(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.buf) == 0 && !r.closed {
		r.cond.Wait()
	}
	if len(r.buf) == 0 {
		return 0, io.EOF
	}
	n := copy(p, r.buf)
	r.buf = r.buf[:copy(r.buf, r.buf[n:])]
	return n, nil
}

// console is a Target's console.
type console struct{ t *Target }

// Read returns what the program printed; it waits until there is something and
// returns io.EOF once the target is closed.
func (c console) Read(p []byte) (int, error) { return c.t.out.read(p) }

// Write feeds the program's standard input; it waits while the program does
// not read.
func (c console) Write(p []byte) (int, error) { return c.t.in.write(p) }

// Ready implements target.Drainer.
func (c console) Ready() <-chan struct{} { return c.t.out.signal }

// Drain implements target.Drainer.
func (c console) Drain() []byte { return c.t.out.drain() }
