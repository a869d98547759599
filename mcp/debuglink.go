package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"sync"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/gdbsync"
	"github.com/stem-hw/stem-hw/gdbsync/mi"
)

// DebugLink keeps connections to the gdb of a session.
type DebugLink struct {
	mu   sync.Mutex
	idle []*debugConn
}

type debugConn struct {
	c net.Conn
	r *bufio.Reader
}

// maxAnswer bounds one answer of gdb's.
const maxAnswer = 8 << 20

// Close ends the connections.
func (l *DebugLink) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.idle {
		_ = c.c.Close()
	}
	l.idle = nil
}

func (l *DebugLink) take() *debugConn {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := len(l.idle); n > 0 {
		c := l.idle[n-1]
		l.idle = l.idle[:n-1]
		return c
	}
	return nil
}

func (l *DebugLink) give(c *debugConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.idle = append(l.idle, c)
}

// reply is gdb's answer.
type reply struct {
	mi.Record
	Console string
}

// gdb asks the session's gdb for one operation.
func (p *Place) gdb(ctx context.Context, c gdbsync.Call) (reply, error) {
	if err := p.running(); err != nil {
		return reply{}, err
	}
	// A kept connection may be of a gdb that ended: a fresh one is tried then.
	for {
		conn := p.Debug.take()
		fresh := conn == nil
		if fresh {
			n, err := p.Inside.Dial(ctx, p.Record.Folder().Calls())
			if err != nil {
				return reply{}, noGdb(err.Error())
			}
			conn = &debugConn{n, bufio.NewReaderSize(n, 64<<10)}
		}
		a, err := conn.ask(ctx, c)
		if err == nil {
			p.Debug.give(conn)
			return a.reply()
		}
		_ = conn.c.Close()
		if ctx.Err() != nil {
			return reply{}, context.Cause(ctx)
		}
		if fresh {
			return reply{}, noGdb(err.Error())
		}
	}
}

func (d *debugConn) ask(ctx context.Context, c gdbsync.Call) (answer, error) {
	stop := context.AfterFunc(ctx, func() { _ = d.c.Close() })
	defer stop()
	line, err := json.Marshal(c)
	if err != nil {
		return answer{}, err
	}
	if _, err := d.c.Write(append(line, '\n')); err != nil {
		return answer{}, err
	}
	text, err := readMessageLine(d.r, maxAnswer)
	if err != nil {
		return answer{}, err
	}
	var a answer
	if err := json.Unmarshal(text, &a); err != nil {
		return answer{}, err
	}
	return a, nil
}

type answer gdbsync.Answer

// reply reads gdb's record; an error of gdb's is a fault.
func (a answer) reply() (reply, error) {
	r, err := mi.Parse(a.Record)
	if err != nil {
		return reply{}, noGdb(err.Error())
	}
	if r.Class == "error" {
		return reply{}, &faults.Fault{
			Code: faults.CodeTargetFailed, Status: faults.StatusTarget, Summary: "gdb refused", Seen: Clean(r.Results.Str("msg")),
		}
	}
	if r.Type != mi.Result {
		return reply{}, noGdb(fmt.Sprintf("an answer of the kind %q", r.Type))
	}
	return reply{r, a.Console}, nil
}

// guard is what bounds an operation that reads memory or evaluates something.
func (p *Place) guard() *gdbsync.Guard { return &gdbsync.Guard{Regions: plainMemory(p.Record.Profile)} }

// halted is a fault unless the program stands.
func (p *Place) halted() (*gdbsync.State, error) {
	s, err := p.sync()
	if err != nil {
		return nil, err
	}
	if s.State != gdbsync.Stopped {
		return nil, &faults.Fault{
			Code: faults.CodeTargetFailed, Status: faults.StatusTarget, Summary: "the program does not stand", Seen: string(s.State), Wanted: "stopped",
			Try: []string{"debug_halt, on the level assist"},
		}
	}
	return s, nil
}
