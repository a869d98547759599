package probe

import (
	"context"
	"encoding/binary"

	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/probe/dap"
	"github.com/stem-hw/stem-hw/semihost"
	"github.com/stem-hw/stem-hw/target"
)

// Count is the number of cores of an RP2350.
const Count = cores

// CoreState is what a core does.
type CoreState struct {
	Halted, Sleeping, LockedUp bool
}

// Cores is the pair of cores of one architecture, as somebody else reaches them.
// Masks have a bit for each core.
type Cores interface {
	Arch() image.Arch
	// Registers are a core's, in gdb's numbering; Limits the numbers of its
	// breakpoint and watchpoint comparators.
	Registers() []target.Register
	Limits() (breakpoints, watchpoints int)
	// States says what the cores do, and whether one was reset since the last
	// TakeReset.
	States(ctx context.Context) (s [Count]CoreState, reset bool, err error)
	TakeReset(ctx context.Context) error
	// Enable makes the halted cores stop at breakpoint instructions.
	Enable(ctx context.Context) error
	Halt(ctx context.Context, mask uint32) error
	Resume(ctx context.Context, mask uint32) error
	Step(ctx context.Context, core int) error
	// Stopped says why and where a core stopped.
	Stopped(ctx context.Context, core int) (target.Stop, error)
	Register(ctx context.Context, core, num int) (uint64, error)
	SetRegister(ctx context.Context, core, num int, v uint64) error
	PC(ctx context.Context, core int) (uint32, error)
	SetPC(ctx context.Context, core int, pc uint32) error
	// Points puts hardware points into force on both cores, in place of those
	// before; NeedsHalt says that the cores have to be halted for it.
	Points(ctx context.Context, ps []target.Point) error
	NeedsHalt() bool
	// Read and Write access memory as a core sees it; halted says that it is.
	// What the bus refuses is a *mem.Error.
	Read(ctx context.Context, core int, addr uint32, p []byte, halted bool) error
	Write(ctx context.Context, core int, addr uint32, p []byte, halted bool) error
	// Enter prepares a halted core to execute code, privileged and with
	// interrupts off.
	Enter(ctx context.Context, core int, pc, sp uint32, args ...uint32) error
	// CatchReset makes both cores stop at their reset vector; ResetCores resets
	// them and nothing else.
	CatchReset(ctx context.Context, on bool) error
	ResetCores(ctx context.Context) error
	// Forget drops what is known of registers: the chip was reset.
	Forget()
	// Release takes back what was changed and lets the cores run.
	Release(ctx context.Context) error
	// Crash says in words what faulted.
	Crash(ctx context.Context, core int) string
}

// Way is a way to the cores that is not this package's own: a program that
// debugs them.
type Way interface {
	// Examine finds out what the cores are now, which a reset may have changed.
	Examine(ctx context.Context) (Cores, [Count]image.Arch, error)
	// Rescue resets the chip past everything that hangs, except its debug port.
	Rescue(ctx context.Context) error
	// DPIDR is the debug port's identification, 0 if it is not known.
	DPIDR() uint32
	// Clock of the wires in Hz, 0 if it is not known; Info is what the probe says
	// of itself.
	Clock() uint32
	Info() dap.Info
	// Explain turns an error into a fault, or returns it. Lost reports whether the
	// way is gone for good.
	Explain(err error) error
	Lost(err error) bool
	Close() error
}

// OpenWay is Open by another way, which belongs to the target from here on, also
// after an error.
func OpenWay(ctx context.Context, w Way, o Options) (*Target, error) {
	if o.Notice == nil {
		o.Notice = func(string) {}
	}
	if o.CloseTime == 0 {
		o.CloseTime = closeTime
	}
	t := &Target{o: o, way: w, soft: map[uint32][]byte{}, run: both, con: newConsole(o.Output)}
	var err error
	if o.Rescue {
		err = t.attachRescued(ctx)
	} else {
		err = t.examineSettled(ctx)
	}
	if err == nil && o.Semihosting != nil {
		so := *o.Semihosting
		so.Console = semihostConsole{t.con}
		so.Notice = o.Notice
		t.host, err = semihost.New(so)
	}
	if err != nil {
		err = t.explained(err)
		_ = w.Close()
		return nil, err
	}
	t.con.request = t.typed
	return t, nil
}

// wayCores are cores that somebody else reaches.
type wayCores struct{ Cores }

func (w wayCores) arch() image.Arch                    { return w.Arch() }
func (w wayCores) registers() []target.Register        { return w.Registers() }
func (w wayCores) limits() (int, int)                  { return w.Limits() }
func (w wayCores) takeReset(ctx context.Context) error { return w.TakeReset(ctx) }
func (w wayCores) enable(ctx context.Context) error    { return w.Enable(ctx) }

func (w wayCores) states(ctx context.Context) (s [cores]coreState, reset bool, err error) {
	all, reset, err := w.States(ctx)
	for i, c := range all {
		s[i] = coreState{halted: c.Halted, sleeping: c.Sleeping, lockedUp: c.LockedUp}
	}
	return s, reset, err
}

func (w wayCores) halt(ctx context.Context, mask uint32) error   { return w.Halt(ctx, mask) }
func (w wayCores) resume(ctx context.Context, mask uint32) error { return w.Resume(ctx, mask) }
func (w wayCores) step(ctx context.Context, core int) error      { return w.Step(ctx, core) }

func (w wayCores) stopped(ctx context.Context, core int) (target.Stop, error) {
	return w.Stopped(ctx, core)
}

func (w wayCores) register(ctx context.Context, core, num int) (uint64, error) {
	return w.Register(ctx, core, num)
}

func (w wayCores) setRegister(ctx context.Context, core, num int, v uint64) error {
	return w.SetRegister(ctx, core, num, v)
}

func (w wayCores) pc(ctx context.Context, core int) (uint32, error) { return w.PC(ctx, core) }

func (w wayCores) setPC(ctx context.Context, core int, pc uint32) error {
	return w.SetPC(ctx, core, pc)
}

func (w wayCores) points(ctx context.Context, ps []target.Point) error { return w.Points(ctx, ps) }
func (w wayCores) needsHalt() bool                                     { return w.NeedsHalt() }

func (w wayCores) read(ctx context.Context, core int, addr uint32, p []byte, halted bool) error {
	return w.Read(ctx, core, addr, p, halted)
}

func (w wayCores) write(ctx context.Context, core int, addr uint32, p []byte, halted bool) error {
	return w.Write(ctx, core, addr, p, halted)
}

func (w wayCores) enter(ctx context.Context, core int, pc, sp uint32, args ...uint32) error {
	return w.Enter(ctx, core, pc, sp, args...)
}

func (w wayCores) catchReset(ctx context.Context, on bool) error { return w.CatchReset(ctx, on) }
func (w wayCores) resetCores(ctx context.Context) error          { return w.ResetCores(ctx) }
func (w wayCores) forget()                                       { w.Forget() }
func (w wayCores) release(ctx context.Context) error             { return w.Release(ctx) }
func (w wayCores) crash(ctx context.Context, core int) string    { return w.Crash(ctx, core) }

func (w wayCores) semihosting(ctx context.Context, core int, pc uint32) (arg0, arg1 int, next uint32, ok bool) {
	if w.Arch() == image.ArchARM {
		var b [2]byte
		if w.Read(ctx, core, pc, b[:], true) != nil {
			return 0, 0, 0, false
		}
		return 0, 1, pc + 2, binary.LittleEndian.Uint16(b[:]) == thumbSemihost
	}
	var b [callLength]byte
	if w.Read(ctx, core, pc-breakPlace, b[:], true) != nil {
		return 0, 0, 0, false
	}
	word := func(i int) uint32 { return binary.LittleEndian.Uint32(b[i:]) }
	return riscvA0, riscvA0 + 1, pc + behindEbreak, word(0) == shiftBefore && word(4) == ebreak && word(8) == shiftBehind
}

func (w wayCores) breakpoint(length uint32) []byte {
	if w.Arch() == image.ArchARM {
		return (*armCores)(nil).breakpoint(length)
	}
	return (*riscvCores)(nil).breakpoint(length)
}
