package periph

import "github.com/stem-hw/stem-hw/sim/timebase"

// clockSource is a generator that clocks can run from.
type clockSource uint8

const (
	srcNone clockSource = iota
	srcROSC
	srcXOSC
	srcLPOSC
	srcPLLSys
	srcPLLUSB
	srcGPIN0
	srcGPIN1
	srcUSBRef // PLL_USB's reference clock
	srcOTP    // the OTP boot oscillator, off after boot
	srcClkRef
	srcClkSys
	srcClkPeri
	srcClkHSTX
	srcClkUSB
	srcClkADC
)

// generator is one clock generator: a divider behind an auxiliary mux, and for
// clk_ref and clk_sys a glitchless mux in front (datasheet 8.1.3).
type generator struct {
	Clock
	base    uint32 // offset of its CTRL; DIV and SELECTED follow
	aux     []clockSource
	auxPos  uint
	auxBits uint32
	// direct are the sources of the glitchless mux; nil for generators with an
	// ENABLE bit. srcNone stands for the auxiliary mux.
	direct []clockSource
	// divLSB and divMask select the integer part in DIV; frac is the number of
	// fraction bits below.
	divMask uint32
	frac    bool
}

// divisor returns the divider as a 16.16 fraction; 0 stands for the largest
// integer plus one.
func (g *generator) divisor(div uint32) uint64 {
	n := uint64(div>>16) & uint64(g.divMask)
	if n == 0 {
		n = uint64(g.divMask) + 1
	}
	d := n << 16
	if g.frac {
		d |= uint64(div & 0xffff)
	}
	return d
}

const (
	genEnable  = 1 << 11
	genKill    = 1 << 10
	genEnabled = 1 << 28
)

// source returns what the generator is connected to now.
func (g *generator) source(ctrl uint32) clockSource {
	if g.direct != nil {
		i := ctrl & 3
		if int(i) >= len(g.direct) {
			i &= 1
		}
		if s := g.direct[i]; s != srcNone {
			return s
		}
	} else if ctrl&(genEnable|genKill) != genEnable {
		return srcNone
	}
	i := ctrl >> g.auxPos & g.auxBits
	if int(i) >= len(g.aux) {
		return srcNone
	}
	return g.aux[i]
}

// selected is the SELECTED register: one-hot for a glitchless mux, 1 otherwise.
func (g *generator) selected(ctrl uint32) uint32 {
	if g.direct == nil {
		return 1
	}
	i := ctrl & 3
	if int(i) >= len(g.direct) {
		i &= 1
	}
	return 1 << i
}

// rateOf returns the frequency of a source.
func (c *Clocks) rateOf(s clockSource) timebase.Rate {
	switch s {
	case srcROSC:
		return c.rosc.Rate()
	case srcXOSC, srcUSBRef:
		return c.xosc.Rate()
	case srcLPOSC:
		return c.lposc
	case srcPLLSys:
		return c.pll[0].Rate()
	case srcPLLUSB:
		return c.pll[1].Rate()
	case srcGPIN0:
		return c.gpin[0]
	case srcGPIN1:
		return c.gpin[1]
	case srcClkRef:
		return c.Ref.rate
	case srcClkSys:
		return c.sysRate
	case srcClkPeri:
		return c.Peri.rate
	case srcClkHSTX:
		return c.HSTX.rate
	case srcClkUSB:
		return c.USB.rate
	case srcClkADC:
		return c.ADC.rate
	}
	return timebase.Rate{}
}

// Update derives every clock anew after a change of a source, a mux or a
// divider, and tells those that depend on it.
func (c *Clocks) Update() {
	if !c.started {
		return
	}
	now := c.env.Now()
	c.XOSC.rate, c.ROSC.rate, c.LPOSC.rate = c.xosc.Rate(), c.rosc.Rate(), c.lposc
	c.crystal.rate = c.xosc.swing()
	c.ref.rate = c.outputOf(c.ref)
	sys := c.outputOf(c.sys)
	c.resuscitate(&sys)
	if sys.Stopped() {
		// Cycles of clk_sys are what the simulation counts in, so it goes on at
		// the last frequency.
		if !c.stopped {
			c.env.Notice("clk_sys has stopped (its source does not run): the chip would hang here; the simulation goes on at the last frequency")
		}
		c.stopped = true
		sys = c.sysRate
	} else {
		c.stopped = false
	}
	sysChanged := sys != c.sysRate
	if sysChanged {
		c.sysRate = sys
		c.Sys.rate = sys
		c.sysOut.SysClock(sys)
	}
	for _, g := range c.derived {
		g.rate = c.outputOf(g)
	}
	for i, g := range c.gpout {
		c.gpoutHalf[i].rate = g.rate.Scale(2, 1)
	}
	for _, g := range c.gatedClocks {
		g.rate = g.parent.rate
		if c.gates&g.mask != g.mask {
			g.rate = timebase.Rate{}
		}
	}
	var changed []*Clock
	for _, k := range c.counted() {
		num, den := k.rate.Over(sys)
		if sysChanged || k.ratio != [2]uint64{num, den} {
			k.ratio = [2]uint64{num, den}
			k.ctr.SetRate(now, num, den)
			changed = append(changed, k)
		}
	}
	for _, k := range changed {
		for _, f := range k.subs {
			f()
		}
	}
	if sysChanged {
		for _, f := range c.Sys.subs {
			f()
		}
	}
}

// outputOf returns the frequency of a generator.
func (c *Clocks) outputOf(g *generator) timebase.Rate {
	r := c.rateOf(g.source(c.get(g.base)))
	return r.Scale(1<<16, g.divisor(c.get(g.base+4)))
}

// resuscitate puts clk_sys on clk_ref if it has stopped and resus is enabled
// (datasheet 8.1.5), or if that is forced. The time-out passes in no time:
// there is no clk_sys to count it in.
func (c *Clocks) resuscitate(sys *timebase.Rate) {
	ctrl := c.get(clkResusCtrl)
	switch {
	case ctrl&resusClear != 0:
		c.resussed = false
	case ctrl&resusForce != 0, ctrl&resusEnable != 0 && sys.Stopped():
		c.resussed = true
	}
	if c.resussed {
		*sys = c.ref.rate
	}
	c.interrupt()
}

// counted returns the clocks whose cycles are counted.
func (c *Clocks) counted() []*Clock {
	list := []*Clock{c.Ref, c.Peri, c.HSTX, c.USB, c.ADC, c.XOSC, c.ROSC, c.LPOSC, c.crystal,
		&c.gpout[0].Clock, &c.gpout[1].Clock, &c.gpout[2].Clock, &c.gpout[3].Clock,
		c.gpoutHalf[0], c.gpoutHalf[1], c.gpoutHalf[2], c.gpoutHalf[3]}
	for _, g := range c.gatedClocks {
		list = append(list, &g.Clock)
	}
	return list
}
