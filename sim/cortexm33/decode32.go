package cortexm33

import "math/bits"

// decode32 decodes a 32-bit instruction, first halfword in the high half.
func decode32(w uint32, pc uint32) (d insn) {
	h1, h2 := w>>16, w&0xffff
	switch {
	case h1>>11 == 0b11101:
		switch {
		case h1>>9&3 == 0 && h1>>6&1 == 0:
			d = decodeMultiple(h1, h2)
		case h1>>9&3 == 0:
			d = decodeDual(h1, h2, pc)
		case h1>>9&3 == 1:
			d = decodeShifted(h1, h2)
		default:
			d = decodeCoproc(w, pc)
		}
	case h1>>11 == 0b11110:
		switch {
		case h2>>15 != 0:
			d = decodeBranch32(h1, h2, pc)
		case h1>>9&1 == 0:
			d = decodeModImm(h1, h2)
		default:
			d = decodePlainImm(h1, h2, pc)
		}
	default:
		switch {
		case h1>>10&1 != 0:
			d = decodeCoproc(w, pc)
		case h1>>9&1 == 0:
			d = decodeSingle(h1, h2, pc)
		case h1>>8&1 == 0:
			d = decodeReg(h1, h2)
		case h1>>7&1 == 0:
			d = decodeMul(h1, h2)
		default:
			d = decodeLongMul(h1, h2)
		}
	}
	if d.code == opUndef {
		d.ends = true
	}
	return d
}

func undef() insn { return insn{op: op{code: opUndef}, ends: true} }

// expandImm is ThumbExpandImm_C: the value of a modified immediate, and its
// effect on C: 0 none, 1 cleared, 2 set.
func expandImm(i12 uint32) (v uint32, carry uint16) {
	if i12>>10 == 0 {
		b := i12 & 0xff
		switch i12 >> 8 & 3 {
		case 0:
			return b, 0
		case 1:
			return b | b<<16, 0
		case 2:
			return b<<8 | b<<24, 0
		}
		return b * 0x01010101, 0
	}
	v = bits.RotateLeft32(0x80|i12&0x7f, -int(i12>>7))
	return v, uint16(1 + v>>31)
}

// decodeModImm: data processing with a modified immediate.
func decodeModImm(h1, h2 uint32) (d insn) {
	v, carry := expandImm(h1>>10&1<<11 | h2>>12&7<<8 | h2&0xff)
	fn, set := h1>>5&15, h1>>4&1 != 0
	rn, rd := uint8(h1)&15, uint8(h2>>8)&15
	d.rd, d.rn, d.imm, d.x = rd, rn, v, carry
	fn = aluAlias(fn, set, rn, rd)
	d.ra = uint8(fn)
	pick := func(plain, flags opcode) {
		d.code = plain
		if set {
			d.code = flags
		}
	}
	switch fn {
	case aluAND:
		pick(opAndI, opAndIS)
	case aluBIC:
		d.imm = ^v
		pick(opAndI, opAndIS)
	case aluORR:
		pick(opOrrI, opOrrIS)
	case aluORN:
		d.imm = ^v
		pick(opOrrI, opOrrIS)
	case aluEOR:
		pick(opEorI, opEorIS)
	case aluADD:
		pick(opAddI, opAddIS)
	case aluSUB:
		pick(opAddI, opSubIS)
		if !set {
			d.imm = -v
		}
	case aluRSB:
		pick(opRsbI, opRsbIS)
	case aluMOV:
		pick(opMovI, opMovIS)
	case aluMVN:
		d.imm = ^v
		pick(opMovI, opMovIS)
	case aluTST:
		d.code = opTstI
	case aluCMN:
		d.code = opCmnI
	case aluCMP:
		d.code = opCmpI
	case aluTEQ, aluADC, aluSBC:
		d.code = opDPI
		if set {
			d.im2 = 1
		}
	default:
		return undef()
	}
	return fixRegs(d, fn, false)
}

// aluAlias turns the encodings with PC as a register into the function they
// stand for (TST, TEQ, CMN, CMP, MOV, MVN).
func aluAlias(fn uint32, set bool, rn, rd uint8) uint32 {
	switch {
	case rd == 15 && set:
		switch fn {
		case aluAND:
			return aluTST
		case aluEOR:
			return aluTEQ
		case aluADD:
			return aluCMN
		case aluSUB:
			return aluCMP
		}
	case rn == 15 && fn == aluORR:
		return aluMOV
	case rn == 15 && fn == aluORN:
		return aluMVN
	}
	return fn
}

// fixRegs rejects the registers that the architecture calls UNPREDICTABLE in
// data processing, and routes writes to SP to the operations that handle it.
func fixRegs(d insn, fn uint32, reg bool) insn {
	compare := fn >= aluTST
	unary := fn == aluMOV || fn == aluMVN
	if !compare && d.rd == 15 || !unary && d.rn == 15 || reg && d.rm == 15 {
		return undef()
	}
	if compare || d.rd != 13 {
		return d
	}
	if d.code == opAddI && d.rn == 13 {
		d.code = opAddSP
		return d
	}
	return writesSP(d, fn, reg)
}

// writesSP turns an ADD, SUB or MOV whose destination is SP into the operation
// that masks the value and checks the stack limit. Other functions with that
// destination are UNPREDICTABLE and rejected.
func writesSP(d insn, fn uint32, reg bool) insn {
	if fn != aluMOV && (fn != aluADD && fn != aluSUB || d.rn != 13) || fn == aluMOV && !reg {
		return undef()
	}
	set := uint32(0)
	switch d.code {
	case opAddIS, opSubIS, opAddRS, opSubRS, opMovRS:
		set = 1
	}
	if !reg {
		set |= 2
	}
	d.code, d.ra, d.im2 = opWriteSP, uint8(fn), d.im2|set
	return d
}

// decodeShifted: data processing with a shifted register.
func decodeShifted(h1, h2 uint32) (d insn) {
	fn, set := h1>>5&15, h1>>4&1 != 0
	rn, rd, rm := uint8(h1)&15, uint8(h2>>8)&15, uint8(h2)&15
	amount := uint16(h2>>12&7<<2 | h2>>6&3)
	typ := uint16(h2 >> 4 & 3)
	d.rd, d.rn, d.rm = rd, rn, rm
	if fn == aluPKH {
		if set || typ&1 != 0 || rd == 13 || rd == 15 || rn == 15 || rm == 15 {
			return undef()
		}
		d.code, d.x, d.ra = opPkh, amount, uint8(typ>>1)
		if typ != 0 && amount == 0 {
			d.x = 32
		}
		return d
	}
	switch {
	case amount == 0 && typ == shROR:
		typ, amount = shRRX, 1
	case amount == 0 && (typ == shLSR || typ == shASR):
		amount = 32
	}
	fn = aluAlias(fn, set, rn, rd)
	switch fn {
	case 5, 7, 9, 12, 15:
		return undef()
	}
	d.ra, d.x = uint8(fn), amount
	d.code, d.im2 = opDPS, uint32(typ)<<8
	if set {
		d.im2 |= 1
	}
	if amount == 0 {
		if c, ok := plainReg[fn]; ok {
			d.code = c[0]
			if set {
				d.code = c[1]
			}
		}
	} else if !set {
		if c, ok := shiftedReg[[2]uint32{fn, uint32(typ)}]; ok {
			d.code = c
		}
	} else if fn == aluMOV {
		if c, ok := shiftedMovs[typ]; ok {
			d.code = c
		}
	}
	return fixRegs(d, fn, true)
}

// plainReg maps a function to its unshifted operations, without and with flags.
var plainReg = map[uint32][2]opcode{
	aluAND: {opAndR, opAndRS}, aluBIC: {opBicR, opBicRS}, aluORR: {opOrrR, opOrrRS},
	aluEOR: {opEorR, opEorRS}, aluADD: {opAddR, opAddRS}, aluADC: {opAdcR, opAdcRS},
	aluSBC: {opSbcR, opSbcRS}, aluSUB: {opSubR, opSubRS}, aluMOV: {opMovR, opMovRS},
	aluMVN: {opMvnR, opMvnRS}, aluTST: {opTstR, opTstR}, aluCMN: {opCmnR, opCmnR},
	aluCMP: {opCmpR, opCmpR},
}

// shiftedReg maps (function, shift) to operations that leave the flags alone.
var shiftedReg = map[[2]uint32]opcode{
	{aluADD, shLSL}: opAddLsl, {aluADD, shLSR}: opAddLsr, {aluADD, shASR}: opAddAsr, {aluADD, shROR}: opAddRor,
	{aluSUB, shLSL}: opSubLsl, {aluSUB, shLSR}: opSubLsr, {aluSUB, shASR}: opSubAsr,
	{aluRSB, shLSL}: opRsbLsl, {aluAND, shLSL}: opAndLsl, {aluAND, shLSR}: opAndLsr,
	{aluORR, shLSL}: opOrrLsl, {aluORR, shLSR}: opOrrLsr, {aluBIC, shLSL}: opBicLsl, {aluBIC, shLSR}: opBicLsr,
	{aluEOR, shLSL}: opEorLsl, {aluEOR, shLSR}: opEorLsr, {aluEOR, shASR}: opEorAsr, {aluEOR, shROR}: opEorRor,
	{aluMOV, shLSL}: opLslI, {aluMOV, shLSR}: opLsrI, {aluMOV, shASR}: opAsrI, {aluMOV, shROR}: opRorI,
}

var shiftedMovs = map[uint16]opcode{shLSL: opLslIS, shLSR: opLsrIS, shASR: opAsrIS}

// decodePlainImm: ADDW, SUBW, MOVW, MOVT, bit fields, saturation.
func decodePlainImm(h1, h2, pc uint32) (d insn) {
	imm12 := h1>>10&1<<11 | h2>>12&7<<8 | h2&0xff
	rn, rd := uint8(h1)&15, uint8(h2>>8)&15
	lsb, low := uint16(h2>>12&7<<2|h2>>6&3), uint16(h2&31)
	d.rd, d.rn = rd, rn
	if rd == 15 {
		return undef()
	}
	switch h1 >> 4 & 31 {
	case 0b00000: // ADDW, ADR
		d.code, d.imm = opAddI, imm12
		if rn == 15 {
			d.code, d.imm = opMovI, (pc+4)&^3+imm12
		}
	case 0b01010:
		d.code, d.imm = opAddI, -imm12
		if rn == 15 {
			d.code, d.imm = opMovI, (pc+4)&^3-imm12
		}
	case 0b00100:
		d.code, d.imm = opMovI, uint32(rn)<<12|imm12
	case 0b01100:
		d.code, d.imm = opMovt, (uint32(rn)<<12|imm12)<<16
	case 0b10100, 0b11100: // SBFX, UBFX
		d.code, d.x, d.imm = opSbfx, lsb, uint32(low)+1
		if h1>>7&1 != 0 {
			d.code = opUbfx
		}
		d.rm = rn
		if uint32(lsb)+d.imm > 32 || rn == 15 || rn == 13 || rd == 13 {
			return undef()
		}
	case 0b10110: // BFI, BFC
		if low < lsb || rn == 13 || rd == 13 {
			return undef()
		}
		d.x, d.imm = lsb, (1<<(low-lsb+1)-1)<<lsb
		d.code = opBfi
		if rn == 15 {
			d.code = opBfc
		}
	case 0b10000, 0b10010, 0b11000, 0b11010: // SSAT, USAT and the 16-bit pairs
		if rn == 15 || rn == 13 || rd == 13 {
			return undef()
		}
		unsigned, asr := h1>>7&1 != 0, h1>>5&1 != 0
		d.code, d.imm, d.x = opSat, uint32(low), lsb
		if !unsigned {
			d.imm++
		}
		switch {
		case asr && lsb == 0: // SSAT16, USAT16
			if low >= 16 {
				return undef()
			}
			d.ra = 2
		case asr:
			d.ra = 1
		}
		if unsigned {
			d.ra |= 4
		}
	default:
		return undef()
	}
	if d.rd == 13 {
		if d.code == opAddI && rn == 13 {
			d.code = opAddSP
			return d
		}
		return undef()
	}
	return d
}

// decodeReg: register shifts, extension, parallel arithmetic, miscellaneous.
func decodeReg(h1, h2 uint32) (d insn) {
	rn, rd, rm := uint8(h1)&15, uint8(h2>>8)&15, uint8(h2)&15
	d.rd, d.rn, d.rm = rd, rn, rm
	if h2>>12 != 15 || rd == 15 || rm == 15 || rd == 13 || rm == 13 {
		return undef()
	}
	op1, op2 := h1>>4&15, h2>>4&15
	switch {
	case op1 < 8 && op2 == 0:
		if rn == 15 || rn == 13 {
			return undef()
		}
		d.code = [8]opcode{opLslR, opLslRS, opLsrR, opLsrRS, opAsrR, opAsrRS, opRorR, opRorRS}[op1]
	case op1 < 6 && op2 >= 8: // extend
		if op2>>2&1 != 0 || rn == 13 {
			return undef()
		}
		d.x = uint16(op2&3) * 8
		d.code, d.ra = opExtend, uint8(op1)
		if d.x == 0 && rn == 15 {
			if c := [6]opcode{opSxth, opUxth, 0, 0, opSxtb, opUxtb}[op1]; c != 0 {
				d.code = c
			}
		} else if d.x == 0 && op1 == 5 {
			d.code = opUxtab
		} else if d.x == 0 && op1 == 1 {
			d.code = opUxtah
		}
	case op1 >= 8 && op2 < 8: // parallel add and subtract
		if rn == 15 || rn == 13 || op2&3 == 3 {
			return undef()
		}
		switch op1 & 7 {
		case 3, 7:
			return undef()
		}
		d.code, d.ra, d.x = opDsp, uint8(op1&7), uint16(op2)
	case op1 >= 8 && op1 < 12 && op2 < 12:
		if rn == 15 || rn == 13 {
			return undef()
		}
		switch op1&3<<2 | op2&3 {
		case 0, 1, 2, 3: // QADD, QDADD, QSUB, QDSUB
			d.code, d.ra, d.x = opDsp, 8, uint16(op2&3)
		case 4, 5, 6, 7: // REV, REV16, RBIT, REVSH
			if rn != rm {
				return undef()
			}
			d.code = [4]opcode{opRev, opRev16, opRbit, opRevsh}[op2&3]
		case 8: // SEL
			d.code, d.ra = opDsp, 9
		case 12: // CLZ
			if rn != rm {
				return undef()
			}
			d.code = opClz
		default:
			return undef()
		}
	default:
		return undef()
	}
	return d
}

// decodeMul: multiplies with a 32-bit result, USAD8, halfword multiplies.
func decodeMul(h1, h2 uint32) (d insn) {
	rn, rd, rm, ra := uint8(h1)&15, uint8(h2>>8)&15, uint8(h2)&15, uint8(h2>>12)&15
	d.rd, d.rn, d.rm, d.ra = rd, rn, rm, ra
	op1, op2 := h1>>4&7, h2>>4&15
	if rd == 13 || rd == 15 || rn == 13 || rn == 15 || rm == 13 || rm == 15 || ra == 13 || op2 > 3 {
		return undef()
	}
	d.x = uint16(op1<<4 | op2)
	d.code = opSmulx
	switch {
	case op1 == 0 && op2 == 0:
		d.code = opMla
		if ra == 15 {
			d.code = opMul
		}
	case op1 == 0 && op2 == 1:
		d.code = opMls
		if ra == 15 {
			return undef()
		}
	case op1 == 1: // SMLAxy
	case op1 == 7 && op2 == 0:
		d.code = opUsad
	case op1 == 6 && op2 < 2: // SMMLS
		if ra == 15 {
			return undef()
		}
	case (op1 == 2 || op1 == 3 || op1 == 4 || op1 == 5) && op2 < 2:
	default:
		return undef()
	}
	return d
}

// decodeLongMul: multiplies with a 64-bit result, and division.
func decodeLongMul(h1, h2 uint32) (d insn) {
	rn, lo, hi, rm := uint8(h1)&15, uint8(h2>>12)&15, uint8(h2>>8)&15, uint8(h2)&15
	op1, op2 := h1>>4&7, h2>>4&15
	d.rn, d.rm, d.rd, d.ra = rn, rm, lo, hi
	bad := func(r uint8) bool { return r == 13 || r == 15 }
	if bad(rn) || bad(rm) || bad(hi) {
		return undef()
	}
	if (op1 == 1 || op1 == 3) && op2 == 15 {
		d.code, d.rd = opSdiv, hi
		if op1 == 3 {
			d.code = opUdiv
		}
		if lo != 15 {
			return undef()
		}
		return d
	}
	if bad(lo) || lo == hi {
		return undef()
	}
	d.x = uint16(op1<<4 | op2)
	d.code = opMull
	switch d.x {
	case 0x00:
		d.code = opSmull
	case 0x20:
		d.code = opUmull
	case 0x60:
		d.code = opUmlal
	case 0x40, 0x48, 0x49, 0x4a, 0x4b, 0x4c, 0x4d, 0x5c, 0x5d, 0x66:
	default:
		return undef()
	}
	return d
}
