package main

import (
	"io"
	"net"
	"os"
	"sync"

	"github.com/stem-hw/stem-hw/faults"
)

// consoleSocket shows a program's console to everybody who connects to a Unix
// socket: what was printed, as bytes; what they send is the program's input.
type consoleSocket struct {
	l net.Listener

	mu      sync.Mutex
	history []byte
	clients map[net.Conn]chan []byte
}

// Bounds of what is kept: for one who comes later, and for one who does not read.
const (
	consoleHistory = 64 << 10
	consoleQueue   = 1024
)

func newConsoleSocket(path string) (*consoleSocket, error) {
	l, err := net.Listen("unix", path)
	if err == nil {
		err = os.Chmod(path, 0o600)
	}
	if err != nil {
		return nil, &faults.Fault{
			Code: faults.CodeFileAccess, Status: faults.StatusBusy, Summary: "cannot serve the console", Seen: path, Err: err,
			Try: []string{"name another path with --console"},
		}
	}
	return &consoleSocket{l: l, clients: map[net.Conn]chan []byte{}}, nil
}

// printed takes what the program prints.
func (s *consoleSocket) printed(_ string, p []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := append([]byte(nil), p...)
	s.history = append(s.history, b...)
	if over := len(s.history) - consoleHistory; over > 0 {
		s.history = append([]byte(nil), s.history[over:]...)
	}
	for c, q := range s.clients {
		select {
		case q <- b:
		default:
			// It does not read: it is let go of, rather than shown gaps.
			delete(s.clients, c)
			close(q)
		}
	}
}

// serve serves connections until Close.
func (s *consoleSocket) serve(input io.Writer) {
	for {
		c, err := s.l.Accept()
		if err != nil {
			return
		}
		q := make(chan []byte, consoleQueue)
		s.mu.Lock()
		q <- append([]byte(nil), s.history...)
		s.clients[c] = q
		s.mu.Unlock()
		go func() {
			defer c.Close()
			for b := range q {
				if _, err := c.Write(b); err != nil {
					s.forget(c)
				}
			}
		}()
		go func() {
			_, _ = io.Copy(input, c)
			s.forget(c)
		}()
	}
}

func (s *consoleSocket) forget(c net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if q, ok := s.clients[c]; ok {
		delete(s.clients, c)
		close(q)
	}
}

// Close ends every connection.
func (s *consoleSocket) Close() {
	_ = s.l.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	for c, q := range s.clients {
		delete(s.clients, c)
		close(q)
	}
}
