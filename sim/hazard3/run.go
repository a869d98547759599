package hazard3

import "github.com/stem-hw/stem-hw/sim/bus"

// Run executes until Cycle reaches limit or the core cannot go on. It may end
// a few cycles past the limit: an instruction is never cut. What it returns
// holds when it returns; the machine may change anything and call again.
//
//   - ReasonLimit: Cycle has reached the limit.
//   - ReasonNotReady: Bus.Ready refused the next access; the instruction has
//     not begun.
//   - ReasonAsleep: wfi or h3.block waits and nothing wakes it.
//   - ReasonHalted: the core is in Debug mode.
//   - ReasonStopped: Stop was called.
//   - ReasonLockup: the core repeats the same exception, or jumps to itself
//     with interrupts off, and will do so until something outside changes.
//     LastTrap tells about the exception.
func (c *Core) Run(limit uint64) bus.Reason {
	c.limit = limit
	for {
		if c.attn || c.dbg.mode || c.sleep != awake || c.lock.stuck {
			if r := c.attend(); r != running {
				return bus.Reason(r - 1)
			}
		}
		if c.Cycle >= c.limit {
			return bus.ReasonLimit
		}
		var r int
		if c.attn || c.dbg.passBreak || c.mustStep() {
			r = c.step()
		} else {
			r = c.runBlocks()
		}
		if r != running {
			return bus.Reason(r - 1)
		}
	}
}

// attend looks at everything that may come between two instructions.
func (c *Core) attend() int {
	c.attn = false
	if c.late.n > 0 {
		c.sampleLate()
	}
	switch {
	case c.dbg.mode:
		return halted
	case c.stop:
		c.stop = false
		c.attn = true
		return stopped
	case c.sleep != awake && !c.wakes():
		return asleep
	case c.dbg.haltReq != 0:
		c.enterDebug(c.dbg.haltReq)
		return halted
	case c.lock.stuck:
		return locked
	case c.takesIRQ():
		c.interrupt()
	}
	return running
}

// step executes one instruction with all that may come before and after it.
func (c *Core) step() int {
	if c.pc-c.gateLo < c.gateSize {
		return c.passGate()
	}
	var in inst // a copy: what is executed may be overwritten by itself
	p := c.fetch(c.pc)
	if p != nil {
		in = *p
	}
	looks := c.dbg.checks || c.dbg.breaks != nil || c.dbg.passBreak
	if looks {
		if r, done := c.before(p != nil, in.size); done {
			return r
		}
	}
	if c.Tracer != nil {
		c.Tracer(c.pc)
	}
	if p == nil {
		c.except(causeFetchFault, noAddr)
		return c.trapExit()
	}
	r := c.exec(&in)
	if looks && (r == running || r == locked) {
		if a := c.after(); a != running {
			return a // a step ends also where the core would repeat itself for ever
		}
	}
	return r
}

// after ends an instruction that was executed under a debugger's eyes.
func (c *Core) after() int {
	c.dbg.passBreak, c.dbg.passWatch = false, false
	if c.dbg.step != 0 && !c.dbg.mode {
		c.enterDebug(debugStep)
		return halted
	}
	return running
}

// passGate lets the gate do what is at pc.
func (c *Core) passGate() int {
	if c.dbg.breaks != nil && c.breakHit() {
		return halted
	}
	c.loading, c.excl = 0, false
	c.lock.activity++
	if !c.gate(c.pc) {
		return notReady
	}
	return c.after()
}

// before looks for breakpoints, triggers and fetch permission.
func (c *Core) before(fetched bool, size uint8) (int, bool) {
	if c.dbg.breaks != nil && c.breakHit() {
		return halted, true
	}
	if breaks, toDebug := c.trig.hit(c.pc, c.priv); breaks {
		c.instret++
		if toDebug {
			c.enterDebug(debugTrigger)
			return halted, true
		}
		c.except(causeBreakpoint, noAddr)
		return c.trapExit(), true
	}
	if c.pmp.fetchActive && fetched && !c.pmpFetch(c.pc, size) {
		c.except(causeFetchFault, noAddr)
		return c.trapExit(), true
	}
	return running, false
}
