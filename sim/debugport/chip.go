package debugport

import (
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/sim/bus"
)

// Cores is the number of cores of the chip.
const Cores = 2

// Chip is what lies behind the port. Its methods are called by one goroutine at
// a time, while the chip does not run.
type Chip interface {
	// Load and Store make one access on the system bus as the debugger. core
	// picks the port: each Cortex-M33 shows its own private peripheral bus.
	// ok is false for a bus fault.
	Load(core int, addr uint32, size uint8, a bus.Access) (v uint32, ok bool)
	Store(core int, addr uint32, size uint8, v uint32, a bus.Access) (ok bool)
	// Arch is the instruction set of a core, ArchUnknown while it is held in
	// reset.
	Arch(core int) image.Arch
	// Hart is the RISC-V side of a core; nil while it is an Arm core or held in
	// reset.
	Hart(core int) Hart
	// HoldHarts holds the cores of a mask in reset and lets the others go.
	HoldHarts(mask uint8)
	// HaltOnReset makes a hart enter Debug Mode before its first instruction
	// after each reset.
	HaltOnReset(core int, on bool)
	// Reset resets all but the port.
	Reset(kind ResetKind)
	// Resets counts the resets that reach debug hardware.
	Resets() Resets
	// AccessPorts are the access ports of this chip, which a debugger outside
	// shares with the window through which the cores reach them.
	AccessPorts() *AccessPorts
	// Auth says which accesses the chip's fuses and keys allow now.
	Auth() Auth
	// Unlock tries a debug key.
	Unlock(key [16]byte)
	// SystemBusStalled reports whether system bus accesses of the Debug Module
	// stall: core 1 sleeps deeply (erratum RP2350-E4).
	SystemBusStalled() bool
}

// Hart is a RISC-V core as the Debug Module drives it.
type Hart interface {
	// Halted reports whether the hart is in Debug Mode.
	Halted() bool
	// Halt asks it to enter Debug Mode with the cause of a halt request.
	Halt()
	// Resume lets it leave.
	Resume()
	// GPR and SetGPR access a general register.
	GPR(n int) uint32
	SetGPR(n int, v uint32)
	// Execute runs one instruction of the program buffer in Debug Mode. data0
	// is the Debug Module's data register, CSR 0xbff of the hart.
	Execute(instr uint32, data0 *uint32) Outcome
	// TakeReset reports, once, whether the hart was reset since the last call.
	TakeReset() bool
}

// Outcome is how an instruction of the program buffer ended.
type Outcome uint8

const (
	// Done: go on with the next.
	Done Outcome = iota
	// Ebreak: the buffer ended.
	Ebreak
	// Exception: it trapped.
	Exception
)

// ResetKind says what is reset.
type ResetKind uint8

const (
	// ResetCold resets all but the debug port (CDBGRSTREQ).
	ResetCold ResetKind = iota
	// ResetRescue does so and makes the boot ROM stop before it looks at the
	// flash (RP-AP).
	ResetRescue
)

// Resets counts resets since the chip was made.
type Resets struct {
	// Core counts those of the switched core domain, by a debugger, the rescue
	// port or the watchdog (RP2350 datasheet 3.5.3): they reset the access ports
	// with the Debug Module. Resets of the processors alone, and those of the
	// power-on state machine, are none.
	Core uint32
	// Chip counts those of the whole chip, by power or RUN, which are in Core
	// too: they also reset the debug port and the RP-AP.
	Chip uint32
}

// Auth is the state of the chip's debug authentication.
type Auth struct {
	// Debug allows the access port of a Cortex-M33, Secure its Secure accesses.
	Debug, Secure [Cores]bool
	// DM allows the access port of the Debug Module.
	DM bool
}
