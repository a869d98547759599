package rp2350

import (
	"fmt"

	"github.com/stem-hw/stem-hw/sim/rp2350/periph"
)

// sio is the single-cycle IO block at 0xd0000000 (datasheet 3.1): core-local in
// part, without alias pages, and with the Non-secure view of it at 0xd0020000.
// FIFOs, spinlocks and doorbells exist twice, once for each security state.
type sio struct {
	c     *Chip
	pads  periph.Pads
	out   uint64
	oe    uint64
	banks [2]sioBank // secure, non-secure
	local [2]sioLocal
	soft  uint32 // RISCV_SOFTIRQ, a bit for each core
	nsec  uint32 // PERI_NONSEC
	time  mtime
}

// sioBank is what each security state has of its own.
type sioBank struct {
	fifo  [2]fifo  // by receiving core
	bells [2]uint8 // by rung core
	locks uint32   // claimed spinlocks
}

// sioLocal is what each core has of its own.
type sioLocal struct {
	interp [2]interp
	tmds   [10]uint32
}

// Interrupts of SIO (interrupts list); each core has its own lines.
const (
	irqFIFO     = 25
	irqBell     = 26
	irqFIFONS   = 27
	irqBellNS   = 28
	irqMTimeCmp = 29
)

// Register offsets.
const (
	sioCPUID      = 0x000
	sioGPIOIn     = 0x004
	sioGPIOHiIn   = 0x008
	sioGPIOOut    = 0x010
	sioGPIOLast   = 0x04c
	sioFIFOSt     = 0x050
	sioFIFOWr     = 0x054
	sioFIFORd     = 0x058
	sioSpinSt     = 0x05c
	sioInterp0    = 0x080
	sioInterpEnd  = 0x100
	sioSpin0      = 0x100
	sioSpinEnd    = 0x180
	sioBellOutSet = 0x180
	sioBellOutClr = 0x184
	sioBellInSet  = 0x188
	sioBellInClr  = 0x18c
	sioPeriNonSec = 0x190
	sioSoftIRQ    = 0x1a0
	sioMTimeCtrl  = 0x1a4
	sioMTime      = 0x1b0
	sioMTimeH     = 0x1b4
	sioMTimeCmp   = 0x1b8
	sioMTimeCmpH  = 0x1bc
	sioTMDSCtrl   = 0x1c0
	sioTMDSEnd    = 0x1e8
	sioSize       = 0x200
)

func newSIO(c *Chip) *sio {
	s := &sio{c: c}
	s.time.init(s)
	s.reset()
	return s
}

// reset puts everything to its reset value.
func (s *sio) reset() {
	s.out, s.oe = 0, 0
	s.banks = [2]sioBank{}
	s.local = [2]sioLocal{}
	s.soft, s.nsec = 0, 0
	s.time.reset()
	s.drive()
	for core := range 2 {
		s.c.nodes[core].cpu.SetSoft(false)
		s.refresh(core)
	}
}

// coreReset is the reset of one core alone: what it has in SIO stays, except
// that FIFO status errors are its own affair.
func (s *sio) coreReset(int) {}

// clockChanged follows a change of clk_sys.
func (s *sio) clockChanged() { s.time.rebase() }

// bank picks the offset and security bank of an address; ok is false where SIO
// decodes nothing.
func (s *sio) bank(addr uint32, o periph.Origin) (b *sioBank, off uint32, ok bool) {
	switch addr &^ (sioSize - 1) {
	case sioBase:
		if o.NonSecure {
			return &s.banks[1], addr & (sioSize - 1), true
		}
		return &s.banks[0], addr & (sioSize - 1), true
	case sioNonSecure:
		return &s.banks[1], addr & (sioSize - 1), true
	}
	return nil, 0, false
}

// load reads a register for a core.
func (s *sio) load(core int, addr uint32, o periph.Origin, peek bool) (v uint32, ok bool) {
	b, off, ok := s.bank(addr, o)
	if !ok {
		return 0, false
	}
	off &^= 3
	switch {
	case off == sioCPUID:
		return uint32(core), true
	case off <= sioGPIOLast:
		return s.loadGPIO(off), true
	case off == sioFIFOSt:
		return s.fifoStatus(b, core), true
	case off == sioFIFORd:
		if peek {
			return b.fifo[core].head(), true
		}
		v = b.fifo[core].pop()
		s.refresh(core)
		return v, true
	case off == sioSpinSt:
		return b.locks, true
	case off >= sioInterp0 && off < sioInterpEnd:
		i := (off - sioInterp0) / 0x40
		return s.local[core].interp[i].read(off&0x3f, peek), true
	case off >= sioSpin0 && off < sioSpinEnd:
		return b.claim(off, peek), true
	case off >= sioBellOutSet && off <= sioBellInClr:
		if off < sioBellInSet {
			return uint32(b.bells[core^1]), true
		}
		return uint32(b.bells[core]), true
	case off == sioPeriNonSec:
		return s.nsec, true
	case off == sioSoftIRQ:
		return s.soft | s.soft<<8, true
	case off >= sioMTimeCtrl && off <= sioMTimeCmpH:
		return s.time.read(core, off), true
	case off >= sioTMDSCtrl && off < sioTMDSEnd:
		s.tmdsNotice(addr)
		return s.local[core].tmds[(off-sioTMDSCtrl)/4], true
	}
	return 0, true
}

// store writes a register for a core; v is already replicated over the lanes.
func (s *sio) store(core int, addr, v uint32, o periph.Origin) (ok bool) {
	b, off, ok := s.bank(addr, o)
	if !ok {
		return false
	}
	off &^= 3
	if off >= sioSpinEnd {
		b.releaseByErratum(off)
	}
	switch {
	case off >= sioGPIOOut && off <= sioGPIOLast:
		s.storeGPIO(off, v)
	case off == sioFIFOSt:
		b.fifo[core].clearErrors()
		s.refresh(core)
	case off == sioFIFOWr:
		s.push(b, core, v)
	case off >= sioInterp0 && off < sioInterpEnd:
		i := int(off-sioInterp0) / 0x40
		s.local[core].interp[i].write(i, off&0x3f, v)
	case off >= sioSpin0 && off < sioSpinEnd:
		b.locks &^= 1 << ((off - sioSpin0) / 4)
	case off >= sioBellOutSet && off <= sioBellInClr:
		s.ring(b, core, off, uint8(v))
	case off == sioPeriNonSec:
		s.nsec = v & 0x23
	case off == sioSoftIRQ:
		s.soft = (s.soft | v&3) &^ (v >> 8 & 3)
		for i, n := range s.c.nodes {
			n.cpu.SetSoft(s.soft>>i&1 != 0)
			n.wake(s.c, s.c.now)
		}
	case off >= sioMTimeCtrl && off <= sioMTimeCmpH:
		s.time.write(core, off, v)
	case off >= sioTMDSCtrl && off < sioTMDSEnd:
		s.tmdsNotice(addr)
		s.local[core].tmds[(off-sioTMDSCtrl)/4] = v
	}
	return true
}

func (s *sio) tmdsNotice(addr uint32) {
	s.c.notice(fmt.Sprintf("the TMDS encoder of SIO is not modelled: its registers only hold what is written (%#08x)", addr), addr)
}

// refresh recomputes the FIFO and doorbell interrupts of a core.
func (s *sio) refresh(core int) {
	e := env{s.c}
	for i := range s.banks {
		b := &s.banks[i]
		e.SetCoreIRQ(core, irqFIFO+2*i, b.fifo[core].interrupts())
		e.SetCoreIRQ(core, irqBell+2*i, b.bells[core] != 0)
	}
}
