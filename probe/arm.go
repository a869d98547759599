package probe

import (
	"context"
	"encoding/binary"

	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/probe/cortexm"
	"github.com/stem-hw/stem-hw/probe/mem"
	"github.com/stem-hw/stem-hw/probe/swd"
	"github.com/stem-hw/stem-hw/target"
)

// armCores are two Cortex-M33.
type armCores struct {
	catch bool // faults stop the core
	core  [cores]*cortexm.Core
	owner [cores][]int
	// watched are the points that owner counts in.
	watched []target.Point
}

func openArm(ctx context.Context, port *swd.Port, catch bool) (*armCores, error) {
	a := &armCores{catch: catch}
	for i := range a.core {
		ap, err := mem.Open(ctx, port, apCore0+uint32(i)*(apCore1-apCore0), mem.AHB, true)
		if err != nil {
			return nil, err
		}
		if err := checkLock(ap.Status()); err != nil {
			return nil, err
		}
		if a.core[i], err = cortexm.Open(ctx, ap); err != nil {
			return nil, err
		}
	}
	return a, nil
}

func (a *armCores) arch() image.Arch             { return image.ArchARM }
func (a *armCores) registers() []target.Register { return cortexm.Registers() }
func (a *armCores) limits() (int, int)           { return a.core[0].Breakpoints(), a.core[0].Watchpoints() }
func (a *armCores) needsHalt() bool              { return false }

func (a *armCores) states(ctx context.Context) (s [cores]coreState, reset bool, err error) {
	for i, c := range a.core {
		st, err := c.Status(ctx)
		if err != nil {
			return s, false, err
		}
		s[i] = coreState{halted: st.Halted, sleeping: st.Sleeping, lockedUp: st.LockedUp}
		reset = reset || st.Reset
	}
	return s, reset, nil
}

func (a *armCores) takeReset(context.Context) error {
	for _, c := range a.core {
		c.TakeReset()
	}
	return nil
}

// enable turns the trace units on, and vector catch as it is wanted; halting debug
// is on once a core is halted.
func (a *armCores) enable(ctx context.Context) error {
	return a.each(both, func(c *cortexm.Core) error { return c.CatchFaults(ctx, a.catch) })
}

// each does f with the cores of a mask.
func (a *armCores) each(mask uint32, f func(c *cortexm.Core) error) error {
	for i, c := range a.core {
		if mask>>i&1 != 0 {
			if err := f(c); err != nil {
				return err
			}
		}
	}
	return nil
}

func (a *armCores) halt(ctx context.Context, mask uint32) error {
	return a.each(mask, func(c *cortexm.Core) error { return c.Halt(ctx) })
}

// resume lets core 1 go first: core 0 may switch the chip to the other
// architecture as soon as it runs, which takes the access to both away.
func (a *armCores) resume(ctx context.Context, mask uint32) error {
	for i := cores - 1; i >= 0; i-- {
		if mask>>i&1 != 0 {
			if err := a.core[i].Resume(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

func (a *armCores) step(ctx context.Context, core int) error { return a.core[core].Step(ctx) }

func (a *armCores) stopped(ctx context.Context, core int) (target.Stop, error) {
	c := a.core[core]
	cause, matched, err := c.Cause(ctx)
	if err != nil {
		return target.Stop{}, err
	}
	s := target.Stop{Core: core, Reason: target.StopHalt}
	if s.PC, err = c.PC(ctx); err != nil {
		return s, err
	}
	switch cause {
	case cortexm.CauseBreakpoint:
		s.Reason = target.StopBreakpoint
	case cortexm.CauseCatch:
		s.Reason = target.StopCrash
	case cortexm.CauseWatch:
		s.Reason = target.StopWatchpoint
		for _, m := range matched {
			if m < len(a.owner[core]) && a.owner[core][m] >= 0 {
				s.Point = a.watched[a.owner[core][m]]
				s.Addr = s.Point.Addr
			}
		}
	}
	return s, nil
}

func (a *armCores) register(ctx context.Context, core, num int) (uint64, error) {
	return a.core[core].Register(ctx, num)
}

func (a *armCores) setRegister(ctx context.Context, core, num int, v uint64) error {
	return a.core[core].SetRegister(ctx, num, v)
}

func (a *armCores) pc(ctx context.Context, core int) (uint32, error) { return a.core[core].PC(ctx) }

func (a *armCores) setPC(ctx context.Context, core int, pc uint32) error {
	return a.core[core].SetPC(ctx, pc)
}

func (a *armCores) points(ctx context.Context, ps []target.Point) error {
	for i, c := range a.core {
		owner, err := c.SetPoints(ctx, ps)
		if err != nil {
			return err
		}
		a.owner[i] = owner
	}
	a.watched = append([]target.Point(nil), ps...)
	return nil
}

func (a *armCores) read(ctx context.Context, core int, addr uint32, p []byte, _ bool) error {
	return a.core[core].Memory().Read(ctx, addr, p)
}

func (a *armCores) write(ctx context.Context, core int, addr uint32, p []byte, _ bool) error {
	return a.core[core].Memory().Write(ctx, addr, p)
}

func (a *armCores) enter(ctx context.Context, core int, pc, sp uint32, args ...uint32) error {
	return a.core[core].Enter(ctx, pc, sp, args...)
}

func (a *armCores) catchReset(ctx context.Context, on bool) error {
	return a.each(both, func(c *cortexm.Core) error { return c.CatchReset(ctx, on) })
}

// resetCores resets core 1 first: it then waits in the ROM for core 0.
func (a *armCores) resetCores(ctx context.Context) error {
	for i := cores - 1; i >= 0; i-- {
		if err := a.core[i].RequestReset(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (a *armCores) forget() {
	for _, c := range a.core {
		c.Forget()
	}
}

func (a *armCores) release(ctx context.Context) error {
	return a.each(both, func(c *cortexm.Core) error { return c.Release(ctx) })
}

// Instructions: bkpt 0xab is a semihosting call, bkpt 0x11 a breakpoint.
const (
	thumbSemihost = 0xbeab
	thumbBreak    = 0xbe11
)

func (a *armCores) semihosting(ctx context.Context, core int, pc uint32) (arg0, arg1 int, next uint32, ok bool) {
	var b [2]byte
	if a.read(ctx, core, pc, b[:], true) != nil {
		return 0, 0, 0, false
	}
	return 0, 1, pc + 2, binary.LittleEndian.Uint16(b[:]) == thumbSemihost
}

func (a *armCores) crash(ctx context.Context, core int) string {
	text, err := a.core[core].Fault(ctx)
	if err != nil || text == "" {
		return aFault
	}
	return text
}

// aFault is a crash of which the registers say nothing.
const aFault = "a fault"

func (a *armCores) breakpoint(uint32) []byte {
	return binary.LittleEndian.AppendUint16(nil, thumbBreak)
}
