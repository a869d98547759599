package sim

import (
	"time"

	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/semihost"
	"github.com/stem-hw/stem-hw/sim/hazard3"
	"github.com/stem-hw/stem-hw/sim/machine"
	"github.com/stem-hw/stem-hw/symbols"
	"github.com/stem-hw/stem-hw/target"
)

// Speed is how fast simulated time goes.
type Speed string

const (
	// SpeedMax runs as fast as the host can.
	SpeedMax Speed = "max"
	// SpeedReal keeps simulated time and the wall clock together.
	SpeedReal Speed = "real"
)

// Clock is the wall clock.
type Clock interface {
	Now() time.Time
	// After sends once d has passed; stop releases the timer.
	After(d time.Duration) (c <-chan time.Time, stop func())
}

// Options describe a target. Callbacks run on the worker: they must not call
// the target, and while they block the simulation stands still.
type Options struct {
	// Machine is the machine's name (see Choose).
	Machine string
	// Harts is the number of cores of MachineHazard3TB; 0 means 1.
	Harts int
	// Arch is the architecture of MachineRP2350's cores; unknown is RISC-V.
	Arch image.Arch
	// Revision is the silicon of MachineRP2350; 0 is A2.
	Revision hazard3.Revision
	// Build makes the machine; nil takes the one that Machine names.
	Build func() (machine.Machine, error)
	// Attach, if set, is called once with the machine before anything runs: to
	// connect things to it, or to record what it does.
	Attach func(m machine.Machine) error
	// Stopping, if set, is called with the machine when the running ends, before
	// the cores are halted: the state is one that a run can go on from.
	Stopping func(m machine.Machine)
	// Step, if set, is called before each instruction, for whoever counts them.
	Step func(core int, pc uint32)
	// Speed is SpeedMax if empty.
	Speed Speed
	// Clock is the wall clock; nil takes the real one.
	Clock Clock
	// Output receives what the program prints, by stream ("uart0", "tb",
	// "semihosting"). The slice is only valid during the call.
	Output func(stream string, p []byte)
	// Notice receives remarks of the machine and of semihosting.
	Notice func(n machine.Notice)
	// Restarted is called when the firmware reset the chip.
	Restarted func(core int)
	// Trace, if set, is called before each instruction.
	Trace func(in Instruction)
	// Semihosting serves semihosting calls: Dir and CommandLine count. nil
	// leaves them to the machine, to which they are breakpoints.
	Semihosting *semihost.Options
	// Cycles stops the target with StopCycles at this cycle; 0 is no limit.
	Cycles uint64
	// Input says that standard input may deliver bytes: until CloseInput,
	// cores that sleep are not asleep for ever.
	Input bool
	// Debug is true for a target that a debugger uses: breakpoints in the
	// program stop it, all cores asleep do not, and a reset by the firmware is
	// a stop. Halt, Resume, breakpoints and ResetHalt turn it on.
	Debug bool
	// DebugPort is true for a chip whose cores a debug port controls (Do): a core
	// that enters Debug state stops nobody else, a core that is stuck ends
	// nothing, and time goes on.
	DebugPort bool
	// Symbols names functions, to recognise how a program ended and to find
	// callers; may be nil.
	Symbols *symbols.Table
}

// Instruction is an instruction about to be executed.
type Instruction struct {
	Core int
	PC   uint32
	// Code are its bytes as a little-endian number, and Size how many they are;
	// 0 if they cannot be read.
	Code uint32
	Size int
	// Count is the number of instructions the core has executed before.
	Count uint64
}

type wallClock struct{}

func (wallClock) Now() time.Time { return time.Now() }

func (wallClock) After(d time.Duration) (<-chan time.Time, func()) {
	t := time.NewTimer(d)
	return t.C, func() { t.Stop() }
}

// Capabilities that every simulated target has.
var (
	_ target.Target = (*Target)(nil)
	_ target.Halter = (*Target)(nil)
	_ target.Memory = (*Target)(nil)
	_ target.Runner = (*Target)(nil)
)
