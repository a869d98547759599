package cortexm33

import "github.com/stem-hw/stem-hw/target"

// Bits of DEMCR.
const (
	demcrVCCORERESET = 1 << 0
	demcrVCMMERR     = 1 << 4
	demcrVCNOCPERR   = 1 << 5
	demcrVCCHKERR    = 1 << 6
	demcrVCSTATERR   = 1 << 7
	demcrVCBUSERR    = 1 << 8
	demcrVCHARDERR   = 1 << 10
	demcrVCSFERR     = 1 << 11
	demcrMONEN       = 1 << 16
	demcrMONPEND     = 1 << 17
	demcrMONREQ      = 1 << 19
	demcrSDME        = 1 << 20
	demcrTRCENA      = 1 << 24
)

// DHCSR bits.
const (
	dhcsrCDEBUGEN  = 1 << 0
	dhcsrCHALT     = 1 << 1
	dhcsrCSTEP     = 1 << 2
	dhcsrCMASKINTS = 1 << 3
)

// read and write access DHCSR, DCRSR, DCRDR, DEMCR, DAUTHCTRL and DSCSR.
func (d *debug) read(c *Core, off uint32, peek bool) uint32 {
	switch off {
	case 0xdf0:
		v := b2u(d.enabled) | b2u(d.halted || d.haltReq)<<1 | b2u(d.step)<<2 | b2u(d.cMask)<<3
		v |= 1<<16 | b2u(d.halted)<<17 | b2u(c.asleep != awake)<<18 | b2u(c.lockedUp)<<19
		if _, secure := c.authentication(); secure {
			v |= 1 << 20 // S_SDE
		}
		v |= b2u(c.instret != d.retired)<<24 | b2u(d.wasReset)<<25
		if !peek {
			d.retired, d.wasReset = c.instret, false
		}
		return v
	case 0xdf8:
		return d.dcrdr
	case 0xdfc:
		return d.demcr | b2u(c.nvic.pendSys[0]>>excDebugMon&1 != 0)<<17
	case 0xe08:
		return d.dscsr | b2u(!c.ns)<<16
	}
	return 0
}

func (d *debug) write(c *Core, off, v uint32, debugger bool) {
	switch off {
	case 0xdf0:
		if debugger && v>>16 == 0xa05f {
			d.control(c, v)
		}
	case 0xdf4:
		if d.halted {
			d.transfer(c, v)
		}
	case 0xdf8:
		d.dcrdr = v
	case 0xdfc:
		c.dwt.change(c, func() { d.demcr = v & 0x010d0ff1 })
		d.demcr |= v & demcrSDME
		if v&demcrMONPEND != 0 {
			c.nvic.pendSys[0] |= 1 << excDebugMon
		} else {
			c.nvic.pendSys[0] &^= 1 << excDebugMon
		}
		c.attention()
	case 0xe08:
		d.dscsr = v & 3
		if _, secure := c.authentication(); secure && v>>17&1 == 0 && d.halted && c.ns == (v>>16&1 != 0) {
			c.switchState(v>>16&1 == 0)
		}
	}
}

// switchState changes the security state with the stack pointers.
func (c *Core) switchState(ns bool) {
	c.saveSP()
	c.ns = ns
	c.loadSP()
	c.regimeChanged()
	c.fpChanged()
}

// control is a write to DHCSR by a debugger, which comes between two
// instructions: a halt request takes effect at once.
func (d *debug) control(c *Core, v uint32) {
	d.enabled = v&dhcsrCDEBUGEN != 0
	d.cMask = v&dhcsrCMASKINTS != 0 && d.enabled
	d.maskInts = d.cMask
	d.step, d.own = v&dhcsrCSTEP != 0 && d.enabled, false
	d.stepIRQ = d.step && !d.cMask
	switch {
	case !d.enabled || v&dhcsrCHALT == 0:
		if d.halted {
			d.halted = false
			d.pass = noPass
		}
		d.haltReq = false
	case c.mayHalt():
		c.HaltNow()
	case !d.halted:
		// It waits until the core is in a state in which it may be halted.
		d.haltReq, d.why, d.reason.Reason = true, dfsrHALTED, target.StopHalt
	}
	c.attention()
}

// transfer is a write to DCRSR: one register moves to or from DCRDR.
func (d *debug) transfer(c *Core, v uint32) {
	sel := int(v & 0x7f)
	if _, secure := c.authentication(); !secure && secureSelector(sel) {
		if v>>16&1 == 0 {
			d.dcrdr = 0
		}
		return
	}
	if v>>16&1 != 0 {
		c.writeSelector(sel, d.dcrdr)
		return
	}
	d.dcrdr = c.readSelector(sel)
}

// special is CONTROL, FAULTMASK, BASEPRI and PRIMASK of one state in a word.
func (c *Core) special(s int) uint32 {
	ctl := c.control[s] & (ctlNPRIV | ctlSPSEL)
	ctl |= c.control[0] & (ctlFPCA | ctlSFPA)
	return ctl<<24 | b2u(c.faultmask[s])<<16 | c.basepri[s]<<8 | b2u(c.primask[s])
}

func (c *Core) setSpecial(s int, v uint32) {
	c.setControl(s, v>>24, true)
	c.faultmask[s] = v>>16&1 != 0
	c.basepri[s] = v >> 8 & uint32(c.prioMask())
	c.primask[s] = v&1 != 0
	c.regimeChanged()
	c.attention()
}

// readSelector reads a register by DCRSR.REGSEL.
func (c *Core) readSelector(n int) uint32 {
	s := b2i(c.ns)
	switch {
	case n < 15:
		return c.R[n]
	case n == 15:
		return c.pc
	case n == 16:
		return c.xpsr()
	case n == 17, n == 18:
		return c.getSP(s, n-17)
	case n == 20:
		return c.special(s)
	case n == 24, n == 25:
		return c.getSP(1, n-24)
	case n == 26, n == 27:
		return c.getSP(0, n-26)
	case n == 28, n == 29:
		return c.splim[0][n-28]
	case n == 30, n == 31:
		return c.splim[1][n-30]
	case n == 33:
		return c.fpscr
	case n == 34, n == 35:
		return c.special(n - 34)
	case n >= 64 && n < 96:
		return c.S[n-64]
	}
	return 0
}

// writeSelector writes a register by DCRSR.REGSEL.
func (c *Core) writeSelector(n int, v uint32) {
	s := b2i(c.ns)
	switch {
	case n == 13:
		c.setSP(v)
	case n < 15:
		c.R[n] = v
	case n == 15:
		c.pc = v &^ 1
		c.lockedUp = false
	case n == 16:
		c.setXPSR(v)
		c.regimeChanged()
	case n == 17, n == 18:
		c.putSP(s, n-17, v)
	case n == 20:
		c.setSpecial(s, v)
	case n == 24, n == 25:
		c.putSP(1, n-24, v)
	case n == 26, n == 27:
		c.putSP(0, n-26, v)
	case n == 28, n == 29:
		c.setLimit(0, n-28, v)
	case n == 30, n == 31:
		c.setLimit(1, n-30, v)
	case n == 33:
		c.fpscr = v & fpscrMask
	case n == 34, n == 35:
		c.setSpecial(n-34, v)
	case n >= 64 && n < 96:
		c.S[n-64] = v
	}
}

// setLimit sets a stack limit register.
func (c *Core) setLimit(s, i int, v uint32) {
	c.splim[s][i] = v &^ 7
	if s == b2i(c.ns) && i == c.spIndex(s) {
		c.useLimit()
	}
}

// ReadPPB and WritePPB access the private peripheral bus as a debugger's access
// port does, Secure or Non-secure. They return false for an address that nothing
// answers.
func (c *Core) ReadPPB(addr uint32, size uint8, ns bool) (uint32, bool) {
	v, ok := c.ppbWord(addr&^3, ns, false)
	return v >> (8 * (addr & 3)) & (1<<(8*size-1)<<1 - 1), ok
}

// PeekPPB reads a word without side effects.
func (c *Core) PeekPPB(addr uint32) (uint32, bool) { return c.ppbWord(addr, false, true) }

// WritePPB is the write of that pair.
func (c *Core) WritePPB(addr uint32, size uint8, v uint32, ns bool) bool {
	if size != 4 {
		return c.ppbStore(addr, uint32(size), v, ns)
	}
	return c.ppbWordWrite(addr, v, ns, true)
}

// AttributeDebug applies SAU and attribution unit to a debugger's access of
// memory: whether it is Non-secure on the bus, and whether it is allowed.
func (c *Core) AttributeDebug(addr uint32, ns bool) (busNS, ok bool) {
	to, _, exempt := c.attribute(addr, false, ns)
	return to, exempt || to || !ns
}

// ResetDebug is the part of a cold reset that a warm one leaves alone: the debug
// registers, FPB and DWT.
func (c *Core) ResetDebug() {
	d := &c.dbg
	d.enabled, d.step, d.stepIRQ, d.cMask, d.maskInts = false, false, false, false, false
	d.demcr, d.dcrdr, d.dscsr = 0, 0, 0
	c.scs.dfsr = 0
	c.fpb = fpb{}
	c.dwt.reset()
	c.pointsChanged()
}
