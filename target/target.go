package target

import (
	"context"
	"io"

	"github.com/stem-hw/stem-hw/image"
)

// Target is one chip or one host program. Methods are safe for use by one
// goroutine at a time, except that Close and the context may interrupt a call
// from anywhere.
type Target interface {
	// Describe says what it is. The answer does not change until Reset or Load.
	Describe() Description
	// Load places an image where it belongs (flash, RAM) and leaves the cores
	// halted in reset, ready for Start. Nothing is executed.
	Load(ctx context.Context, img *image.Image) error
	// Start lets the cores run from reset, as after power-up.
	Start(ctx context.Context) error
	// Reset resets the chip and leaves it as mode says.
	Reset(ctx context.Context, mode ResetMode) error
	// Console is the program's console: what the firmware prints, and its
	// standard input. It is nil where there is none.
	Console() io.ReadWriter
	// Close ends everything the target started. It may be called twice.
	Close() error
}

// Drainer is what a console may offer besides io.ReadWriter, for a reader that
// must not wait: a debugger shows what was printed up to a stop, then the stop.
type Drainer interface {
	// Ready delivers after something was printed.
	Ready() <-chan struct{}
	// Drain returns all that was printed and not read yet, perhaps nothing.
	Drain() []byte
}

// ResetMode is what a chip does after a reset.
type ResetMode uint8

const (
	// ResetRun lets it run.
	ResetRun ResetMode = iota
	// ResetHalt stops every core before its first instruction.
	ResetHalt
)

// Description says what a target is and what it offers.
type Description struct {
	// Name is the machine: "rp2350", "hazard3-tb", "riscv-tests", "native".
	Name string
	// Simulated is true where no hardware is involved.
	Simulated bool
	// Arch is the instruction set the cores execute now.
	Arch image.Arch
	// Cores are the cores that a debugger sees, by number from 0.
	Cores []Core
	// Memory is the memory map, sorted by address.
	Memory []Region
	// Breakpoints and Watchpoints are the numbers of hardware comparators of a
	// core; -1 means no limit.
	Breakpoints, Watchpoints int
	// Registers are the registers of every core, in gdb's numbering.
	Registers []Register
}

// Core names one core.
type Core struct {
	ID   int
	Name string // "hart 0", "core 1"
}

// RegionKind is the kind of a memory region.
type RegionKind string

const (
	RegionRAM   RegionKind = "ram"
	RegionROM   RegionKind = "rom"
	RegionFlash RegionKind = "flash"
	RegionIO    RegionKind = "io"
)

// Region is a part of the address space.
type Region struct {
	Name   string
	Kind   RegionKind
	Base   uint32
	Size   uint32 // bytes
	Sector uint32 // bytes of the smallest erase, for flash
}

// Register describes one register as gdb sees it.
type Register struct {
	// Num is gdb's number. RISC-V: x0..x31 0..31, pc 32, f0..f31 33..64,
	// CSR n at 65+n, priv 4161. Arm: r0..r15 0..15, xPSR 25 (gdb's m-profile),
	// further ones as the feature says.
	Num int
	// Name, Bits, Feature, Group and Type are the attributes of gdb's target
	// description. Group and Type may be empty.
	Name    string
	Bits    int
	Feature string
	Group   string
	Type    string
	// Save is false for registers that gdb must not save and restore.
	Save bool
}

// Memory is the capability to read and write memory while the cores are
// halted, or while they run where the implementation can.
type Memory interface {
	// ReadMemory fills p from addr as core sees it. It reads exactly len(p)
	// bytes or fails with a *MemoryError.
	ReadMemory(ctx context.Context, core int, addr uint32, p []byte) error
	// WriteMemory writes p at addr. Writing to flash is Flasher's business and
	// fails here, except where a software breakpoint is placed.
	WriteMemory(ctx context.Context, core int, addr uint32, p []byte) error
}

// MemoryError is an access that the bus refused.
type MemoryError struct {
	Addr  uint32
	Write bool
	// Why is a short reason: "bus fault", "flash", "region held in reset".
	Why string
}

// Flasher is the capability to erase and program flash.
type Flasher interface {
	// EraseFlash erases whole sectors; addr and n are multiples of the sector
	// size, addr is a bus address (0x10000000...).
	EraseFlash(ctx context.Context, addr, n uint32) error
	// ProgramFlash programs bytes into erased flash. Bits only go from 1 to 0.
	ProgramFlash(ctx context.Context, addr uint32, p []byte) error
}

// Halter is the capability to stop, step and inspect cores.
type Halter interface {
	// Halt stops every core. It is no error if they are stopped already.
	Halt(ctx context.Context) error
	// Resume lets cores go on as actions say; cores without an action stay
	// halted. It returns at once; Wait tells when a core stops.
	Resume(ctx context.Context, actions []Action) error
	// Wait blocks until a core stops (all others are then stopped too) or ctx
	// ends. It returns ErrRunning with ctx's error while nothing stopped.
	Wait(ctx context.Context) (Stop, error)
	// ReadRegister reads one register by its Num; value is little-endian in the
	// low Bits.
	ReadRegister(ctx context.Context, core, num int) (uint64, error)
	// WriteRegister writes one register.
	WriteRegister(ctx context.Context, core, num int, v uint64) error
	// SetBreakpoint and ClearBreakpoint place and remove a point on every
	// core. Setting one twice is no error.
	SetBreakpoint(ctx context.Context, p Point) error
	ClearBreakpoint(ctx context.Context, p Point) error
}

// PointKind is the kind of a breakpoint or watchpoint, as gdb's Z packets
// number them.
type PointKind uint8

const (
	PointSoftware PointKind = 0
	PointHardware PointKind = 1
	PointWrite    PointKind = 2
	PointRead     PointKind = 3
	PointAccess   PointKind = 4
)

// Point is a breakpoint or a watchpoint. Len is the bytes watched, or the
// length of the instruction.
type Point struct {
	Kind PointKind
	Addr uint32
	Len  uint32
}

// ActionKind is what a core does when it is resumed.
type ActionKind uint8

const (
	// ActionContinue runs until something stops it.
	ActionContinue ActionKind = iota
	// ActionStep runs one instruction.
	ActionStep
	// ActionRange steps while pc is in [Start, End).
	ActionRange
)

// Action resumes one core.
type Action struct {
	Core       int
	Kind       ActionKind
	Start, End uint32
}

// StopReason is why a core stopped.
type StopReason string

const (
	StopHalt       StopReason = "halt"       // asked for
	StopStep       StopReason = "step"       // a step or range ended
	StopBreakpoint StopReason = "breakpoint" // breakpoint, or ebreak/bkpt in the program
	StopWatchpoint StopReason = "watchpoint"
	StopExit       StopReason = "exit"   // the program ended; Code is its status
	StopCrash      StopReason = "crash"  // fault, lock-up, panic; Crash says what
	StopAsleep     StopReason = "asleep" // every core sleeps and nothing can wake one
	StopCycles     StopReason = "cycles" // the cycle limit was reached
	StopReset      StopReason = "reset"  // the chip was reset under the debugger
)

// Stop is one stop.
type Stop struct {
	Core   int
	Reason StopReason
	PC     uint32
	// Point is the watchpoint that was hit, and Addr the data address.
	Point Point
	Addr  uint32
	// Code is the exit status for StopExit.
	Code int
	// How says in words by what the program ended: "semihosting exit",
	// "testbench exit", "tohost".
	How string
	// Crash describes a crash.
	Crash *Crash
}

// Crash is what is known of a crash.
type Crash struct {
	// Cause in words: "load access fault at 0x4", "illegal instruction".
	Cause string
	Core  int
	PC    uint32
	// Registers in display order.
	Registers []NamedValue
	// Frames is the call chain as far as it can be read, innermost first.
	Frames []uint32
}

// NamedValue is a register with its value.
type NamedValue struct {
	Name  string `json:"name"`
	Value uint32 `json:"value"`
}

// Runner is the capability of simulated targets to report on a run.
type Runner interface {
	// Stats are counters since power-up.
	Stats() Stats
}

// Stats counts what ran.
type Stats struct {
	// Cycles of the system clock since power-up, Seconds of simulated time.
	Cycles  uint64
	Seconds float64
	// Instructions retired, by core.
	Instructions []uint64
}
