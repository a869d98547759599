package gdbserver

import (
	"bufio"
	"context"
	"encoding/hex"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stem-hw/stem-hw/target"
)

// session is a client on a server with a fake target.
type session struct {
	t    *testing.T
	fake *fake
	nc   net.Conn
	r    *bufio.Reader
	done chan struct{}

	noAck bool

	mu    sync.Mutex
	notes []string
}

func newSession(t *testing.T, f *fake, change ...func(*Options)) *session {
	t.Helper()
	s := &session{t: t, fake: f, done: make(chan struct{})}
	opt := Options{
		Target: f, RTOS: "none",
		Protect: []target.Region{{Name: "OTP", Base: 0x40120000, Size: 0x20000}},
		Notify: func(text string) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.notes = append(s.notes, text)
		},
	}
	for _, c := range change {
		c(&opt)
	}
	srv, err := New(opt)
	if err != nil {
		t.Fatal(err)
	}
	near, far := net.Pipe()
	s.nc, s.r = near, bufio.NewReader(near)
	_ = near.SetDeadline(time.Now().Add(time.Minute))
	go func() {
		defer close(s.done)
		srv.ServeConn(context.Background(), far)
	}()
	t.Cleanup(func() {
		_ = near.Close()
		<-s.done
	})
	return s
}

func (s *session) said() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.notes, "\n")
}

// raw writes to the wire.
func (s *session) raw(p string) {
	s.t.Helper()
	if _, err := s.nc.Write([]byte(p)); err != nil {
		s.t.Fatalf("the server does not read: %v", err)
	}
}

func (s *session) send(packet string) {
	s.t.Helper()
	s.raw(string(appendPacket(nil, []byte(packet))))
	if !s.noAck {
		if b, err := s.r.ReadByte(); err != nil || b != '+' {
			s.t.Fatalf("%q is answered by %q, %v, want an acknowledgement", packet, b, err)
		}
	}
}

// receive reads one packet.
func (s *session) receive() string {
	s.t.Helper()
	k, p, err := readPacket(s.r)
	if err != nil || k != kindPacket {
		s.t.Fatalf("kind %d %q, %v instead of a packet", k, p, err)
	}
	if !s.noAck {
		_, _ = s.nc.Write([]byte{'+'}) // the server may have left already
	}
	return string(p)
}

func (s *session) ask(packet string) string {
	s.t.Helper()
	s.send(packet)
	return s.receive()
}

// want asks and compares; a want that ends in … is a beginning.
func (s *session) want(packet, want string) {
	s.t.Helper()
	got := s.ask(packet)
	if begin, open := strings.CutSuffix(want, "…"); open && strings.HasPrefix(got, begin) {
		return
	}
	if got != want {
		s.t.Errorf("%q is answered by %q, want %q", packet, got, want)
	}
}

// monitor runs a monitor command and returns its text and its answer.
func (s *session) monitor(cmd string) (text, answer string) {
	s.t.Helper()
	s.send("qRcmd," + hex.EncodeToString([]byte(cmd)))
	for {
		p := s.receive()
		out, isOutput := strings.CutPrefix(p, "O")
		if !isOutput || p == "OK" {
			return text, p
		}
		text += string(mustUnhex(out))
	}
}

// leave ends the session and waits for the server.
func (s *session) leave() {
	_ = s.nc.Close()
	<-s.done
}
