package cortexm33

import "github.com/stem-hw/stem-hw/target"

// slowSys executes system instructions.
func (c *Core) slowSys(b *block, i int, o *op) outcome {
	switch o.code {
	case opMrs:
		c.R[o.rd&15] = c.readSpecial(o.imm)
	case opMsr:
		c.writeSpecial(o.imm, c.R[o.rn&15], o.x)
		return c.out(b, i)
	case opCps:
		c.cps(o.imm, o.x != 0)
		return c.out(b, i)
	case opSvc:
		c.leave(b, i+1)
		c.fault(fault{exc: excSVC})
		return slowOut
	case opBkpt:
		return c.bkpt(b, i, o)
	case opWfi, opWfe:
		return c.wait(b, i, o)
	case opSev:
		if !c.bus.Ready(c.Cycle + uint64(b.meta[i].at)) {
			c.abort = abortNotReady
			c.leave(b, i)
			return slowOut
		}
		c.bus.SendEvent(c.Cycle + uint64(b.meta[i].at))
		c.event = true
		return c.out(b, i)
	case opIsb:
		return c.out(b, i)
	case opYield, opDmb:
	case opTT:
		c.R[o.rd&15] = c.testTarget(c.R[o.rn&15], o.x)
	case opSG:
		c.secureGateway(b.meta[i].pc)
		return c.out(b, i)
	case opBxns, opBlxns:
		return c.branchNS(b, i, o)
	case opMcr, opMrc, opMcrr, opMrrc, opCdp:
		return c.coproc(b, i, o)
	default:
		return c.faultAt(b, i, fault{exc: excUsageFault, cfsr: cfsrUNDEFINSTR})
	}
	return slowNext
}

// out leaves the block behind operation i, so that whatever it changed is seen
// by the next instruction.
func (c *Core) out(b *block, i int) outcome {
	c.leave(b, i+1)
	return slowOut
}

// readSpecial is MRS.
func (c *Core) readSpecial(n uint32) uint32 {
	s := b2i(c.ns)
	priv := c.privileged()
	switch {
	case n < 8:
		v := uint32(0)
		if n&1 != 0 && priv {
			v |= c.ipsr
		}
		if n&4 == 0 {
			v |= c.apsr()
		}
		return v
	case n == 20: // CONTROL
		return c.readControl(s)
	case n == 0x94 && !c.ns && priv:
		return c.control[1] & 3
	case !priv:
		return 0
	}
	ns := n&0x80 != 0
	if ns {
		if c.ns {
			return 0
		}
		s = 1
	}
	switch n & 0x7f {
	case 8, 9:
		return c.getSP(s, int(n&1))
	case 10, 11:
		return c.splim[s][n&1]
	case 16:
		return b2u(c.primask[s])
	case 17, 18:
		return c.basepri[s]
	case 19:
		return b2u(c.faultmask[s])
	case 0x18: // SP_NS
		if ns {
			return c.getSP(1, c.spIndex(1))
		}
	}
	return 0
}

// readControl is CONTROL as state s sees it.
func (c *Core) readControl(s int) uint32 {
	v := c.control[s]&3 | c.control[0]&ctlFPCA
	if s == 0 {
		v |= c.control[0] & ctlSFPA
	}
	return v
}

// writeSpecial is MSR.
func (c *Core) writeSpecial(n, v uint32, mask uint16) {
	priv := c.privileged()
	switch {
	case n < 4:
		if mask&2 != 0 {
			c.setNZCV(v)
			c.qf = v>>27&1 != 0
		}
		if mask&1 != 0 {
			c.ge = v >> 16 & 15
		}
		return
	case n == 20:
		c.setControl(b2i(c.ns), v, priv)
		return
	case !priv:
		return
	}
	s := b2i(c.ns)
	if n&0x80 != 0 {
		if c.ns {
			return
		}
		s = 1
	}
	switch n & 0x7f {
	case 8, 9:
		c.putSP(s, int(n&1), v)
	case 10, 11:
		c.setLimit(s, int(n&1), v)
	case 16:
		c.primask[s] = v&1 != 0
	case 17:
		c.basepri[s] = v & uint32(c.prioMask())
	case 18:
		if v &= uint32(c.prioMask()); v != 0 && (v < c.basepri[s] || c.basepri[s] == 0) {
			c.basepri[s] = v
		}
	case 19:
		c.setFaultmask(s, v&1 != 0)
	case 20:
		c.setControl(s, v, true)
	case 0x18:
		if n&0x80 != 0 {
			c.putSP(1, c.spIndex(1), v)
		}
	}
	c.regimeChanged()
	c.attention()
}

// setFaultmask sets FAULTMASK unless the priority is already above it.
func (c *Core) setFaultmask(s int, on bool) {
	if !on || c.executionPriority() > -1 {
		c.faultmask[s] = on
	}
}

// setControl writes CONTROL of state s.
func (c *Core) setControl(s int, v uint32, priv bool) {
	if priv {
		cur := s == b2i(c.ns)
		if cur {
			c.saveSP()
		}
		if c.ipsr == 0 || !cur {
			c.control[s] = c.control[s]&^ctlSPSEL | v&ctlSPSEL
		}
		c.control[s] = c.control[s]&^ctlNPRIV | v&ctlNPRIV
		if cur {
			c.loadSP()
		}
	}
	if c.fpAllowed(b2i(c.ns), c.privileged()) {
		c.control[0] = c.control[0]&^ctlFPCA | v&ctlFPCA
	}
	if !c.ns && s == 0 {
		c.control[0] = c.control[0]&^ctlSFPA | v&ctlSFPA
	}
	c.regimeChanged()
	c.fpChanged()
	c.attention()
}

// cps is CPSIE (disable false) and CPSID; mask has I in bit 1 and F in bit 0.
func (c *Core) cps(mask uint32, disable bool) {
	if !c.privileged() {
		return
	}
	s := b2i(c.ns)
	if mask&2 != 0 {
		c.primask[s] = disable
	}
	if mask&1 != 0 {
		c.setFaultmask(s, disable)
	}
	c.regimeChanged()
	c.attention()
}

// bkpt is BKPT: semihosting, Debug state, DebugMonitor or HardFault.
func (c *Core) bkpt(b *block, i int, o *op) outcome {
	c.leave(b, i)
	if o.imm == 0xab && c.Semihost != nil {
		if !c.bus.Ready(c.Cycle) {
			c.abort = abortNotReady
			return slowOut
		}
		pc := c.pc
		if c.Semihost() {
			c.instret++
			c.Cycle++
			if c.pc == pc {
				c.pc = o.im2
				c.it = itAdvance(c.it)
			}
			c.brk = true
			return slowOut
		}
	}
	switch {
	case c.haltsOnEvents():
		c.abort = abortHalt
		c.dbg.why, c.dbg.reason.Reason = dfsrBKPT, target.StopBreakpoint
	case c.monitorReady():
		c.scs.dfsr |= dfsrBKPT
		c.fault(fault{exc: excDebugMon})
	default:
		c.scs.dfsr |= dfsrBKPT
		c.fault(fault{exc: excHardFault, hfsr: hfsrDEBUGEVT})
	}
	return slowOut
}

// wait is WFI and WFE.
func (c *Core) wait(b *block, i int, o *op) outcome {
	c.leave(b, i+1)
	if c.dbg.step {
		return slowOut
	}
	if o.code == opWfi {
		c.asleep = inWFI
	} else if c.event {
		c.event = false
	} else {
		c.asleep = inWFE
	}
	return slowOut
}

// testTarget is TT, TTT, TTA and TTAT. Bit 1 of kind asks for the Non-secure
// view, bit 0 for unprivileged permissions.
func (c *Core) testTarget(addr uint32, kind uint16) uint32 {
	alt, unpriv := kind&2 != 0, kind&1 != 0
	if alt && c.ns {
		return 0
	}
	s := b2i(c.ns || alt)
	priv := !unpriv && (c.privileged() && !alt || alt && (c.ipsr != 0 || c.control[1]&ctlNPRIV == 0))
	var v uint32
	m := &c.mpu[s]
	if n, ok := m.region(c, addr); ok {
		v |= n | 1<<16
	}
	{
		r := m.allows(c, addr, false, false, priv)
		w := m.allows(c, addr, true, false, priv)
		v |= b2u(r)<<18 | b2u(w)<<19
		if !c.ns {
			ns, _, exempt := c.attribute(addr, false, alt)
			secure := !ns
			if exempt {
				secure = !alt
			}
			v |= b2u(r && !secure)<<20 | b2u(w && !secure)<<21 | b2u(secure)<<22
			if n, ok := c.sau.region(addr); ok {
				v |= n<<8 | 1<<17
			}
		}
	}
	return v
}

// secureGateway is SG at pc: from Non-secure state it enters Secure state.
func (c *Core) secureGateway(pc uint32) {
	if !c.ns {
		return
	}
	if ns, _, exempt := c.attribute(pc, true, true); ns || exempt {
		return
	}
	c.R[14] &^= 1
	c.control[0] &^= ctlSFPA
	c.switchState(false)
}

// branchNS is BXNS and BLXNS.
func (c *Core) branchNS(b *block, i int, o *op) outcome {
	if c.ns {
		return c.faultAt(b, i, fault{exc: excUsageFault, cfsr: cfsrUNDEFINSTR})
	}
	v := c.R[o.rm&15]
	if v&1 != 0 { // stays in Secure state
		if o.code == opBlxns {
			c.R[14] = o.im2 | 1
		} else if v>>24 == 0xff || v&^1 == 0xfefffffe {
			return c.branchSpecial(b, i, v)
		}
		c.pc = v &^ 1
		return slowBranch
	}
	if o.code == opBlxns {
		sp := c.R[13] - 8
		if !c.checkSP(sp) {
			c.leave(b, i)
			return slowOut
		}
		psr := c.ipsr | c.control[0]&ctlSFPA<<17
		a := c.accessNow(c.Cycle + uint64(b.meta[i].at))
		if !c.write(&a, sp, 4, o.im2|1) || !c.write(&a, sp+4, 4, psr) {
			c.leave(b, i)
			return slowOut
		}
		c.R[13] = sp
		c.R[14] = 0xfeffffff
		if c.ipsr != 0 {
			c.ipsr = 1
		}
	}
	c.leave(b, len(b.meta)-1)
	c.control[0] &^= ctlSFPA
	c.switchState(true)
	c.pc, c.it, c.thumb = v, 0, true
	c.Cycle += takenCost
	return slowOut
}

// functionReturn is a branch to FNC_RETURN: back to Secure state.
func (c *Core) functionReturn() {
	wasNS := c.ns
	idx := c.spIndex(0)
	sp := c.getSP(0, idx)
	a := access{now: c.Cycle, priv: c.ipsr != 0 || c.control[0]&ctlNPRIV == 0, begun: true}
	pc, ok1 := c.read(&a, sp, 4)
	psr, ok2 := c.read(&a, sp+4, 4)
	if !ok1 || !ok2 {
		return // c.abort and c.why tell
	}
	exc := psr & 0x1ff
	if !wasNS || (exc == 0) != (c.ipsr == 0) || c.ipsr > 1 && exc != c.ipsr {
		if c.ipsr > 1 || (exc == 0) != (c.ipsr == 0) {
			c.fault(fault{exc: excUsageFault, cfsr: cfsrINVPC})
			return
		}
	}
	c.switchState(false)
	c.ipsr = exc
	c.control[0] = c.control[0]&^ctlSFPA | psr>>17&ctlSFPA
	c.putSP(0, idx, sp+8)
	c.pc, c.thumb = pc&^1, pc&1 != 0
	c.regimeChanged()
	c.fpChanged()
	c.attention()
}
