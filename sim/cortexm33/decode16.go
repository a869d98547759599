package cortexm33

// insn is what the decoder makes of one instruction.
type insn struct {
	op
	// ends: no instruction may follow in the same block.
	ends bool
}

// decode16 decodes a 16-bit instruction at pc. inIT says whether it stands in
// an IT block, where most forms leave the flags alone.
func decode16(h uint32, pc uint32, inIT bool) (d insn) {
	lo := func(sh uint) uint8 { return uint8(h>>sh) & 7 }
	// s picks between the flag-setting form and the plain one.
	s := func(set, plain opcode) opcode {
		if inIT {
			return plain
		}
		return set
	}
	switch h >> 11 {
	case 0b00000, 0b00001, 0b00010: // LSL, LSR, ASR immediate
		n := uint16(h>>6) & 31
		d.rd, d.rm = lo(0), lo(3)
		switch h >> 11 {
		case 0:
			d.code, d.x = s(opLslIS, opLslI), n
			if n == 0 {
				d.code = s(opMovRS, opMovR)
			}
		case 1:
			d.code, d.x = s(opLsrIS, opLsrI), n
			if n == 0 {
				d.x = 32
			}
		case 2:
			d.code, d.x = s(opAsrIS, opAsrI), n
			if n == 0 {
				d.x = 32
			}
		}
	case 0b00011: // ADD, SUB three operands
		d.rd, d.rn, d.rm = lo(0), lo(3), lo(6)
		switch h >> 9 & 3 {
		case 0:
			d.code = s(opAddRS, opAddR)
		case 1:
			d.code = s(opSubRS, opSubR)
		case 2:
			d.code, d.imm = s(opAddIS, opAddI), uint32(d.rm)
		case 3:
			d.code, d.imm = s(opSubIS, opAddI), uint32(d.rm)
			if inIT {
				d.imm = -d.imm
			}
		}
	case 0b00100:
		d.code, d.rd, d.imm = s(opMovIS, opMovI), lo(8), h&0xff
	case 0b00101:
		d.code, d.rn, d.imm = opCmpI, lo(8), h&0xff
	case 0b00110:
		d.code, d.rd, d.rn, d.imm = s(opAddIS, opAddI), lo(8), lo(8), h&0xff
	case 0b00111:
		d.code, d.rd, d.rn, d.imm = s(opSubIS, opAddI), lo(8), lo(8), h&0xff
		if inIT {
			d.imm = -d.imm
		}
	case 0b01000:
		if h>>10&1 == 0 {
			return decodeDP16(h, inIT)
		}
		return decodeHi16(h, pc)
	case 0b01001:
		d.code, d.rd, d.imm = opLdrLit, lo(8), (pc+4)&^3+h&0xff*4
	case 0b01010, 0b01011:
		d.rd, d.rn, d.rm = lo(0), lo(3), lo(6)
		d.code = [8]opcode{opStrR, opStrhR, opStrbR, opLdrsbR, opLdrR, opLdrhR, opLdrbR, opLdrshR}[h>>9&7]
	case 0b01100, 0b01101:
		d.code, d.rd, d.rn, d.imm = opStrI, lo(0), lo(3), h>>6&31*4
		if h>>11&1 != 0 {
			d.code = opLdrI
		}
	case 0b01110, 0b01111:
		d.code, d.rd, d.rn, d.imm = opStrbI, lo(0), lo(3), h>>6&31
		if h>>11&1 != 0 {
			d.code = opLdrbI
		}
	case 0b10000, 0b10001:
		d.code, d.rd, d.rn, d.imm = opStrhI, lo(0), lo(3), h>>6&31*2
		if h>>11&1 != 0 {
			d.code = opLdrhI
		}
	case 0b10010, 0b10011:
		d.code, d.rd, d.rn, d.imm = opStrI, lo(8), 13, h&0xff*4
		if h>>11&1 != 0 {
			d.code = opLdrI
		}
	case 0b10100: // ADR
		d.code, d.rd, d.imm = opMovI, lo(8), (pc+4)&^3+h&0xff*4
	case 0b10101:
		d.code, d.rd, d.rn, d.imm = opAddI, lo(8), 13, h&0xff*4
	case 0b10110, 0b10111:
		return decodeMisc16(h, pc)
	case 0b11000:
		d.code, d.rn, d.imm, d.x = opStm, lo(8), h&0xff, amWback
		if d.imm == 0 {
			d.code = opUndef
		}
	case 0b11001:
		d.code, d.rn, d.imm, d.x = opLdm, lo(8), h&0xff, 0
		if d.imm>>d.rn&1 == 0 {
			d.x = amWback
		}
		if d.imm == 0 {
			d.code = opUndef
		}
	case 0b11010, 0b11011:
		cond := h >> 8 & 15
		switch cond {
		case 14:
			d.code, d.ends = opUndef, true
		case 15:
			d.code, d.imm, d.im2, d.ends = opSvc, h&0xff, pc+2, true
		default:
			d.code = opBEQ + opcode(cond)
			d.imm = pc + 4 + uint32(int32(h<<24)>>23)
			d.im2, d.ends = pc+2, true
		}
	case 0b11100:
		d.code, d.imm, d.ends = opB, pc+4+uint32(int32(h<<21)>>20), true
	default:
		d.code = opUndef
	}
	if d.code == opUndef {
		d.ends = true
	}
	return d
}

// decodeDP16 decodes 010000: data processing on two low registers.
func decodeDP16(h uint32, inIT bool) (d insn) {
	rdn, rm := uint8(h)&7, uint8(h>>3)&7
	d.rd, d.rn, d.rm = rdn, rdn, rm
	set := [16]opcode{opAndRS, opEorRS, opLslRS, opLsrRS, opAsrRS, opAdcRS, opSbcRS, opRorRS,
		opTstR, opRsbIS, opCmpR, opCmnR, opOrrRS, opMulS, opBicRS, opMvnRS}
	plain := [16]opcode{opAndR, opEorR, opLslR, opLsrR, opAsrR, opAdcR, opSbcR, opRorR,
		opTstR, opRsbI, opCmpR, opCmnR, opOrrR, opMul, opBicR, opMvnR}
	n := h >> 6 & 15
	d.code = set[n]
	if inIT {
		d.code = plain[n]
	}
	if n == 9 { // RSB rd, rm, #0
		d.rn, d.imm = rm, 0
	}
	return d
}

// decodeHi16 decodes 010001: operations on any register, BX and BLX.
func decodeHi16(h, pc uint32) (d insn) {
	rm := uint8(h>>3) & 15
	rdn := uint8(h)&7 | uint8(h>>4)&8
	d.rd, d.rn, d.rm = rdn, rdn, rm
	switch h >> 8 & 3 {
	case 0: // ADD
		switch {
		case rdn == 15:
			d.code, d.imm, d.ends = opAddPC, pc+4, true
		case rm == 15:
			d.code, d.imm = opAddI, pc+4
		case rdn == 13:
			d.code, d.ra = opWriteSP, aluADD
		default:
			d.code = opAddR
		}
	case 1:
		d.code = opCmpR
		if rdn == 15 || rm == 15 {
			d.code, d.ends = opUndef, true
		}
	case 2:
		switch {
		case rdn == 15:
			d.code, d.ends = opMovPC, true
			if rm == 15 {
				d.code, d.imm = opB, pc+4
			}
		case rm == 15:
			d.code, d.imm = opMovI, pc+4
		case rdn == 13:
			d.code, d.ra = opWriteSP, aluMOV
		default:
			d.code = opMovR
		}
	case 3:
		d.ends, d.im2 = true, pc+2
		link, ns := h>>7&1 != 0, h>>2&1 != 0
		switch {
		case h&3 != 0 || rm == 15 && (link || ns):
			d.code = opUndef
		case link && ns:
			d.code = opBlxns
		case ns:
			d.code = opBxns
		case rm == 15: // bx pc: bit 0 clear, so INVSTATE at the target
			d.code = opUndef
		case link:
			d.code = opBLX
		default:
			d.code = opBX
		}
	}
	return d
}

// decodeMisc16 decodes 1011: stack, extension, CBZ, CPS, hints.
func decodeMisc16(h, pc uint32) (d insn) {
	rd, rm := uint8(h)&7, uint8(h>>3)&7
	switch {
	case h>>7 == 0b101100000: // ADD SP
		d.code, d.rd, d.rn, d.imm = opAddSP, 13, 13, h&0x7f*4
	case h>>7 == 0b101100001: // SUB SP
		d.code, d.rd, d.rn, d.imm = opAddSP, 13, 13, -(h & 0x7f * 4)
	case h&0xf500 == 0xb100: // CBZ, CBNZ
		d.code, d.rn, d.ends = opCbz, rd, true
		if h>>11&1 != 0 {
			d.code = opCbnz
		}
		d.imm = pc + 4 + (h>>9&1<<6 | h>>3&31<<1)
		d.im2 = pc + 2
	case h&0xff00 == 0xb200:
		d.code = [4]opcode{opSxth, opSxtb, opUxth, opUxtb}[h>>6&3]
		d.rd, d.rm = rd, rm
	case h&0xfe00 == 0xb400:
		d.code, d.imm = opPush, h&0xff|h>>8&1<<14
		if d.imm == 0 {
			d.code, d.ends = opUndef, true
		}
	case h&0xfe00 == 0xbc00:
		d.code, d.imm = opPop, h&0xff
		if h>>8&1 != 0 {
			d.code, d.imm, d.ends = opPopPC, d.imm|1<<15, true
		}
		if d.imm == 0 {
			d.code, d.ends = opUndef, true
		}
	case h&0xffe8 == 0xb660: // CPS
		d.code, d.imm, d.x, d.im2, d.ends = opCps, h&3, uint16(h>>4&1), pc+2, true
	case h&0xffc0 == 0xba00:
		d.code, d.rd, d.rm = opRev, rd, rm
	case h&0xffc0 == 0xba40:
		d.code, d.rd, d.rm = opRev16, rd, rm
	case h&0xffc0 == 0xbac0:
		d.code, d.rd, d.rm = opRevsh, rd, rm
	case h&0xff00 == 0xbe00:
		d.code, d.imm, d.im2, d.ends = opBkpt, h&0xff, pc+2, true
	case h&0xff0f == 0xbf00:
		d = decodeHint(h>>4&15, pc+2)
	default:
		d.code, d.ends = opUndef, true
	}
	return d
}

// decodeHint decodes the hint number n; next is the address behind it.
func decodeHint(n, next uint32) (d insn) {
	switch n {
	case 1:
		d.code = opYield
	case 2:
		d.code, d.ends = opWfe, true
	case 3:
		d.code, d.ends = opWfi, true
	case 4:
		d.code, d.ends = opSev, true
	default:
		d.code = opNop
	}
	d.im2 = next
	return d
}
