package hazard3

// system executes CSR accesses, fences, environment calls and sleeping.
func (c *Core) system(in *inst, a uint32) int {
	switch in.op {
	case opCsr:
		return c.execCSR(in, a)
	case opFenceI:
		c.btb = noBranch
		c.jump(c.pc+4, 2)
	case opEcall:
		cause := causeEcallM
		if c.priv == 0 {
			cause = causeEcallU
		}
		c.instret++
		c.except(cause, noAddr)
		return c.trapExit()
	case opEbreak:
		return c.ebreak(in)
	case opMret:
		if c.priv == 0 {
			return c.illegal()
		}
		c.mret()
	case opWfi:
		if c.trapsWFI() {
			return c.illegal()
		}
		c.retire(in, 2)
		c.sleep = inWFI
		return c.trySleep()
	case opBlock:
		if c.trapsWFI() {
			return c.illegal()
		}
		c.retire(in, 2)
		c.sleep = inBlock
		return c.trySleep()
	case opUnblock:
		if c.trapsWFI() {
			return c.illegal()
		}
		if !c.bus.Ready(c.Cycle) {
			return notReady
		}
		c.lock.activity++
		now := c.Cycle
		c.retire(in, 1)
		c.bus.SendEvent(now)
	default:
		return c.illegal()
	}
	return running
}

// trapsWFI: wfi, h3.block and h3.unblock are illegal in U-mode with
// mstatus.TW.
func (c *Core) trapsWFI() bool { return c.csr.mstatus&mstatusTW != 0 && c.priv == 0 }

// trySleep wakes the core if there is a reason to, else it stays asleep.
func (c *Core) trySleep() int {
	c.sampleLate()
	if c.wakes() {
		return running
	}
	return asleep
}

// wakes looks for a reason to end the core's sleep and ends it. wfi and
// h3.block both end with an interrupt that mie lets through, whatever
// mstatus.MIE says, with a halt request and while single-stepping; h3.block
// with an unblock event too, which it takes (hazard3_power_ctrl.v).
func (c *Core) wakes() bool {
	if c.CanWake() {
		if c.sleep == inBlock {
			c.event = false
		}
		c.sleep = awake
		return true
	}
	return false
}

// ebreak is a breakpoint, a semihosting call, or a stop for a debugger.
func (c *Core) ebreak(in *inst) int {
	if in.size == 4 && c.Semihost != nil && c.semihosting() && c.Semihost() {
		c.retire(in, 1)
		c.lock.activity++
		return running
	}
	enable := dcsrEbreakM
	if c.priv == 0 {
		enable = dcsrEbreakU
	}
	if c.dbg.dcsr&enable != 0 {
		c.instret++
		c.enterDebug(debugEbreak)
		return halted
	}
	c.instret++
	c.except(causeBreakpoint, noAddr)
	return c.trapExit()
}

// The instructions around the ebreak of a semihosting call: slli x0, x0, 0x1f
// and srai x0, x0, 7 (RISC-V semihosting 1.0, section 2.1).
const (
	semihostBefore = 0x01f01013
	semihostAfter  = 0x40705013
)

func (c *Core) semihosting() bool {
	before, n, ok := c.RawAt(c.pc - 4)
	if !ok || n != 4 || before != semihostBefore {
		return false
	}
	after, n, ok := c.RawAt(c.pc + 4)
	return ok && n == 4 && after == semihostAfter
}
