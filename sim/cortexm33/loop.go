package cortexm33

import (
	"github.com/stem-hw/stem-hw/sim/bus"
	"github.com/stem-hw/stem-hw/target"
)

// Gate is called in place of the instruction at pc. It may change registers,
// SetPC, and add to Cycle; it must move pc or it is called again. done is false
// to give up the turn with nothing begun (Run returns ReasonNotReady).
type Gate func(pc uint32) (done bool)

// gates is the address range that a Gate serves.
type gates struct {
	f        Gate
	lo, size uint32
}

// SetGate makes g serve every pc in [lo, hi): nothing is fetched there. A
// machine emulates its boot ROM so. Interrupts are taken before a gate as
// before any instruction. There is one gate; nil removes it.
func (c *Core) SetGate(lo, hi uint32, g Gate) {
	c.gate = gates{g, lo, hi - lo}
	if g == nil {
		c.gate.size = 0
	}
	c.code.invalidate(c, lo, hi)
}

// Limit is the limit of the Run in progress.
func (c *Core) Limit() uint64 { return c.limit }

// Shorten lowers the limit of the Run in progress, from within a bus call, a
// Watcher or a Gate. It never raises it, and is forgotten when Run returns.
func (c *Core) Shorten(limit uint64) {
	if limit < c.limit {
		c.limit = limit
		c.attention()
	}
}

// SkipTo moves the core's clock forward to cycle while it sleeps or is halted.
// The cycle counter and SysTick stand still in Debug state.
func (c *Core) SkipTo(cycle uint64) {
	if cycle <= c.Cycle {
		return
	}
	if c.dbg.halted {
		n := cycle - c.Cycle
		for s := range c.tick {
			if !c.tick[s].external(c) {
				c.tick[s].base += n
			}
		}
		c.dwt.off -= uint32(n)
	}
	c.Cycle = cycle
}

// CanWake reports whether a sleeping core has a reason to wake.
func (c *Core) CanWake() bool {
	return c.wakesWFI() || c.asleep == inWFE && c.event || c.haltDue()
}

// WakesFor reports whether interrupt line n would wake the core now.
func (c *Core) WakesFor(n int) bool {
	saved := c.nvic.pend
	c.nvic.pend |= 1 << n
	w := c.wakesWFI()
	c.nvic.pend = saved
	return w
}

// NextTick is the cycle of the next SysTick interrupt of a sleeping core; ok is
// false if there is none.
func (c *Core) NextTick() (cycle uint64, ok bool) {
	n := ^uint64(0)
	for s := range c.tick {
		if v, has := c.tick[s].next(c); has && c.tick[s].csr&tickINT != 0 {
			n = min(n, v)
		}
	}
	return n, n != ^uint64(0)
}

// Run executes until Cycle reaches limit or the core cannot go on. It may end a
// few cycles past the limit: an instruction is never cut. The reasons are those
// of sim/hazard3; ReasonLockup is the architecture's lockup state.
func (c *Core) Run(limit uint64) bus.Reason {
	c.limit = limit
	for {
		if r, stop := c.attend(); stop {
			return r
		}
		c.brk = false
		c.until = min(c.limit, c.nextTick())
		c.single = c.Plain || c.Tracer != nil || c.dbg.step || c.dbg.nWatch > 0
		b := c.ahead()
		// The breakpoint at which the core was resumed is passed once.
		passed := c.dbg.pass
		c.dbg.pass = noPass
		if b != nil {
			if c.dbg.step {
				c.until = 0
			}
			c.run(b)
		}
		switch c.abort {
		case abortNone:
			if c.stepHalts() {
				c.enterDebug(dfsrHALTED, target.StopStep)
			}
			continue
		case abortNotReady:
			c.abort = abortNone
			c.passAgain(passed)
			return bus.ReasonNotReady
		case abortHalt:
			c.abort = abortNone
			c.enterDebug(c.dbg.why, c.dbg.reason.Reason)
		case abortFault:
			c.abort = abortNone
			c.deliver(c.why)
			if c.stepHalts() {
				c.enterDebug(dfsrHALTED, target.StopStep)
			}
		case abortGate:
			c.abort = abortNone
			if !c.gate.f(c.pc) {
				c.passAgain(passed)
				return bus.ReasonNotReady
			}
			if c.stepHalts() {
				c.enterDebug(dfsrHALTED, target.StopStep)
			}
		}
	}
}

// passAgain lets an instruction that could not begin pass its breakpoint when
// it is tried again.
func (c *Core) passAgain(passed uint32) {
	if c.pc == passed {
		c.dbg.pass = passed
	}
}

// ahead finds the block to run. If it does not fit before c.until, single
// instructions are taken.
func (c *Core) ahead() *block {
	if c.Tracer != nil {
		c.Tracer(c.pc)
	}
	b := c.find()
	if b != nil && !c.single && c.Cycle+b.need > c.until {
		c.single = true
		b = c.find()
	}
	if b != nil && (c.Tracer != nil || c.dbg.nWatch > 0) {
		c.until = 0
	}
	return b
}

// attend looks at everything that may come between two instructions.
func (c *Core) attend() (bus.Reason, bool) {
	switch {
	case c.dbg.halted:
		return bus.ReasonHalted, true
	case c.haltDue():
		c.enterDebug(c.dbg.why, c.dbg.reason.Reason)
		return bus.ReasonHalted, true
	case c.stopReq:
		c.stopReq = false
		return bus.ReasonStopped, true
	case c.lockedUp:
		return bus.ReasonLockup, true
	}
	c.now(c.Cycle)
	for c.asleep != awake {
		if c.asleep == inWFE && c.event {
			c.event, c.asleep = false, awake
			break
		}
		if c.wakesWFI() {
			c.asleep = awake
			break
		}
		// SysTick is the core's own and may end the sleep.
		n, ok := c.NextTick()
		if !ok || n >= c.limit {
			if ok && c.limit != ^uint64(0) {
				c.Cycle = max(c.Cycle, c.limit)
				return bus.ReasonLimit, true
			}
			return bus.ReasonAsleep, true
		}
		c.Cycle = max(c.Cycle, n)
		c.now(c.Cycle)
	}
	if !c.dbg.step || c.dbg.stepIRQ {
		if c.takeInterrupt() && c.stepHalts() {
			c.enterDebug(dfsrHALTED, target.StopStep)
		}
		if c.lockedUp {
			return bus.ReasonLockup, true
		}
		if c.dbg.halted {
			return bus.ReasonHalted, true
		}
	}
	if c.Cycle >= c.limit {
		return bus.ReasonLimit, true
	}
	return 0, false
}
