package cortexm33

import "math/bits"

// outcome is what an operation outside the hot loop leads to.
type outcome uint8

const (
	slowNext   outcome = iota // go on with the next operation
	slowBranch                // the block ends; c.pc is the next instruction
	slowOut                   // run comes out; everything is settled
)

// slow executes the operations that run does not know.
func (c *Core) slow(b *block, i int, o *op) outcome {
	if o.code < opSlow {
		return c.warm(b, i, o)
	}
	switch {
	case o.code >= opVldm:
		return c.slowFP(b, i, o)
	case o.code >= opMrs:
		return c.slowSys(b, i, o)
	}
	r := &c.R
	switch o.code {
	case opUndef:
		return c.faultAt(b, i, fault{exc: excUsageFault, cfsr: cfsrUNDEFINSTR})
	case opNocp:
		return c.nocp(b, i, uint(o.x))
	case opDPI:
		r[o.rd&15] = c.dataProc(o.ra, r[o.rn&15], o.imm, uint32(o.x), o.im2&1 != 0, r[o.rd&15])
	case opDPS:
		v, carry := c.shift(r[o.rm&15], o.im2>>8, uint32(o.x))
		r[o.rd&15] = c.dataProc(o.ra, r[o.rn&15], v, carry+1, o.im2&1 != 0, r[o.rd&15])
	case opAddPC:
		c.pc = (o.imm + r[o.rm&15]) &^ 1
		return slowBranch
	case opMovPC:
		c.pc = r[o.rm&15] &^ 1
		return slowBranch
	case opWriteSP:
		return c.writeSP(b, i, o)
	case opLoad, opStore, opLdmX, opStmX, opLdrdX, opStrdX, opLdrex, opStrex:
		return c.execMem(b, i, o)
	case opClrex:
		c.excl.valid = false
	case opRev16:
		v := r[o.rm&15]
		r[o.rd&15] = v>>8&0x00ff00ff | v<<8&0xff00ff00
	case opRevsh:
		r[o.rd&15] = uint32(int32(int16(bits.ReverseBytes16(uint16(r[o.rm&15])))))
	default:
		c.dsp(o)
	}
	return slowNext
}

// warm executes the less frequent operations below opSlow.
func (c *Core) warm(b *block, i int, o *op) outcome {
	r := &c.R
	switch o.code {
	case opPopPC, opLdrhW, opStrhW:
		return c.execMem(b, i, o)
	case opCmnI:
		c.addFlags(r[o.rn&15], o.imm, 0)
	case opCmnR:
		c.addFlags(r[o.rn&15], r[o.rm&15], 0)
	case opSbcR:
		r[o.rd&15] = r[o.rn&15] + ^r[o.rm&15] + c.fc
	case opAndIS:
		c.logicS(o, r[o.rn&15]&o.imm)
	case opOrrIS:
		c.logicS(o, r[o.rn&15]|o.imm)
	case opEorIS:
		c.logicS(o, r[o.rn&15]^o.imm)
	case opMvnRS:
		v := ^r[o.rm&15]
		r[o.rd&15] = v
		c.setNZ(v)
	case opLslRS, opLsrRS, opAsrRS, opRorRS, opAsrR, opRorR:
		c.shiftReg(o)
	case opRsbLsl:
		r[o.rd&15] = r[o.rm&15]<<(o.x&31) - r[o.rn&15]
	case opEorRor:
		r[o.rd&15] = r[o.rn&15] ^ bits.RotateLeft32(r[o.rm&15], -int(o.x))
	case opBicLsl:
		r[o.rd&15] = r[o.rn&15] &^ (r[o.rm&15] << (o.x & 31))
	case opBicLsr:
		r[o.rd&15] = r[o.rn&15] &^ (r[o.rm&15] >> o.x)
	case opSubLsr:
		r[o.rd&15] = r[o.rn&15] - r[o.rm&15]>>o.x
	case opAddAsr:
		r[o.rd&15] = r[o.rn&15] + uint32(int32(r[o.rm&15])>>o.x)
	case opAdcR:
		r[o.rd&15] = r[o.rn&15] + r[o.rm&15] + c.fc
	case opMls:
		r[o.rd&15] = r[o.ra&15] - r[o.rn&15]*r[o.rm&15]
	case opAndLsr:
		r[o.rd&15] = r[o.rn&15] & (r[o.rm&15] >> o.x)
	case opRorI:
		r[o.rd&15] = bits.RotateLeft32(r[o.rm&15], -int(o.x))
	case opLsrR:
		r[o.rd&15] = r[o.rn&15] >> (r[o.rm&15] & 255)
	case opSbcRS:
		r[o.rd&15] = c.addFlags(r[o.rn&15], ^r[o.rm&15], c.fc)
	case opRsbIS:
		r[o.rd&15] = c.addFlags(o.imm, ^r[o.rn&15], 1)
	case opAdcRS:
		r[o.rd&15] = c.addFlags(r[o.rn&15], r[o.rm&15], c.fc)
	case opBicRS:
		v := r[o.rn&15] &^ r[o.rm&15]
		r[o.rd&15] = v
		c.nz = uint64(v)
	case opOrrRS:
		v := r[o.rn&15] | r[o.rm&15]
		r[o.rd&15] = v
		c.nz = uint64(v)
	case opSmull:
		v := int64(int32(r[o.rn&15])) * int64(int32(r[o.rm&15]))
		r[o.rd&15] = uint32(v)
		r[o.ra&15] = uint32(v >> 32)
	case opAndLsl:
		r[o.rd&15] = r[o.rn&15] & (r[o.rm&15] << (o.x & 31))
	case opLslR:
		r[o.rd&15] = r[o.rn&15] << (r[o.rm&15] & 255)
	case opMvnR:
		r[o.rd&15] = ^r[o.rm&15]
	case opSubLsl:
		r[o.rd&15] = r[o.rn&15] - r[o.rm&15]<<(o.x&31)
	case opOrrLsr:
		r[o.rd&15] = r[o.rn&15] | r[o.rm&15]>>o.x
	case opMulS:
		v := r[o.rn&15] * r[o.rm&15]
		r[o.rd&15] = v
		c.nz = uint64(v)
	case opAsrIS:
		v := int32(r[o.rm&15])
		c.fc = uint32(v>>(o.x-1)) & 1
		v >>= o.x
		r[o.rd&15] = uint32(v)
		c.nz = uint64(uint32(v))
	case opEorRS:
		v := r[o.rn&15] ^ r[o.rm&15]
		r[o.rd&15] = v
		c.nz = uint64(v)
	case opSubAsr:
		r[o.rd&15] = r[o.rn&15] - uint32(int32(r[o.rm&15])>>o.x)
	case opEorAsr:
		r[o.rd&15] = r[o.rn&15] ^ uint32(int32(r[o.rm&15])>>o.x)
	case opAddRor:
		r[o.rd&15] = r[o.rn&15] + bits.RotateLeft32(r[o.rm&15], -int(o.x))
	case opUmlal:
		v := uint64(r[o.rn&15])*uint64(r[o.rm&15]) + (uint64(r[o.ra&15])<<32 | uint64(r[o.rd&15]))
		r[o.rd&15], r[o.ra&15] = uint32(v), uint32(v>>32)
	case opUdiv, opSdiv:
		return c.divide(b, i, o)
	case opUxtab:
		r[o.rd&15] = r[o.rn&15] + r[o.rm&15]&0xff
	case opUxtah:
		r[o.rd&15] = r[o.rn&15] + r[o.rm&15]&0xffff
	case opBfc:
		r[o.rd&15] &^= o.imm
	case opRev:
		r[o.rd&15] = bits.ReverseBytes32(r[o.rm&15])
	case opRbit:
		r[o.rd&15] = bits.Reverse32(r[o.rm&15])
	case opTbb, opTbh:
		return c.tableBranch(b, i, o)
	case opVldr, opVstr, opVmovR:
		return c.slowFP(b, i, o)
	default:
		panic("cortexm33: operation without an implementation")
	}
	return slowNext
}

// logicS finishes a flag-setting logical operation with a modified immediate.
func (c *Core) logicS(o *op, v uint32) {
	c.R[o.rd&15] = v
	c.setNZ(v)
	if o.x != 0 {
		c.fc = uint32(o.x) - 1
	}
}

// shiftReg shifts rn by the low byte of rm.
func (c *Core) shiftReg(o *op) {
	v, n := c.R[o.rn&15], c.R[o.rm&15]&255
	typ := uint32(shLSL)
	set := true
	switch o.code {
	case opLsrRS:
		typ = shLSR
	case opAsrRS:
		typ = shASR
	case opAsrR:
		typ, set = shASR, false
	case opRorRS:
		typ = shROR
	case opRorR:
		typ, set = shROR, false
	}
	v, carry := c.shift(v, typ, n)
	c.R[o.rd&15] = v
	if set {
		c.setNZ(v)
		c.fc = carry
	}
}

// shift shifts v by n places (RRX: one) and returns the carry out; n = 0
// leaves the carry alone.
func (c *Core) shift(v, typ, n uint32) (r, carry uint32) {
	if typ == shRRX {
		return v>>1 | c.fc<<31, v & 1
	}
	if n == 0 {
		return v, c.fc
	}
	switch typ {
	case shLSL:
		return v << n, uint32(uint64(v)<<n>>32) & 1 & b2u(n <= 32)
	case shLSR:
		return v >> n, v >> (n - 1) & 1
	case shASR:
		return uint32(int32(v) >> n), uint32(int32(v)>>(n-1)) & 1
	}
	r = bits.RotateLeft32(v, -int(n&31))
	return r, r >> 31
}

// dataProc performs a data-processing function. carry is 0 for none, else the
// shifter's carry out plus one. old is what a compare leaves in rd.
func (c *Core) dataProc(fn uint8, a, b, carry uint32, set bool, old uint32) uint32 {
	var v uint32
	switch fn {
	case aluADD, aluADC, aluSBC, aluSUB, aluRSB, aluCMN, aluCMP:
		cin := uint32(0)
		switch fn {
		case aluADC:
			cin = c.fc
		case aluSBC:
			b, cin = ^b, c.fc
		case aluSUB, aluCMP:
			b, cin = ^b, 1
		case aluRSB:
			a, b, cin = b, ^a, 1
		}
		if set {
			v = c.addFlags(a, b, cin)
		} else {
			v = a + b + cin
		}
		if fn >= aluTST {
			return old
		}
		return v
	case aluAND, aluTST:
		v = a & b
	case aluBIC:
		v = a &^ b
	case aluORR:
		v = a | b
	case aluORN:
		v = a | ^b
	case aluEOR, aluTEQ:
		v = a ^ b
	case aluMOV:
		v = b
	case aluMVN:
		v = ^b
	}
	if set {
		c.setNZ(v)
		if carry != 0 {
			c.fc = carry - 1
		}
	}
	if fn >= aluTST {
		return old
	}
	return v
}

// writeSP performs ADD, SUB or MOV to SP. ADD and SUB check the stack limit.
func (c *Core) writeSP(b *block, i int, o *op) outcome {
	v, carry := o.imm, uint32(0)
	if o.im2&2 == 0 {
		v, carry = c.shift(c.R[o.rm&15], o.im2>>8&7, uint32(o.x))
		carry++
	}
	n, f := c.nz, [2]uint32{c.fc, c.fv}
	v = c.dataProc(o.ra, c.R[13], v, carry, o.im2&1 != 0, 0)
	if o.ra != aluMOV && v < c.spLimit {
		c.nz, c.fc, c.fv = n, f[0], f[1]
		c.stackOverflow(b, i)
		return slowOut
	}
	c.R[13] = v &^ 3
	return slowNext
}

// divide performs SDIV and UDIV, with the trap that CCR can ask for.
func (c *Core) divide(b *block, i int, o *op) outcome {
	x, y := c.R[o.rn&15], c.R[o.rm&15]
	var q uint32
	switch {
	case y == 0:
		if c.scs.ccr[b2i(c.ns)]&ccrDIV0TRP != 0 {
			return c.faultAt(b, i, fault{exc: excUsageFault, cfsr: cfsrDIVBYZERO})
		}
	case o.code == opUdiv:
		q = x / y
		c.Cycle += divCycles(x, y)
	case x == 1<<31 && y == ^uint32(0):
		q = x
		c.Cycle += 9
	default:
		q = uint32(int32(x) / int32(y))
		c.Cycle += divCycles(magnitude(x), magnitude(y))
	}
	c.R[o.rd&15] = q
	return slowNext
}

func magnitude(v uint32) uint32 {
	if int32(v) < 0 {
		return -v
	}
	return v
}

// tableBranch performs TBB and TBH.
func (c *Core) tableBranch(b *block, i int, o *op) outcome {
	base := c.R[o.rn&15]
	if o.rn == 15 {
		base = o.imm
	}
	a := c.accessNow(c.Cycle + uint64(b.meta[i].at))
	var v uint32
	var ok bool
	if o.code == opTbb {
		v, ok = c.read(&a, base+c.R[o.rm&15], 1)
	} else {
		v, ok = c.read(&a, base+c.R[o.rm&15]<<1, 2)
	}
	if !ok {
		c.leave(b, i)
		return slowOut
	}
	c.pc = o.imm + v*2
	return slowBranch
}

// faultAt stops the block in front of operation i with a fault.
func (c *Core) faultAt(b *block, i int, f fault) outcome {
	c.fault(f)
	c.leave(b, i)
	return slowOut
}

// stackOverflow is the fault of a stack pointer below its limit.
func (c *Core) stackOverflow(b *block, i int) {
	c.faultAt(b, i, fault{exc: excUsageFault, cfsr: cfsrSTKOF})
}
