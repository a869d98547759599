package rp2350

import (
	"github.com/stem-hw/stem-hw/sim/timebase"
	"github.com/stem-hw/stem-hw/target"
)

// node is one core with what the chip keeps about it.
type node struct {
	id    int
	cpu   cpu
	cycle *uint64 // the cpu's clock
	// points are what a debugger asked for, kept for a new core.
	points []target.Point
	other  *node
	bus    *coreBus

	// irq are the lines of its own, and-ed to those shared by both cores.
	irq uint64
	// held: the core is kept in reset, by PSM, the Debug Module or both.
	held, psmHeld, dmHeld bool
	// asleep: its last Run ended in a wait, and nothing woke it since.
	asleep bool
	// resetDue: it asked for a reset of itself, which waits for its turn to end.
	resetDue bool
	// stuck: it repeats itself for ever and only a change from outside helps.
	stuck     bool
	stuckText string
	// haltOnReset: a debugger wants it halted before its first instruction.
	haltOnReset bool
	// wasReset: it was reset since the Debug Module asked last.
	wasReset bool
	// halted is whether the blocks were told that it is in Debug state.
	halted bool
	// rom is what the core does in the boot ROM instead of executing; see
	// romcore1.go.
	rom    romState
	romPC  uint32 // its pc there
	launch launch
	// reservation is the granule of its exclusive reservation (address over
	// 16), or noReservation.
	reservation uint32
}

const noReservation = ^uint32(0)

// runs reports whether the core executes instructions now.
func (n *node) runs() bool {
	return !n.held && !n.asleep && !n.stuck && n.rom == romNone && !n.halted
}

// clock is the cycle up to which the core has run.
func (n *node) clock() uint64 { return *n.cycle }

// wake lets the core go on from cycle now if something it waits for came.
func (n *node) wake(c *Chip, now uint64) {
	if !n.asleep || n.cpu.Asleep() && !n.cpu.CanWake() {
		return
	}
	n.asleep = false
	if n.clock() < now {
		n.cpu.SetClock(now)
	}
	c.shorten(now + Quantum)
}

// refreshIRQs passes the interrupt levels on.
func (n *node) refreshIRQs(c *Chip) {
	n.cpu.SetIRQs(c.irq | n.irq)
	n.stuck = n.stuck && !n.cpu.CanWake()
	n.wake(c, c.now)
}

// shorten lowers the limit of the core that is running, if one is.
func (c *Chip) shorten(limit uint64) {
	c.turnLimit = min(c.turnLimit, limit)
	if c.cur != nil {
		c.cur.cpu.Shorten(limit)
	}
}

// postEvent latches an event on both cores (h3.unblock reaches its sender too).
func (c *Chip) postEvent() {
	for _, n := range c.nodes {
		c.postEventTo(n)
	}
}

func (c *Chip) postEventTo(n *node) {
	n.cpu.PostEvent()
	n.wake(c, c.now)
	if n.rom != romNone {
		c.romNudge(n)
	}
}

// earliest returns the running core that is behind, core 0 on a tie, or nil.
func (c *Chip) earliest() *node {
	var best *node
	for _, n := range c.nodes {
		if n.runs() && (best == nil || n.clock() < best.clock()) {
			best = n
		}
	}
	return best
}

// limitFor is how far a core may run before somebody else must.
func (c *Chip) limitFor(n *node) uint64 {
	limit := c.q.next()
	if o := n.other; o.runs() && o.clock() < timebase.Never-Quantum {
		limit = min(limit, o.clock()+Quantum)
	}
	return limit
}
