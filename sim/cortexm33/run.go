package cortexm33

import "math/bits"

// run executes blocks until c.until is reached or something happens. It comes
// out with c.pc at the next instruction and the reason in c.abort.
//
// The switch holds the operations that make up nearly all of compiled code; the
// others go through warm and slow. An operation that cannot complete settles
// everything (leave) and returns.
func (c *Core) run(b *block) {
	r, rt, wt := &c.R, c.rt, c.wt
	for {
		ops := b.ops
		var pc uint32
		taken := 0
	body:
		for i := 0; ; i++ {
			o := &ops[i]
			switch o.code {
			case opNop:

			case opEnd:
				if o.x != 0 {
					c.leave(b, i) // inside an IT block
					return
				}
				pc, taken = o.im2, 0
				break body
			case opSkip:
				if !c.condition(o.ra) {
					i += int(o.x)
				}
			case opMovI:
				r[o.rd&15] = o.imm
			case opMovIS:
				r[o.rd&15] = o.imm
				c.nz = uint64(o.imm)
				if o.x != 0 {
					c.fc = uint32(o.x) - 1
				}
			case opMovR:
				r[o.rd&15] = r[o.rm&15]
			case opMovRS:
				v := r[o.rm&15]
				r[o.rd&15] = v
				c.nz = uint64(v)
			case opAddSP:
				v := r[13] + o.imm
				if v < c.spLimit {
					c.stackOverflow(b, i)
					return
				}
				r[13] = v &^ 3
			case opAddI:
				r[o.rd&15] = r[o.rn&15] + o.imm
			case opAddIS:
				r[o.rd&15] = c.addFlags(r[o.rn&15], o.imm, 0)
			case opAddR:
				r[o.rd&15] = r[o.rn&15] + r[o.rm&15]
			case opAddRS:
				r[o.rd&15] = c.addFlags(r[o.rn&15], r[o.rm&15], 0)
			case opSubR:
				r[o.rd&15] = r[o.rn&15] - r[o.rm&15]
			case opSubRS:
				r[o.rd&15] = c.addFlags(r[o.rn&15], ^r[o.rm&15], 1)
			case opSubIS:
				r[o.rd&15] = c.addFlags(r[o.rn&15], ^o.imm, 1)
			case opRsbI:
				r[o.rd&15] = o.imm - r[o.rn&15]
			case opCmpI:
				c.addFlags(r[o.rn&15], ^o.imm, 1)
			case opCmpR:
				c.addFlags(r[o.rn&15], ^r[o.rm&15], 1)
			case opTstI:
				c.nz = uint64(r[o.rn&15] & o.imm)
				if o.x != 0 {
					c.fc = uint32(o.x) - 1
				}
			case opTstR:
				c.nz = uint64(r[o.rn&15] & r[o.rm&15])
			case opAndI:
				r[o.rd&15] = r[o.rn&15] & o.imm
			case opOrrI:
				r[o.rd&15] = r[o.rn&15] | o.imm
			case opEorI:
				r[o.rd&15] = r[o.rn&15] ^ o.imm
			case opAndR:
				r[o.rd&15] = r[o.rn&15] & r[o.rm&15]
			case opAndRS:
				v := r[o.rn&15] & r[o.rm&15]
				r[o.rd&15] = v
				c.nz = uint64(v)
			case opOrrR:
				r[o.rd&15] = r[o.rn&15] | r[o.rm&15]
			case opEorR:
				r[o.rd&15] = r[o.rn&15] ^ r[o.rm&15]
			case opBicR:
				r[o.rd&15] = r[o.rn&15] &^ r[o.rm&15]
			case opLslI:
				r[o.rd&15] = r[o.rm&15] << (o.x & 31)
			case opLslIS:
				v := r[o.rm&15]
				c.fc = v >> (32 - o.x) & 1
				v <<= o.x & 31
				r[o.rd&15] = v
				c.nz = uint64(v)
			case opLsrI:
				r[o.rd&15] = r[o.rm&15] >> o.x
			case opLsrIS:
				v := r[o.rm&15]
				c.fc = v >> (o.x - 1) & 1
				v >>= o.x
				r[o.rd&15] = v
				c.nz = uint64(v)
			case opAsrI:
				r[o.rd&15] = uint32(int32(r[o.rm&15]) >> o.x)
			case opAddLsl:
				r[o.rd&15] = r[o.rn&15] + r[o.rm&15]<<(o.x&31)
			case opAddLsr:
				r[o.rd&15] = r[o.rn&15] + r[o.rm&15]>>o.x
			case opOrrLsl:
				r[o.rd&15] = r[o.rn&15] | r[o.rm&15]<<(o.x&31)
			case opEorLsl:
				r[o.rd&15] = r[o.rn&15] ^ r[o.rm&15]<<(o.x&31)
			case opEorLsr:
				r[o.rd&15] = r[o.rn&15] ^ r[o.rm&15]>>o.x
			case opMul:
				r[o.rd&15] = r[o.rn&15] * r[o.rm&15]
			case opMla:
				r[o.rd&15] = r[o.rn&15]*r[o.rm&15] + r[o.ra&15]
			case opUmull:
				v := uint64(r[o.rn&15]) * uint64(r[o.rm&15])
				r[o.rd&15] = uint32(v)
				r[o.ra&15] = uint32(v >> 32)
			case opUxtb:
				r[o.rd&15] = r[o.rm&15] & 0xff
			case opUxth:
				r[o.rd&15] = r[o.rm&15] & 0xffff
			case opSxtb:
				r[o.rd&15] = uint32(int32(int8(r[o.rm&15])))
			case opSxth:
				r[o.rd&15] = uint32(int32(int16(r[o.rm&15])))
			case opUbfx:
				r[o.rd&15] = r[o.rn&15] >> o.x & (1<<o.imm - 1)
			case opSbfx:
				r[o.rd&15] = uint32(int32(r[o.rn&15]<<(32-o.imm-uint32(o.x))) >> (32 - o.imm))
			case opBfi:
				r[o.rd&15] = r[o.rd&15]&^o.imm | r[o.rn&15]<<(o.x&31)&o.imm
			case opMovt:
				r[o.rd&15] = r[o.rd&15]&0xffff | o.imm
			case opClz:
				r[o.rd&15] = uint32(bits.LeadingZeros32(r[o.rm&15]))
			case opLdrI:
				a := r[o.rn&15] + o.imm
				if e := &rt[a>>12&tlbMask]; e.tag == a&^0xffc {
					r[o.rd&15] = le.Uint32(e.mem[a&0xffc:][:4])
				} else if c.missLoad(b, i, a, memWord, o.rd) {
					return
				}
			case opLdrR:
				a := r[o.rn&15] + r[o.rm&15]<<(o.x&3)
				if e := &rt[a>>12&tlbMask]; e.tag == a&^0xffc {
					r[o.rd&15] = le.Uint32(e.mem[a&0xffc:][:4])
				} else if c.missLoad(b, i, a, memWord, o.rd) {
					return
				}
			case opLdrbI:
				a := r[o.rn&15] + o.imm
				if e := &rt[a>>12&tlbMask]; e.tag == a&^0xfff {
					r[o.rd&15] = uint32(e.mem[a&0xfff])
				} else if c.missLoad(b, i, a, memByte, o.rd) {
					return
				}
			case opLdrbR:
				a := r[o.rn&15] + r[o.rm&15]<<(o.x&3)
				if e := &rt[a>>12&tlbMask]; e.tag == a&^0xfff {
					r[o.rd&15] = uint32(e.mem[a&0xfff])
				} else if c.missLoad(b, i, a, memByte, o.rd) {
					return
				}
			case opLdrhI:
				a := r[o.rn&15] + o.imm
				if e := &rt[a>>12&tlbMask]; e.tag == a&^0xffe {
					r[o.rd&15] = uint32(le.Uint16(e.mem[a&0xffe:][:2]))
				} else if c.missLoad(b, i, a, memHalf, o.rd) {
					return
				}
			case opLdrhR:
				a := r[o.rn&15] + r[o.rm&15]<<(o.x&3)
				if e := &rt[a>>12&tlbMask]; e.tag == a&^0xffe {
					r[o.rd&15] = uint32(le.Uint16(e.mem[a&0xffe:][:2]))
				} else if c.missLoad(b, i, a, memHalf, o.rd) {
					return
				}
			case opLdrsbI:
				a := r[o.rn&15] + o.imm
				if e := &rt[a>>12&tlbMask]; e.tag == a&^0xfff {
					r[o.rd&15] = uint32(int32(int8(e.mem[a&0xfff])))
				} else if c.missLoad(b, i, a, memSByte, o.rd) {
					return
				}
			case opLdrsbR:
				a := r[o.rn&15] + r[o.rm&15]<<(o.x&3)
				if e := &rt[a>>12&tlbMask]; e.tag == a&^0xfff {
					r[o.rd&15] = uint32(int32(int8(e.mem[a&0xfff])))
				} else if c.missLoad(b, i, a, memSByte, o.rd) {
					return
				}
			case opLdrshI:
				a := r[o.rn&15] + o.imm
				if e := &rt[a>>12&tlbMask]; e.tag == a&^0xffe {
					r[o.rd&15] = uint32(int32(int16(le.Uint16(e.mem[a&0xffe:][:2]))))
				} else if c.missLoad(b, i, a, memSHalf, o.rd) {
					return
				}
			case opLdrshR:
				a := r[o.rn&15] + r[o.rm&15]<<(o.x&3)
				if e := &rt[a>>12&tlbMask]; e.tag == a&^0xffe {
					r[o.rd&15] = uint32(int32(int16(le.Uint16(e.mem[a&0xffe:][:2]))))
				} else if c.missLoad(b, i, a, memSHalf, o.rd) {
					return
				}
			case opLdrLit:
				a := o.imm
				if e := &rt[a>>12&tlbMask]; e.tag == a&^0xffc {
					r[o.rd&15] = le.Uint32(e.mem[a&0xffc:][:4])
				} else if c.missLoad(b, i, a, memWord, o.rd) {
					return
				}
			case opStrI:
				a := r[o.rn&15] + o.imm
				if e := &wt[a>>12&tlbMask]; e.tag == a&^0xffc {
					le.PutUint32(e.mem[a&0xffc:][:4], r[o.rd&15])
					if f := e.flags[a>>4&255]; f != 0 && c.storedLine(b, i, a, 4, f) {
						return
					}
				} else if c.missStore(b, i, a, memWord, r[o.rd&15]) {
					return
				}
			case opStrR:
				a := r[o.rn&15] + r[o.rm&15]<<(o.x&3)
				if e := &wt[a>>12&tlbMask]; e.tag == a&^0xffc {
					le.PutUint32(e.mem[a&0xffc:][:4], r[o.rd&15])
					if f := e.flags[a>>4&255]; f != 0 && c.storedLine(b, i, a, 4, f) {
						return
					}
				} else if c.missStore(b, i, a, memWord, r[o.rd&15]) {
					return
				}
			case opStrbI:
				a := r[o.rn&15] + o.imm
				if e := &wt[a>>12&tlbMask]; e.tag == a&^0xfff {
					e.mem[a&0xfff] = byte(r[o.rd&15])
					if f := e.flags[a>>4&255]; f != 0 && c.storedLine(b, i, a, 1, f) {
						return
					}
				} else if c.missStore(b, i, a, memByte, r[o.rd&15]) {
					return
				}
			case opStrbR:
				a := r[o.rn&15] + r[o.rm&15]<<(o.x&3)
				if e := &wt[a>>12&tlbMask]; e.tag == a&^0xfff {
					e.mem[a&0xfff] = byte(r[o.rd&15])
					if f := e.flags[a>>4&255]; f != 0 && c.storedLine(b, i, a, 1, f) {
						return
					}
				} else if c.missStore(b, i, a, memByte, r[o.rd&15]) {
					return
				}
			case opStrhI:
				a := r[o.rn&15] + o.imm
				if e := &wt[a>>12&tlbMask]; e.tag == a&^0xffe {
					le.PutUint16(e.mem[a&0xffe:][:2], uint16(r[o.rd&15]))
					if f := e.flags[a>>4&255]; f != 0 && c.storedLine(b, i, a, 2, f) {
						return
					}
				} else if c.missStore(b, i, a, memHalf, r[o.rd&15]) {
					return
				}
			case opStrhR:
				a := r[o.rn&15] + r[o.rm&15]<<(o.x&3)
				if e := &wt[a>>12&tlbMask]; e.tag == a&^0xffe {
					le.PutUint16(e.mem[a&0xffe:][:2], uint16(r[o.rd&15]))
					if f := e.flags[a>>4&255]; f != 0 && c.storedLine(b, i, a, 2, f) {
						return
					}
				} else if c.missStore(b, i, a, memHalf, r[o.rd&15]) {
					return
				}
			case opLdrW:
				base := r[o.rn&15]
				a := base + o.imm*uint32(o.x)
				if e := &rt[a>>12&tlbMask]; e.tag == a&^0xffc {
					r[o.rn&15] = base + o.imm
					r[o.rd&15] = le.Uint32(e.mem[a&0xffc:][:4])
				} else if c.execMem(b, i, o) != slowNext {
					return
				}
			case opLdrbW:
				base := r[o.rn&15]
				a := base + o.imm*uint32(o.x)
				if e := &rt[a>>12&tlbMask]; e.tag == a&^0xfff {
					r[o.rn&15] = base + o.imm
					r[o.rd&15] = uint32(e.mem[a&0xfff])
				} else if c.execMem(b, i, o) != slowNext {
					return
				}
			case opStrW:
				base := r[o.rn&15]
				a := base + o.imm*uint32(o.x)
				if e := &wt[a>>12&tlbMask]; e.tag == a&^0xffc && e.flags[a>>4&255] == 0 {
					le.PutUint32(e.mem[a&0xffc:][:4], r[o.rd&15])
					r[o.rn&15] = base + o.imm
				} else if c.execMem(b, i, o) != slowNext {
					return
				}
			case opStrbW:
				base := r[o.rn&15]
				a := base + o.imm*uint32(o.x)
				if e := &wt[a>>12&tlbMask]; e.tag == a&^0xfff && e.flags[a>>4&255] == 0 {
					e.mem[a&0xfff] = byte(r[o.rd&15])
					r[o.rn&15] = base + o.imm
				} else if c.execMem(b, i, o) != slowNext {
					return
				}
			case opLdrd, opStrd, opPush, opPop, opLdm, opStm:
				if c.execMem(b, i, o) != slowNext {
					return
				}
			case opB:
				pc, taken = o.imm, 1
				break body
			case opBEQ:
				pc, taken = o.im2, 0
				if uint32(c.nz) == 0 {
					pc, taken = o.imm, 1
				}
				break body
			case opBNE:
				pc, taken = o.im2, 0
				if uint32(c.nz) != 0 {
					pc, taken = o.imm, 1
				}
				break body
			case opBCS:
				pc, taken = o.im2, 0
				if c.fc != 0 {
					pc, taken = o.imm, 1
				}
				break body
			case opBCC:
				pc, taken = o.im2, 0
				if c.fc == 0 {
					pc, taken = o.imm, 1
				}
				break body
			case opBMI, opBPL, opBVS, opBVC, opBHI, opBLS, opBGE, opBLT, opBGT, opBLE:
				pc, taken = o.im2, 0
				if c.condition(uint8(o.code - opBEQ)) {
					pc, taken = o.imm, 1
				}
				break body
			case opCbz:
				pc, taken = o.im2, 0
				if r[o.rn&15] == 0 {
					pc, taken = o.imm, 1
				}
				break body
			case opCbnz:
				pc, taken = o.im2, 0
				if r[o.rn&15] != 0 {
					pc, taken = o.imm, 1
				}
				break body
			case opBL:
				r[14] = o.im2 | 1
				pc, taken = o.imm, 1
				break body
			case opBX, opBLX:
				v := r[o.rm&15]
				if v&1 == 0 || v >= 0xe0000000 {
					c.branchOdd(b, i, o)
					return
				}
				if o.code == opBLX {
					r[14] = o.im2 | 1
				}
				pc, taken = v&^1, 1
				break body
			case opCmpIEQ:
				x, y := r[o.rn&15], uint32(o.x)
				c.addFlags(x, ^y, 1)
				pc, taken = o.im2, 0
				if x == y {
					pc, taken = o.imm, 1
				}
				break body
			case opCmpINE:
				x, y := r[o.rn&15], uint32(o.x)
				c.addFlags(x, ^y, 1)
				pc, taken = o.im2, 0
				if x != y {
					pc, taken = o.imm, 1
				}
				break body
			case opCmpICS:
				x, y := r[o.rn&15], uint32(o.x)
				c.addFlags(x, ^y, 1)
				pc, taken = o.im2, 0
				if x >= y {
					pc, taken = o.imm, 1
				}
				break body
			case opCmpICC:
				x, y := r[o.rn&15], uint32(o.x)
				c.addFlags(x, ^y, 1)
				pc, taken = o.im2, 0
				if x < y {
					pc, taken = o.imm, 1
				}
				break body
			case opCmpIHI:
				x, y := r[o.rn&15], uint32(o.x)
				c.addFlags(x, ^y, 1)
				pc, taken = o.im2, 0
				if x > y {
					pc, taken = o.imm, 1
				}
				break body
			case opCmpILS:
				x, y := r[o.rn&15], uint32(o.x)
				c.addFlags(x, ^y, 1)
				pc, taken = o.im2, 0
				if x <= y {
					pc, taken = o.imm, 1
				}
				break body
			case opCmpIGE:
				x, y := r[o.rn&15], uint32(o.x)
				c.addFlags(x, ^y, 1)
				pc, taken = o.im2, 0
				if int32(x) >= int32(y) {
					pc, taken = o.imm, 1
				}
				break body
			case opCmpILT:
				x, y := r[o.rn&15], uint32(o.x)
				c.addFlags(x, ^y, 1)
				pc, taken = o.im2, 0
				if int32(x) < int32(y) {
					pc, taken = o.imm, 1
				}
				break body
			case opCmpIGT:
				x, y := r[o.rn&15], uint32(o.x)
				c.addFlags(x, ^y, 1)
				pc, taken = o.im2, 0
				if int32(x) > int32(y) {
					pc, taken = o.imm, 1
				}
				break body
			case opCmpILE:
				x, y := r[o.rn&15], uint32(o.x)
				c.addFlags(x, ^y, 1)
				pc, taken = o.im2, 0
				if int32(x) <= int32(y) {
					pc, taken = o.imm, 1
				}
				break body
			case opCmpREQ:
				x, y := r[o.rn&15], r[o.rm&15]
				c.addFlags(x, ^y, 1)
				pc, taken = o.im2, 0
				if x == y {
					pc, taken = o.imm, 1
				}
				break body
			case opCmpRNE:
				x, y := r[o.rn&15], r[o.rm&15]
				c.addFlags(x, ^y, 1)
				pc, taken = o.im2, 0
				if x != y {
					pc, taken = o.imm, 1
				}
				break body
			case opCmpRCS:
				x, y := r[o.rn&15], r[o.rm&15]
				c.addFlags(x, ^y, 1)
				pc, taken = o.im2, 0
				if x >= y {
					pc, taken = o.imm, 1
				}
				break body
			case opCmpRCC:
				x, y := r[o.rn&15], r[o.rm&15]
				c.addFlags(x, ^y, 1)
				pc, taken = o.im2, 0
				if x < y {
					pc, taken = o.imm, 1
				}
				break body
			case opCmpRHI:
				x, y := r[o.rn&15], r[o.rm&15]
				c.addFlags(x, ^y, 1)
				pc, taken = o.im2, 0
				if x > y {
					pc, taken = o.imm, 1
				}
				break body
			case opCmpRLS:
				x, y := r[o.rn&15], r[o.rm&15]
				c.addFlags(x, ^y, 1)
				pc, taken = o.im2, 0
				if x <= y {
					pc, taken = o.imm, 1
				}
				break body
			case opCmpRGE:
				x, y := r[o.rn&15], r[o.rm&15]
				c.addFlags(x, ^y, 1)
				pc, taken = o.im2, 0
				if int32(x) >= int32(y) {
					pc, taken = o.imm, 1
				}
				break body
			case opCmpRLT:
				x, y := r[o.rn&15], r[o.rm&15]
				c.addFlags(x, ^y, 1)
				pc, taken = o.im2, 0
				if int32(x) < int32(y) {
					pc, taken = o.imm, 1
				}
				break body
			case opCmpRGT:
				x, y := r[o.rn&15], r[o.rm&15]
				c.addFlags(x, ^y, 1)
				pc, taken = o.im2, 0
				if int32(x) > int32(y) {
					pc, taken = o.imm, 1
				}
				break body
			case opCmpRLE:
				x, y := r[o.rn&15], r[o.rm&15]
				c.addFlags(x, ^y, 1)
				pc, taken = o.im2, 0
				if int32(x) <= int32(y) {
					pc, taken = o.imm, 1
				}
				break body
			case opSubsBNE:
				v := c.addFlags(r[o.rn&15], ^uint32(o.x), 1)
				r[o.rd&15] = v
				pc, taken = o.im2, 0
				if v != 0 {
					pc, taken = o.imm, 1
				}
				break body
			case opVldr:
				a := r[o.rn&15] + o.imm
				if e := &rt[a>>12&tlbMask]; c.fpReady && e.tag == a&^0xffc {
					c.S[o.rd&31] = le.Uint32(e.mem[a&0xffc:][:4])
				} else if c.slow(b, i, o) != slowNext {
					return
				}
			default:
				switch c.slow(b, i, o) {
				case slowNext:
				case slowBranch:
					pc, taken = c.pc, 1
					break body
				default:
					return
				}
			}
		}
		c.Cycle += b.cycles[taken&1]
		c.instret += b.n
		if nb := b.link[taken&1]; nb.pc == pc && nb.regime == c.regime {
			b = nb
		} else {
			c.pc = pc
			if c.Cycle >= c.until {
				return
			}
			next := c.find()
			if next == nil {
				return
			}
			b.link[taken&1] = next
			b = next
		}
		if c.Cycle+b.need > c.until {
			c.pc = pc
			return
		}
	}
}
