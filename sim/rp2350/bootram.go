package rp2350

import (
	"encoding/binary"

	"github.com/stem-hw/stem-hw/sim/rp2350/periph"
)

// bootRAM is the 1 KiB memory at 0x400e0000 with the write-once words and the
// boot locks behind it (datasheet 4.3).
type bootRAM struct {
	mem  [0x400]byte
	once [2]uint32
	free uint32 // BOOTLOCK_STAT: 1 is unclaimed
}

const (
	bootRAMSize    = 0x400
	regWriteOnce0  = 0x800
	regWriteOnce1  = 0x804
	regBootLockSt  = 0x808
	regBootLock0   = 0x80c
	regBootLock7   = 0x828
	bootLockEnable = 7 // ROM functions demand the others once this is claimed
)

// Name implements periph.Block.
func (b *bootRAM) Name() string { return "BOOTRAM" }

// Reset implements periph.Block; RESETS has no bit for it.
func (b *bootRAM) Reset() {}

// powerUp forgets everything.
func (b *bootRAM) powerUp() {
	b.mem = [0x400]byte{}
	b.resetLocks()
}

// resetLocks is the reset of the processors: locks free, write-once clear. The
// memory stays.
func (b *bootRAM) resetLocks() {
	b.once = [2]uint32{}
	b.free = 0xff
}

// Read implements periph.Block; reading a boot lock claims it.
func (b *bootRAM) Read(off uint32, peek bool) uint32 {
	switch {
	case off < bootRAMSize:
		return b.word(off)
	case off == regWriteOnce0, off == regWriteOnce1:
		return b.once[(off-regWriteOnce0)/4]
	case off == regBootLockSt:
		return b.free
	case off >= regBootLock0 && off <= regBootLock7:
		bit := uint32(1) << ((off - regBootLock0) / 4)
		got := b.free & bit
		if !peek {
			b.free &^= bit
		}
		return got
	}
	return 0
}

// Write implements periph.Block. The memory has byte strobes.
func (b *bootRAM) Write(off uint32, w periph.Write) {
	switch {
	case off < bootRAMSize:
		b.setWord(off, w.Field(b.word(off), strobes(w)))
	case off == regWriteOnce0, off == regWriteOnce1:
		i := (off - regWriteOnce0) / 4
		b.once[i] |= w.Apply(b.once[i])
	case off == regBootLockSt:
		b.free = w.Field(b.free, 0xff)
	case off >= regBootLock0 && off <= regBootLock7:
		b.free |= 1 << ((off - regBootLock0) / 4)
	}
}

func (b *bootRAM) word(off uint32) uint32       { return binary.LittleEndian.Uint32(b.mem[off:]) }
func (b *bootRAM) setWord(off uint32, v uint32) { binary.LittleEndian.PutUint32(b.mem[off:], v) }

// claimed reports whether somebody holds a boot lock.
func (b *bootRAM) claimed(n uint) bool { return b.free>>n&1 == 0 }

// strobes is the mask of the bytes that a write drives, for memories.
func strobes(w periph.Write) uint32 {
	switch w.Size {
	case 1:
		return 0xff << (8 * w.Lane)
	case 2:
		return 0xffff << (8 * (w.Lane & 2))
	}
	return 0xffffffff
}
