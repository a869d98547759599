package periph

import (
	"github.com/stem-hw/stem-hw/sim/rp2350/periph/regs"
	"github.com/stem-hw/stem-hw/sim/timebase"
)

// Registers of CLOCKS (datasheet 8.1.7).
const (
	clkRefCtrl     = 0x30
	clkSysCtrl     = 0x3c
	clkPeriCtrl    = 0x48
	clkHSTXCtrl    = 0x54
	clkUSBCtrl     = 0x60
	clkADCCtrl     = 0x6c
	clkResusCtrl   = 0x84
	clkResusStatus = 0x88
	clkWakeEn0     = 0xac
	clkWakeEn1     = 0xb0
	clkSleepEn0    = 0xb4
	clkSleepEn1    = 0xb8
	clkEnabled0    = 0xbc
	clkEnabled1    = 0xc0
	clkINTR        = 0xc4
	clkINTE        = 0xc8
	clkINTF        = 0xcc
	clkINTS        = 0xd0

	resusClear  = 1 << 16
	resusForce  = 1 << 12
	resusEnable = 1 << 8

	irqClocks = 30

	// lposcHertz is the nominal frequency of the low-power oscillator (8.4).
	lposcHertz = 32768
)

// Clocks is the CLOCKS block and the clock tree behind it (datasheet 8.1): the
// glitchless muxes of clk_ref and clk_sys, the generators with dividers, resus
// and the frequency counter. It is where the frequency of everything comes from.
type Clocks struct {
	storage
	sysOut System
	rosc   *ROSC
	xosc   *XOSC
	pll    [2]*PLL
	lposc  timebase.Rate
	gpin   [2]timebase.Rate

	// Ref, Peri, HSTX, USB and ADC are the clocks of those names. Sys is
	// clk_sys, for its rate and OnChange; its count is Env.Now. XOSC, ROSC and
	// LPOSC count the oscillators' own cycles.
	Ref, Sys, Peri, HSTX, USB, ADC, XOSC, ROSC, LPOSC *Clock

	// crystal counts the crystal's periods, stable or not.
	crystal  *Clock
	ref, sys *generator
	gpout    [4]*generator
	derived  []*generator
	sysRate  timebase.Rate
	started  bool
	stopped  bool
	resussed bool
	fc0      freqCounter
	// gpoutHalf count the half periods of the clock outputs.
	gpoutHalf [4]*Clock
	out       gpouts

	// gates are those that are open now; sleepMatters says that SLEEP_EN differs
	// from WAKE_EN.
	gates        uint64
	sleeping     bool
	sleepMatters bool
	gatedClocks  []*gatedClock
	gatedBlocks  []gatedBlock
}

// newClocks builds the tree; attach gives it its sources.
func newClocks(env Env, sys System) *Clocks {
	c := &Clocks{storage: newStorage("CLOCKS", env, regs.CLOCKS), sysOut: sys,
		lposc: timebase.Hertz(lposcHertz)}
	gen := func(name string, base uint32, auxPos uint, auxBits, divMask uint32, frac bool, aux ...clockSource) *generator {
		return &generator{Clock: Clock{name: name, env: env}, base: base, auxPos: auxPos, auxBits: auxBits,
			divMask: divMask, frac: frac, aux: aux}
	}
	c.ref = gen("clk_ref", clkRefCtrl, 5, 3, 0xff, false, srcPLLUSB, srcGPIN0, srcGPIN1, srcUSBRef)
	c.ref.direct = []clockSource{srcROSC, srcNone, srcXOSC, srcLPOSC}
	c.sys = gen("clk_sys", clkSysCtrl, 5, 7, 0xffff, true, srcPLLSys, srcPLLUSB, srcROSC, srcXOSC, srcGPIN0, srcGPIN1)
	c.sys.direct = []clockSource{srcClkRef, srcNone}
	peri := gen("clk_peri", clkPeriCtrl, 5, 7, 3, false, srcClkSys, srcPLLSys, srcPLLUSB, srcROSC, srcXOSC, srcGPIN0, srcGPIN1)
	hstx := gen("clk_hstx", clkHSTXCtrl, 5, 7, 3, false, srcClkSys, srcPLLSys, srcPLLUSB, srcGPIN0, srcGPIN1)
	usb := gen("clk_usb", clkUSBCtrl, 5, 7, 15, false, srcPLLUSB, srcPLLSys, srcROSC, srcXOSC, srcGPIN0, srcGPIN1)
	adc := gen("clk_adc", clkADCCtrl, 5, 7, 15, false, srcPLLUSB, srcPLLSys, srcROSC, srcXOSC, srcGPIN0, srcGPIN1)
	c.derived = []*generator{peri, hstx, usb, adc}
	for i := range c.gpout {
		c.gpout[i] = gen("clk_gpout"+string(rune('0'+i)), uint32(i)*12, 5, 15, 0xffff, true,
			srcPLLSys, srcGPIN0, srcGPIN1, srcPLLUSB, srcUSBRef, srcROSC, srcXOSC, srcLPOSC,
			srcClkSys, srcClkUSB, srcClkADC, srcClkRef, srcClkPeri, srcClkHSTX, srcOTP)
		c.derived = append(c.derived, c.gpout[i])
	}
	c.Ref, c.Sys = &c.ref.Clock, &c.sys.Clock
	c.Peri, c.HSTX, c.USB, c.ADC = &peri.Clock, &hstx.Clock, &usb.Clock, &adc.Clock
	c.XOSC, c.ROSC = &Clock{name: "xosc", env: env}, &Clock{name: "rosc", env: env}
	c.LPOSC, c.crystal = &Clock{name: "lposc", env: env}, &Clock{name: "crystal", env: env}
	c.fc0.init(c)
	c.gates = c.enables(clkWakeEn0)
	return c
}

func (c *Clocks) attach(rosc *ROSC, xosc *XOSC, pllSys, pllUSB *PLL) {
	c.rosc, c.xosc, c.pll = rosc, xosc, [2]*PLL{pllSys, pllUSB}
}

// SetGPIN says what frequency is fed in on clock input 0 or 1.
func (c *Clocks) SetGPIN(n int, r timebase.Rate) {
	c.gpin[n&1] = r
	c.Update()
}

// powerUp makes all clocks begin to count anew.
func (c *Clocks) powerUp() {
	for _, k := range c.counted() {
		k.ctr, k.ratio = timebase.Counter{}, [2]uint64{}
	}
	c.sysRate = timebase.Rate{}
	c.started = false
}

// Reset puts the generators back: clk_ref and clk_sys on the ring oscillator,
// all others off.
func (c *Clocks) Reset() {
	c.storage.Reset()
	c.fc0.reset()
	c.resussed = false
	c.started = true
	c.sleeping = false
	c.regate()
	c.Update()
	c.interrupt()
}

// Read returns a register.
func (c *Clocks) Read(offset uint32, peek bool) uint32 {
	if g := c.generatorAt(offset); g != nil {
		ctrl := c.get(g.base)
		switch offset - g.base {
		case 0:
			if g.direct == nil && ctrl&(genEnable|genKill) == genEnable {
				ctrl |= genEnabled
			}
			return ctrl
		case 8:
			return g.selected(ctrl)
		}
	}
	switch offset {
	case clkResusStatus, clkINTR:
		return bit(c.resussed, 0)
	case clkINTS:
		return c.pending()
	case clkEnabled0:
		return uint32(c.gates)
	case clkEnabled1:
		return uint32(c.gates >> 32)
	case fcStatus:
		return c.fc0.status
	case fcResult:
		return c.fc0.result
	}
	return c.storage.Read(offset, peek)
}

// Write writes a register.
func (c *Clocks) Write(offset uint32, w Write) {
	old := c.get(offset)
	c.storage.Write(offset, w)
	now := c.get(offset)
	switch {
	case offset == fcSrc:
		c.fc0.start(now & 0xff)
	case offset >= fcRefKHz && offset <= fcResult:
	case offset == clkINTE || offset == clkINTF:
		c.interrupt()
	case offset >= clkWakeEn0 && offset <= clkSleepEn1:
		c.regate()
	case old != now:
		c.Update()
	}
}

// generatorAt returns the generator whose CTRL, DIV or SELECTED is at offset.
func (c *Clocks) generatorAt(offset uint32) *generator {
	switch i := offset / 12; {
	case i < 4:
		return c.gpout[i]
	case i == 4:
		return c.ref
	case i == 5:
		return c.sys
	case i < 10:
		return c.derived[i-6]
	}
	return nil
}

func (c *Clocks) pending() uint32 {
	return (bit(c.resussed, 0) | c.get(clkINTF)) & c.get(clkINTE)
}

func (c *Clocks) interrupt() { c.env.SetIRQ(irqClocks, c.pending() != 0) }

// bit returns 1<<n if on.
func bit(on bool, n uint) uint32 {
	if on {
		return 1 << n
	}
	return 0
}
