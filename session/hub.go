package session

import (
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// hub serves one stream to everybody who connects to a socket, and brings back
// what they send.
type hub struct {
	l    net.Listener
	also io.Writer

	mu    sync.Mutex
	conns map[net.Conn]bool
	in    *io.PipeWriter
}

func newHub(socket string) (*hub, error) {
	_ = os.Remove(socket)
	l, err := net.Listen("unix", socket)
	if err != nil {
		return nil, err
	}
	h := &hub{l: l, conns: map[net.Conn]bool{}}
	go h.accept()
	return h, nil
}

func (h *hub) accept() {
	for {
		c, err := h.l.Accept()
		if err != nil {
			return
		}
		h.mu.Lock()
		h.conns[c] = true
		h.mu.Unlock()
		go h.read(c)
	}
}

func (h *hub) read(c net.Conn) {
	defer h.drop(c)
	b := make([]byte, 1024)
	for {
		n, err := c.Read(b)
		if err != nil {
			return
		}
		h.mu.Lock()
		in := h.in
		h.mu.Unlock()
		if in != nil {
			_, _ = in.Write(b[:n])
		}
	}
}

func (h *hub) drop(c net.Conn) {
	h.mu.Lock()
	delete(h.conns, c)
	h.mu.Unlock()
	_ = c.Close()
}

// typed is a new reader of what is sent; the one before it ends.
func (h *hub) typed() io.Reader {
	r, w := io.Pipe()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.in != nil {
		_ = h.in.Close()
	}
	h.in = w
	return r
}

// Write brings the stream to everybody; who does not read it is left out.
func (h *hub) Write(p []byte) (int, error) {
	if h.also != nil {
		_, _ = h.also.Write(p)
	}
	h.mu.Lock()
	var all []net.Conn
	for c := range h.conns {
		all = append(all, c)
	}
	h.mu.Unlock()
	for _, c := range all {
		_ = c.SetWriteDeadline(time.Now().Add(time.Second))
		if _, err := c.Write(p); err != nil {
			h.drop(c)
		}
	}
	return len(p), nil
}

// close ends the service and every connection.
func (h *hub) close() {
	_ = h.l.Close()
	h.mu.Lock()
	defer h.mu.Unlock()
	for c := range h.conns {
		_ = c.Close()
	}
	if h.in != nil {
		_ = h.in.Close()
	}
}
