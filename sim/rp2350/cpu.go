package rp2350

import (
	"fmt"

	"github.com/stem-hw/stem-hw/sim/bus"
	"github.com/stem-hw/stem-hw/sim/hazard3"
	"github.com/stem-hw/stem-hw/sim/machine"
	"github.com/stem-hw/stem-hw/target"
)

// cpu is what the chip needs of a core, whatever its architecture.
type cpu interface {
	machine.Core
	// Run executes until the core's clock reaches limit or it cannot go on.
	Run(limit uint64) bus.Reason
	// Shorten lowers the limit of the Run in progress.
	Shorten(limit uint64)
	// Map replaces the windows.
	Map(ws []bus.Window)
	// Reset puts the core into its reset state.
	Reset()
	// SetIRQs sets the levels of the 52 system interrupts.
	SetIRQs(lines uint64)
	// SetTimer and SetSoft set the levels of the machine timer and software
	// interrupts, which only RISC-V has.
	SetTimer(on bool)
	SetSoft(on bool)
	// CanWake reports whether a sleeping core has a reason to go on.
	CanWake() bool
	// HaltNow puts a core that does not run at this moment into Debug state.
	HaltNow()
	// Registers describes the registers for a debugger.
	Registers() []target.Register
	// SetSemihost installs the handler of semihosting breakpoints, or nil.
	SetSemihost(f func() bool)
	// EnterROM is what the ROM's first instructions leave in the registers.
	EnterROM()
	// PostEvent latches an event (h3.block, WFE).
	PostEvent()
	// InvalidateCode drops decoded code in [lo, hi).
	InvalidateCode(lo, hi uint32)
	// ClockAt is where the core counts its cycles; SetClock moves it.
	ClockAt() *uint64
	SetClock(cycle uint64)
	// SkipTo moves it forward while the core does not run. In Debug state its
	// own counters stand still.
	SkipTo(cycle uint64)
	// SetTrace installs a callback before each instruction, or nil.
	SetTrace(f func(pc uint32))

	// Arg and SetResult are the calling convention as ROM functions see it;
	// Arg(4) and on may be on the stack (Arm).
	Arg(n int) uint32
	SetResult(v uint32)
	// ReturnAddress is where a called function returns to.
	ReturnAddress() uint32
	// Refresh makes again what is derived from the core's state.
	Refresh()
	// TrapText tells about an exception that was taken just now, or is empty.
	TrapText() string
	// StopOnEbreak makes breakpoint instructions enter Debug state.
	StopOnEbreak(on bool)
	// Looping reports whether the core repeats one exception for ever.
	Looping() bool
	// Enter starts the core at an image's entry as the boot ROM does: vector
	// is the vector table (0: leave it in ROM).
	Enter(pc, sp, vector uint32)
}

// riscv is a Hazard3 hart as a cpu.
type riscv struct {
	*hazard3.Core
}

func (r riscv) SetTrace(f func(pc uint32)) { r.Core.Tracer = f }
func (r riscv) SetSemihost(f func() bool)  { r.Core.Semihost = f }

// TrapText implements cpu.
func (r riscv) TrapText() string {
	const justNow = 100_000 // cycles: a handler may print before it hangs
	t := r.Core.LastTrap()
	if t.Count == 0 || r.Core.Cycle > t.Cycle+justNow {
		return ""
	}
	return fmt.Sprintf("%s at %#08x", hazard3.Describe(t), t.PC)
}

// EnterROM implements cpu: gp and sp are misaligned on purpose.
func (r riscv) EnterROM() {
	r.Core.X[regGP], r.Core.X[regSP] = romGP, romGP
	r.Core.SetCSR(csrMtvec, romTrapVector)
}

// Registers and CSRs by number that ROM emulation touches.
const (
	regRA, regSP, regGP = 1, 2, 3
	regA0               = 10
	csrMtvec            = 0x305
	csrMsleep           = 0xbf0
)

func (r riscv) ClockAt() *uint64      { return &r.Core.Cycle }
func (r riscv) SetClock(cycle uint64) { r.Core.Cycle = cycle }
func (r riscv) SetTimer(on bool)      { r.Core.SetMTIP(on) }
func (r riscv) SetSoft(on bool)       { r.Core.SetMSIP(on) }
func (r riscv) Arg(n int) uint32      { return r.Core.X[regA0+n] }
func (r riscv) SetResult(v uint32)    { r.Core.X[regA0] = v }
func (r riscv) ReturnAddress() uint32 { return r.Core.X[regRA] }

// romGP is what an image finds in gp: misaligned on purpose, so that code that
// uses it before setting it faults (pico-bootrom riscv_bootrom_rt0.S).
const romGP = 0xffffffe1

func (r riscv) Enter(pc, sp, vector uint32) {
	if vector != 0 {
		r.Core.SetCSR(csrMtvec, vector)
	}
	r.Core.X[regSP] = sp
	r.Core.X[regGP] = romGP
	r.Core.X[regRA] = romReturnAddr
	r.Core.SetCSR(csrMsleep, 0)
	r.Core.SetPC(pc)
}
