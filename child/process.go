package child

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Spec says what to start.
type Spec struct {
	// Program is a name on the PATH or a path; Package is the package of Debian
	// that has it, for the fault when it is missing.
	Program, Package string
	// Args are the arguments after the program's name.
	Args []string
	// Dir is the working folder; Env the whole environment. Empty means the
	// owner's.
	Dir string
	Env []string
	// Stdin is what it reads; nil is nothing.
	Stdin io.Reader
	// Stdout and Stderr take its output. A nil one is kept in the Process's
	// Tail instead.
	Stdout, Stderr io.Writer
	// Terminal, if not nil, is a terminal that the child gets for itself: its
	// group is in the foreground, so that ctrl-c reaches it and not the owner,
	// until it ends. Stdin, Stdout and Stderr should be this terminal.
	Terminal *os.File
	// Grace is the time between SIGTERM and SIGKILL; 0 means 2 s.
	Grace time.Duration
	// Keep is the size of the Tail in bytes; 0 means 64 KiB.
	Keep int
}

const (
	defaultGrace = 2 * time.Second
	defaultKeep  = 64 << 10
	// pipeDelay bounds the wait for output pipes that a process outside the
	// group still holds open.
	pipeDelay = 2 * time.Second
	// shownLines of output go into an ExitError.
	shownLines = 10
)

// Process is a started child.
type Process struct {
	name    string
	cmd     *exec.Cmd
	tail    *Tail
	grace   time.Duration
	stop    chan struct{}
	stopped sync.Once
	done    chan struct{}
	err     error
	// takeBack gives the terminal back to the owner's group.
	takeBack func()
}

// Start starts a child. It ends when ctx ends, when Stop is called, or by
// itself; Wait says how.
func (s *Supervisor) Start(ctx context.Context, spec Spec) (*Process, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	path, err := Find(spec.Program, spec.Package)
	if err != nil {
		return nil, err
	}
	p := &Process{
		name: filepath.Base(spec.Program), tail: NewTail(cmp.Or(spec.Keep, defaultKeep)),
		grace: cmp.Or(spec.Grace, defaultGrace), stop: make(chan struct{}), done: make(chan struct{}),
	}
	p.cmd = command(path, spec, p.tail)
	p.takeBack = func() { takeTerminal(spec.Terminal) }
	if err := s.register(p); err != nil {
		return nil, err
	}
	err = s.onForker(func() error {
		if err := p.cmd.Start(); err != nil {
			return fmt.Errorf("start %s: %w", p.name, err)
		}
		if err := s.watcher.add(p.PID()); err != nil {
			_ = syscall.Kill(-p.PID(), syscall.SIGKILL)
			_ = p.cmd.Wait()
			return fmt.Errorf("the watcher of child processes is gone: %w", err)
		}
		return nil
	})
	if err != nil {
		s.forget(p)
		return nil, err
	}
	go p.supervise(ctx, s)
	return p, nil
}

func command(path string, spec Spec, tail *Tail) *exec.Cmd {
	cmd := exec.Command(path, spec.Args...)
	cmd.Dir, cmd.Env = spec.Dir, spec.Env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = spec.Stdin, spec.Stdout, spec.Stderr
	if cmd.Stdout == nil {
		cmd.Stdout = tail
	}
	if cmd.Stderr == nil {
		cmd.Stderr = tail
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if spec.Terminal != nil {
		cmd.SysProcAttr.Foreground = true
		cmd.SysProcAttr.Ctty = int(spec.Terminal.Fd())
	}
	cmd.WaitDelay = pipeDelay
	return cmd
}

// PID is the child's process number and its group's.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Output returns the last output that no writer of the Spec took.
func (p *Process) Output() string { return p.tail.String() }

// Done is closed when the child and its whole group have ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Wait waits for the end. It returns nil for status 0, an *ExitError, or the
// context's error (context.Canceled after Stop) if the child was made to end.
func (p *Process) Wait() error {
	<-p.done
	return p.err
}

// Stop asks the child to end and returns at once: SIGTERM to its group now,
// SIGKILL after the grace time. It may be called twice.
func (p *Process) Stop() { p.stopped.Do(func() { close(p.stop) }) }

// supervise ends the group when asked, and buries it.
func (p *Process) supervise(ctx context.Context, s *Supervisor) {
	defer s.forget(p)
	defer close(p.done)
	exited := make(chan struct{})
	go func() {
		awaitExit(p.PID())
		close(exited)
	}()
	asked := p.await(ctx, exited)
	// The leader is dead but not reaped: its number is still the group's and
	// nobody else's. What it left behind ends now.
	_ = syscall.Kill(-p.PID(), syscall.SIGKILL)
	watcherErr := s.watcher.remove(p.PID())
	p.takeBack()
	err := p.cmd.Wait()
	switch {
	case asked != nil:
		p.err = asked
	case errors.Is(err, exec.ErrWaitDelay):
		p.err = nil // the status was 0; only a pipe was left open
	case err != nil:
		p.err = p.exitError(err)
	case watcherErr != nil && !errors.Is(watcherErr, os.ErrClosed):
		p.err = fmt.Errorf("the watcher of child processes is gone: %w", watcherErr)
	}
}

// await returns when the leader is dead: nil if by itself, else why it was
// asked to end.
func (p *Process) await(ctx context.Context, exited <-chan struct{}) (asked error) {
	select {
	case <-exited:
		return nil
	case <-ctx.Done():
		asked = context.Cause(ctx)
	case <-p.stop:
		asked = context.Canceled
	}
	_ = syscall.Kill(-p.PID(), syscall.SIGTERM)
	timer := time.NewTimer(p.grace)
	defer timer.Stop()
	select {
	case <-exited:
	case <-timer.C:
		_ = syscall.Kill(-p.PID(), syscall.SIGKILL)
		<-exited
	}
	return asked
}

// awaitExit returns when the process has ended, and leaves it to be reaped.
func awaitExit(pid int) {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

func (p *Process) exitError(err error) error {
	var ee *exec.ExitError
	if !errors.As(err, &ee) {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	e := &ExitError{Name: p.name, Status: ee.ExitCode(), Output: p.tail.Lines(shownLines)}
	if ws, ok := ee.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		e.Status, e.Signal = -1, unix.SignalName(ws.Signal())
	}
	return e
}

// Run starts a child, waits for its end, and returns what it wrote to standard
// output, at most limit bytes: more is an error, not a cut.
func (s *Supervisor) Run(ctx context.Context, spec Spec, limit int) ([]byte, error) {
	out := &bounded{limit: limit}
	spec.Stdout = out
	p, err := s.Start(ctx, spec)
	if err != nil {
		return nil, err
	}
	if err := p.Wait(); err != nil {
		return out.buf, err
	}
	if out.over {
		return out.buf, fmt.Errorf("%s wrote more than %d bytes", p.name, limit)
	}
	return out.buf, nil
}

// bounded keeps the first limit bytes and swallows the rest, so that the child
// does not stall on a full pipe.
type bounded struct {
	limit int
	buf   []byte
	over  bool
}

func (b *bounded) Write(p []byte) (int, error) {
	n := len(p)
	if room := b.limit - len(b.buf); len(p) > room {
		p, b.over = p[:room], true
	}
	b.buf = append(b.buf, p...)
	return n, nil
}
