package probe

import (
	"io"
	"sync"
)

// consoleRoom bounds what is kept for a reader that does not read.
const consoleRoom = 256 << 10

// console is what the program prints, over RTT and semihosting, and its input.
type console struct {
	output func(stream string, p []byte)

	mu     sync.Mutex
	cond   *sync.Cond
	buf    []byte
	in     []byte
	ended  bool // no more input
	closed bool
	signal chan struct{}
	// request asks for input to be delivered; may be nil.
	request func()
}

func newConsole(output func(stream string, p []byte)) *console {
	c := &console{output: output, signal: make(chan struct{}, 1)}
	c.cond = sync.NewCond(&c.mu)
	return c
}

// put adds what was printed.
func (c *console) put(stream string, p []byte) {
	if len(p) == 0 {
		return
	}
	if c.output != nil {
		c.output(stream, p)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.buf = append(c.buf, p...)
	if over := len(c.buf) - consoleRoom; over > 0 {
		c.buf = append(c.buf[:0], c.buf[over:]...)
	}
	c.cond.Broadcast()
	select {
	case c.signal <- struct{}{}:
	default:
	}
}

// Read returns what was printed; it waits until there is something.
func (c *console) Read(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.buf) == 0 && !c.closed {
		c.cond.Wait()
	}
	if len(c.buf) == 0 {
		return 0, io.EOF
	}
	n := copy(p, c.buf)
	c.buf = append(c.buf[:0], c.buf[n:]...)
	return n, nil
}

// Write is the program's input. What it does not take in time is lost, as on a
// wire.
func (c *console) Write(p []byte) (int, error) {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return 0, io.ErrClosedPipe
	}
	c.in = append(c.in, p...)
	if over := len(c.in) - consoleRoom; over > 0 {
		c.in = append(c.in[:0], c.in[over:]...)
	}
	c.mu.Unlock()
	if c.request != nil {
		c.request()
	}
	return len(p), nil
}

// take takes up to n bytes of input.
func (c *console) take(n int) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	n = min(n, len(c.in))
	p := append([]byte(nil), c.in[:n]...)
	c.in = append(c.in[:0], c.in[n:]...)
	return p
}

// giveBack puts input back that was not taken.
func (c *console) giveBack(p []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.in = append(append([]byte(nil), p...), c.in...)
}

// Ready implements target.Drainer.
func (c *console) Ready() <-chan struct{} { return c.signal }

// Drain implements target.Drainer.
func (c *console) Drain() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.buf
	c.buf = nil
	return p
}

func (c *console) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	c.cond.Broadcast()
}

// CloseInput says that no more input will come.
func (t *Target) CloseInput() {
	t.con.mu.Lock()
	t.con.ended = true
	t.con.mu.Unlock()
	t.typed()
}

// semihostConsole is the console of semihosting calls.
type semihostConsole struct{ c *console }

// Put implements semihost.Console.
func (s semihostConsole) Put(p []byte) { s.c.put("semihosting", append([]byte(nil), p...)) }

// Get implements semihost.Console.
func (s semihostConsole) Get(p []byte) (n int, closed bool) {
	n = copy(p, s.c.take(len(p)))
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	return n, n == 0 && s.c.ended
}
