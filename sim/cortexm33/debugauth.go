package cortexm33

// What the chip's authentication signals DBGEN and SPIDEN allow a debugger
// (Armv8-M Architecture Reference Manual DDI 0553, B13.3): nothing at all, or
// halting in Non-secure state alone. The simulator's own debugger (Halt, Step and
// SetPoints) is above them.

// authentication asks the chip for the signals.
func (c *Core) authentication() (debug, secure bool) {
	if c.Authenticate == nil {
		return true, true
	}
	debug, secure = c.Authenticate()
	return debug, debug && secure
}

// mayHalt reports whether the core may enter Debug state now for a debugger on
// its port.
func (c *Core) mayHalt() bool {
	debug, secure := c.authentication()
	return debug && (c.ns || secure)
}

// haltsOnEvents reports whether debug events halt the core, and do not raise
// exceptions.
func (c *Core) haltsOnEvents() bool {
	return c.dbg.enabled && (c.dbg.own || c.mayHalt())
}

// haltDue reports whether a pending halt request can be honoured. One that
// cannot waits for the core to become Non-secure.
func (c *Core) haltDue() bool {
	return c.dbg.haltReq && (c.dbg.ownReq || c.mayHalt())
}

// stepHalts reports whether the core halts behind this instruction.
func (c *Core) stepHalts() bool {
	return c.dbg.step && !c.dbg.halted && (c.dbg.own || c.mayHalt())
}

// dauthstatus is DAUTHSTATUS: two bits each for Non-secure and Secure debug,
// invasive and not: 2 is implemented and disabled, 3 enabled.
func (c *Core) dauthstatus() uint32 {
	v := uint32(0xaa)
	debug, secure := c.authentication()
	if debug {
		v |= 0x05
	}
	if secure {
		v |= 0x50
	}
	return v
}

// secureSelector reports whether DCRSR's selector n names a register of Secure
// state, which a debugger without Secure access cannot reach.
func secureSelector(n int) bool { return n >= 26 && n <= 29 || n == 34 }
