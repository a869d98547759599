package machine

import (
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/target"
)

// Machine is one simulated machine.
type Machine interface {
	// Describe says what it is (cores, memory map, registers).
	Describe() target.Description
	// Load places an image; the machine is then in reset.
	Load(img *image.Image) error
	// Reset puts the machine into its power-up state. Flash and OTP keep their
	// contents, RAM images stay loaded.
	Reset()
	// Cores returns the cores a debugger sees, by number.
	Cores() []Core
	// Run executes until the machine's clock reaches limit or something is to
	// be reported. Cores in Debug state stay where they are. When all running
	// cores sleep it moves the clock to the next event; if there is none, it
	// reports EventAsleep.
	Run(limit uint64) Event
	// Now is the machine's clock in cycles of clk_sys since power-up.
	Now() uint64
	// Seconds is the simulated time since power-up. Clocks change their rate,
	// so it is not Now over a constant.
	Seconds() float64
	// CycleAt returns the cycle at which simulated time reaches seconds, if the
	// clocks keep their present rate.
	CycleAt(seconds float64) uint64
	// Peek and Poke access memory as core sees it, without side effects where
	// there is a choice. They return the number of bytes done; fewer than
	// len(p) means that the next address is refused. Poke writes flash too
	// (for breakpoints and loaders) when force is set.
	Peek(core int, addr uint32, p []byte) int
	Poke(core int, addr uint32, p []byte, force bool) int
	// Input feeds bytes to the program's standard input (UART0's receive pin)
	// and returns how many were taken. InputOpen tells the machine whether
	// more may come: while it may, sleeping cores are not asleep for ever.
	Input(p []byte) int
	InputOpen(open bool)
	// SetHooks installs the callbacks.
	SetHooks(h Hooks)
}

// Flasher is implemented by machines with flash: bus addresses, NOR semantics.
type Flasher interface {
	EraseFlash(addr, n uint32) error
	ProgramFlash(addr uint32, p []byte) error
}

// Hooks are called by a machine while it runs, on the goroutine of Run. Any may
// be nil.
type Hooks struct {
	// Output receives a byte that left the chip on stream ("uart0", "uart1",
	// "tb", "semihosting").
	Output func(stream string, b byte)
	// Notice receives a one-line remark (an unmodelled register, a missing pin
	// function), each distinct one once. addr and pc are 0 if unknown.
	Notice func(n Notice)
	// Semihost is called for a semihosting breakpoint on core; it performs the
	// call by reading and writing the core. stop ends Run with the event e.
	Semihost func(core int) (e Event, stop bool)
	// Trace, if set, is called before each instruction of core executes.
	Trace func(core int, pc uint32)
}

// Notice is one remark.
type Notice struct {
	Text string
	Core int
	Addr uint32
	PC   uint32
}

// EventKind is what Run reports.
type EventKind uint8

const (
	// EventLimit: the limit was reached.
	EventLimit EventKind = iota
	// EventStop: a core entered Debug state (breakpoint, watchpoint, step,
	// ebreak under a debugger). Core says which; its Core.StopReason why.
	EventStop
	// EventExit: the program ended with Code, by How.
	EventExit
	// EventCrash: a core cannot go on (lock-up, endless exception loop).
	EventCrash
	// EventAsleep: all cores sleep and nothing will wake them.
	EventAsleep
	// EventReset: the chip was reset by its firmware (watchdog, reboot). The
	// machine has already begun to boot again; Run may just go on.
	EventReset
)

// Event is what Run reports.
type Event struct {
	Kind EventKind
	Core int
	Code int
	How  string
	// Cause in words, for EventCrash.
	Cause string
}

// Core is one core as a debugger sees it.
type Core interface {
	// Halted reports whether the core is in Debug state.
	Halted() bool
	// Halt puts it there, Resume lets it leave.
	Halt()
	Resume()
	// Step makes the next Resume stop after one instruction.
	Step(on bool)
	// PC is the address of the next instruction.
	PC() uint32
	// SetPC sets it.
	SetPC(pc uint32)
	// ReadReg and WriteReg use target.Register.Num; ok is false for a register
	// that does not exist.
	ReadReg(num int) (v uint64, ok bool)
	WriteReg(num int, v uint64) (ok bool)
	// SetPoints replaces all breakpoints and watchpoints of the core.
	SetPoints(ps []target.Point)
	// StopReason says why the core entered Debug state last.
	StopReason() target.Stop
	// Asleep reports whether it waits in wfi, wfe or h3.block.
	Asleep() bool
	// Instret is the number of retired instructions since power-up (not the
	// CSR, which firmware can write or inhibit).
	Instret() uint64
}
