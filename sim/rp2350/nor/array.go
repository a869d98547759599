package nor

// Geometry and typical times.
const (
	PageSize   = 256
	SectorSize = 4096
	HalfBlock  = 32 << 10
	BlockSize  = 64 << 10

	us = 1_000_000 // picoseconds
	ms = 1000 * us

	// ProgramTime is a page program, SectorTime a 4 KiB erase, HalfBlockTime a
	// 32 KiB and BlockTime a 64 KiB erase; StatusTime writes a non-volatile
	// status register.
	ProgramTime   = 400 * us
	SectorTime    = 45 * ms
	HalfBlockTime = 120 * ms
	BlockTime     = 150 * ms
	StatusTime    = 10 * ms
	// chipTime erases 4 MiB; larger chips take longer in proportion.
	chipTime = 10_000 * ms
)

// Flash is one flash chip.
type Flash struct {
	mem []byte
	uid uint64
	now func() uint64
	// changed is told of every range whose contents changed.
	changed func(lo, hi uint32)

	status    [3]uint8
	busyUntil uint64
	spi       spi

	cut   func(erase bool, addr, n uint32) bool
	dead  bool
	stuck []stuckBit
}

// New returns a blank chip of size bytes (a power of two). now is the simulated
// time in picoseconds; changed, which may be nil, hears of every change.
func New(size uint32, uid uint64, now func() uint64, changed func(lo, hi uint32)) *Flash {
	f := &Flash{mem: make([]byte, size), uid: uid, now: now, changed: changed}
	// Erased is all ones. Copying what is there doubles it each time, several
	// times faster than a loop over the bytes: programs start with this.
	f.mem[0] = 0xff
	for n := 1; n < len(f.mem); n *= 2 {
		copy(f.mem[n:], f.mem[:n])
	}
	// Quad enable is set by the factory on the parts boards use.
	f.status[1] = statusQE
	return f
}

// Bytes is the array itself, for reading. It stays the same slice.
func (f *Flash) Bytes() []byte { return f.mem }

// Size is the number of bytes.
func (f *Flash) Size() uint32 { return uint32(len(f.mem)) }

// UniqueID is the 64-bit id of command 4Bh.
func (f *Flash) UniqueID() uint64 { return f.uid }

// Busy reports whether an erase or program is still under way.
func (f *Flash) Busy() bool { return f.now() < f.busyUntil }

// PowerCycle forgets everything but the array: power-up state.
func (f *Flash) PowerCycle() {
	f.dead = false
	f.restart()
}

// restart is the chip's own reset.
func (f *Flash) restart() {
	f.spi = spi{}
	f.busyUntil = 0
	f.status[0] &^= statusWEL
}

// Erase sets n bytes from addr to ones at once, whatever they were; the caller
// sees to alignment and time. The address wraps at the size of the chip.
func (f *Flash) Erase(addr, n uint32) {
	n = min(n, f.Size())
	addr &= f.Size() - 1
	if f.dead {
		return
	}
	if f.cut != nil && f.cut(true, addr, n) {
		f.tear(addr, n, nil)
		return
	}
	for i := range n {
		f.mem[(addr+i)&(f.Size()-1)] = 0xff
	}
	f.tell(addr, n)
}

// Program clears bits of consecutive bytes from addr at once, crossing pages.
func (f *Flash) Program(addr uint32, p []byte) {
	addr &= f.Size() - 1
	if f.dead {
		return
	}
	if f.cut != nil && f.cut(false, addr, uint32(len(p))) {
		f.tear(addr, uint32(len(p)), p)
		return
	}
	for i, b := range p {
		f.mem[(addr+uint32(i))&(f.Size()-1)] &= b
	}
	f.tell(addr, uint32(len(p)))
}

// Load overwrites contents without NOR rules, as before power-up.
func (f *Flash) Load(addr uint32, p []byte) {
	addr &= f.Size() - 1
	n := copy(f.mem[addr:], p)
	f.tell(addr, uint32(n))
}

func (f *Flash) tell(addr, n uint32) {
	f.hold()
	if f.changed == nil || n == 0 {
		return
	}
	if addr+n > f.Size() {
		f.changed(0, f.Size())
		return
	}
	f.changed(addr, addr+n)
}

// EraseTime returns the time that erasing n bytes in one command takes.
func (f *Flash) EraseTime(n uint32) uint64 {
	switch {
	case n <= SectorSize:
		return SectorTime
	case n <= HalfBlock:
		return HalfBlockTime
	case n <= BlockSize:
		return BlockTime
	}
	return chipTime * uint64(max(1, n>>22))
}
