package console

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/stem-hw/stem-hw/faults"
)

// Hub shares a console with others, on a Unix socket: they get what is printed
// from then on, and what they send goes to the board. Both are plain bytes, so
// that any program can take part.
type Hub struct {
	path string
	l    net.Listener
	send func([]byte)

	mu      sync.Mutex
	clients map[net.Conn]chan []byte
	closed  bool
	all     sync.WaitGroup
}

// behind is how many pieces a client may be behind before it is given up.
const behind = 256

// Share begins to share at a path. send gets what clients send. A socket that
// somebody serves already is a busy fault; one that nobody serves is replaced.
func Share(path string, send func([]byte)) (*Hub, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, shareFault(path, err)
	}
	if c, err := net.Dial("unix", path); err == nil {
		_ = c.Close()
		return nil, &faults.Fault{
			Code: faults.CodeBusy, Status: faults.StatusBusy, Summary: "somebody shares a console there already", Seen: path,
			Try: []string{"take part: socat - UNIX-CONNECT:" + path},
		}
	}
	if st, err := os.Lstat(path); err == nil {
		if st.Mode().Type() != fs.ModeSocket {
			return nil, shareFault(path, errors.New("there is something else than a socket"))
		}
		_ = os.Remove(path)
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, shareFault(path, err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		_ = l.Close()
		return nil, shareFault(path, err)
	}
	h := &Hub{path: path, l: l, send: send, clients: map[net.Conn]chan []byte{}}
	h.all.Add(1)
	go h.accept()
	return h, nil
}

func shareFault(path string, err error) error {
	return &faults.Fault{
		Code: faults.CodeFileAccess, Status: faults.StatusUsage, Summary: "the console cannot be shared at " + path, Err: err,
		Try: []string{"name another path with --share"},
	}
}

// Path is where it is shared.
func (h *Hub) Path() string { return h.path }

func (h *Hub) accept() {
	defer h.all.Done()
	for {
		c, err := h.l.Accept()
		if err != nil {
			return
		}
		out := make(chan []byte, behind)
		h.mu.Lock()
		if h.closed {
			h.mu.Unlock()
			_ = c.Close()
			return
		}
		h.clients[c] = out
		h.all.Add(2)
		h.mu.Unlock()
		go h.write(c, out)
		go h.read(c)
	}
}

func (h *Hub) write(c net.Conn, out <-chan []byte) {
	defer h.all.Done()
	defer c.Close()
	for p := range out {
		if _, err := c.Write(p); err != nil {
			h.forget(c)
			return
		}
	}
}

func (h *Hub) read(c net.Conn) {
	defer h.all.Done()
	buf := make([]byte, 4096)
	for {
		n, err := c.Read(buf)
		if n > 0 {
			h.send(append([]byte(nil), buf[:n]...))
		}
		if err != nil {
			return // it may still want to listen
		}
	}
}

func (h *Hub) forget(c net.Conn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if out, ok := h.clients[c]; ok {
		delete(h.clients, c)
		close(out)
	}
}

// Put hands on what was printed. A client that does not read is given up.
func (h *Hub) Put(p []byte) {
	p = append([]byte(nil), p...)
	h.mu.Lock()
	defer h.mu.Unlock()
	for c, out := range h.clients {
		select {
		case out <- p:
		default:
			delete(h.clients, c)
			close(out)
			_ = c.Close()
		}
	}
}

// Clients is how many take part.
func (h *Hub) Clients() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.clients)
}

// Close ends sharing.
func (h *Hub) Close() error {
	err := h.l.Close()
	h.mu.Lock()
	h.closed = true
	for c, out := range h.clients {
		delete(h.clients, c)
		close(out)
		// What it has not read yet is a moment's worth.
		_ = c.SetDeadline(time.Now().Add(100 * time.Millisecond))
	}
	h.mu.Unlock()
	h.all.Wait()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// Join takes part in a console that somebody shares; ok is false if nobody does.
func Join(ctx context.Context, path string) (c net.Conn, ok bool) {
	var d net.Dialer
	c, err := d.DialContext(ctx, "unix", path)
	return c, err == nil
}
