package gdbsync

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/stem-hw/stem-hw/gdbsync/mi"
)

// Call is one operation of gdb's machine interface that another process of this
// user asks for, one JSON object a line on the socket Options.Calls.
type Call struct {
	ID        int64    `json:"id"`
	Operation string   `json:"operation"`
	Params    []string `json:"params,omitempty"`
	// Guard, if not nil, bounds what the operation can touch.
	Guard *Guard `json:"guard,omitempty"`
	// Pause stops a program that runs for the operation, and lets it go on after.
	Pause bool `json:"pause,omitempty"`
}

// Guard is in force for one operation: gdb calls no function of the program, and
// with Regions it reads no memory outside them, whatever an expression, a type's
// printing or a corrupt stack would lead to.
type Guard struct {
	Regions []MemoryRegion `json:"regions,omitempty"`
}

// MemoryRegion is a range of addresses, its end not included.
type MemoryRegion struct {
	Start uint64 `json:"start"`
	End   uint64 `json:"end"`
}

// Answer is the answer to a Call.
type Answer struct {
	ID int64 `json:"id"`
	// Record is gdb's result record as it writes it.
	Record string `json:"record"`
	// Console is what the operation printed for a person.
	Console string `json:"console,omitempty"`
}

// operations are those that are passed on. None but interpreter-exec can name a
// command of gdb's console.
var operations = map[string]bool{
	"stack-list-frames": true, "stack-list-variables": true, "stack-info-depth": true, "thread-info": true, "data-list-register-names": true,
	"data-list-register-values": true, "data-read-memory-bytes": true, "data-write-memory-bytes": true, "data-evaluate-expression": true,
	"exec-step": true, "exec-next": true, "exec-finish": true, "exec-continue": true, "exec-interrupt": true,
	"exec-step-instruction": true, "exec-next-instruction": true, "break-insert": true, "break-delete": true, "break-list": true,
	"break-enable": true, "break-disable": true, "gdb-show": true, "interpreter-exec": true, "restart": true,
}

const (
	// maxCall bounds one line of a caller's.
	maxCall = 64 << 10
	// callPatience is how long gdb may take to listen, answerPatience to answer.
	callPatience   = 5 * time.Second
	answerPatience = 30 * time.Second
	maxConsole     = 256 << 10
)

// pendingCall is a call on its way to gdb.
type pendingCall struct {
	Call
	ctx    context.Context
	answer chan Answer
}

// serveCalls listens for calls until ctx ends.
func (s *Sync) serveCalls(ctx context.Context) (stop func(), err error) {
	if err := os.Remove(s.opt.Calls); err != nil && !os.IsNotExist(err) {
		return nil, fmt.Errorf("socket for calls: %w", err)
	}
	l, err := net.Listen("unix", s.opt.Calls)
	if err != nil {
		return nil, fmt.Errorf("socket for calls: %w", err)
	}
	if err := os.Chmod(s.opt.Calls, 0o600); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Add(1)
			go func() {
				defer wg.Done()
				end := context.AfterFunc(ctx, func() { _ = c.Close() })
				defer end()
				defer c.Close()
				if ours(c) {
					s.caller(ctx, c)
				}
			}()
		}
	}()
	return func() {
		cancel()
		_ = l.Close()
		wg.Wait()
	}, nil
}

// ours says whether the other end is a process of this user.
func ours(c net.Conn) bool {
	u, ok := c.(*net.UnixConn)
	if !ok {
		return false
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return false
	}
	same := false
	err = raw.Control(func(fd uintptr) {
		cred, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
		same = err == nil && int(cred.Uid) == os.Getuid()
	})
	return err == nil && same
}

// caller serves one connection, one call after the other.
func (s *Sync) caller(ctx context.Context, c net.Conn) {
	in := bufio.NewScanner(c)
	in.Buffer(make([]byte, 4096), maxCall)
	out := json.NewEncoder(c)
	for in.Scan() {
		var call Call
		if err := json.Unmarshal(in.Bytes(), &call); err != nil {
			return
		}
		if err := out.Encode(s.call(ctx, call)); err != nil {
			return
		}
	}
}

// call hands a call to whichever gdb runs, and waits for the answer.
func (s *Sync) call(ctx context.Context, c Call) Answer {
	if !operations[c.Operation] {
		return refusal(c.ID, "no such operation: "+c.Operation)
	}
	for _, p := range append([]string{c.Operation}, c.Params...) {
		if strings.ContainsAny(p, "\n\r\x00") {
			return refusal(c.ID, "a control character in a parameter")
		}
	}
	ctx, cancel := context.WithTimeout(ctx, answerPatience)
	defer cancel()
	p := &pendingCall{Call: c, ctx: ctx, answer: make(chan Answer, 1)}
	t := time.NewTimer(callPatience)
	defer t.Stop()
	select {
	case s.calls <- p:
	case <-t.C:
		return refusal(c.ID, "gdb does not run")
	case <-ctx.Done():
		return refusal(c.ID, "gdb ends")
	}
	select {
	case a := <-p.answer:
		return a
	case <-ctx.Done():
		return refusal(c.ID, "gdb does not answer")
	}
}

func refusal(id int64, why string) Answer {
	return Answer{ID: id, Record: mi.Record{
		Type: mi.Result, Token: mi.NoToken, Class: "error", Results: mi.Results{{Name: "msg", Value: mi.Value{Text: why}}},
	}.String()}
}

// answerCall carries a call out.
func (g *gdb) answerCall(c *pendingCall) {
	if c.Pause && g.s.state.State == Running {
		g.whenStopped = append(g.whenStopped, func() { g.carryOut(c) })
		g.send(nil, "exec-interrupt")
		return
	}
	g.carryOut(c)
}

// carryOut sends a call's operation between the commands of its guard. gdb takes
// commands of one interface in order.
func (g *gdb) carryOut(c *pendingCall) {
	if c.ctx.Err() != nil {
		return
	}
	op, params := c.Operation, c.Params
	if op == "restart" {
		if g.s.opt.Restart == "" {
			c.answer <- refusal(c.ID, "there is nothing to start again")
			return
		}
		if g.s.link != nil && g.s.state.State == Exited {
			// gdb let go of the server when the program ended.
			g.send(nil, "target-select", "remote", g.s.opt.Link)
		}
		op, params = "interpreter-exec", []string{"console", g.s.opt.Restart}
	}
	text := new(strings.Builder)
	if op == "interpreter-exec" {
		g.captures = append(g.captures, text)
	}
	c.Guard.set(g)
	g.send(func(r mi.Record) {
		if op == "interpreter-exec" && len(g.captures) > 0 {
			g.captures = g.captures[1:]
		}
		if op == "break-delete" && r.Class == "done" {
			// gdb tells the others, not the one who asked.
			g.s.publish(func(st *State) bool {
				gone := false
				for _, n := range params {
					gone = st.drop(n) || gone
				}
				return gone
			})
		}
		c.answer <- Answer{ID: c.ID, Record: r.String(), Console: text.String()}
	}, op, params...)
	c.Guard.lift(g)
}

// set puts the guard in force.
func (u *Guard) set(g *gdb) {
	if u == nil {
		return
	}
	g.send(nil, "gdb-set", "may-call-functions", "off")
	if len(u.Regions) > 0 {
		// The target's own map has the peripherals, as memory.
		g.send(nil, "interpreter-exec", "console", "delete mem")
		g.send(nil, "gdb-set", "mem", "inaccessible-by-default", "on")
	}
	for _, r := range u.Regions {
		g.send(nil, "interpreter-exec", "console", fmt.Sprintf("mem %#x %#x rw", r.Start, r.End))
	}
}

// lift ends it: the memory map is the target's own again.
func (u *Guard) lift(g *gdb) {
	if u == nil {
		return
	}
	if len(u.Regions) > 0 {
		g.send(nil, "interpreter-exec", "console", "mem auto")
	}
	g.send(nil, "gdb-set", "may-call-functions", "on")
}

// heard keeps what gdb prints for a call.
func (g *gdb) heard(r mi.Record) {
	if r.Type == mi.Console && len(g.captures) > 0 && g.captures[0].Len()+len(r.Text) <= maxConsole {
		g.captures[0].WriteString(r.Text)
	}
}
