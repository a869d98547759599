package board

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"golang.org/x/sys/unix"

	"github.com/stem-hw/stem-hw/board"
	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/sim/machine"
)

// session is one connection to a server.
type session struct {
	s    *Server
	w    *wire
	user User
	// listens says that the connection is a console: it ends once it has seen
	// everything.
	listens bool
}

// helloTime is how long a client may take to say hello.
const helloTime = 10 * time.Second

func (ss *session) hangUp() { _ = ss.w.c.Close() }

// serve serves one connection.
func (s *Server) serve(ctx context.Context, c net.Conn) {
	defer c.Close()
	ss := &session{s: s, w: &wire{c: c}}
	_ = c.SetReadDeadline(time.Now().Add(helloTime))
	var h hello
	if err := ss.w.readJSON(&h); err != nil {
		s.log("a client that says nothing sensible: %v", err)
		return
	}
	_ = c.SetReadDeadline(time.Time{})
	answer := hello{Protocol: Protocol, Version: s.opt.Version, PID: s.pid, Dir: s.place.Dir}
	if h.Protocol != Protocol {
		answer.Fault = toWire(versionFault(s.place, h.Version, h.Protocol, s.opt.Version, Protocol))
		_ = ss.w.sendJSON(answer)
		return
	}
	ss.user = User{PID: peerPID(c, h.PID), Verb: h.Verb, Since: time.Now().UTC().Truncate(time.Second)}
	s.mu.Lock()
	s.sessions[ss] = true
	s.touch()
	s.mu.Unlock()
	defer s.leave(ss)
	if ss.w.sendJSON(answer) != nil {
		return
	}
	for {
		var r request
		err := ss.w.readJSON(&r)
		if err == nil {
			err = ss.request(ctx, &r)
		}
		if err != nil {
			if !errors.Is(err, io.EOF) && !errors.Is(err, net.ErrClosed) && ctx.Err() == nil {
				s.log("%s: %v", ss.user, err)
			}
			return
		}
	}
}

// peerPID is who is at the other end, by the kernel's word if it has one.
func peerPID(c net.Conn, said int) int {
	u, ok := c.(*net.UnixConn)
	if !ok {
		return said
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return said
	}
	pid := said
	_ = raw.Control(func(fd uintptr) {
		if cred, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil && cred.Pid > 0 {
			pid = int(cred.Pid)
		}
	})
	return pid
}

// leave forgets a client and gives back what it held.
func (s *Server) leave(ss *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sessions, ss)
	s.touch()
	s.release(ss)
}

// release ends a hold or a lend. s.mu is held.
func (s *Server) release(ss *session) {
	if s.holder != ss {
		return
	}
	s.holder = nil
	if s.closing {
		return
	}
	if s.lent {
		s.takeBack()
		return
	}
	if err := s.save(); err != nil {
		s.log("%v", err)
	}
}

// takeBack takes a lent board back. s.mu is held.
func (s *Server) takeBack() {
	var lock *Lock
	var err error
	// The borrower is gone or about to go: its lock goes with it.
	for range 100 {
		if lock, err = s.place.TakeLock(ServerVerb); err == nil {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	var c *Contents
	if err == nil {
		c, err = s.place.Load()
	}
	if err == nil {
		s.lock, s.saved, s.savedProgram, s.lent = lock, c, c.Program, false
		if !samePath(s.program, c.Program) {
			s.elf, s.symbols = nil, nil
		}
		s.program = c.Program
		err = s.power(c)
	}
	if err != nil {
		s.log("the lent board does not come back: %v", err)
		lock.Release()
		s.stop()
		return
	}
	s.hub.event(Event{Event: "back", Text: "the board is back"})
	s.mode, s.detail = board.ModeHalted, "held in reset"
}

func samePath(a, b *Program) bool { return a != nil && b != nil && *a == *b }

func versionFault(p Place, clientVersion string, client int, serverVersion string, server int) error {
	return &faults.Fault{
		Code: faults.CodeVersion, Status: faults.StatusTarget,
		Summary: "the simulated board " + p.Selector() + " is served by another version of stem-hw",
		Seen:    fmt.Sprintf("protocol %d of stem-hw %s", server, serverVersion),
		Wanted:  fmt.Sprintf("protocol %d of stem-hw %s", client, clientVersion),
		Try:     []string{"stem-hw sim stop " + p.Name},
	}
}

// request serves one request. An error ends the connection.
func (ss *session) request(ctx context.Context, r *request) error {
	if r.Data < 0 || r.Data > maxData {
		return errFrame
	}
	var data []byte
	if r.Data > 0 {
		var err error
		if data, err = ss.w.readData(r.Data); err != nil {
			return err
		}
	}
	switch r.Op {
	case opConsole:
		return ss.console(ctx, r)
	case opGdb:
		return ss.debug(ctx, r)
	}
	ss.s.mu.Lock()
	a, out, err := ss.do(ctx, r, data)
	ss.s.mu.Unlock()
	a.Fault, a.Data = toWire(err), len(out)
	if err != nil {
		a.Data, out = 0, nil
	}
	if err := ss.w.sendJSON(a); err != nil {
		return err
	}
	if r.Op == opStop {
		ss.s.log("told to stop by %s", ss.user)
		ss.s.stop()
	}
	if len(out) == 0 {
		return nil
	}
	return ss.w.send(kindData, out)
}

// do carries out one request. s.mu is held.
func (ss *session) do(ctx context.Context, r *request, data []byte) (a answer, out []byte, err error) {
	s := ss.s
	switch r.Op {
	case opDescribe:
		a.Info = s.describe()
		return a, nil, nil
	case opStop:
		return a, nil, nil
	}
	if err := s.exclusive(ss); err != nil {
		return a, nil, err
	}
	switch r.Op {
	case opStats:
		st := s.t.Stats()
		a.Stats, a.Info = &st, s.describe()
	case opHold:
		if s.gdb {
			return a, nil, busy(s.place.Selector(), User{Verb: "gdb"})
		}
		s.holder = ss
		a.Info = s.describe()
		if r.Reset != "" {
			err = s.reset(ctx, r.Reset)
		}
	case opRelease:
		s.release(ss)
	case opLend:
		err = s.lend(ss)
	case opRead:
		out, err = s.read(ctx, r.Addr, r.N)
	case opReset:
		err = s.reset(ctx, r.Reset)
	case opErase, opProgram, opAdopt, opLoad:
		if s.holder != ss {
			return a, nil, faults.Internal(fmt.Errorf("%s without a hold", r.Op))
		}
		err = s.change(ctx, r, data)
	default:
		err = faults.Internal(fmt.Errorf("no request %q", string(r.Op)))
	}
	return a, out, err
}

// change carries out a request that changes the board. s.mu is held.
func (s *Server) change(ctx context.Context, r *request, data []byte) error {
	switch {
	case r.Op == opErase:
		return s.t.EraseFlash(ctx, r.Addr, r.N)
	case r.Op == opProgram:
		return s.t.ProgramFlash(ctx, r.Addr, data)
	case r.Op == opAdopt && r.Adopt != nil:
		if err := s.adopt(r.Adopt, data); err != nil {
			return err
		}
		return s.save()
	case r.Op == opLoad && r.Image != nil:
		return s.load(ctx, r.Image, data)
	}
	return errFrame
}

// maxRead bounds one read.
const maxRead = 1 << 20

// read reads flash by storage address, or memory as core 0 sees it. s.mu is held.
func (s *Server) read(ctx context.Context, addr, n uint32) ([]byte, error) {
	if n > maxRead {
		return nil, errFrame
	}
	p := make([]byte, n)
	if size := s.chip.Flash().Size(); addr >= flashBase && uint64(addr)+uint64(n) <= flashBase+uint64(size) {
		err := s.t.Do(ctx, func(machine.Machine) { copy(p, s.chip.Flash().Bytes()[addr-flashBase:]) })
		return p, err
	} else if addr >= flashBase && addr < 0x12000000 {
		return nil, outsideFlash(addr, n, size)
	}
	if err := s.t.ReadMemory(ctx, 0, addr, p); err != nil {
		return nil, err
	}
	return p, nil
}

// lend gives the board's file to a client's process until that is done. s.mu is
// held.
func (s *Server) lend(ss *session) error {
	if s.gdb {
		return busy(s.place.Selector(), User{Verb: "gdb"})
	}
	s.stopWatching()
	if err := s.save(); err != nil {
		return err
	}
	_ = s.t.Close()
	s.t, s.chip = nil, nil
	s.holder, s.lent = ss, true
	s.lock.Release()
	s.lock = nil
	s.mode, s.detail = board.ModeUsed, ss.user.String()
	s.hub.event(Event{Event: "used", Text: ss.user.String() + " uses the board"})
	return nil
}
