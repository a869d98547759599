package timebase

import (
	"math"
	"math/bits"
)

// Never is the cycle of something that does not happen.
const Never = math.MaxUint64

// Counter counts the ticks of a clock that makes num/den ticks in a cycle of
// clk_sys. The zero value stands still at 0.
type Counter struct {
	cycle    uint64 // where it was last rebased
	ticks    uint64 // whole ticks there
	part     uint64 // and the part of a tick, in 1/den
	num, den uint64
}

// At returns the ticks counted at a cycle (not before the last change).
func (c *Counter) At(cycle uint64) uint64 {
	t, _ := c.split(cycle)
	return t
}

// split returns whole ticks and the remaining part in 1/den.
func (c *Counter) split(cycle uint64) (ticks, part uint64) {
	if c.num == 0 || cycle <= c.cycle {
		return c.ticks, c.part
	}
	hi, lo := bits.Mul64(cycle-c.cycle, c.num)
	lo, carry := bits.Add64(lo, c.part, 0)
	hi += carry
	if hi == 0 {
		q := lo / c.den
		return c.ticks + q, lo - q*c.den
	}
	// The quotient is taken modulo 2^64: counters wrap.
	q, r := bits.Div64(hi%c.den, lo, c.den)
	return c.ticks + q, r
}

// CycleOf returns the first cycle at which At is ticks or more, or Never.
func (c *Counter) CycleOf(ticks uint64) uint64 {
	if ticks <= c.ticks {
		return c.cycle
	}
	if c.num == 0 {
		return Never
	}
	hi, lo := bits.Mul64(ticks-c.ticks, c.den)
	lo, borrow := bits.Sub64(lo, c.part, 0)
	hi -= borrow
	lo, carry := bits.Add64(lo, c.num-1, 0)
	hi += carry
	if hi >= c.num {
		return Never
	}
	q, _ := bits.Div64(hi, lo, c.num)
	if q > Never-c.cycle {
		return Never
	}
	return c.cycle + q
}

// SetRate changes the rate from cycle on to num/den ticks in a cycle; num 0
// stops the counter. The part of a tick already passed is kept.
func (c *Counter) SetRate(cycle, num, den uint64) {
	if den == 0 {
		num, den = 0, 1
	}
	ticks, part := c.split(cycle)
	if c.den != 0 && part != 0 {
		hi, lo := bits.Mul64(part, den)
		part, _ = bits.Div64(hi, lo, c.den)
	}
	c.cycle, c.ticks, c.part, c.num, c.den = cycle, ticks, part, num, den
}

// Set changes the count at cycle and begins a new tick there.
func (c *Counter) Set(cycle, ticks uint64) {
	c.cycle, c.ticks, c.part = cycle, ticks, 0
}

// Running reports whether the counter moves.
func (c *Counter) Running() bool { return c.num != 0 }
