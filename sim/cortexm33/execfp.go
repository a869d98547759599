package cortexm33

// slowFP executes the floating-point instructions.
func (c *Core) slowFP(b *block, i int, o *op) outcome {
	if o.code == opVlldm || o.code == opVlstm {
		return c.lazyMultiple(b, i, o)
	}
	if !c.fpReady && !c.fpCheck() {
		c.leave(b, i)
		return slowOut
	}
	switch o.code {
	case opVldr, opVstr, opVldrX, opVstrX, opVldm, opVstm:
		return c.fpMem(b, i, o)
	case opVmovR:
		c.S[o.rd&31] = c.S[o.rm&31]
	case opVmovSR:
		if o.x != 0 {
			c.R[o.rm&15] = c.S[o.rd&31]
		} else {
			c.S[o.rd&31] = c.R[o.rm&15]
		}
	case opVmov2:
		if o.x != 0 {
			c.R[o.rn&15], c.R[o.ra&15] = c.S[o.rd&31], c.S[(o.rd+1)&31]
		} else {
			c.S[o.rd&31], c.S[(o.rd+1)&31] = c.R[o.rn&15], c.R[o.ra&15]
		}
	case opVmrs:
		if o.rm == 15 {
			c.setNZCV(c.fpscr)
		} else {
			c.R[o.rm&15] = c.fpscr
		}
	case opVmsr:
		c.fpscr = c.R[o.rm&15] & fpscrMask
	case opVmovImm:
		c.S[o.rd&31] = o.imm
	case opVsel:
		cond := [4]uint8{0, 6, 10, 12}[o.x&3]
		if c.condition(cond) {
			c.S[o.rd&31] = c.S[o.rn&31]
		} else {
			c.S[o.rd&31] = c.S[o.rm&31]
		}
	case opVscclrm:
		for k := uint32(0); k < o.imm; k++ {
			c.S[(uint32(o.rd)+k)&31] = 0
		}
	default:
		c.fpData(o)
	}
	return slowNext
}

// fpData executes the instructions that depend on FPSCR.
func (c *Core) fpData(o *op) {
	f := fenv(c.fpscr)
	m := c.S[o.rm&31]
	d := &c.S[o.rd&31]
	mode := int(o.x)
	if mode == 8 {
		mode = f.mode()
	}
	switch o.code {
	case opVdp3:
		*d = f.three(o.ra, *d, c.S[o.rn&31], m)
	case opVdp2:
		switch o.ra {
		case vMOV:
			*d = m
		case vABS:
			*d = m &^ signBit
		case vNEG:
			*d = m ^ signBit
		case vSQRT:
			*d = f.sqrt(m)
		}
	case opVcmp:
		if o.ra != 0 {
			m = 0
		}
		f = f&^(15<<28) | fenv(f.compare(*d, m, o.x != 0))
	case opVrint:
		*d = f.integral(m, mode, o.ra != 0)
	case opVcvtIF:
		*d = f.fromInt(m, 0, o.x != 0, 32, f.mode())
	case opVcvtFI:
		*d = f.toInt(m, 0, o.ra != 0, 32, mode)
	case opVcvtFix:
		size := uint(o.x)
		signed := o.ra&1 == 0
		if o.ra&2 == 0 {
			*d = f.fromInt(m, uint(o.imm), signed, size, fpRN)
		} else {
			*d = f.toInt(m, uint(o.imm), signed, size, fpRZ)
		}
	case opVcvtHalf:
		sh := 16 * uint32(o.ra)
		if o.x == 0 {
			*d = f.fromHalf(m >> sh & 0xffff)
		} else {
			*d = *d&^(0xffff<<sh) | f.toHalf(m)<<sh
		}
	}
	c.fpscr = uint32(f)
}

// three is the arithmetic with two or three operands.
func (f *fenv) three(kind uint8, d, n, m uint32) uint32 {
	switch kind {
	case vADD:
		if r, ok := f.fastAdd(n, m); ok {
			return r
		}
		return f.add(n, m)
	case vSUB:
		if r, ok := f.fastAdd(n, m^signBit); ok {
			return r
		}
		return f.sub(n, m)
	case vMUL:
		if r, ok := f.fastMul(n, m); ok {
			return r
		}
		return f.mul(n, m)
	case vNMUL:
		return f.mul(n, m) ^ signBit
	case vDIV:
		return f.div(n, m)
	case vMLA:
		return f.add(d, f.mul(n, m))
	case vMLS:
		return f.add(d, f.mul(n, m)^signBit)
	case vNMLS:
		return f.add(d^signBit, f.mul(n, m))
	case vNMLA:
		return f.add(d^signBit, f.mul(n, m)^signBit)
	case vFMA:
		if r, ok := f.fastFMA(d, n, m); ok {
			return r
		}
		return f.fma(d, n, m)
	case vFMS:
		return f.fma(d, n^signBit, m)
	case vFNMA:
		return f.fma(d^signBit, n^signBit, m)
	case vFNMS:
		return f.fma(d^signBit, n, m)
	case vMAXNM:
		return f.maxNum(n, m)
	}
	return f.minNum(n, m)
}

// fpMem is VLDR, VSTR, VLDM and VSTM.
func (c *Core) fpMem(b *block, i int, o *op) outcome {
	a := c.accessNow(c.Cycle + uint64(b.meta[i].at))
	n := uint32(1)
	if o.x&amDouble != 0 {
		n = 2
	}
	load := o.code == opVldr || o.code == opVldrX || o.code == opVldm
	multi := o.code == opVldm || o.code == opVstm
	base := c.R[o.rn&15]
	addr, end := base+o.imm, base
	if o.rn == 15 {
		addr = o.imm
	}
	if multi {
		n = o.imm
		addr, end = base, base+uint32(o.ra)*4
		if o.x&amDec != 0 {
			addr = base - uint32(o.ra)*4
			end = addr
		}
	}
	ok := c.wordAligned(addr)
	if ok && multi && o.rn == 13 && o.x&amWback != 0 && o.x&amDec != 0 {
		ok = c.checkSP(end)
	}
	var v [32]uint32
	for k := uint32(0); ok && k < n; k++ {
		if load {
			v[k&31], ok = c.read(&a, addr+4*k, 4)
		} else {
			ok = c.write(&a, addr+4*k, 4, c.S[(uint32(o.rd)+k)&31])
		}
	}
	if !ok {
		c.leave(b, i)
		return slowOut
	}
	if load {
		for k := uint32(0); k < n; k++ {
			c.S[(uint32(o.rd)+k)&31] = v[k&31]
		}
	}
	if multi && o.x&amWback != 0 {
		c.setReg(o.rn, end)
	}
	if c.brk {
		c.leave(b, i+1)
		return slowOut
	}
	return slowNext
}

// lazyMultiple is VLSTM and VLLDM: Secure code saves and restores the
// floating-point context around a call to Non-secure code.
func (c *Core) lazyMultiple(b *block, i int, o *op) outcome {
	if c.ns {
		return c.faultAt(b, i, fault{exc: excUsageFault, cfsr: cfsrUNDEFINSTR})
	}
	if !c.fpAllowed(0, c.privileged()) {
		return c.faultAt(b, i, fault{exc: excUsageFault, cfsr: cfsrNOCP})
	}
	addr := c.R[o.rn&15]
	if addr&7 != 0 {
		return c.faultAt(b, i, fault{exc: excUsageFault, cfsr: cfsrUNALIGNED})
	}
	f := &c.fp
	a := c.accessNow(c.Cycle + uint64(b.meta[i].at))
	switch {
	case c.control[0]&ctlSFPA == 0: // nothing of Secure state is in the registers
	case o.code == opVlstm && f.bank[0]&fpccrLSPACT != 0:
		return c.faultAt(b, i, fault{exc: excSecureFault, sfsr: sfsrLSERR})
	case o.code == opVlstm && f.shared&fpccrLSPEN != 0:
		f.fpcar[0] = addr
		f.bank[0] = f.bank[0]&^(fpccrUSER|fpccrTHREAD) | fpccrLSPACT
		f.shared |= fpccrS
		if c.ipsr == 0 {
			f.bank[0] |= fpccrTHREAD
			if !c.privileged() {
				f.bank[0] |= fpccrUSER
			}
		}
		c.control[0] &^= ctlFPCA
	case o.code == opVlstm:
		if !c.saveFP(&a, addr) {
			c.leave(b, i)
			return slowOut
		}
		c.control[0] &^= ctlFPCA
	case f.bank[0]&fpccrLSPACT != 0:
		f.bank[0] &^= fpccrLSPACT
		c.control[0] |= ctlFPCA
	default:
		var d fault
		size := uint32(0x68)
		if !c.popFP(&a, addr, false, &d, &size) {
			return c.faultAt(b, i, d)
		}
		c.control[0] |= ctlFPCA
	}
	c.fpChanged()
	return c.out(b, i)
}
