package board

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/stem-hw/stem-hw/board"
	"github.com/stem-hw/stem-hw/gdbserver"
	"github.com/stem-hw/stem-hw/semihost"
	"github.com/stem-hw/stem-hw/sim"
	"github.com/stem-hw/stem-hw/target"
)

func eventFrame(e Event) frame {
	body, err := json.Marshal(e)
	if err != nil {
		// Strings and numbers always marshal.
		panic(err)
	}
	return frame{kindJSON, body}
}

// console serves a connection as a console until it ends.
func (ss *session) console(ctx context.Context, r *request) error {
	s := ss.s
	wishes := ConsoleWishes{}
	if r.Console != nil {
		wishes = *r.Console
	}
	s.mu.Lock()
	a := answer{Info: s.describe()}
	rd := s.hub.attach(wishes.History)
	ss.listens = true
	if s.last != nil && wishes.History {
		rd.put(eventFrame(*s.last))
	}
	if s.closing {
		rd.close()
	}
	s.mu.Unlock()
	var sending sync.WaitGroup
	defer func() {
		s.hub.detach(rd)
		sending.Wait()
	}()
	if err := ss.w.sendJSON(a); err != nil {
		return err
	}
	sending.Add(1)
	go func() {
		defer sending.Done()
		// Whatever ends the sending, the connection is over.
		defer ss.hangUp()
		for {
			frames, lost := rd.next()
			if frames == nil {
				return
			}
			for _, f := range frames {
				if ss.w.send(f.kind, f.body) != nil {
					return
				}
			}
			if lost > 0 {
				f := eventFrame(Event{Event: "lost", Text: fmt.Sprintf("%d bytes were lost: the console is too slow", lost)})
				if ss.w.send(f.kind, f.body) != nil {
					return
				}
			}
		}
	}()
	for {
		f, err := readFrame(ss.w.c)
		if err != nil {
			return err
		}
		if f.kind == kindData {
			s.typed(f.body)
			continue
		}
		var q request
		if err := json.Unmarshal(f.body, &q); err != nil {
			return err
		}
		if q.Op != opReset {
			return fmt.Errorf("%w: %s in a console", errFrame, q.Op)
		}
		s.mu.Lock()
		err = s.exclusive(ss)
		if err == nil {
			err = s.reset(ctx, q.Reset)
		}
		s.mu.Unlock()
		if err != nil {
			rd.put(eventFrame(Event{Event: "refused", Text: err.Error()}))
		}
	}
}

// typed gives input to the program. Without a program it is lost, as on a wire.
func (s *Server) typed(p []byte) {
	s.mu.Lock()
	t, running := s.t, s.mode == board.ModeRunning
	s.mu.Unlock()
	if t == nil || !running {
		return
	}
	_, _ = t.Console().Write(p)
}

// debug serves a connection as gdb's.
func (ss *session) debug(ctx context.Context, r *request) error {
	s := ss.s
	o := GdbOptions{RTOS: "auto"}
	if r.Gdb != nil {
		o = *r.Gdb
	}
	s.mu.Lock()
	err := s.exclusive(ss)
	if err == nil && s.gdb {
		err = busy(s.place.Selector(), User{Verb: "gdb"})
	}
	var server *gdbserver.Server
	var con *gdbConsole
	if err == nil {
		con = newGdbConsole(s.t)
		opt := gdbserver.Options{
			Target: gdbTarget{s.t, con}, ELF: s.elf, ELFPath: o.ELFPath, RTOS: o.RTOS, Protect: Protected,
			Notify: func(text string) { s.log("%s", text) },
		}
		if o.Log {
			opt.Log = logWriter(s.log)
		}
		if o.Files != "" {
			var files *semihost.Files
			if files, err = semihost.OpenDir(o.Files); err == nil {
				defer files.Close()
				opt.Files = GdbFiles(files)
			}
		}
		if err == nil {
			server, err = gdbserver.New(opt)
		}
	}
	if err != nil {
		s.mu.Unlock()
		if con != nil {
			con.close()
		}
		return ss.w.sendJSON(answer{Fault: toWire(err)})
	}
	s.stopWatching()
	s.gdb = true
	before := s.mode
	s.mode = board.ModeHalted
	s.hub.setTap(server.Print)
	s.mu.Unlock()
	if err := ss.w.sendJSON(answer{}); err == nil {
		server.ServeConn(ctx, ss.w.c)
	}
	s.hub.setTap(nil)
	con.close()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gdb = false
	s.afterGdb(before)
	return io.EOF
}

// afterGdb finds out what gdb left behind. s.mu is held.
func (s *Server) afterGdb(before board.Mode) {
	if s.t == nil {
		return
	}
	now, cancel := context.WithCancel(context.Background())
	cancel()
	stop, err := s.t.Wait(now)
	switch {
	case errors.Is(err, target.ErrRunning):
		s.watch()
	case stop.Reason == target.StopExit || stop.Reason == target.StopCrash:
		s.ended(stop)
	case before == board.ModeBootsel || before == board.ModeEnded:
		s.mode, s.detail = board.ModeHalted, "where gdb left it"
	default:
		s.mode, s.detail = board.ModeHalted, fmt.Sprintf("where gdb left it, core 0 at 0x%08x", stop.PC)
	}
}

// Protected are the ranges that no debugger writes: one-time-programmable memory
// and its registers (RP2350 datasheet 13.9).
var Protected = []target.Region{{Name: "OTP", Base: 0x40120000, Size: 0x20000}}

// gdbTarget is the board's target with a console of gdb's own.
type gdbTarget struct {
	*sim.FlashTarget
	con *gdbConsole
}

// Console implements target.Target.
func (g gdbTarget) Console() io.ReadWriter { return g.con }

// gdbConsole is the program's input for gdb's monitor commands. Output goes to
// the gdb server as it is printed, not through Read.
type gdbConsole struct {
	t    *sim.FlashTarget
	once sync.Once
	over chan struct{}
}

func newGdbConsole(t *sim.FlashTarget) *gdbConsole {
	return &gdbConsole{t: t, over: make(chan struct{})}
}

func (c *gdbConsole) close() { c.once.Do(func() { close(c.over) }) }

// Read waits until gdb has left.
func (c *gdbConsole) Read([]byte) (int, error) {
	<-c.over
	return 0, io.EOF
}

// Write is the program's standard input.
func (c *gdbConsole) Write(p []byte) (int, error) { return c.t.Console().Write(p) }
