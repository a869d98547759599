package probe

import (
	"context"
	"encoding/binary"
	"errors"

	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/probe/mem"
	"github.com/stem-hw/stem-hw/probe/riscvdm"
	"github.com/stem-hw/stem-hw/probe/swd"
	"github.com/stem-hw/stem-hw/target"
)

// riscvCores are two Hazard3 harts behind one Debug Module.
type riscvCores struct {
	m  *riscvdm.Module
	on []uint32 // addresses of hardware breakpoints
}

func openRISCV(ctx context.Context, port *swd.Port) (*riscvCores, error) {
	ap, err := mem.Open(ctx, port, apDebugModule, mem.APB, false)
	if err != nil {
		return nil, err
	}
	if err := checkLock(ap.Status()); err != nil {
		return nil, err
	}
	m, err := riscvdm.Open(ctx, ap)
	if err != nil {
		return nil, err
	}
	return &riscvCores{m: m}, nil
}

func (r *riscvCores) arch() image.Arch             { return image.ArchRISCV }
func (r *riscvCores) registers() []target.Register { return riscvdm.Registers() }
func (r *riscvCores) limits() (int, int)           { return riscvdm.Triggers, 0 }
func (r *riscvCores) needsHalt() bool              { return true }

func (r *riscvCores) states(ctx context.Context) (s [cores]coreState, reset bool, err error) {
	st, err := r.m.Status(ctx)
	if err != nil {
		return s, false, err
	}
	for i := range s {
		s[i].halted = st.Halted>>i&1 != 0
	}
	return s, st.Reset, nil
}

func (r *riscvCores) takeReset(ctx context.Context) error { return r.m.TakeReset(ctx) }

func (r *riscvCores) enable(ctx context.Context) error {
	for i := range cores {
		if err := r.m.Hart(i).Enable(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (r *riscvCores) halt(ctx context.Context, mask uint32) error   { return r.m.Halt(ctx, mask) }
func (r *riscvCores) resume(ctx context.Context, mask uint32) error { return r.m.Resume(ctx, mask) }

// step turns the breakpoint off that would stop the hart before its instruction.
func (r *riscvCores) step(ctx context.Context, core int) error {
	h := r.m.Hart(core)
	if len(r.on) == 0 {
		return h.Step(ctx)
	}
	pc, err := h.PC(ctx)
	if err != nil {
		return err
	}
	here := false
	for _, a := range r.on {
		here = here || a == pc
	}
	if !here {
		return h.Step(ctx)
	}
	if err := h.SetTriggers(ctx, nil); err != nil {
		return err
	}
	if err := h.Step(ctx); err != nil {
		return err
	}
	return h.SetTriggers(ctx, r.on)
}

func (r *riscvCores) stopped(ctx context.Context, core int) (target.Stop, error) {
	cause, pc, err := r.m.Hart(core).Stopped(ctx)
	s := target.Stop{Core: core, PC: pc, Reason: target.StopHalt}
	if cause == riscvdm.CauseEbreak || cause == riscvdm.CauseTrigger {
		s.Reason = target.StopBreakpoint
	}
	return s, err
}

func (r *riscvCores) register(ctx context.Context, core, num int) (uint64, error) {
	return r.m.Hart(core).Register(ctx, num)
}

func (r *riscvCores) setRegister(ctx context.Context, core, num int, v uint64) error {
	return r.m.Hart(core).SetRegister(ctx, num, v)
}

func (r *riscvCores) pc(ctx context.Context, core int) (uint32, error) {
	return r.m.Hart(core).PC(ctx)
}

func (r *riscvCores) setPC(ctx context.Context, core int, pc uint32) error {
	return r.m.Hart(core).SetPC(ctx, pc)
}

func (r *riscvCores) points(ctx context.Context, ps []target.Point) error {
	var on []uint32
	for _, p := range ps {
		if p.Kind != target.PointHardware {
			return errors.New("the cores have no watchpoints")
		}
		on = append(on, p.Addr)
	}
	for i := range cores {
		if err := r.m.Hart(i).SetTriggers(ctx, on); err != nil {
			return err
		}
	}
	r.on = on
	return nil
}

// Addresses that each core sees for itself.
const (
	sioBase = 0xd0000000
	sioEnd  = 0xd0040000
)

// own reports whether a range is one that the module's bus port, which is hart
// 1's, would show wrongly for a core.
func own(addr uint32) bool { return addr >= sioBase && addr < sioEnd }

func (r *riscvCores) read(ctx context.Context, core int, addr uint32, p []byte, halted bool) error {
	if halted && own(addr) {
		return r.m.Hart(core).ReadThrough(ctx, addr, p)
	}
	err := r.m.Read(ctx, addr, p)
	if halted && errors.Is(err, riscvdm.ErrStalled) {
		return r.m.Hart(core).ReadThrough(ctx, addr, p)
	}
	return err
}

func (r *riscvCores) write(ctx context.Context, core int, addr uint32, p []byte, halted bool) error {
	if halted && own(addr) {
		return r.m.Hart(core).WriteThrough(ctx, addr, p)
	}
	err := r.m.Write(ctx, addr, p)
	if halted && errors.Is(err, riscvdm.ErrStalled) {
		return r.m.Hart(core).WriteThrough(ctx, addr, p)
	}
	return err
}

func (r *riscvCores) enter(ctx context.Context, core int, pc, sp uint32, args ...uint32) error {
	return r.m.Hart(core).Enter(ctx, pc, sp, args...)
}

func (r *riscvCores) catchReset(ctx context.Context, on bool) error { return r.m.HaltOnReset(ctx, on) }
func (r *riscvCores) resetCores(ctx context.Context) error          { return r.m.ResetHarts(ctx) }
func (r *riscvCores) forget()                                       { r.m.Forget() }
func (r *riscvCores) release(ctx context.Context) error             { return r.m.Release(ctx) }

// Instructions: a semihosting call is an ebreak between two shifts that do
// nothing.
const (
	shiftBefore  = 0x01f01013 // slli zero, zero, 0x1f
	ebreak       = 0x00100073
	shiftBehind  = 0x40705013 // srai zero, zero, 7
	shortBreak   = 0x9002     // c.ebreak
	riscvA0      = 10
	callLength   = 12
	breakPlace   = 4
	behindEbreak = 4
)

func (r *riscvCores) semihosting(ctx context.Context, core int, pc uint32) (arg0, arg1 int, next uint32, ok bool) {
	var b [callLength]byte
	if r.read(ctx, core, pc-breakPlace, b[:], true) != nil {
		return 0, 0, 0, false
	}
	w := func(i int) uint32 { return binary.LittleEndian.Uint32(b[i:]) }
	return riscvA0, riscvA0 + 1, pc + behindEbreak, w(0) == shiftBefore && w(4) == ebreak && w(8) == shiftBehind
}

// crash tells the exception that a hart has not returned from: interrupts are off,
// as on the way into a handler.
func (r *riscvCores) crash(ctx context.Context, core int) string {
	text, _, err := r.m.Hart(core).Exception(ctx)
	if err != nil {
		return ""
	}
	return text
}

// crashPlace is the instruction that it happened at.
func (r *riscvCores) crashPlace(ctx context.Context, core int) (pc uint32, ok bool) {
	text, pc, err := r.m.Hart(core).Exception(ctx)
	return pc, err == nil && text != ""
}

func (r *riscvCores) breakpoint(length uint32) []byte {
	if length == 2 {
		return binary.LittleEndian.AppendUint16(nil, shortBreak)
	}
	return binary.LittleEndian.AppendUint32(nil, ebreak)
}
