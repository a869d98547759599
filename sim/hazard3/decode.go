package hazard3

// decode decodes the instruction whose first 16 bits are in the low half of
// raw; the high half counts only if the low two bits are 11. Encodings are
// accepted as hazard3_decode.v and hazard3_instr_decompress.v accept them.
func decode(raw uint32, zbc bool) inst {
	var in inst
	if raw&3 == 3 {
		in = decode32(raw, zbc)
		in.size = 4
	} else {
		in = decode16(raw & 0xffff)
		in.size = 2
	}
	return tidy(in)
}

// tidy gives up the registers that an operation does not read and chooses
// simpler operations where the registers allow it.
func tidy(in inst) inst {
	switch in.op {
	case opAddi:
		switch {
		case in.rs1 == 0:
			in.op = opLi
		case in.imm == 0 && in.rd != 0:
			in.op = opMv
		}
	case opAdd:
		if in.rs1 == 0 && in.rd != 0 {
			in.op, in.rs1, in.rs2 = opMv, in.rs2, 0
		}
	}
	if in.rd == 0 && in.op > opIllegal && in.op <= opNop && !(in.op >= opDiv && in.op <= opRemu) {
		// No other effect than to wait for its operands (and to take its time,
		// for a division).
		in.op = opNop
	}
	in.use &^= 1
	return in
}

func bitOf(r uint8) uint32 { return 1 << (r & 31) }

// sext returns the low n bits of v, sign-extended.
func sext(v uint32, n uint) uint32 { return uint32(int32(v<<(32-n)) >> (32 - n)) }

func decode32(raw uint32, zbc bool) inst {
	in := inst{
		rd:  uint8(raw >> 7 & 31),
		rs1: uint8(raw >> 15 & 31),
		rs2: uint8(raw >> 20 & 31),
	}
	f3 := raw >> 12 & 7
	f7 := raw >> 25
	immI := uint32(int32(raw) >> 20)
	use1 := bitOf(in.rs1)
	use2 := bitOf(in.rs2)
	switch raw & 0x7f {
	case 0x37: // lui
		in.op, in.imm, in.rs1, in.rs2 = opLi, raw&0xfffff000, 0, 0
	case 0x17: // auipc
		in.op, in.imm, in.rs1, in.rs2 = opAuipc, raw&0xfffff000, 0, 0
	case 0x6f: // jal
		in.op, in.rs1, in.rs2 = opJal, 0, 0
		in.imm = sext(raw>>31<<20|raw>>12&0xff<<12|raw>>20&1<<11|raw>>21&0x3ff<<1, 21)
	case 0x67: // jalr
		if f3 != 0 {
			return inst{}
		}
		in.op, in.imm, in.use, in.rs2 = opJalr, immI, use1, 0
	case 0x63:
		in.op = [8]op{opBeq, opBne, 0, 0, opBlt, opBge, opBltu, opBgeu}[f3]
		in.imm = sext(raw>>31<<12|raw>>7&1<<11|raw>>25&0x3f<<5|raw>>8&15<<1, 13)
		in.rd, in.use = 0, use1|use2
	case 0x03:
		in.op = [8]op{opLb, opLh, opLw, 0, opLbu, opLhu, 0, 0}[f3]
		in.imm, in.use, in.rs2 = immI, use1, 0
	case 0x23:
		in.op = [8]op{opSb, opSh, opSw, 0, 0, 0, 0, 0}[f3]
		// The value stored is needed one stage later and never waited for.
		in.imm, in.use, in.rd = sext(f7<<5|raw>>7&31, 12), use1, 0
	case 0x13:
		in.use = use1
		decodeImm(&in, raw, f3, f7, immI)
	case 0x33:
		in.use = use1 | use2
		in.op = decodeReg(f3, f7, in.rs2, zbc)
		if in.op == opSlt && in.rd == 0 && in.rs1 == 0 && in.rs2 <= 1 {
			in.op = opBlock
			if in.rs2 == 1 {
				in.op = opUnblock
			}
		}
		if in.op == opZextH {
			in.use, in.rs2 = use1, 0
		}
	case 0x0b:
		if raw&0xe2000000 != 0 {
			return inst{}
		}
		mask := uint32(2)<<(raw>>26&7) - 1
		switch f3 {
		case 0:
			in.op, in.imm, in.use = opBextm, mask, use1|use2
		case 4:
			in.op, in.imm, in.use = opBextmi, mask<<8|uint32(in.rs2), use1
			in.rs2 = 0
		default:
			return inst{}
		}
	case 0x2f:
		in.use = use1 | use2
		decodeAtomic(&in, f3, raw>>27)
	case 0x0f:
		switch {
		case raw&0xfffff == 0x0000f:
			in.op, in.rs2 = opFence, 0
		case raw == 0x0000100f:
			in.op = opFenceI
		}
	case 0x73:
		decodeSystem(&in, raw, f3)
	}
	if in.op == opIllegal {
		return inst{}
	}
	return in
}

func decodeSystem(in *inst, raw, f3 uint32) {
	if f3 == 0 {
		switch raw {
		case 0x00000073:
			in.op = opEcall
		case 0x00100073:
			in.op = opEbreak
		case 0x30200073:
			in.op = opMret
		case 0x10500073:
			in.op = opWfi
		}
		in.rs1, in.rs2, in.rd = 0, 0, 0
		return
	}
	if f3 == 4 {
		return
	}
	in.op = opCsr
	in.imm = raw>>20 | (f3&3-1)<<12
	if f3 >= 4 {
		in.imm |= csrImm
	}
	// Hazard3 compares the register fields of CSR instructions with a pending
	// load even where they hold an immediate or a part of the CSR's number.
	in.use = bitOf(in.rs1) | bitOf(in.rs2)
}

func decodeAtomic(in *inst, f3, f5 uint32) {
	if f3 != 2 {
		return
	}
	in.op = opAmo
	switch f5 {
	case 0x02:
		in.op = opLrW
		if in.rs2 != 0 {
			in.op = opIllegal
		}
	case 0x03:
		in.op = opScW
	case 0x01:
		in.imm = amoSwap
	case 0x00:
		in.imm = amoAdd
	case 0x04:
		in.imm = amoXor
	case 0x0c:
		in.imm = amoAnd
	case 0x08:
		in.imm = amoOr
	case 0x10:
		in.imm = amoMin
	case 0x14:
		in.imm = amoMax
	case 0x18:
		in.imm = amoMinu
	case 0x1c:
		in.imm = amoMaxu
	default:
		in.op = opIllegal
	}
}

// decodeImm decodes major opcode OP-IMM.
func decodeImm(in *inst, raw, f3, f7, immI uint32) {
	sh := uint32(in.rs2)
	in.rs2 = 0
	in.imm = immI
	switch f3 {
	case 0:
		in.op = opAddi
	case 2:
		in.op = opSlti
	case 3:
		in.op = opSltiu
	case 4:
		in.op = opXori
	case 6:
		in.op = opOri
	case 7:
		in.op = opAndi
	case 1:
		in.imm = sh
		switch f7 {
		case 0x00:
			in.op = opSlli
		case 0x24:
			in.op, in.imm = opBclri, 1<<sh
		case 0x34:
			in.op, in.imm = opBinvi, 1<<sh
		case 0x14:
			in.op, in.imm = opBseti, 1<<sh
		case 0x30:
			switch sh {
			case 0:
				in.op = opClz
			case 1:
				in.op = opCtz
			case 2:
				in.op = opCpop
			case 4:
				in.op = opSextB
			case 5:
				in.op = opSextH
			}
		case 0x04:
			if sh == 15 {
				in.op = opZip
			}
		}
	case 5:
		in.imm = sh
		switch f7 {
		case 0x00:
			in.op = opSrli
		case 0x20:
			in.op = opSrai
		case 0x30:
			in.op = opRori
		case 0x24:
			in.op = opBexti
		}
		switch raw >> 20 {
		case 0x287:
			in.op = opOrcB
		case 0x698:
			in.op = opRev8
		case 0x687:
			in.op = opBrev8
		case 0x08f:
			in.op = opUnzip
		}
	}
}

// decodeReg decodes major opcode OP.
func decodeReg(f3, f7 uint32, rs2 uint8, zbc bool) op {
	switch f7 {
	case 0x00:
		return [8]op{opAdd, opSll, opSlt, opSltu, opXor, opSrl, opOr, opAnd}[f3]
	case 0x20:
		return [8]op{opSub, 0, 0, 0, opXnor, opSra, opOrn, opAndn}[f3]
	case 0x01:
		return [8]op{opMul, opMulh, opMulhsu, opMulhu, opDiv, opDivu, opRem, opRemu}[f3]
	case 0x10:
		return [8]op{0, 0, opSh1add, 0, opSh2add, 0, opSh3add, 0}[f3]
	case 0x05:
		o := [8]op{0, opClmul, opClmulr, opClmulh, opMin, opMinu, opMax, opMaxu}[f3]
		if f3 < 4 && !zbc {
			return opIllegal
		}
		return o
	case 0x30:
		return [8]op{0, opRol, 0, 0, 0, opRor, 0, 0}[f3]
	case 0x24:
		return [8]op{0, opBclr, 0, 0, 0, opBext, 0, 0}[f3]
	case 0x34:
		return [8]op{0, opBinv, 0, 0, 0, 0, 0, 0}[f3]
	case 0x14:
		return [8]op{0, opBset, 0, 0, 0, 0, 0, 0}[f3]
	case 0x04:
		o := [8]op{0, 0, 0, 0, opPack, 0, 0, opPackh}[f3]
		if o == opPack && rs2 == 0 {
			return opZextH
		}
		return o
	}
	return opIllegal
}
