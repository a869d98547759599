package periph

import (
	"github.com/stem-hw/stem-hw/sim/rp2350/periph/regs"
	"github.com/stem-hw/stem-hw/sim/timebase"
)

// Registers of a PLL (datasheet 8.6.5).
const (
	pllCS    = 0x00
	pllPWR   = 0x04
	pllFBDIV = 0x08
	pllPRIM  = 0x0c
	pllINTR  = 0x10
	pllINTE  = 0x14
	pllINTF  = 0x18

	pllLockN     = 1 << 30
	pllBypass    = 1 << 8
	pllPD        = 1 << 0
	pllPostdivPD = 1 << 3
	pllVCOPD     = 1 << 5
)

// PLL is PLL_SYS or PLL_USB (datasheet 8.6). It locks at once when the VCO is
// powered, the reference runs and the feedback divider is in range.
type PLL struct {
	storage
	clocks *Clocks
	irq    int
	locked bool
}

func newPLL(name string, env Env, clocks *Clocks, irq int) *PLL {
	p := &PLL{storage: newStorage(name, env, regs.PLL), clocks: clocks, irq: irq}
	clocks.XOSC.OnChange(p.update)
	return p
}

// vco is the frequency of the oscillator, stopped unless it locks.
func (p *PLL) vco() timebase.Rate {
	div := p.get(pllFBDIV)
	ref := uint64(p.get(pllCS) & 0x3f)
	if p.get(pllPWR)&(pllPD|pllVCOPD) != 0 || div < 16 || div > 320 || ref == 0 {
		return timebase.Rate{}
	}
	return p.clocks.xosc.Rate().Scale(uint64(div), ref)
}

// Rate is the output of the post dividers, or the reference with BYPASS.
func (p *PLL) Rate() timebase.Rate {
	if p.get(pllCS)&pllBypass != 0 {
		return p.clocks.xosc.Rate().Scale(1, uint64(p.get(pllCS)&0x3f))
	}
	if p.get(pllPWR)&pllPostdivPD != 0 {
		return timebase.Rate{}
	}
	prim := p.get(pllPRIM)
	a, b := uint64(prim>>16&7), uint64(prim>>12&7)
	return p.vco().Scale(1, max(a, 1)*max(b, 1))
}

// update follows a change of a register or of the crystal.
func (p *PLL) update() {
	vco := p.vco()
	locked := !vco.Stopped()
	if p.locked && !locked {
		p.set(pllCS, p.get(pllCS)|pllLockN)
		p.set(pllINTR, 1)
	}
	p.locked = locked
	if hz := vco.Float(); locked && p.get(pllPWR)&pllPostdivPD == 0 && (hz < 750e6 || hz > 1600e6) {
		p.env.Notice(p.name + ": the VCO is outside 750 to 1600 MHz, a real chip need not lock")
	}
	p.interrupt()
	p.clocks.Update()
}

// Reset powers the PLL down.
func (p *PLL) Reset() {
	p.storage.Reset()
	p.locked = false
	p.interrupt()
	p.clocks.Update()
}

// Read returns a register.
func (p *PLL) Read(offset uint32, peek bool) uint32 {
	switch offset {
	case pllCS:
		return p.get(pllCS) | bit(p.locked, 31)
	case 0x1c: // INTS
		return p.pending()
	}
	return p.storage.Read(offset, peek)
}

// Write writes a register.
func (p *PLL) Write(offset uint32, w Write) {
	p.storage.Write(offset, w)
	p.update()
}

func (p *PLL) pending() uint32 { return (p.get(pllINTR) | p.get(pllINTF)) & p.get(pllINTE) }

func (p *PLL) interrupt() { p.env.SetIRQ(p.irq, p.pending() != 0) }
