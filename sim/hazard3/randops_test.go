package hazard3_test

// opReg are encodings of register operations with funct3 and funct7, opUnary
// those with one operand and all immediate bits fixed.
var opReg = [][2]uint32{
	{0, 0x00}, {1, 0x00}, {2, 0x00}, {3, 0x00}, {4, 0x00}, {5, 0x00}, {6, 0x00}, {7, 0x00},
	{0, 0x20}, {5, 0x20}, {4, 0x20}, {6, 0x20}, {7, 0x20},
	{2, 0x10}, {4, 0x10}, {6, 0x10}, // sh1add...
	{4, 0x05}, {5, 0x05}, {6, 0x05}, {7, 0x05}, // min...
	{1, 0x30}, {5, 0x30}, // rol, ror
	{1, 0x24}, {5, 0x24}, {1, 0x34}, {1, 0x14}, // bclr, bext, binv, bset
	{4, 0x04}, {7, 0x04}, // pack, packh
}

var opUnary = [][2]uint32{
	{0x600, 1}, {0x601, 1}, {0x602, 1}, {0x604, 1}, {0x605, 1}, // clz ctz cpop sext.b sext.h
	{0x287, 5}, {0x698, 5}, {0x687, 5}, {0x08f, 5}, {0x08f, 1}, // orc.b rev8 brev8 unzip zip
}

func (p *randProg) alu32(a *asm) {
	rd := p.dst()
	switch p.n32(8) {
	case 0, 1, 2:
		o := opReg[p.r.IntN(len(opReg))]
		rs1, rs2 := p.reg(), p.reg()
		if o == [2]uint32{2, 0} && rd == 0 {
			rd = 5 // slt x0, x0, … is h3.block
		}
		a.r(rd, rs1, rs2, o[0], o[1], 0x33)
	case 3:
		a.i(rd, p.reg(), p.r.Uint32(), [6]uint32{0, 2, 3, 4, 6, 7}[p.n32(6)], 0x13)
	case 4:
		f7 := [8]uint32{0x00, 0x00, 0x20, 0x30, 0x24, 0x24, 0x34, 0x14}
		f3 := [8]uint32{1, 5, 5, 5, 1, 5, 1, 1}
		k := p.n32(8)
		a.i(rd, p.reg(), f7[k]<<5|p.n32(32), f3[k], 0x13)
	case 5:
		o := opUnary[p.r.IntN(len(opUnary))]
		a.i(rd, p.reg(), o[0], o[1], 0x13)
	case 6:
		if p.custom && p.n32(2) == 0 {
			v := p.n32(8)<<26 | p.n32(32)<<20 | p.reg()<<15 | rd<<7 | 0x0b | p.n32(2)<<14
			a.w(v)
			return
		}
		a.w(p.r.Uint32()&0xfffff000 | rd<<7 | [2]uint32{0x37, 0x17}[p.n32(2)])
	case 7:
		if p.zbc {
			a.r(rd, p.reg(), p.reg(), 1+p.n32(3), 0x05, 0x33)
			return
		}
		a.r(rd, p.reg(), p.reg(), 0, 0, 0x33)
	}
}

func (p *randProg) muldiv(a *asm) {
	a.r(p.dst(), p.reg(), p.reg(), p.n32(8), 1, 0x33)
}

func (p *randProg) compressed(a *asm) {
	nz := func(bits int) uint32 { return 1 + p.n32(1<<bits-1) }
	nzDst := func() uint32 {
		for {
			if r := p.dst(); r != 0 {
				return r
			}
		}
	}
	imm6 := func(v uint32) uint32 { return v>>5&1<<12 | v&31<<2 }
	switch p.n32(17) {
	case 0: // c.addi4spn
		v := nz(8)
		a.h(v<<5 | p.cdst()<<2)
	case 1: // c.addi, c.nop
		a.h(imm6(nz(6)) | nzDst()<<7 | 1)
	case 2: // c.li
		a.h(2<<13 | imm6(p.n32(64)) | nzDst()<<7 | 1)
	case 3: // c.lui
		a.h(3<<13 | imm6(nz(6)) | nzDst()<<7 | 1)
	case 4: // c.srli, c.srai
		a.h(4<<13 | p.n32(2)<<10 | p.cdst()<<7 | nz(5)<<2 | 1)
	case 5: // c.andi
		a.h(4<<13 | 2<<10 | p.cdst()<<7 | imm6(p.n32(64)) | 1)
	case 6, 7: // c.sub, c.xor, c.or, c.and
		a.h(4<<13 | 3<<10 | p.cdst()<<7 | p.n32(4)<<5 | p.creg()<<2 | 1)
	case 8: // c.mul
		a.h(4<<13 | 1<<12 | 3<<10 | p.cdst()<<7 | 2<<5 | p.creg()<<2 | 1)
	case 9: // c.zext.b...
		a.h(4<<13 | 1<<12 | 3<<10 | p.cdst()<<7 | 3<<5 | [5]uint32{0, 1, 2, 3, 5}[p.n32(5)]<<2 | 1)
	case 10: // c.slli
		a.h(nzDst()<<7 | nz(5)<<2 | 2)
	case 11, 12: // c.mv
		a.h(4<<13 | nzDst()<<7 | (1+p.n32(31))<<2 | 2)
	case 13: // c.add
		a.h(4<<13 | 1<<12 | nzDst()<<7 | (1+p.n32(31))<<2 | 2)
	case 14: // c.lwsp
		a.h(2<<13 | nzDst()<<7 | p.n32(8)<<4 | 2)
	case 15: // c.swsp
		a.h(6<<13 | p.n32(16)<<9 | p.reg()<<2 | 2)
	case 16: // c.beqz, c.bnez, c.j
		k := p.n32(3)
		kind := byte('b')
		h := 6<<13 | k<<13 | p.creg()<<7 | 1
		if k == 2 {
			h, kind = 5<<13|1, 'j'
		}
		p.patches = append(p.patches, patch{at: len(a.b), kind: kind, skip: 1 + p.r.IntN(4)})
		a.h(h)
	}
}

func (p *randProg) memory(a *asm) {
	base := [2]uint32{regDataA, regDataB}[p.n32(2)]
	align := func(v uint32, size uint32) uint32 {
		if p.misaligned && p.n32(12) == 0 {
			return v
		}
		return v &^ (size - 1)
	}
	switch p.n32(8) {
	case 0, 1, 2: // loads
		k := p.n32(5)
		f3 := [5]uint32{0, 1, 2, 4, 5}[k]
		off := align(p.n32(512)-256, 1<<(f3&3))
		if p.n32(40) == 0 {
			// Nothing is there: an access fault.
			a.i(p.dst(), 0, p.n32(128)*4, 2, 0x03)
			return
		}
		a.i(p.dst(), base, off, f3, 0x03)
	case 3, 4: // stores
		f3 := p.n32(3)
		off := align(p.n32(512)-256, 1<<f3)
		if p.n32(40) == 0 {
			a.s(0, p.reg(), p.n32(128)*4, 2)
			return
		}
		a.s(base, p.reg(), off, f3)
	case 5: // c.lw, c.sw
		v := p.n32(32) // offset in words
		h := v>>4&1<<5 | v>>1&7<<10 | v&1<<6 | (base-8)<<7
		if p.n32(2) == 0 {
			a.h(2<<13 | h | p.cdst()<<2)
		} else {
			a.h(6<<13 | h | p.creg()<<2)
		}
	case 6: // c.lbu, c.sb
		h := 4<<13 | p.n32(4)<<5 | (base-8)<<7
		if p.n32(2) == 0 {
			a.h(h | p.cdst()<<2)
		} else {
			a.h(h | 2<<10 | p.creg()<<2)
		}
	case 7: // c.lhu, c.lh, c.sh
		h := 4<<13 | p.n32(2)<<5 | (base-8)<<7
		switch p.n32(3) {
		case 0:
			a.h(h | 1<<10 | p.cdst()<<2)
		case 1:
			a.h(h | 1<<10 | 1<<6 | p.cdst()<<2)
		case 2:
			a.h(h | 3<<10 | p.creg()<<2)
		}
	}
}

func (p *randProg) jump(a *asm) {
	skip := 1 + p.r.IntN(5)
	switch p.n32(5) {
	case 0, 1, 2:
		f3 := [6]uint32{0, 1, 4, 5, 6, 7}[p.n32(6)]
		p.patches = append(p.patches, patch{at: len(a.b), kind: 'B', skip: skip})
		a.w(encB(p.reg(), p.reg(), f3, 0))
	case 3:
		p.patches = append(p.patches, patch{at: len(a.b), kind: 'J', skip: skip})
		a.w(encJ(p.dst(), 0))
	case 4:
		r := uint32(5)
		p.patches = append(p.patches, patch{at: len(a.b), kind: 'a', skip: skip})
		a.w(r<<7 | 0x17)
		a.i(p.dst(), r, 0, 0, 0x67)
	}
}

func (p *randProg) atomic(a *asm) {
	base := [2]uint32{regDataA, regDataB}[p.n32(2)]
	if p.n32(4) == 0 {
		a.r(p.dst(), base, 0, 2, 0x02<<2|p.n32(4), 0x2f)
		a.r(p.dst(), base, p.reg(), 2, 0x03<<2|p.n32(4), 0x2f)
		return
	}
	f5 := [9]uint32{0x01, 0x00, 0x04, 0x0c, 0x08, 0x10, 0x14, 0x18, 0x1c}[p.n32(9)]
	a.r(p.dst(), base, p.reg(), 2, f5<<2|p.n32(4), 0x2f)
}

// csr accesses mscratch, the one register of which all bits are everyone's.
func (p *randProg) csr(a *asm) {
	f3 := [6]uint32{1, 2, 3, 5, 6, 7}[p.n32(6)]
	a.i(p.dst(), p.reg(), 0x340, f3, 0x73)
}

func (p *randProg) trap(a *asm) {
	switch p.n32(8) {
	case 0:
		a.w(0x00000073)
	case 1:
		a.w(0x00100073)
	case 2:
		a.h(0x9002)
	case 3:
		a.h(0)
	case 4:
		a.w([]uint32{0xffffffff, 0x0000100b, 0x00006003, 0x00003023, 0x7c102073, 0xf1401073, 0x02001013, 0x00007067}[p.n32(8)])
	case 5:
		a.i(p.dst(), p.reg(), 0x5c0, 2, 0x73) // a CSR that nobody has
	case 6:
		a.w([2]uint32{0x0000100f, 0x0ff0000f}[p.n32(2)])
	case 7: // a misaligned AMO
		a.i(5, regDataA, 2, 0, 0x13)
		a.r(p.dst(), 5, p.reg(), 2, 0, 0x2f)
	}
}

func (p *randProg) zcmp(a *asm, base uint32) {
	mvSP := func() { a.h(4<<13 | regSP<<7 | regSPBase<<2 | 2) }
	rlist := 4 + p.n32(12)
	spimm := p.n32(4)
	list := rlist<<4 | spimm<<2
	switch p.n32(6) {
	case 0:
		mvSP()
		a.h(0xb802 | list)
	case 1:
		mvSP()
		a.h(0xba02 | list)
	case 2: // push and pop what was pushed, with a return address right behind
		mvSP()
		pc := base + uint32(len(a.b))
		a.w(1<<7 | 0x17)
		a.i(1, 1, 12, 0, 0x13)
		_ = pc
		a.h(0xb802 | list)
		a.h([2]uint32{0xbc02, 0xbe02}[p.n32(2)] | list)
	case 3:
		k := p.n32(6) // the two destinations must differ
		a.h(0xac22 | (2+k)<<7 | (2+(k+1+p.n32(5))%6)<<2)
	case 4, 5:
		a.h(0xac62 | p.creg()<<7 | p.creg()<<2)
	}
}
