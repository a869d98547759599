package cortexm33

// Kinds of opVdp3, kept in op.ra.
const (
	vMLA = iota
	vMLS
	vNMLS
	vNMLA
	vMUL
	vNMUL
	vADD
	vSUB
	vDIV
	vFNMS
	vFNMA
	vFMA
	vFMS
	vMAXNM
	vMINNM
)

// Kinds of opVdp2.
const (
	vMOV = iota
	vABS
	vNEG
	vSQRT
)

// decodeCoproc: coprocessor instructions. 10 and 11 are the FPU's.
func decodeCoproc(w, pc uint32) (d insn) {
	two := w>>28&1 != 0
	cp := w >> 8 & 15
	if cp == 10 || cp == 11 {
		return decodeFP(w, pc)
	}
	rt, rt2 := uint8(w>>12)&15, uint8(w>>16)&15
	d.x = uint16(cp)
	d.imm = w
	if two {
		d.im2 = 1
	}
	d.rd, d.rn = rt, rt2
	bad := func(r uint8) bool { return r == 13 || r == 15 }
	if cp > 7 {
		d.code, d.ends = opNocp, true
		return d
	}
	switch {
	case w>>24&15 == 15:
		return undef()
	case w>>24&15 == 14 && w>>4&1 == 0:
		d.code = opCdp
	case w>>24&15 == 14 && w>>20&1 == 0:
		d.code = opMcr
		if bad(rt) {
			return undef()
		}
	case w>>24&15 == 14:
		d.code = opMrc
		if rt == 13 {
			return undef()
		}
	case w>>21&0x7f == 0b1100010:
		d.code = opMcrr
		if w>>20&1 != 0 {
			d.code = opMrrc
		}
		if bad(rt) || bad(rt2) || d.code == opMrrc && rt == rt2 {
			return undef()
		}
	default: // LDC, STC: no coprocessor of the RP2350 has them
		d.code, d.ends = opNocp, true
	}
	return d
}

// decodeFP: everything of coprocessors 10 and 11.
func decodeFP(w, pc uint32) (d insn) {
	dbl := w>>8&1 != 0
	sreg := func(hi, lo uint) uint8 { return uint8(w>>hi&15<<1 | w>>lo&1) }
	dreg := func(hi, lo uint) uint8 { return uint8(w>>hi&15<<1 | w>>lo&1<<5) }
	vd, vn, vm := sreg(12, 22), sreg(16, 7), sreg(0, 5)
	d.rd, d.rn, d.rm = vd, vn, vm
	top := w >> 24
	switch {
	case top == 0xec || top == 0xed:
		return decodeFPMem(w, pc, dbl, vd, dreg(12, 22))
	case top == 0xee && w>>4&1 == 0:
		if dbl {
			return undef()
		}
		return decodeFPData(w, d)
	case top == 0xee:
		d.rm, d.rd = uint8(w>>12)&15, vn
		switch {
		case !dbl && w>>21&7 == 0 && w&0x6f == 0: // VMOV core, single
			if d.rm == 15 || d.rm == 13 {
				return undef()
			}
			d.code, d.x = opVmovSR, uint16(w>>20&1)
		case dbl && w>>22&3 == 0 && w&0x6f == 0: // VMOV core, half of a double
			d.rd = dreg(16, 7) + uint8(w>>21&1)
			d.code, d.x = opVmovSR, uint16(w>>20&1)
			if d.rm == 15 || d.rm == 13 || d.rd > 31 {
				return undef()
			}
		case !dbl && w>>16&0xff == 0xf1 && w&0xef == 0:
			d.code = opVmrs
			if d.rm == 13 {
				return undef()
			}
		case !dbl && w>>16&0xff == 0xe1 && w&0xef == 0:
			d.code = opVmsr
			if d.rm == 13 || d.rm == 15 {
				return undef()
			}
		default:
			return undef()
		}
		return d
	case top == 0xfe && w>>4&1 == 0 && !dbl:
		return decodeFPNew(w, d)
	}
	return undef()
}

// decodeFPData: 0xEE data processing on singles.
func decodeFPData(w uint32, d insn) insn {
	o6 := uint8(w >> 6 & 1)
	d.code = opVdp3
	switch w>>20&3 | w>>21&4 {
	case 0:
		d.ra = vMLA + o6
	case 1:
		d.ra = vNMLS + o6
	case 2:
		d.ra = vMUL + o6
	case 3:
		d.ra = vADD + o6
	case 4:
		d.ra = vDIV
		if o6 != 0 {
			return undef()
		}
	case 5:
		d.ra = vFNMS + o6
	case 6:
		d.ra = vFMA + o6
	case 7:
		return decodeFPOther(w, d)
	}
	return d
}

// decodeFPOther: the two-operand and conversion group.
func decodeFPOther(w uint32, d insn) insn {
	op2, op3 := w>>16&15, w>>6&3
	if op3&1 == 0 { // VMOV immediate
		if w&0xa0 != 0 {
			return undef()
		}
		i := w>>16&15<<4 | w&15
		d.code, d.imm = opVmovImm, i>>7&1<<31|i&0x3f<<19
		if i>>6&1 != 0 {
			d.imm |= 0x1f << 25
		} else {
			d.imm |= 1 << 30
		}
		return d
	}
	hi := op3>>1 != 0
	d.code = opVdp2
	switch op2 {
	case 0:
		d.ra = vMOV
		if hi {
			d.ra = vABS
		}
		if d.ra == vMOV {
			d.code = opVmovR
		}
	case 1:
		d.ra = vNEG
		if hi {
			d.ra = vSQRT
		}
	case 2, 3: // VCVTB, VCVTT
		d.code, d.x, d.ra = opVcvtHalf, uint16(op2&1), uint8(op3>>1)
	case 4, 5: // VCMP, VCMPE; 5 compares with zero
		d.code, d.x, d.ra = opVcmp, uint16(op3>>1), uint8(op2&1)
		if op2 == 5 && w&0x2f != 0 {
			return undef()
		}
	case 6: // VRINTR, VRINTZ
		d.code, d.x = opVrint, 8 // 8: FPSCR mode
		if hi {
			d.x = fpRZ
		}
	case 7:
		if hi {
			return undef()
		}
		d.code, d.x, d.ra = opVrint, 8, 1 // exact: sets inexact
	case 8:
		d.code, d.x = opVcvtIF, uint16(op3>>1) // 1: signed
	case 10, 11, 14, 15:
		size := uint32(16)
		if op3>>1 != 0 {
			size = 32
		}
		frac := size - (w&15<<1 | w>>5&1)
		if frac > 32 {
			return undef()
		}
		d.rm = d.rd
		d.code, d.x = opVcvtFix, uint16(size)
		d.imm = frac
		d.ra = uint8(op2>>2&1)<<1 | uint8(op2&1) // bit 1 to fixed, bit 0 unsigned
	case 12, 13: // to integer: op3 bit 1 set rounds towards zero
		d.code, d.ra, d.x = opVcvtFI, uint8(op2&1), 8 // ra 1: signed
		if hi {
			d.x = fpRZ
		}
	default:
		return undef()
	}
	return d
}

// decodeFPNew: the 0xFE group of FPv5.
func decodeFPNew(w uint32, d insn) insn {
	op3 := w >> 6 & 3
	switch {
	case w>>23&1 == 0 && op3&1 == 0:
		d.code, d.x = opVsel, uint16(w>>20&3)
	case w>>20&3 == 0 && w>>23&1 != 0:
		d.code, d.ra = opVdp3, vMAXNM+uint8(op3&1)
	case w>>20&3 == 3 && w>>18&3 == 2 && op3 == 1:
		d.code, d.x = opVrint, roundField[w>>16&3]
	case w>>20&3 == 3 && w>>18&3 == 3 && op3&1 == 1:
		d.code, d.ra, d.x = opVcvtFI, uint8(op3>>1), roundField[w>>16&3]
	default:
		return undef()
	}
	return d
}

// roundField maps the RM field of VRINT and VCVT to a rounding mode.
var roundField = [4]uint16{fpRA, fpRN, fpRP, fpRM}

// decodeFPMem: VLDR, VSTR, VLDM, VSTM, two-register moves, lazy state.
func decodeFPMem(w, pc uint32, dbl bool, vs, vdd uint8) (d insn) {
	rn := uint8(w>>16) & 15
	p, u, wb, load := w>>24&1 != 0, w>>23&1 != 0, w>>21&1 != 0, w>>20&1 != 0
	imm := w & 0xff * 4
	d.rn, d.rd = rn, vs
	if dbl {
		d.rd, d.x = vdd, amDouble
	}
	switch {
	case w&0xffb0ffff == 0xec200a00|w&0x00100000 && w>>22&1 == 0 && !u: // VLSTM, VLLDM
		d.code = opVlstm
		if load {
			d.code = opVlldm
		}
		if rn == 15 {
			return undef()
		}
		d.ends = true
	case w&0xffbf0e00 == 0xec9f0a00: // VSCCLRM
		d.code, d.imm = opVscclrm, w&0xff
		if dbl {
			d.imm &^= 1
		}
		if uint32(d.rd)+d.imm > 32 {
			return undef()
		}
	case w>>21&0x7f == 0b1100010 && w>>24 == 0xec: // VMOV two core registers
		rt, rt2 := uint8(w>>12)&15, rn
		if w&0xd0 != 0x10 {
			return undef()
		}
		d.rn, d.ra, d.x = rt, rt2, uint16(w>>20&1)
		d.code = opVmov2
		d.rd = uint8(w&15<<1 | w>>5&1)
		if dbl {
			d.rd = uint8(w&15<<1 | w>>5&1<<5)
		}
		if rt == 15 || rt2 == 15 || rt == 13 || rt2 == 13 || load && rt == rt2 || d.rd > 30 {
			return undef()
		}
	case p && !wb: // VLDR, VSTR
		d.imm = imm
		if !u {
			d.imm = -imm
		}
		d.x |= amIndex
		d.code = opVstr
		if load {
			d.code = opVldr
		}
		if rn == 15 {
			if !load {
				return undef()
			}
			d.imm = (pc+4)&^3 + d.imm
		}
		if dbl && d.rd > 30 {
			return undef()
		}
		if dbl || rn == 15 {
			d.code += opVldrX - opVldr
		}
	case p == u && !p || p && u: // unallocated
		return undef()
	default: // VLDM, VSTM
		n := w & 0xff
		d.imm = n
		if dbl {
			d.imm = n &^ 1
		}
		if wb {
			d.x |= amWback
		}
		if p {
			d.x |= amDec
			if !wb {
				return undef()
			}
		}
		if d.imm == 0 || uint32(d.rd)+d.imm > 32 || rn == 15 {
			return undef()
		}
		d.ra = uint8(n) // the encoded count moves the base
		d.code = opVstm
		if load {
			d.code = opVldm
		}
	}
	return d
}
