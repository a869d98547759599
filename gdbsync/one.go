package gdbsync

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/stem-hw/stem-hw/child"
	"github.com/stem-hw/stem-hw/gdbsync/mi"
)

// gdb is one running gdb.
type gdb struct {
	s    *Sync
	out  io.Writer
	next int64
	// answers are called with the results of commands that wait for one.
	answers map[int64]func(mi.Record)
	// whenStopped is done at the next stop, after which the program goes on
	// again: gdb cannot change breakpoints of a remote program that runs.
	whenStopped []func()
	// greeted says that gdb has said its first prompt.
	greeted bool
	// captures get what gdb prints for calls, in the order they were sent.
	captures []*strings.Builder
	dead     error
}

// one runs one gdb to its end. The error is how it ended unless that was quit.
func (s *Sync) one(ctx context.Context, first bool) error {
	pty, err := OpenPTY()
	if err != nil {
		return err
	}
	defer pty.Close()
	spec := child.Spec{
		Program: s.opt.Gdb, Package: "gdb-multiarch", Args: s.gdbArgs(pty.Name, first), Dir: s.opt.Dir, Env: s.opt.Env,
		Stdout: s.opt.Out, Stderr: s.opt.Out,
	}
	if s.opt.In != nil {
		spec.Stdin, spec.Terminal = s.opt.In, s.opt.In
	}
	p, err := s.sup.Start(ctx, spec)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	g := &gdb{s: s, out: pty.Master, answers: map[int64]func(mi.Record){}}
	records := make(chan mi.Record, 256)
	reading := make(chan struct{})
	go func() {
		defer close(reading)
		s.read(ctx, pty.Master, records)
	}()
	defer func() {
		cancel()
		_ = pty.Close()
		<-reading
	}()
	g.loop(ctx, p, records)
	for _, answer := range g.answers {
		answer(mi.Record{Type: mi.Result, Token: mi.NoToken, Class: "error", Results: mi.Results{{Name: "msg", Value: mi.Value{Text: "gdb ended"}}}})
	}
	if ctx.Err() == nil && g.dead != nil {
		p.Stop()
	}
	err = p.Wait()
	var exit *child.ExitError
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case g.dead != nil:
		return g.dead
	case errors.As(err, &exit) && exit.Signal != "":
		return fmt.Errorf("gdb was ended by %s", exit.Signal)
	}
	return nil // quit, with whatever status
}

// read parses gdb's lines until the terminal is closed.
func (s *Sync) read(ctx context.Context, f *os.File, records chan<- mi.Record) {
	r := bufio.NewReaderSize(f, 64<<10)
	for {
		line, err := readLine(r)
		if err != nil {
			return
		}
		if s.opt.Wire != nil {
			fmt.Fprintf(s.opt.Wire, "< %s\n", line)
		}
		rec, err := mi.Parse(line)
		if err != nil {
			continue // what is no record says nothing about the program
		}
		select {
		case records <- rec:
		case <-ctx.Done():
			return
		}
	}
}

// readLine reads a line of any length; beyond mi.MaxLine the rest is dropped.
func readLine(r *bufio.Reader) (string, error) {
	var b strings.Builder
	for {
		part, err := r.ReadSlice('\n')
		if b.Len() <= mi.MaxLine {
			b.Write(part)
		}
		if err == nil {
			return strings.TrimRight(b.String(), "\r\n"), nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return "", err
		}
	}
}

// loop serves one gdb until it ends.
func (g *gdb) loop(ctx context.Context, p *child.Process, records <-chan mi.Record) {
	s := g.s
	var requests <-chan Request
	if s.ed != nil {
		requests = s.ed.requests
	}
	var lost <-chan struct{}
	ready := make(chan struct{})
	if s.link != nil {
		lost = s.link.lost
	}
	for g.dead == nil {
		select {
		case r := <-records:
			g.record(r)
		case q := <-requests:
			g.request(q)
		case c := <-s.calls:
			g.answerCall(c)
		case <-lost:
			s.publish(func(st *State) bool {
				st.State, st.Reason, st.Frame, st.Threads = Disconnected, "the debug server ended the connection", nil, []Thread{}
				return true
			})
			s.opt.Say("the debug server is gone; waiting for it")
			go s.link.await(ctx, ready)
		case <-ready:
			g.reconnect()
		case <-p.Done():
			g.drain(records)
			return
		case <-ctx.Done():
			p.Stop()
			<-p.Done()
			return
		}
	}
}

// drain takes what gdb said before it ended.
func (g *gdb) drain(records <-chan mi.Record) {
	for {
		select {
		case r := <-records:
			g.record(r)
		default:
			return
		}
	}
}

// send sends a command; answer, if not nil, gets the result.
func (g *gdb) send(answer func(mi.Record), operation string, params ...string) {
	g.next++
	line, err := mi.Command(g.next, operation, params...)
	if err != nil {
		g.s.opt.Say("warning: %v", err)
		return
	}
	if answer != nil {
		g.answers[g.next] = answer
	}
	if g.s.opt.Wire != nil {
		fmt.Fprintf(g.s.opt.Wire, "> %s", line)
	}
	if _, err := io.WriteString(g.out, line); err != nil {
		g.dead = fmt.Errorf("gdb's interface is closed: %w", err)
	}
}

// record takes one record into account.
func (g *gdb) record(r mi.Record) {
	s := g.s
	g.heard(r)
	if !g.greeted && r.Type == mi.Prompt {
		g.greet()
	}
	if r.Type == mi.Result {
		if answer := g.answers[r.Token]; answer != nil {
			delete(g.answers, r.Token)
			answer(r)
		}
	}
	if s.state.State == Disconnected && r.Type == mi.Notify && strings.HasPrefix(r.Class, "thread") {
		return // gdb noticing what is known
	}
	if !s.state.fold(r, s.opt.Paths) {
		return
	}
	stopped := r.Type == mi.Exec && r.Class == "stopped"
	s.announce(!(stopped && len(g.whenStopped) > 0))
	switch {
	case stopped && len(g.whenStopped) > 0:
		for _, f := range g.whenStopped {
			f()
		}
		g.whenStopped = nil
		g.send(nil, "exec-continue")
	case stopped && s.state.State == Stopped:
		g.send(nil, "thread-info")
	}
}

// greet says what a gdb that has just started is to know.
func (g *gdb) greet() {
	s := g.s
	g.greeted = true
	s.state.Breakpoints = []Breakpoint{}
	for _, b := range s.saved {
		g.restore(b)
	}
	s.saved = nil
	s.publish(func(st *State) bool {
		if st.State == Starting {
			st.State = NoProgram
		}
		return true
	})
	// What was there before our interface was.
	g.send(nil, "break-list")
}

// restore sets a breakpoint that an earlier gdb had.
func (g *gdb) restore(b Breakpoint) {
	if strings.Contains(b.Type, "watchpoint") || b.Type == "catchpoint" {
		g.s.opt.Say("%s %s is not restored: set it again", b.Type, b.Expression)
		return
	}
	args := []string{"-f"}
	if b.Temporary {
		args = append(args, "-t")
	}
	if strings.HasPrefix(b.Type, "hw") {
		args = append(args, "-h")
	}
	if !b.Enabled {
		args = append(args, "-d")
	}
	if b.Condition != "" {
		args = append(args, "-c", b.Condition)
	}
	switch {
	case b.Path != "" && b.Line > 0:
		args = append(args, "--source", g.s.opt.Paths.Here(b.Path), "--line", strconv.Itoa(b.Line))
	case b.Location != "":
		args = append(args, b.Location)
	default:
		args = append(args, "*"+b.Address)
	}
	g.send(nil, "break-insert", args...)
}

// reconnect attaches to a server that is there again. Breakpoints are gdb's and
// stay.
func (g *gdb) reconnect() {
	g.send(nil, "target-disconnect")
	g.send(func(r mi.Record) {
		if r.Class == "error" {
			g.s.opt.Say("gdb cannot be connected again: %s", r.Results.Str("msg"))
			return
		}
		g.s.opt.Say("connected again")
	}, "target-select", "remote", g.s.opt.Link)
}

// plainOps are requests that are one command of gdb's.
var plainOps = map[string]string{
	"step": "exec-step", "next": "exec-next", "finish": "exec-finish", "continue": "exec-continue", "interrupt": "exec-interrupt",
	"stepi": "exec-step-instruction", "nexti": "exec-next-instruction",
}

// request does what a person asked for in the editor.
func (g *gdb) request(q Request) {
	if op, ok := plainOps[q.Op]; ok {
		g.send(g.tell, op)
		return
	}
	switch q.Op {
	case "up", "down":
		g.send(g.tell, "interpreter-exec", "console", q.Op)
	case "restart":
		if g.s.opt.Restart != "" {
			g.send(g.tell, "interpreter-exec", "console", g.s.opt.Restart)
		}
	case "break", "until":
		if !filepath.IsAbs(q.Path) || q.Line < 1 {
			return
		}
		f := func() { g.toggle(q) }
		if q.Op == "until" {
			f = func() {
				g.send(g.tell, "break-insert", "-t", "--source", q.Path, "--line", strconv.Itoa(q.Line))
				g.send(g.tell, "exec-continue")
			}
		} else if g.s.state.State == Running {
			g.whenStopped = append(g.whenStopped, f)
			g.send(nil, "exec-interrupt")
			return
		}
		f()
	}
}

// toggle deletes the breakpoints on a line, or sets one.
func (g *gdb) toggle(q Request) {
	found := false
	for _, b := range g.s.state.Breakpoints {
		here := b.Path == q.Path && b.Line == q.Line
		for _, p := range b.Places {
			here = here || p.Path == q.Path && p.Line == q.Line
		}
		if !here {
			continue
		}
		found = true
		g.send(func(r mi.Record) {
			if r.Class == "done" {
				// gdb tells the others, not the one who asked.
				g.s.publish(func(st *State) bool { return st.drop(b.Number) })
			} else {
				g.tell(r)
			}
		}, "break-delete", b.Number)
	}
	if !found {
		g.send(g.tell, "break-insert", "--source", q.Path, "--line", strconv.Itoa(q.Line))
	}
}

// tell tells the person about a command that gdb refused.
func (g *gdb) tell(r mi.Record) {
	if r.Class == "error" {
		g.s.opt.Say("gdb: %s", r.Results.Str("msg"))
	}
}
