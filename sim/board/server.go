package board

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/stem-hw/stem-hw/board"
	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/sim"
	"github.com/stem-hw/stem-hw/sim/rp2350"
	"github.com/stem-hw/stem-hw/symbols"
)

// ServerOptions configure a server.
type ServerOptions struct {
	// Version is stem-hw's, for people.
	Version string
	// Idle is how long the server stays when nobody is attached and no program
	// runs; 0 is for ever.
	Idle time.Duration
	// Log takes remarks; may be nil.
	Log func(format string, args ...any)
}

// tickTime is how often the server looks after its board: what the program
// changed in flash is written, and whether anybody is still interested.
const tickTime = time.Second

// Server is the process that has a board.
type Server struct {
	place Place
	opt   ServerOptions
	pid   int
	since time.Time
	hub   *hub
	stop  context.CancelFunc

	mu           sync.Mutex
	lock         *Lock
	t            *sim.FlashTarget
	chip         *rp2350.Chip
	saved        *Contents
	savedProgram *Program
	program      *Program
	elf          []byte
	symbols      *symbols.Table
	semihosting  string
	mode         board.Mode
	detail       string
	last         *Event // how the program ended
	unwatch      context.CancelFunc
	holder       *session
	lent         bool
	gdb          bool
	sessions     map[*session]bool
	closing      bool
	used         time.Time // when somebody last did something
	wg           sync.WaitGroup
}

// NewServer takes the board and its socket. The board is off, as after plugging
// it in: Serve starts what is in flash.
func NewServer(p Place, o ServerOptions) (s *Server, l net.Listener, err error) {
	lock, err := p.TakeLock(ServerVerb)
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			lock.Release()
		}
	}()
	saved, err := p.Load()
	if err != nil {
		return nil, nil, err
	}
	s = &Server{
		place: p, opt: o, pid: os.Getpid(), since: time.Now().UTC().Truncate(time.Second), hub: newHub(),
		stop: func() {}, lock: lock, saved: saved, savedProgram: saved.Program, program: saved.Program,
		unwatch: func() {}, sessions: map[*session]bool{}, used: time.Now(),
	}
	if err := s.power(saved); err != nil {
		return nil, nil, err
	}
	// The lock is ours, so a socket that is there belongs to nobody.
	_ = os.Remove(p.Socket)
	old := unix.Umask(0o077)
	l, err = net.Listen("unix", p.Socket)
	unix.Umask(old)
	if err != nil {
		_ = s.t.Close()
		return nil, nil, fmt.Errorf("socket of the simulated board: %w", err)
	}
	return s, l, nil
}

// Serve serves until ctx ends, a client says stop, or nobody is interested any
// more. The board's file is written before it returns.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	ctx, s.stop = context.WithCancel(ctx)
	defer s.stop()
	context.AfterFunc(ctx, func() { _ = l.Close() })
	s.wg.Add(1)
	go s.look(ctx)
	s.mu.Lock()
	if s.saved.hasProgram() {
		if err := s.reset(ctx, ResetRun); err != nil {
			s.log("start: %v", err)
		}
	}
	s.mu.Unlock()
	for {
		c, err := l.Accept()
		if err != nil {
			if ctx.Err() == nil && !errors.Is(err, net.ErrClosed) {
				s.log("accept: %v", err)
			}
			break
		}
		s.wg.Add(1)
		go func() {
			defer s.wg.Done()
			s.serve(ctx, c)
		}()
	}
	return s.close()
}

// hasProgram reports whether there is anything in flash.
func (c *Contents) hasProgram() bool { return !blank(c.Flash[:len(blankSector)]) }

// close ends everything and writes the board's file.
func (s *Server) close() error {
	s.stop()
	s.hub.event(Event{Event: "stopped", Text: "the simulated board was stopped"})
	s.hub.closeAll()
	s.mu.Lock()
	s.closing = true
	s.stopWatching()
	err := s.save()
	for ss := range s.sessions {
		if ss.listens {
			_ = ss.w.c.SetWriteDeadline(time.Now().Add(time.Second))
			continue
		}
		ss.hangUp()
	}
	if s.t != nil {
		_ = s.t.Close()
	}
	s.mu.Unlock()
	s.wg.Wait()
	_ = os.Remove(s.place.Socket)
	s.lock.Release()
	return err
}

// look is the server's housekeeping.
func (s *Server) look(ctx context.Context) {
	defer s.wg.Done()
	tick := time.NewTicker(tickTime)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		s.mu.Lock()
		if s.holder == nil {
			if err := s.save(); err != nil {
				s.log("%v", err)
			}
		}
		busy := len(s.sessions) > 0 || s.mode == board.ModeRunning
		if busy {
			s.touch()
		}
		idle := s.opt.Idle > 0 && time.Since(s.used) > s.opt.Idle
		s.mu.Unlock()
		switch {
		case !s.lockIsOurs():
			s.log("the board's folder is gone")
			s.stop()
		case idle:
			s.log("nobody needs the board")
			s.stop()
		}
	}
}

// lockIsOurs reports whether the lock file is still the one that is locked: a
// board whose folder was deleted is no board any more.
func (s *Server) lockIsOurs() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lock == nil { // lent
		_, err := os.Stat(s.place.Dir)
		return err == nil
	}
	ours, err := s.lock.f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(s.place.file("lock"))
	return err == nil && os.SameFile(ours, there)
}

func (s *Server) touch() { s.used = time.Now() }

func (s *Server) log(format string, args ...any) {
	if s.opt.Log != nil {
		s.opt.Log(format, args...)
	}
}

func (s *Server) holderUser() *User {
	if s.holder == nil {
		return nil
	}
	u := s.holder.user
	return &u
}

// exclusive refuses what somebody else's hold forbids. s.mu is held.
func (s *Server) exclusive(ss *session) error {
	switch {
	case s.holder != nil && s.holder != ss:
		return busy(s.place.Selector(), s.holder.user)
	case s.t == nil || s.lent:
		return &faults.Fault{
			Code: faults.CodeBusy, Status: faults.StatusBusy, Summary: "the board " + s.place.Selector() + " is lent to another process",
			Try: []string{"wait for it with --wait 30s"},
		}
	}
	return nil
}
