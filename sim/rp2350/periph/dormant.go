package periph

import "math/bits"

// Dormancy (datasheet 6.5.3): an oscillator that is told so stops until an event
// that IO_BANK0 or IO_QSPI has for dormant wake, or the alarm of the always-on
// timer, starts it again. If clk_sys runs from it, the whole chip stands still
// meanwhile: no cycle passes, but the low-power oscillator and the world outside
// go on.

// goDormant follows an oscillator that was told to stop.
func (c *Clocks) goDormant() {
	if c.outputOf(c.ref).Stopped() && c.sysFollowsRef() || c.outputOf(c.sys).Stopped() {
		c.sysOut.Dormant()
		return
	}
	c.Update()
}

// sysFollowsRef reports whether clk_sys comes from clk_ref.
func (c *Clocks) sysFollowsRef() bool { return c.sys.source(c.get(clkSysCtrl)) == srcClkRef }

// DormantWake reports whether something ends the dormancy.
func (s *Peripherals) DormantWake() bool {
	return s.IOBank0.DormantWake() || s.IOQSPI.DormantWake() || s.Powman.timer.fired
}

// WakeOscillators starts the oscillators that were dormant.
func (s *Peripherals) WakeOscillators() {
	s.XOSC.dormant, s.ROSC.dormant = false, false
	s.Clocks.Update()
}

// NextWake is how long from now, in picoseconds, the always-on timer's alarm is
// away; ok is false if it will not come by itself.
func (s *Peripherals) NextWake() (picos uint64, ok bool) {
	t := &s.Powman.timer
	if t.alarm.Index == 0 || t.using == aonUsingXOSC {
		return 0, false
	}
	_, khz := t.source()
	if khz == 0 {
		return 0, false
	}
	hi, lo := bits.Mul64(t.alarmTime()-t.now(), khz)
	if hi >= 1<<16 {
		return 0, false
	}
	periods, _ := bits.Div64(hi, lo, 1<<16)
	const picosPerPeriod = 1_000_000_000_000 / lposcHertz
	return (periods + 1) * (picosPerPeriod + 1), true
}

// Pass lets time pass in which clk_sys stands still.
func (s *Peripherals) Pass(picos uint64) {
	c := s.Clocks.LPOSC
	hi, lo := bits.Mul64(picos, lposcHertz)
	ticks, _ := bits.Div64(hi, lo, 1_000_000_000_000)
	now := c.env.Now()
	c.ctr.Set(now, c.ctr.At(now)+ticks)
	for _, f := range c.subs {
		f()
	}
}
