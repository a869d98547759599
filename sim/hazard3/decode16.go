package hazard3

// decode16 decodes a compressed instruction (Zca, Zcb, Zcmp) to the operation
// it stands for.
func decode16(h uint32) inst {
	rl := uint8(h >> 7 & 31)  // rd/rs1 of the wide formats
	r2l := uint8(h >> 2 & 31) // rs2 of the wide formats
	r1s := uint8(h>>7&7) + 8  // rs1' (and rd' of CA and CB)
	r2s := uint8(h>>2&7) + 8  // rs2' (and rd' of CL and CIW)
	immCI := sext(h>>12&1<<5|h>>2&31, 6)
	bit12 := h>>12&1 != 0

	alu := func(o op, rd, rs1, rs2 uint8) inst {
		return inst{op: o, rd: rd, rs1: rs1, rs2: rs2, use: bitOf(rs1) | bitOf(rs2)}
	}
	aluImm := func(o op, rd, rs1 uint8, imm uint32) inst {
		return inst{op: o, rd: rd, rs1: rs1, imm: imm, use: bitOf(rs1)}
	}
	store := func(o op, rs1, rs2 uint8, imm uint32) inst {
		return inst{op: o, rs1: rs1, rs2: rs2, imm: imm, use: bitOf(rs1)}
	}

	switch h>>13<<2 | h&3 {
	case 0b000_00: // c.addi4spn
		// Only the all-zero halfword is illegal; other destinations with a
		// zero immediate execute (hazard3_instr_decompress.v).
		if h == 0 {
			return inst{}
		}
		return aluImm(opAddi, r2s, 2, h>>7&15<<6|h>>11&3<<4|h>>5&1<<3|h>>6&1<<2)
	case 0b010_00: // c.lw
		return aluImm(opLw, r2s, r1s, h>>5&1<<6|h>>10&7<<3|h>>6&1<<2)
	case 0b110_00: // c.sw
		return store(opSw, r1s, r2s, h>>5&1<<6|h>>10&7<<3|h>>6&1<<2)
	case 0b100_00:
		return decodeZcbMem(h, r1s, r2s)
	case 0b000_01: // c.addi
		return aluImm(opAddi, rl, rl, immCI)
	case 0b001_01, 0b101_01: // c.jal, c.j
		off := sext(h>>12&1<<11|h>>8&1<<10|h>>9&3<<8|h>>6&1<<7|h>>7&1<<6|h>>2&1<<5|h>>11&1<<4|h>>3&7<<1, 12)
		in := inst{op: opJal, imm: off}
		if h>>15 == 0 {
			in.rd = 1
		}
		return in
	case 0b010_01: // c.li
		return aluImm(opAddi, rl, 0, immCI)
	case 0b011_01:
		if h>>12&1|h>>2&31 == 0 {
			return inst{}
		}
		if rl == 2 { // c.addi16sp
			return aluImm(opAddi, 2, 2, sext(h>>12&1<<9|h>>3&3<<7|h>>5&1<<6|h>>2&1<<5|h>>6&1<<4, 10))
		}
		return inst{op: opLi, rd: rl, imm: immCI << 12} // c.lui
	case 0b100_01:
		return decodeC1Alu(h, r1s, r2s, immCI)
	case 0b110_01, 0b111_01: // c.beqz, c.bnez
		off := sext(h>>12&1<<8|h>>5&3<<6|h>>2&1<<5|h>>10&3<<3|h>>3&3<<1, 9)
		o := opBeq
		if h>>13&1 != 0 {
			o = opBne
		}
		return inst{op: o, rs1: r1s, imm: off, use: bitOf(r1s)}
	case 0b000_10: // c.slli
		if bit12 {
			return inst{}
		}
		return aluImm(opSlli, rl, rl, uint32(r2l))
	case 0b010_10: // c.lwsp
		if rl == 0 {
			return inst{}
		}
		return aluImm(opLw, rl, 2, h>>2&3<<6|h>>12&1<<5|h>>4&7<<2)
	case 0b110_10: // c.swsp
		return store(opSw, 2, r2l, h>>7&3<<6|h>>9&15<<2)
	case 0b100_10:
		switch {
		case r2l != 0 && !bit12: // c.mv
			return alu(opAdd, rl, 0, r2l)
		case r2l != 0: // c.add
			return alu(opAdd, rl, rl, r2l)
		case rl == 0 && !bit12:
			return inst{}
		case rl == 0:
			return inst{op: opEbreak}
		case !bit12: // c.jr
			return inst{op: opJalr, rs1: rl, use: bitOf(rl)}
		default: // c.jalr
			return inst{op: opJalr, rd: 1, rs1: rl, use: bitOf(rl)}
		}
	case 0b101_10:
		return decodeZcmp(h)
	}
	return inst{}
}

// decodeC1Alu decodes the register arithmetic of quadrant 1.
func decodeC1Alu(h uint32, r1s, r2s uint8, immCI uint32) inst {
	bit12 := h>>12&1 != 0
	in := inst{rd: r1s, rs1: r1s, use: bitOf(r1s)}
	switch h >> 10 & 3 {
	case 0, 1:
		if bit12 {
			return inst{}
		}
		in.op = opSrli
		if h>>10&1 != 0 {
			in.op = opSrai
		}
		in.imm = h >> 2 & 31
	case 2:
		in.op, in.imm = opAndi, immCI
	case 3:
		in.rs2 = r2s
		in.use |= bitOf(r2s)
		if !bit12 {
			in.op = [4]op{opSub, opXor, opOr, opAnd}[h>>5&3]
			return in
		}
		switch h >> 5 & 3 {
		case 2:
			in.op = opMul
		case 3:
			in.rs2, in.use = 0, bitOf(r1s)
			switch h >> 2 & 7 {
			case 0:
				in.op, in.imm = opAndi, 0xff
			case 1:
				in.op = opSextB
			case 2:
				in.op = opZextH
			case 3:
				in.op = opSextH
			case 5:
				in.op, in.imm = opXori, 0xffffffff
			default:
				return inst{}
			}
		default:
			return inst{}
		}
	}
	return in
}

// decodeZcbMem decodes the byte and halfword accesses of Zcb.
func decodeZcbMem(h uint32, r1s, r2s uint8) inst {
	immB := h>>5&1<<1 | h>>6&1
	immH := h >> 5 & 1 << 1
	in := inst{rs1: r1s, use: bitOf(r1s)}
	switch h >> 10 & 7 {
	case 0:
		in.op, in.rd, in.imm = opLbu, r2s, immB
	case 1:
		in.op, in.rd, in.imm = opLhu, r2s, immH
		if h>>6&1 != 0 {
			in.op = opLh
		}
	case 2:
		in.op, in.rs2, in.imm = opSb, r2s, immB
	case 3:
		if h>>6&1 != 0 {
			return inst{}
		}
		in.op, in.rs2, in.imm = opSh, r2s, immH
	default:
		return inst{}
	}
	return in
}

// decodeZcmp decodes push, pop and the double moves.
func decodeZcmp(h uint32) inst {
	sreg := func(f uint32) uint8 {
		if f < 2 {
			return uint8(8 + f)
		}
		return uint8(16 + f)
	}
	if h>>10&7 == 3 { // 101 011
		r1, r2 := sreg(h>>7&7), sreg(h>>2&7)
		switch h >> 5 & 3 {
		case 1:
			return inst{op: opMvsa01, rs1: r1, rs2: r2, use: bitOf(10)}
		case 3:
			return inst{op: opMva01s, rs1: r1, rs2: r2, use: bitOf(r1)}
		}
		return inst{}
	}
	var o op
	switch h >> 8 & 31 {
	case 0b11000:
		o = opPush
	case 0b11010:
		o = opPop
	case 0b11100:
		o = opPopretz
	case 0b11110:
		o = opPopret
	default:
		return inst{}
	}
	rlist := h >> 4 & 15
	if rlist < 4 {
		return inst{}
	}
	n := rlist - 3
	base := uint32(16)
	switch {
	case rlist == 15:
		n, base = 13, 64
	case rlist >= 12:
		base = 48
	case rlist >= 8:
		base = 32
	}
	return inst{op: o, rs1: 2, rs2: uint8(n), imm: base + h>>2&3<<4, use: bitOf(2)}
}
