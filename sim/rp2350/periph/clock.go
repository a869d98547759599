package periph

import "github.com/stem-hw/stem-hw/sim/timebase"

// Never is the cycle of something that does not happen.
const Never = timebase.Never

// Clock is one clock of the chip as a counter of its own cycles since power-up,
// exact whatever clk_sys does. Blocks keep their deadlines in counts of their
// clock, ask When for the cycle of clk_sys, and ask again after a change.
type Clock struct {
	name string
	env  Env
	rate timebase.Rate
	ctr  timebase.Counter
	// ratio is the rate against clk_sys that ctr was given.
	ratio [2]uint64
	subs  []func()
}

// Rate is the clock's frequency; stopped if it does not run.
func (c *Clock) Rate() timebase.Rate { return c.rate }

// Running reports whether the clock moves.
func (c *Clock) Running() bool { return c.ctr.Running() }

// Count is the number of whole cycles so far.
func (c *Clock) Count() uint64 { return c.ctr.At(c.env.Now()) }

// When is the first cycle of clk_sys at which Count is n, or Never while the
// clock stands still.
func (c *Clock) When(n uint64) uint64 {
	at := c.ctr.CycleOf(n)
	if at != Never && at < c.env.Now() {
		return c.env.Now()
	}
	return at
}

// OnChange calls f after each change of the clock's rate against clk_sys.
func (c *Clock) OnChange(f func()) { c.subs = append(c.subs, f) }

// Ticks is a stream of ticks with a position: a Clock, or the output of a tick
// generator.
type Ticks interface {
	// Count is the number of ticks so far.
	Count() uint64
	// When is the first cycle of clk_sys at which Count is n or more, or Never.
	When(n uint64) uint64
	// OnChange calls f after each change of the rate.
	OnChange(f func())
}

// sysTicks is clk_sys itself.
type sysTicks struct{ env Env }

func (s sysTicks) Count() uint64        { return s.env.Now() }
func (s sysTicks) When(n uint64) uint64 { return n }
func (s sysTicks) OnChange(func())      {}

// schedule queues e at when, or cancels it if that is Never.
func schedule(env Env, e *Event, when uint64) {
	if when == Never {
		env.Cancel(e)
		return
	}
	env.Schedule(e, when)
}
