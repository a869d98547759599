package rp2350

// claim reads a spinlock: 1<<n if it was free, and then it is taken (datasheet
// 3.1.4).
func (b *sioBank) claim(off uint32, peek bool) uint32 {
	bit := uint32(1) << ((off - sioSpin0) / 4)
	if b.locks&bit != 0 {
		return 0
	}
	if !peek {
		b.locks |= bit
	}
	return bit
}

// e2Locks are the spinlocks that a write to a register at their offset plus
// 0x80 releases too: those whose alias is a writable register.
const e2Locks = 1<<0 | 1<<1 | 1<<2 | 1<<3 | 1<<4 | 1<<8 | 1<<9 |
	1<<12 | 1<<13 | 1<<14 | 1<<15 | 1<<16 | 1<<17

// releaseByErratum is erratum RP2350-E2.
func (b *sioBank) releaseByErratum(off uint32) {
	b.locks &^= 1 << ((off - sioSpinEnd) / 4) & e2Locks
}

// ring serves the doorbells (datasheet 3.1.6): OUT is the other core's, IN is
// this core's.
func (s *sio) ring(b *sioBank, core int, off uint32, v uint8) {
	who := core
	if off < sioBellInSet {
		who = core ^ 1
	}
	if off == sioBellOutSet || off == sioBellInSet {
		b.bells[who] |= v
	} else {
		b.bells[who] &^= v
	}
	s.refresh(who)
}
