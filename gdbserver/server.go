package gdbserver

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"github.com/stem-hw/stem-hw/target"
)

// Options configure a Server.
type Options struct {
	// Target is the chip that is served. It needs the Halter and Memory
	// capabilities.
	Target target.Target
	// ELF is the program's file, nil if unknown. gdb may fetch it, so that it
	// can be started without a file, and threads of an RTOS are found by its
	// symbols.
	ELF []byte
	// ELFPath is the name under which gdb asks for it.
	ELFPath string
	// Files serves gdb's file requests (remote get, put, delete) under the
	// rules of semihosting; nil refuses them.
	Files Files
	// RTOS is "auto", "none" or "freertos".
	RTOS string
	// Protect are ranges that no client may write.
	Protect []target.Region
	// Log receives one line a packet if it is not nil.
	Log io.Writer
	// Notify receives remarks for the user ("gdb attached").
	Notify func(text string)
	// Killed is called when a client ends the program ("kill"); may be nil.
	Killed func()
	// Lost says why the target cannot be reached any more, nil while it can; may
	// be nil. After that the server ends.
	Lost func() error
	// Now is the clock for the log; time.Now if nil.
	Now func() time.Time
}

// Server serves one target to one client at a time.
type Server struct {
	opt     Options
	halter  target.Halter
	memory  target.Memory
	flasher target.Flasher // nil if the target has none
	log     *wireLog
	console *consolePump

	mu   sync.Mutex
	busy string // who is attached; empty if nobody
	wg   sync.WaitGroup
}

// New checks that the target has what gdb needs and returns a server for it.
func New(opt Options) (*Server, error) {
	h, err := target.AsHalter(opt.Target)
	if err != nil {
		return nil, err
	}
	m, err := target.AsMemory(opt.Target)
	if err != nil {
		return nil, err
	}
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.Lost == nil {
		opt.Lost = func() error { return nil }
	}
	if opt.Notify == nil {
		opt.Notify = func(string) {}
	}
	f, _ := opt.Target.(target.Flasher)
	return &Server{
		opt: opt, halter: h, memory: m, flasher: f,
		log:     newWireLog(opt.Log, opt.Now),
		console: newConsolePump(opt.Target.Console()),
	}, nil
}

// Serve accepts clients until ctx ends, the listener fails or the target is lost.
// It closes the listener and waits for the client that is attached.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	defer s.wg.Wait()
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer stop()
	defer func() { _ = l.Close() }()
	for {
		c, err := l.Accept()
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if lost := s.opt.Lost(); lost != nil {
				return lost
			}
			if errors.Is(err, net.ErrClosed) {
				return nil
			}
			return err
		}
		s.wg.Add(1)
		go func() {
			defer s.wg.Done()
			s.ServeConn(ctx, c)
			if s.opt.Lost() != nil {
				_ = l.Close()
			}
		}()
	}
}

// ServeConn serves one connection until it ends, or refuses it when another
// client is attached.
func (s *Server) ServeConn(ctx context.Context, nc net.Conn) {
	defer func() { _ = nc.Close() }()
	who := nc.RemoteAddr().String()
	if who == "" || who == "@" {
		who = "a local client"
	}
	holder := s.claim(who)
	for wait := time.Duration(0); holder != "" && wait < leaveTime && ctx.Err() == nil; wait += leaveTime / 20 {
		time.Sleep(leaveTime / 20)
		holder = s.claim(who)
	}
	if holder != "" {
		refuse(nc, holder)
		s.opt.Notify("refused a second gdb: " + holder + " is attached")
		return
	}
	defer s.release()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = nc.Close() })
	defer stop()
	s.opt.Notify("gdb attached")
	c := newConn(s, nc)
	err := c.serve(ctx)
	c.cleanup(err)
}

// claim makes who the client; it returns the present one if there is one.
func (s *Server) claim(who string) (holder string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy != "" {
		return s.busy
	}
	s.busy = who
	return ""
}

func (s *Server) release() {
	s.mu.Lock()
	s.busy = ""
	s.mu.Unlock()
}

// leaveTime is how long a new client waits for one that is about to leave: gdb's
// "target remote" comes right behind its "disconnect".
const leaveTime = 400 * time.Millisecond

// refuseTime bounds how long a refused client may hold its connection.
const refuseTime = 2 * time.Second
