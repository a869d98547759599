package cortexm33

// decodeSingle: loads and stores of one byte, halfword or word, and the
// preload hints.
func decodeSingle(h1, h2, pc uint32) (d insn) {
	load, sign := h1>>4&1 != 0, h1>>8&1 != 0
	size := h1 >> 5 & 3
	rn, rt := uint8(h1)&15, uint8(h2>>12)&15
	d.rd, d.rn = rt, rn
	if size == 3 || sign && (!load || size == 2) || rn == 15 && !load {
		return undef()
	}
	kind := uint8(size)
	if sign {
		kind = memSByte + uint8(size)
	}
	d.ra = kind
	wide := h1>>7&1 != 0 // 12-bit immediate
	sub := h2 >> 6 & 63
	// Preload hints and unallocated memory hints do nothing.
	if load && rt == 15 && size != 2 {
		switch {
		case wide, rn == 15, h2>>8&15 == 0b1100, sub == 0:
			return insn{op: op{code: opNop}}
		}
		return undef()
	}
	switch {
	case rn == 15:
		base := (pc + 4) &^ 3
		d.imm = base + h2&0xfff
		if !wide {
			d.imm = base - h2&0xfff
		}
		d.code = opLdrLit
		if size != 2 || rt == 15 || rt == 13 {
			d.code, d.im2 = opLoad, 0
			d.x = amIndex
		}
	case wide:
		d.imm, d.x = h2&0xfff, amIndex
	case sub == 0:
		d.rm, d.im2, d.x = uint8(h2)&15, h2>>4&3, amReg|amIndex
		if d.rm == 15 || d.rm == 13 {
			return undef()
		}
	case h2>>11&1 != 0:
		p, u, w := h2>>10&1 != 0, h2>>9&1 != 0, h2>>8&1 != 0
		d.imm = h2 & 0xff
		if !u {
			d.imm = -d.imm
		}
		switch {
		case p && u && !w:
			d.x = amIndex | amUnpriv
			if rt == 15 || rt == 13 {
				return undef()
			}
		case !p && !w:
			return undef()
		default:
			if p {
				d.x |= amIndex
			}
			if w {
				d.x |= amWback
				if rn == rt || rn == 15 {
					return undef()
				}
			}
		}
	default:
		return undef()
	}
	if !load && rt == 15 || rt == 13 && size != 2 {
		return undef()
	}
	if d.code == opLdrLit {
		return d
	}
	return pickSingle(d, load)
}

// pickSingle chooses the operation of the hot loop where there is one.
func pickSingle(d insn, load bool) insn {
	d.code = opStore
	if load {
		d.code = opLoad
		if d.rd == 15 {
			d.ends = true
			return d
		}
	}
	if d.rd == 13 || d.rn == 15 {
		return d
	}
	switch d.x {
	case amIndex:
		if load {
			d.code = [5]opcode{opLdrbI, opLdrhI, opLdrI, opLdrsbI, opLdrshI}[d.ra]
		} else {
			d.code = [3]opcode{opStrbI, opStrhI, opStrI}[d.ra]
		}
		d.x = 0
	case amIndex | amReg:
		if load {
			d.code = [5]opcode{opLdrbR, opLdrhR, opLdrR, opLdrsbR, opLdrshR}[d.ra]
		} else {
			d.code = [3]opcode{opStrbR, opStrhR, opStrR}[d.ra]
		}
		d.x = uint16(d.im2)
	case amWback, amWback | amIndex:
		if d.rn == 13 || d.ra > memWord {
			return d
		}
		if load {
			d.code = [3]opcode{opLdrbW, opLdrhW, opLdrW}[d.ra]
		} else {
			d.code = [3]opcode{opStrbW, opStrhW, opStrW}[d.ra]
		}
		d.x &= amIndex
	}
	return d
}

// decodeMultiple: LDM, STM and SG's neighbours (11101 00x x0).
func decodeMultiple(h1, h2 uint32) (d insn) {
	load, w := h1>>4&1 != 0, h1>>5&1 != 0
	rn := uint8(h1) & 15
	d.rn, d.imm = rn, h2
	n := 0
	for l := h2; l != 0; l &= l - 1 {
		n++
	}
	if rn == 15 || h2>>13&1 != 0 || n < 2 || h2>>14 == 3 || !load && h2>>15 != 0 || w && h2>>rn&1 != 0 {
		if h1>>7&3 == 1 || h1>>7&3 == 2 {
			return undef()
		}
	}
	if w {
		d.x = amWback
	}
	switch h1 >> 7 & 3 {
	case 1: // increment after
		switch {
		case load && rn == 13 && w:
			d.code = opPop
			if h2>>15 != 0 {
				d.code, d.ends = opPopPC, true
			}
		case load && h2>>15 != 0 || rn == 13 && w:
			d.code, d.ends = opLdmX, h2>>15 != 0
			if !load {
				d.code = opStmX
			}
		case load:
			d.code = opLdm
		default:
			d.code = opStm
		}
	case 2: // decrement before
		d.x |= amDec
		d.code = opStmX
		if load {
			d.code, d.ends = opLdmX, h2>>15 != 0
		} else if rn == 13 && w {
			d.code = opPush
		}
	default:
		return undef()
	}
	return d
}

// decodeDual: LDRD, STRD, exclusives, acquire and release, table branches, TT,
// SG (11101 00x x1).
func decodeDual(h1, h2, pc uint32) (d insn) {
	if h1 == 0xe97f && h2 == 0xe97f {
		d.code, d.ends = opSG, true
		return d
	}
	p, u, w, load := h1>>8&1 != 0, h1>>7&1 != 0, h1>>5&1 != 0, h1>>4&1 != 0
	rn, rt, rt2 := uint8(h1)&15, uint8(h2>>12)&15, uint8(h2>>8)&15
	d.rn, d.rd, d.ra = rn, rt, rt2
	bad := func(r uint8) bool { return r == 13 || r == 15 }
	if p || w { // LDRD, STRD
		if bad(rt) || bad(rt2) || load && rt == rt2 || w && (rn == rt || rn == rt2 || rn == 15) || !load && rn == 15 {
			return undef()
		}
		d.imm = h2 & 0xff * 4
		if !u {
			d.imm = -d.imm
		}
		if rn == 15 { // literal
			d.code, d.x, d.imm = opLdrdX, amIndex, (pc+4)&^3+d.imm
			return d
		}
		if p {
			d.x = amIndex
		}
		if w {
			d.x |= amWback
		}
		d.code = opStrdX
		if load {
			d.code = opLdrdX
		}
		if d.x == amIndex {
			d.code -= opLdrdX - opLdrd
		}
		return d
	}
	// P = W = 0
	if !u { // LDREX, STREX, TT
		d.imm = h2 & 0xff * 4
		if load {
			if bad(rt) || rn == 15 || rt2 != 15 {
				return undef()
			}
			d.code, d.ra, d.x = opLdrex, memWord, amExcl
			return d
		}
		if rt == 15 && h2&0x3f == 0 { // TT, TTT, TTA, TTAT
			d.code, d.rd, d.x = opTT, rt2, uint16(h2>>6&3)
			if bad(rt2) || rn == 15 {
				return undef()
			}
			return d
		}
		d.code, d.rm, d.rd, d.ra, d.x = opStrex, rt, rt2, memWord, amExcl
		if bad(rt) || bad(rt2) || rn == 15 || rt2 == rn || rt2 == rt {
			return undef()
		}
		return d
	}
	op3 := h2 >> 4 & 15
	if load && op3 < 2 && rt == 15 && rt2 == 0 { // TBB, TBH
		d.rm = uint8(h2) & 15
		if bad(d.rm) || rn == 13 {
			return undef()
		}
		d.code, d.imm, d.ends = opTbb+opcode(op3), pc+4, true
		return d
	}
	if op3 < 4 || bad(rt) || rn == 15 || op3&3 == 3 || rt2 != 15 {
		return undef()
	}
	d.ra = uint8(op3 & 3)
	rd := uint8(h2) & 15
	switch {
	case op3 < 8 && d.ra < 2: // LDREXB, LDREXH, STREXB, STREXH
		d.x = amExcl
	case op3 < 8:
		return undef()
	case op3 < 12: // LDA, STL
		d.x = amAcquire | amIndex
	default: // LDAEX, STLEX
		d.x = amExcl | amAcquire
	}
	if d.x&amExcl != 0 {
		d.code = opLdrex
		if !load {
			d.code, d.rm, d.rd = opStrex, rt, rd
			if bad(rd) || rd == rn || rd == rt {
				return undef()
			}
			return d
		}
	} else {
		d.code = opStore
		if load {
			d.code = opLoad
		}
	}
	if rd != 15 {
		return undef()
	}
	return d
}

// decodeBranch32: branches and miscellaneous control.
func decodeBranch32(h1, h2, pc uint32) (d insn) {
	s := h1 >> 10 & 1
	j1, j2 := h2>>13&1, h2>>11&1
	d.im2, d.ends = pc+4, true
	far := uint32(int32((s<<24|(1^j1^s)<<23|(1^j2^s)<<22|h1&0x3ff<<12|h2&0x7ff<<1)<<7) >> 7)
	switch h2 >> 12 & 5 {
	case 1: // B.W
		d.code, d.imm = opB, pc+4+far
		return d
	case 5: // BL
		d.code, d.imm = opBL, pc+4+far
		return d
	case 4:
		return undef()
	}
	if h1>>7&7 != 7 { // B<cond>.W
		off := uint32(int32((s<<20|j2<<19|j1<<18|h1&0x3f<<12|h2&0x7ff<<1)<<11) >> 11)
		d.code, d.imm = opBEQ+opcode(h1>>6&15), pc+4+off
		return d
	}
	switch h1 >> 4 & 0x7f {
	case 0b0111000, 0b0111001: // MSR
		d.code, d.rn, d.imm, d.x = opMsr, uint8(h1)&15, h2&0xff, uint16(h2>>10&3)
		if d.rn == 13 || d.rn == 15 || h1>>4&1 != 0 || h2>>8&3 != 0 || h2>>13&1 != 0 {
			return undef()
		}
	case 0b0111010: // hints
		if h2>>8&7 != 0 || h1&15 != 15 {
			return undef()
		}
		d = insn{}
		if h2&0xff < 16 {
			d = decodeHint(h2&0xff, pc+4)
		}
	case 0b0111011: // barriers
		d.ends = false
		switch h2 >> 4 & 15 {
		case 2:
			d.code, d.ends = opClrex, false
		case 4, 5:
			d.code = opDmb
		case 6:
			d.code, d.ends = opIsb, true
		default:
			return undef()
		}
	case 0b0111110, 0b0111111: // MRS
		d.code, d.rd, d.imm = opMrs, uint8(h2>>8)&15, h2&0xff
		d.ends = false
		if d.rd == 13 || d.rd == 15 || h1&15 != 15 || h1>>4&1 != 0 {
			return undef()
		}
	default:
		return undef()
	}
	return d
}
