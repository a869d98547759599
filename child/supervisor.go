package child

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
)

// ErrClosed is returned by Start after Close.
var ErrClosed = errors.New("the supervisor of child processes is closed")

// Supervisor starts children and answers for their end. Its zero value is not
// usable; call New, and Close when the owner is done.
type Supervisor struct {
	watcher *watcher
	forks   chan func() // run on the thread that forks
	forker  chan struct{}

	mu       sync.Mutex
	closed   bool
	children map[*Process]bool
	live     sync.WaitGroup
}

// New starts a supervisor: one watcher process and one thread.
func New() (*Supervisor, error) {
	w, err := startWatcher()
	if err != nil {
		return nil, err
	}
	s := &Supervisor{
		watcher:  w,
		forks:    make(chan func()),
		forker:   make(chan struct{}),
		children: map[*Process]bool{},
	}
	go func() {
		// The parent-death signal is sent when this thread ends, not when the
		// process does. So it must live as long as any child.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		for f := range s.forks {
			f()
		}
		close(s.forker)
	}()
	return s, nil
}

// register counts a child in, unless the supervisor is closed.
func (s *Supervisor) register(p *Process) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	s.children[p] = true
	s.live.Add(1)
	return nil
}

func (s *Supervisor) forget(p *Process) {
	s.mu.Lock()
	delete(s.children, p)
	s.mu.Unlock()
	s.live.Done()
}

// onForker runs f on the forking thread.
func (s *Supervisor) onForker(f func() error) (err error) {
	done := make(chan struct{})
	s.forks <- func() {
		defer close(done)
		err = f()
	}
	<-done
	return err
}

// Close stops every child (SIGTERM, then SIGKILL after its grace time), waits
// for them, and ends the watcher. It may be called twice.
func (s *Supervisor) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		<-s.forker
		return nil
	}
	s.closed = true
	for p := range s.children {
		p.Stop()
	}
	s.mu.Unlock()
	s.live.Wait()
	close(s.forks)
	<-s.forker
	s.watcher.stop()
	return nil
}

// Running returns the number of children that have not ended.
func (s *Supervisor) Running() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.children)
}

// ExitError is a child that ended by itself with a status other than 0, or by a
// signal.
type ExitError struct {
	// Name is the program, Status its exit status, Signal the signal's name
	// (then Status is -1).
	Name   string
	Status int
	Signal string
	// Output holds its last lines, if they were kept.
	Output []string
}

// Error says how the child ended, with its last line.
func (e *ExitError) Error() string {
	how := fmt.Sprintf("ended with status %d", e.Status)
	if e.Signal != "" {
		how = "was ended by signal " + e.Signal
	}
	if len(e.Output) == 0 {
		return e.Name + " " + how
	}
	return e.Name + " " + how + ": " + e.Output[len(e.Output)-1]
}
