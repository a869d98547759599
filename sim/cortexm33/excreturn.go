package cortexm33

// branchSpecial settles a branch at operation i to an address that is even or
// in the range of the return codes. It always leaves the block.
func (c *Core) branchSpecial(b *block, i int, v uint32) outcome {
	c.leave(b, len(b.meta)-1)
	c.it = 0
	c.Cycle += takenCost
	c.jump(v)
	return slowOut
}

// jump branches to v as BX and loads to PC do: EXC_RETURN in Handler mode and
// FNC_RETURN act as such; an even address clears EPSR.T.
func (c *Core) jump(v uint32) {
	switch {
	case c.ipsr != 0 && v>>24 == 0xff:
		c.exceptionReturn(v)
	case v&^1 == 0xfefffffe:
		c.functionReturn()
	default:
		c.pc, c.thumb = v&^1, v&1 != 0
	}
}

// branchOdd is BX or BLX to such an address.
func (c *Core) branchOdd(b *block, i int, o *op) {
	v := c.R[o.rm&15]
	c.leave(b, len(b.meta)-1)
	c.it = 0
	c.Cycle += takenCost
	if o.code == opBLX {
		c.R[14] = o.im2 | 1
		c.pc, c.thumb = v&^1, v&1 != 0
		return
	}
	c.jump(v)
}

// exceptionReturn performs the return that EXC_RETURN value v asks for.
func (c *Core) exceptionReturn(v uint32) {
	c.pc = v &^ 1
	// Integrity checks: B3.23.
	exc := c.ipsr
	bad := v>>7 != 0x1ffffff || v&2 != 0
	if c.ns {
		// Non-secure code cannot return to Secure state by itself except from a
		// Non-secure exception that interrupted it.
		if v&excES != 0 {
			c.failReturn(fault{exc: excSecureFault, sfsr: sfsrINVER}, v)
			return
		}
	}
	fromNS := c.ns
	if !fromNS && v&excES == 0 || v&excDCRS == 0 && v&excS == 0 {
		c.failReturn(fault{exc: excSecureFault, sfsr: sfsrINVER}, v)
		return
	}
	bank := b2i(fromNS)
	if !c.isActive(exc, bank) {
		c.failReturn(fault{exc: excUsageFault, cfsr: cfsrINVPC}, v)
		return
	}
	if bad || v&excMode == 0 && v&excSPSEL != 0 {
		c.deactivate(exc, bank)
		c.failReturn(fault{exc: excUsageFault, cfsr: cfsrINVPC}, v)
		return
	}
	// The handler is done: FAULTMASK goes unless it was NMI or HardFault.
	if c.rawPriority() >= 0 {
		c.faultmask[bank] = false
	}
	c.deactivate(exc, bank)
	c.saveSP()
	toNS := v&excS == 0
	// Where the frame is.
	idx := 0
	if v&excMode != 0 && v&excSPSEL != 0 {
		idx = 1
	}
	c.control[b2i(toNS)] = c.control[b2i(toNS)]&^ctlSPSEL | uint32(idx)<<1
	if v&excMode != 0 && v&excSPSEL == 0 {
		c.control[b2i(toNS)] &^= ctlSPSEL
	}
	if c.tailChain(v, exc) {
		return
	}
	c.popStack(v, toNS, idx)
}

// tailChain enters a pending exception without unstacking.
func (c *Core) tailChain(v, exc uint32) bool {
	// Priority is that of the context returned to.
	e, bank, p := c.pending()
	if p >= c.executionPriority() {
		return false
	}
	c.loadSPFor(v)
	c.Cycle += tailCycles
	c.noteTrap(e, fault{})
	c.taken(e, bank, v, true)
	if c.OnTrap != nil {
		c.OnTrap(c.lastTrap)
	}
	return true
}

// loadSPFor makes the stack pointer of the present handler current again after
// CONTROL changed under it.
func (c *Core) loadSPFor(v uint32) {
	s := b2i(c.ns)
	c.R[13] = c.sp[s][0]
	c.useLimit()
}

// failReturn takes a fault instead of the return, tail-chained on the frame.
func (c *Core) failReturn(f fault, lr uint32) {
	exc, bank, ok := c.escalate(&f)
	c.record(f)
	c.noteTrap(exc, f)
	if !ok {
		c.lockup()
		return
	}
	c.saveSP()
	c.loadSPFor(lr)
	c.taken(exc, bank, lr&0x7f|excPrefix, true)
	if c.OnTrap != nil {
		c.OnTrap(c.lastTrap)
	}
}

// popStack restores the context that v describes.
func (c *Core) popStack(v uint32, toNS bool, idx int) {
	s := b2i(toNS)
	frame := c.sp[s][idx]
	priv := v&excMode == 0 || c.control[s]&ctlNPRIV == 0
	a := access{now: c.Cycle, priv: priv, ns: toNS, begun: true}
	wasNS, wasIPSR := c.ns, c.ipsr
	var d fault
	p := frame
	if !toNS && (v&excES == 0 || v&excDCRS == 0) {
		sig := c.stackRead(&a, p, &d)
		if want := uint32(0xfefa125a) | v>>4&1; d.exc == 0 && sig != want {
			c.failReturn(fault{exc: excSecureFault, sfsr: sfsrINVIS}, v)
			return
		}
		for k := uint32(0); k < 8; k++ {
			w := c.stackRead(&a, p+8+k*4, &d)
			if d.exc == 0 {
				c.R[4+k] = w
			}
		}
		p += 0x28
	}
	var w [8]uint32
	for k := range w {
		w[k] = c.stackRead(&a, p+uint32(k)*4, &d)
	}
	if d.exc != 0 {
		c.failReturn(d, v)
		return
	}
	psr := w[7]
	if ipsr := psr & 0x1ff; (ipsr == 0) != (v&excMode != 0) {
		c.failReturn(fault{exc: excUsageFault, cfsr: cfsrINVPC}, v)
		return
	}
	c.ns = toNS
	c.ipsr = psr & 0x1ff
	c.R[0], c.R[1], c.R[2], c.R[3], c.R[12], c.R[14] = w[0], w[1], w[2], w[3], w[4], w[5]
	size := uint32(0x20)
	if v&excFType == 0 {
		size = 0x68
		if !c.popFP(&a, p+0x20, toNS, &d, &size) {
			c.ns, c.ipsr = wasNS, wasIPSR
			c.failReturn(d, v)
			return
		}
	}
	if !toNS || !wasNS {
		c.control[0] = c.control[0]&^ctlFPCA | (1-v>>4&1)<<2
	} else {
		c.control[0] = c.control[0]&^ctlFPCA | (1-v>>4&1)<<2
	}
	c.sp[s][idx] = (p + size) | psr>>9&1<<2
	c.loadSP()
	c.setXPSR(psr)
	c.pc = w[6] &^ 1
	c.event = true
	c.excl.valid = false
	c.Cycle += returnCycles
	c.regimeChanged()
	c.fpChanged()
	c.attention()
	if v&excMode != 0 && c.scs.scr[b2i(wasNS)]&scrSLEEPONEXIT != 0 && c.nvic.noneActive() {
		c.asleep = inWFI
	}
}
