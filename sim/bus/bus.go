package bus

// Access says how an access is made.
type Access uint8

const (
	// Privileged marks M-mode (RISC-V) or privileged (Arm) accesses.
	Privileged Access = 1 << iota
	// NonSecure marks an Arm Non-secure access. RISC-V U-mode counts as
	// Non-secure on RP2350; the core sets the bit.
	NonSecure
	// Debug marks an access made for a debugger: no side effects of reads
	// where the machine can avoid them.
	Debug
	// Exclusive marks LR/SC, LDREX/STREX and AMO accesses.
	Exclusive
)

// Bus is one core's view of everything that is not plain memory.
//
// size is 1, 2 or 4 bytes and addr is a multiple of it. Values are
// right-aligned. wait is the number of stall cycles beyond the one of the
// access itself. ok is false for a bus error; then nothing happened.
type Bus interface {
	// Ready reports whether the core, at cycle now of its own clock, may make
	// an access that other cores can notice.
	Ready(now uint64) bool
	// Load reads a value.
	Load(now uint64, addr uint32, size uint8, a Access) (v uint32, wait uint32, ok bool)
	// Store writes a value.
	Store(now uint64, addr uint32, size uint8, v uint32, a Access) (wait uint32, ok bool)
	// Fetch reads 16 bits of code at an even address outside all windows.
	Fetch(addr uint32) (v uint16, ok bool)

	// LoadExclusive reads like Load and takes a reservation; granted is false
	// where the memory does not support exclusives. It is called for windows
	// too.
	LoadExclusive(now uint64, addr uint32, size uint8, a Access) (v uint32, wait uint32, granted, ok bool)
	// StoreExclusive writes like Store if the reservation still stands.
	StoreExclusive(now uint64, addr uint32, size uint8, v uint32, a Access) (wait uint32, stored, ok bool)
	// AMO performs an atomic read-modify-write of a word; ok is false where
	// the memory does not support exclusives.
	AMO(now uint64, addr uint32, f func(old uint32) uint32, a Access) (old uint32, wait uint32, ok bool)

	// SendEvent posts an event to every core (h3.unblock, SEV).
	SendEvent(now uint64)
}

// Line flags: one byte for each LineSize bytes of a writable window.
const (
	// LineSize is the grain of Window.Flags in bytes: the granule of the
	// RP2350's global exclusive monitor (datasheet 2.1.6).
	LineSize = 16
	// LineCode: decoded code covers the line. A store to it calls
	// Watcher.LineStored after the write.
	LineCode uint8 = 1 << 0
	// LineReserved: an exclusive reservation covers the line.
	LineReserved uint8 = 1 << 1
	// LineWatched: the machine wants to hear of stores for a reason of its own.
	LineWatched uint8 = 1 << 2
)

// Window is a range of plain memory that a core may access without the Bus.
type Window struct {
	// Base is the address of Mem[0]; both Base and len(Mem) are multiples of
	// LineSize.
	Base uint32
	// Mem is the memory itself, shared with the machine and other cores.
	Mem []byte
	// Flags holds len(Mem)/LineSize line flags, shared by all cores that see
	// the memory; nil for a window that is not writable.
	Flags []uint8
	// Writable and Executable say what the core may do by itself.
	Writable, Executable bool
	// Wait is the number of stall cycles of each access (0 on RP2350's SRAM).
	Wait uint32
}

// Contains reports whether the size bytes at addr lie in the window.
func (w *Window) Contains(addr uint32, size uint32) bool {
	off := addr - w.Base
	return off < uint32(len(w.Mem)) && uint32(len(w.Mem))-off >= size
}

// Watcher hears of stores into lines with flags set. The core calls it after
// a store through a window has changed memory, before its next instruction.
type Watcher interface {
	// LineStored is called by core hart after it stored size bytes at addr
	// into a line whose flags were not zero.
	LineStored(hart int, addr uint32, size uint8, flags uint8)
}
