package rp2350

import (
	"github.com/stem-hw/stem-hw/sim/bus"
	"github.com/stem-hw/stem-hw/sim/machine"
	"github.com/stem-hw/stem-hw/sim/timebase"
)

// Quantum is how many cycles a core may run ahead of the other one between
// accesses that the other could notice. See the package comment.
const Quantum = 256

// Run implements machine.Machine.
func (c *Chip) Run(limit uint64) machine.Event {
	c.follow()
	e := c.run(limit)
	c.now = c.clock
	// A core in Debug state goes on at the time at which it is let go.
	for _, n := range c.nodes {
		if n.halted {
			n.cpu.SkipTo(c.clock)
		}
	}
	return e
}

func (c *Chip) run(limit uint64) machine.Event {
	for {
		if c.off {
			c.clock = max(c.clock, limit)
			return machine.Event{Kind: machine.EventLimit}
		}
		if c.resetPending {
			e, done := c.performReset()
			c.follow()
			if done {
				return e
			}
		}
		if c.followDue {
			c.followDue = false
			c.follow()
		}
		if e, ok := c.takeEvent(); ok {
			return e
		}
		if c.dormant {
			if e, done := c.stayDormant(); done {
				return e
			}
			continue
		}
		n := c.turnNode()
		if c.parts.Clocks.SleepMatters() {
			c.gateSleep(n == nil, limit)
		}
		if n == nil && c.parts.Powman.Waiting() && !c.anyHalted() {
			c.powerDown()
			continue
		}
		if n == nil {
			if e, done := c.idle(limit); done {
				return e
			}
			continue
		}
		c.clock = max(c.clock, min(n.clock(), limit))
		if next := c.q.next(); next <= min(n.clock(), limit) {
			c.fire(next)
			continue
		}
		if n.clock() >= limit {
			return machine.Event{Kind: machine.EventLimit}
		}
		c.turn(n, limit)
	}
}

// gateSleep enters and leaves the SLEEP state, in which other clocks are gated
// (datasheet 6.5.2): both cores sleep and DMA is idle.
func (c *Chip) gateSleep(nobody bool, limit uint64) {
	if nobody {
		at := c.clock
		for _, n := range c.nodes {
			if n.stuck || n.halted {
				return
			}
			if n.asleep {
				at = max(at, n.clock())
			}
		}
		// What happens before the second core has fallen asleep comes first.
		if at > limit || c.q.next() <= at || !c.parts.DMA.Idle() {
			return
		}
		c.now = max(c.now, at)
	}
	c.parts.Clocks.Sleep(nobody)
}

// turnNode is whose turn it is: the core whose turn a limit has cut short, so
// that the cores alternate in the same way whatever limits Run is given; else
// the one that is behind. nil is none.
func (c *Chip) turnNode() *node {
	if c.turnCore != 0 {
		if n := c.nodes[c.turnCore-1]; n.runs() && n.clock() < c.turnLimit {
			return n
		}
		c.turnCore = 0
	}
	return c.earliest()
}

// turn lets one core run to the end of its turn, or to limit.
func (c *Chip) turn(n *node, limit uint64) {
	if c.turnCore != n.id+1 {
		c.turnCore, c.turnLimit = n.id+1, c.limitFor(n)
	} else {
		c.turnLimit = min(c.turnLimit, c.q.next())
	}
	c.cur = n
	reason := n.cpu.Run(min(limit, c.turnLimit))
	c.cur = nil
	if reason != bus.ReasonLimit || n.clock() >= c.turnLimit {
		c.turnCore = 0
	}
	if n.resetDue {
		n.resetDue = false
		c.resetCore(n)
		c.startCore(n)
		return
	}
	switch reason {
	case bus.ReasonAsleep:
		n.asleep = n.cpu.Asleep()
	case bus.ReasonHalted:
		c.follow()
		c.report(machine.Event{Kind: machine.EventStop, Core: n.id})
	case bus.ReasonLockup:
		c.lockup(n)
	case bus.ReasonNotReady, bus.ReasonLimit, bus.ReasonStopped:
	}
}

// follow takes over what a debugger changed between runs: cores it halted or
// let go while they did not execute.
func (c *Chip) follow() {
	for _, n := range c.nodes {
		if n.rom != romNone && n.cpu.PC() != n.romPC {
			n.rom = romNone // taken out of the ROM by a debugger
		}
		if !n.cpu.Halted() && n.cpu.CanWake() {
			if n.held || n.rom != romNone {
				n.cpu.HaltNow()
				c.report(machine.Event{Kind: machine.EventStop, Core: n.id})
			}
			n.asleep, n.stuck = false, false
		}
		if h := n.cpu.Halted(); h != n.halted {
			n.halted = h
			n.asleep, n.stuck = false, false // it goes on somewhere else, perhaps
			c.turnCore = 0                   // and the other one's turn was measured without it
			c.parts.DebugHalt(n.id, h)
			c.sio.time.rebase()
		}
	}
}

// idle moves the clock when no core runs. done says that Run must return.
func (c *Chip) idle(limit uint64) (e machine.Event, done bool) {
	next := c.q.next()
	switch {
	case next <= limit && next != timebase.Never:
		c.fire(next)
		return e, false
	case next == timebase.Never && !c.inputOpen && !c.anyHalted():
		if n := c.stuckNode(); n != nil {
			return machine.Event{Kind: machine.EventCrash, Core: n.id, Cause: n.stuckText}, true
		}
		return machine.Event{Kind: machine.EventAsleep}, true
	}
	c.clock = max(c.clock, limit)
	return machine.Event{Kind: machine.EventLimit}, true
}

func (c *Chip) anyHalted() bool {
	return c.nodes[0].cpu.Halted() || c.nodes[1].cpu.Halted()
}

// fire lets the events up to cycle happen, one at a time and in order.
func (c *Chip) fire(cycle uint64) {
	for c.q.next() <= cycle {
		e := c.q.pop()
		c.now = e.When
		c.clock = max(c.clock, e.When)
		e.Fire(e.When)
	}
}

// report queues what Run returns next; the first one wins.
func (c *Chip) report(e machine.Event) {
	if c.event == nil {
		c.event = &e
	}
	c.shorten(0)
}

func (c *Chip) takeEvent() (machine.Event, bool) {
	if c.event == nil {
		return machine.Event{}, false
	}
	e := *c.event
	c.event = nil
	return e, true
}

// Now implements machine.Machine.
func (c *Chip) Now() uint64 { return c.clock }

// Seconds implements machine.Machine.
func (c *Chip) Seconds() float64 { return c.line.Seconds(c.clock) }

// CycleAt implements machine.Machine.
func (c *Chip) CycleAt(seconds float64) uint64 { return c.line.CycleAt(seconds) }
