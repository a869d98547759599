package periph

import (
	"math/bits"

	"github.com/stem-hw/stem-hw/sim/timebase"
)

// Registers of the frequency counter (datasheet 8.1.4).
const (
	fcRefKHz   = 0x8c
	fcMinKHz   = 0x90
	fcMaxKHz   = 0x94
	fcDelay    = 0x98
	fcInterval = 0x9c
	fcSrc      = 0xa0
	fcStatus   = 0xa4
	fcResult   = 0xa8

	fcDied    = 1 << 28
	fcFast    = 1 << 24
	fcSlow    = 1 << 20
	fcFail    = 1 << 16
	fcRunning = 1 << 8
	fcDone    = 1 << 4
	fcPass    = 1 << 0
)

// fcSources are the sources by the number in FC0_SRC.
var fcSources = [...]clockSource{srcNone, srcPLLSys, srcPLLUSB, srcROSC, srcROSC, srcXOSC, srcGPIN0, srcGPIN1,
	srcClkRef, srcClkSys, srcClkPeri, srcClkUSB, srcClkADC, srcClkHSTX, srcLPOSC, srcOTP, srcUSBRef}

// freqCounter is FC0. It measures for 2^INTERVAL times about a microsecond of
// clk_ref, whose frequency it takes from FC0_REF_KHZ.
type freqCounter struct {
	c              *Clocks
	done           Event
	src            uint32
	status, result uint32
}

func (f *freqCounter) init(c *Clocks) {
	f.c = c
	f.done.Fire = func(uint64) { f.finish() }
	c.Ref.OnChange(func() {
		if f.status&fcRunning != 0 {
			f.plan()
		}
	})
}

func (f *freqCounter) reset() {
	f.c.env.Cancel(&f.done)
	f.status, f.result = 0, 0
}

// start begins a measurement; source 0 stops one.
func (f *freqCounter) start(src uint32) {
	f.src = src
	if src == 0 {
		f.reset()
		return
	}
	f.status, f.result = fcRunning, 0
	f.plan()
}

// plan schedules the end of the test interval, in cycles of clk_ref.
func (f *freqCounter) plan() {
	ticks := uint64(f.c.get(fcRefKHz)) << (f.c.get(fcInterval) & 15) >> 10
	ticks += uint64(f.c.get(fcDelay)&7) * 4
	schedule(f.c.env, &f.done, f.c.Ref.When(f.c.Ref.Count()+max(ticks, 1)))
}

// finish computes the result: the true ratio of the source to clk_ref times what
// FC0_REF_KHZ says clk_ref is, in 1/32 kHz.
func (f *freqCounter) finish() {
	var src clockSource
	if int(f.src) < len(fcSources) {
		src = fcSources[f.src]
	}
	rate := f.c.rateOf(src)
	if rate.Stopped() {
		f.status = fcDied | fcDone | fcFail | fcSlow
		return
	}
	num, den := rate.Over(f.c.Ref.rate)
	f.result = uint32(min(mulDiv(num, uint64(f.c.get(fcRefKHz))*32, den), 1<<30-1))
	khz := f.result >> 5
	f.status = fcDone
	switch {
	case khz > f.c.get(fcMaxKHz):
		f.status |= fcFast | fcFail
	case khz < f.c.get(fcMinKHz):
		f.status |= fcSlow | fcFail
	default:
		f.status |= fcPass
	}
}

// mulDiv returns a·b/c without losing the upper half of the product.
func mulDiv(a, b, c uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	if c == 0 || hi >= c {
		return timebase.Never
	}
	q, _ := bits.Div64(hi, lo, c)
	return q
}
