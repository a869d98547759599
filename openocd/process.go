package openocd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/stem-hw/stem-hw/child"
	"github.com/stem-hw/stem-hw/faults"
)

// keepLines bounds the log that is kept.
const keepLines = 400

// markTime bounds the wait for the log to tell what belongs to a command.
const markTime = 5 * time.Second

// Process is one OpenOCD that runs.
type Process struct {
	p    *child.Process
	rpc  *rpc
	in   *os.File // its standard input: when it closes, OpenOCD ends
	out  *os.File
	log  *logBook
	once sync.Once
}

// logBook is what OpenOCD says.
type logBook struct {
	tell func(line string)

	mu    sync.Mutex
	cond  *sync.Cond
	lines []string
	first int // number of lines[0]
	ended bool
	marks int
}

func newLogBook(tell func(line string)) *logBook {
	b := &logBook{tell: tell}
	b.cond = sync.NewCond(&b.mu)
	return b
}

// markPrefix begins the lines that are echoed into the log.
const markPrefix = "stem-hw-mark-"

// read takes lines until the stream ends.
func (b *logBook) read(r io.Reader) {
	s := bufio.NewScanner(r)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		line := strings.TrimRight(s.Text(), "\r")
		mark := strings.HasPrefix(line, markPrefix)
		if !mark && strings.HasPrefix(line, tokenPrefix) {
			continue // later versions log answers, too
		}
		if b.tell != nil && !mark && line != "" {
			b.tell(line)
		}
		b.mu.Lock()
		b.lines = append(b.lines, line)
		if over := len(b.lines) - keepLines; over > 0 {
			b.lines = append(b.lines[:0], b.lines[over:]...)
			b.first += over
		}
		b.cond.Broadcast()
		b.mu.Unlock()
	}
	_, _ = io.Copy(io.Discard, r) // a line without end
	b.mu.Lock()
	b.ended = true
	b.cond.Broadcast()
	b.mu.Unlock()
}

// next is the number of the line that comes next.
func (b *logBook) next() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.first + len(b.lines)
}

// since waits for a mark and returns the lines from number n on before it.
func (b *logBook) since(n int, mark string) []string {
	stop := time.AfterFunc(markTime, func() {
		b.mu.Lock()
		b.marks++
		b.cond.Broadcast()
		b.mu.Unlock()
	})
	defer stop.Stop()
	b.mu.Lock()
	defer b.mu.Unlock()
	given := b.marks
	for {
		var out []string
		for i, l := range b.lines {
			if mark != "" && l == mark {
				return out
			}
			if b.first+i >= n && !strings.HasPrefix(l, markPrefix) {
				out = append(out, l)
			}
		}
		if b.ended || b.marks != given {
			return out
		}
		b.cond.Wait()
	}
}

// Start says what to start.
type Start struct {
	Program string
	// Log hears of each line that OpenOCD says, Event of each notification; nil
	// is nobody.
	Log, Event func(text string)
}

// Run starts an OpenOCD without a configuration and without touching hardware.
func Run(ctx context.Context, sup *child.Supervisor, s Start) (*Process, error) {
	inR, inW, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("pipe for OpenOCD: %w", err)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("pipe for OpenOCD: %w", err), inR.Close(), inW.Close())
	}
	errR, errW, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("pipe for OpenOCD: %w", err), inR.Close(), inW.Close(), outR.Close(), outW.Close())
	}
	p := &Process{in: inW, out: outR, log: newLogBook(s.Log)}
	// It does not end with ctx: its owner takes back what it did to the chip first.
	p.p, err = sup.Start(context.WithoutCancel(ctx), child.Spec{
		Program: s.Program, Package: "openocd", Dir: "/", Stdin: inR, Stdout: outW, Stderr: errW,
		Args: []string{"-c", quiet + "tcl_port pipe; noinit"},
	})
	_, _, _ = inR.Close(), outW.Close(), errW.Close()
	if err != nil {
		return nil, errors.Join(err, inW.Close(), outR.Close(), errR.Close())
	}
	p.rpc = newRPC(inW, outR, s.Event)
	go func() {
		p.log.read(errR)
		_ = errR.Close()
	}()
	return p, nil
}

// PID is its process number.
func (p *Process) PID() int { return p.p.PID() }

// Done is closed when it has ended.
func (p *Process) Done() <-chan struct{} { return p.p.Done() }

// CommandError is a command that OpenOCD could not execute.
type CommandError struct {
	Command, Message string
	// Log is what was logged meanwhile.
	Log []string
	// Err is why there is no answer at all, nil if there is one.
	Err error
}

// Error describes the failure by what tells most.
func (e *CommandError) Error() string {
	what := e.Message
	if what == "" && e.Err != nil {
		what = e.Err.Error()
	}
	for i := len(e.Log) - 1; i >= 0 && what == ""; i-- {
		what = plainLine(e.Log[i])
	}
	name, _, _ := strings.Cut(e.Command, "\n")
	if len(name) > 60 {
		name = name[:60] + "…"
	}
	return fmt.Sprintf("OpenOCD: %q: %s", name, what)
}

// Unwrap is why there is no answer.
func (e *CommandError) Unwrap() error { return e.Err }

// Fault is what the log says of it, nil if nothing that is known.
func (e *CommandError) Fault() *faults.Fault {
	return Explain(append(append([]string(nil), e.Log...), e.Message))
}

// Do executes a command and returns its result. A failure is a *CommandError.
func (p *Process) Do(ctx context.Context, command string) (string, error) {
	from := p.log.next()
	r, err := p.rpc.call(ctx, command)
	switch {
	case err != nil && ctx.Err() != nil:
		return "", err
	case err != nil:
		return "", &CommandError{Command: command, Log: p.log.since(from, ""), Err: err}
	case r.code == 0:
		return r.text, nil
	}
	return "", &CommandError{Command: command, Message: r.text, Log: p.said(ctx, from)}
}

// said is what was logged from a line on, up to now.
func (p *Process) said(ctx context.Context, from int) []string {
	mark := fmt.Sprintf("%s%d", markPrefix, p.log.next())
	if _, err := p.rpc.call(ctx, "echo "+mark); err != nil {
		return p.log.since(from, "")
	}
	return p.log.since(from, mark)
}

// Configure executes the lines of a configuration, then init. The log since is
// returned, since init goes on after failures. poll lets OpenOCD look at the cores
// by itself.
func (p *Process) Configure(ctx context.Context, lines []string, poll bool) ([]string, error) {
	for _, l := range lines {
		if _, err := p.Do(ctx, l); err != nil {
			return nil, err
		}
	}
	from := p.log.next()
	start := []string{"init"}
	if !poll {
		start = append(start, "poll off")
	}
	for _, l := range start {
		if _, err := p.Do(ctx, l); err != nil {
			return nil, err
		}
	}
	return p.said(ctx, from), nil
}

// goodbye bounds the end that OpenOCD is asked for.
const goodbye = 3 * time.Second

// Close ends it: its input closes, and what does not end by itself is ended.
func (p *Process) Close() error {
	p.once.Do(func() {
		_ = p.in.Close()
		select {
		case <-p.p.Done():
		case <-time.After(goodbye):
			p.p.Stop()
			<-p.p.Done()
		}
		_ = p.out.Close()
	})
	return nil
}
