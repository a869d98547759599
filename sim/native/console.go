package native

import (
	"io"
	"sync"
)

// maxUnread bounds what is printed and not read.
const maxUnread = 1 << 20

// console is the program's standard streams.
type console struct {
	t *Target

	mu     sync.Mutex
	cond   *sync.Cond
	unread []byte
	ended  bool
	ready  chan struct{}
	w      *watch
}

func newConsole(t *Target) *console {
	c := &console{t: t, ready: make(chan struct{}, 1)}
	c.cond = sync.NewCond(&c.mu)
	return c
}

func (c *console) watch(w *watch) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.w = w
}

func (c *console) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	c.cond.Broadcast()
}

// stream takes what the program prints on one stream.
func (c *console) stream(name string) io.Writer { return consoleStream{c, name} }

type consoleStream struct {
	c    *console
	name string
}

// Write takes output.
func (s consoleStream) Write(p []byte) (int, error) {
	c := s.c
	if c.t.opt.Output != nil {
		c.t.opt.Output(s.name, p)
	}
	c.mu.Lock()
	w := c.w
	if c.t.opt.Output == nil {
		c.unread = append(c.unread, p...)
		if over := len(c.unread) - maxUnread; over > 0 {
			c.unread = c.unread[over:]
		}
		select {
		case c.ready <- struct{}{}:
		default:
		}
		c.cond.Broadcast()
	}
	c.mu.Unlock()
	if w != nil {
		w.write(p)
	}
	return len(p), nil
}

// Read waits for output; after Close it returns what is left, then io.EOF.
func (c *console) Read(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.unread) == 0 && !c.ended {
		c.cond.Wait()
	}
	if len(c.unread) == 0 {
		return 0, io.EOF
	}
	n := copy(p, c.unread)
	c.unread = c.unread[n:]
	return n, nil
}

// Ready delivers after something was printed.
func (c *console) Ready() <-chan struct{} { return c.ready }

// Drain returns what was printed and not read.
func (c *console) Drain() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.unread
	c.unread = nil
	return p
}

// Write is the program's input.
func (c *console) Write(p []byte) (int, error) {
	c.t.mu.Lock()
	in := c.t.input
	c.t.mu.Unlock()
	if in == nil {
		return 0, io.ErrClosedPipe
	}
	return in.Write(p)
}
