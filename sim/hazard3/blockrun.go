package hazard3

import (
	"math/bits"
	"unsafe"

	"github.com/stem-hw/stem-hw/sim/bus"
)

// reg is the register at byte offset o of X.
func reg(x unsafe.Pointer, o uint8) *uint32 { return (*uint32)(unsafe.Add(x, uintptr(o))) }

// mustStep reports whether instructions must be looked at one by one.
func (c *Core) mustStep() bool {
	return c.dbg.checks || c.pmp.dataActive || c.Plain || c.Tracer != nil
}

// runBlocks executes blocks from c.pc on, until something must be done between
// two instructions that blocks cannot: then it has executed at least one
// instruction. Everything in it is kept in local variables; commit writes it
// back.
func (c *Core) runBlocks() int {
	b := c.lookup(c.pc)
	if b == nil || c.excl || c.loading&b.firstUse != 0 || c.Cycle+uint64(b.guard) >= c.limit {
		return c.step()
	}
	c.loading = 0
	var (
		x       = unsafe.Pointer(&c.X)
		cycle   = c.Cycle
		limit   = c.limit
		retired uint64
		mem     = c.fast.mem
		flags   = c.fast.flags
		base    = c.fast.base
		size    = c.fast.size
		btb     = c.btb
		entry   = c.entry
		sizes   = c.sizes
		u       *uop
		p       unsafe.Pointer
		nb      *block
		addr    uint32
		target  uint32
	)
	if c.fast.wait != 0 {
		size = 0
	}
	for {
		if cycle+uint64(b.guard) >= limit {
			c.pc = b.pc
			break
		}
		p = unsafe.Pointer(unsafe.SliceData(b.ops))
	resume:
		for {
			u = (*uop)(p)
			p = unsafe.Add(p, unsafe.Sizeof(*u))
			switch u.op {
			case uopKind(opAdd):
				a, b := *reg(x, u.rs1), *reg(x, u.rs2)
				*reg(x, u.rd) = a + b
			case uopKind(opSub):
				a, b := *reg(x, u.rs1), *reg(x, u.rs2)
				*reg(x, u.rd) = a - b
			case uopKind(opSll):
				a, b := *reg(x, u.rs1), *reg(x, u.rs2)
				*reg(x, u.rd) = a << (b & 31)
			case uopKind(opSlt):
				a, b := *reg(x, u.rs1), *reg(x, u.rs2)
				*reg(x, u.rd) = boolTo(int32(a) < int32(b))
			case uopKind(opSltu):
				a, b := *reg(x, u.rs1), *reg(x, u.rs2)
				*reg(x, u.rd) = boolTo(a < b)
			case uopKind(opXor):
				a, b := *reg(x, u.rs1), *reg(x, u.rs2)
				*reg(x, u.rd) = a ^ b
			case uopKind(opSrl):
				a, b := *reg(x, u.rs1), *reg(x, u.rs2)
				*reg(x, u.rd) = a >> (b & 31)
			case uopKind(opSra):
				a, b := *reg(x, u.rs1), *reg(x, u.rs2)
				*reg(x, u.rd) = uint32(int32(a) >> (b & 31))
			case uopKind(opOr):
				a, b := *reg(x, u.rs1), *reg(x, u.rs2)
				*reg(x, u.rd) = a | b
			case uopKind(opAnd):
				a, b := *reg(x, u.rs1), *reg(x, u.rs2)
				*reg(x, u.rd) = a & b
			case uopKind(opMul):
				a, b := *reg(x, u.rs1), *reg(x, u.rs2)
				*reg(x, u.rd) = a * b
			case uopKind(opMulh):
				a, b := *reg(x, u.rs1), *reg(x, u.rs2)
				*reg(x, u.rd) = mulh(a, b)
			case uopKind(opMulhsu):
				a, b := *reg(x, u.rs1), *reg(x, u.rs2)
				*reg(x, u.rd) = mulhsu(a, b)
			case uopKind(opMulhu):
				a, b := *reg(x, u.rs1), *reg(x, u.rs2)
				*reg(x, u.rd) = mulhu(a, b)
			case uopKind(opDivu):
				a, b := *reg(x, u.rs1), *reg(x, u.rs2)
				*reg(x, u.rd) = divu(a, b)
			case uopKind(opRemu):
				a, b := *reg(x, u.rs1), *reg(x, u.rs2)
				*reg(x, u.rd) = remu(a, b)
			case uopKind(opSh1add):
				a, b := *reg(x, u.rs1), *reg(x, u.rs2)
				*reg(x, u.rd) = a<<1 + b
			case uopKind(opSh2add):
				a, b := *reg(x, u.rs1), *reg(x, u.rs2)
				*reg(x, u.rd) = a<<2 + b
			case uopKind(opSh3add):
				a, b := *reg(x, u.rs1), *reg(x, u.rs2)
				*reg(x, u.rd) = a<<3 + b
			case uopKind(opAndn):
				a, b := *reg(x, u.rs1), *reg(x, u.rs2)
				*reg(x, u.rd) = a &^ b
			case uopKind(opOrn):
				a, b := *reg(x, u.rs1), *reg(x, u.rs2)
				*reg(x, u.rd) = a | ^b
			case uopKind(opXnor):
				a, b := *reg(x, u.rs1), *reg(x, u.rs2)
				*reg(x, u.rd) = ^(a ^ b)
			case uopKind(opMax):
				a, b := *reg(x, u.rs1), *reg(x, u.rs2)
				*reg(x, u.rd) = uint32(max(int32(a), int32(b)))
			case uopKind(opMaxu):
				a, b := *reg(x, u.rs1), *reg(x, u.rs2)
				*reg(x, u.rd) = max(a, b)
			case uopKind(opMin):
				a, b := *reg(x, u.rs1), *reg(x, u.rs2)
				*reg(x, u.rd) = uint32(min(int32(a), int32(b)))
			case uopKind(opMinu):
				a, b := *reg(x, u.rs1), *reg(x, u.rs2)
				*reg(x, u.rd) = min(a, b)
			case uopKind(opRol):
				a, b := *reg(x, u.rs1), *reg(x, u.rs2)
				*reg(x, u.rd) = bits.RotateLeft32(a, int(b&31))
			case uopKind(opRor):
				a, b := *reg(x, u.rs1), *reg(x, u.rs2)
				*reg(x, u.rd) = bits.RotateLeft32(a, -int(b&31))
			case uopKind(opBclr):
				a, b := *reg(x, u.rs1), *reg(x, u.rs2)
				*reg(x, u.rd) = a &^ (1 << (b & 31))
			case uopKind(opBext):
				a, b := *reg(x, u.rs1), *reg(x, u.rs2)
				*reg(x, u.rd) = a >> (b & 31) & 1
			case uopKind(opBinv):
				a, b := *reg(x, u.rs1), *reg(x, u.rs2)
				*reg(x, u.rd) = a ^ 1<<(b&31)
			case uopKind(opBset):
				a, b := *reg(x, u.rs1), *reg(x, u.rs2)
				*reg(x, u.rd) = a | 1<<(b&31)
			case uopKind(opPack):
				a, b := *reg(x, u.rs1), *reg(x, u.rs2)
				*reg(x, u.rd) = a&0xffff | b<<16
			case uopKind(opPackh):
				a, b := *reg(x, u.rs1), *reg(x, u.rs2)
				*reg(x, u.rd) = a&0xff | b&0xff<<8
			case uopKind(opClmul):
				a, b := *reg(x, u.rs1), *reg(x, u.rs2)
				*reg(x, u.rd) = uint32(clmul64(a, b))
			case uopKind(opClmulh):
				a, b := *reg(x, u.rs1), *reg(x, u.rs2)
				*reg(x, u.rd) = uint32(clmul64(a, b) >> 32)
			case uopKind(opClmulr):
				a, b := *reg(x, u.rs1), *reg(x, u.rs2)
				*reg(x, u.rd) = uint32(clmul64(a, b) >> 31)
			case uopKind(opBextm):
				a, b := *reg(x, u.rs1), *reg(x, u.rs2)
				*reg(x, u.rd) = a >> (b & 31) & u.imm
			case uopKind(opDiv):
				a, b := *reg(x, u.rs1), *reg(x, u.rs2)
				cycle += divCycles(a, b) - divuCycles
				if u.rd != 0 {
					*reg(x, u.rd) = div(a, b)
				}
			case uopKind(opRem):
				a, b := *reg(x, u.rs1), *reg(x, u.rs2)
				cycle += divCycles(a, b) - divuCycles
				if u.rd != 0 {
					*reg(x, u.rd) = rem(a, b)
				}
			case uopKind(opAddi):
				a := *reg(x, u.rs1)
				*reg(x, u.rd) = a + u.imm
			case uopKind(opSlti):
				a := *reg(x, u.rs1)
				*reg(x, u.rd) = boolTo(int32(a) < int32(u.imm))
			case uopKind(opSltiu):
				a := *reg(x, u.rs1)
				*reg(x, u.rd) = boolTo(a < u.imm)
			case uopKind(opXori):
				a := *reg(x, u.rs1)
				*reg(x, u.rd) = a ^ u.imm
			case uopKind(opOri):
				a := *reg(x, u.rs1)
				*reg(x, u.rd) = a | u.imm
			case uopKind(opAndi):
				a := *reg(x, u.rs1)
				*reg(x, u.rd) = a & u.imm
			case uopKind(opSlli):
				a := *reg(x, u.rs1)
				*reg(x, u.rd) = a << (u.imm & 31)
			case uopKind(opSrli):
				a := *reg(x, u.rs1)
				*reg(x, u.rd) = a >> (u.imm & 31)
			case uopKind(opSrai):
				a := *reg(x, u.rs1)
				*reg(x, u.rd) = uint32(int32(a) >> (u.imm & 31))
			case uopKind(opRori):
				a := *reg(x, u.rs1)
				*reg(x, u.rd) = bits.RotateLeft32(a, -int(u.imm&31))
			case uopKind(opBclri):
				a := *reg(x, u.rs1)
				*reg(x, u.rd) = a &^ u.imm
			case uopKind(opBexti):
				a := *reg(x, u.rs1)
				*reg(x, u.rd) = a >> (u.imm & 31) & 1
			case uopKind(opBinvi):
				a := *reg(x, u.rs1)
				*reg(x, u.rd) = a ^ u.imm
			case uopKind(opBseti):
				a := *reg(x, u.rs1)
				*reg(x, u.rd) = a | u.imm
			case uopKind(opClz):
				a := *reg(x, u.rs1)
				*reg(x, u.rd) = uint32(bits.LeadingZeros32(a))
			case uopKind(opCtz):
				a := *reg(x, u.rs1)
				*reg(x, u.rd) = uint32(bits.TrailingZeros32(a))
			case uopKind(opCpop):
				a := *reg(x, u.rs1)
				*reg(x, u.rd) = uint32(bits.OnesCount32(a))
			case uopKind(opSextB):
				a := *reg(x, u.rs1)
				*reg(x, u.rd) = uint32(int8(a))
			case uopKind(opSextH):
				a := *reg(x, u.rs1)
				*reg(x, u.rd) = uint32(int16(a))
			case uopKind(opZextH):
				a := *reg(x, u.rs1)
				*reg(x, u.rd) = a & 0xffff
			case uopKind(opOrcB):
				a := *reg(x, u.rs1)
				*reg(x, u.rd) = orcB(a)
			case uopKind(opRev8):
				a := *reg(x, u.rs1)
				*reg(x, u.rd) = bits.ReverseBytes32(a)
			case uopKind(opBrev8):
				a := *reg(x, u.rs1)
				*reg(x, u.rd) = brev8(a)
			case uopKind(opZip):
				a := *reg(x, u.rs1)
				*reg(x, u.rd) = zip(a)
			case uopKind(opUnzip):
				a := *reg(x, u.rs1)
				*reg(x, u.rd) = unzip(a)
			case uopKind(opBextmi):
				a := *reg(x, u.rs1)
				*reg(x, u.rd) = a >> (u.imm & 31) & u.imm2
			case uopKind(opMv):
				a := *reg(x, u.rs1)
				*reg(x, u.rd) = a
			case uopKind(opLi):
				*reg(x, u.rd) = u.imm
			case uopKind(opLb):
				addr = *reg(x, u.rs1) + u.imm
				if addr-base >= size {
					goto loadMiss
				}
				*reg(x, u.rd) = uint32(int8(*(*uint8)(unsafe.Add(mem, addr-base))))
			case uopKind(opLbu):
				addr = *reg(x, u.rs1) + u.imm
				if addr-base >= size {
					goto loadMiss
				}
				*reg(x, u.rd) = uint32(*(*uint8)(unsafe.Add(mem, addr-base)))
			case uopKind(opLh):
				addr = *reg(x, u.rs1) + u.imm
				if addr-base >= size || addr&1 != 0 {
					goto loadMiss
				}
				*reg(x, u.rd) = uint32(int16(*(*uint16)(unsafe.Add(mem, addr-base))))
			case uopKind(opLhu):
				addr = *reg(x, u.rs1) + u.imm
				if addr-base >= size || addr&1 != 0 {
					goto loadMiss
				}
				*reg(x, u.rd) = uint32(*(*uint16)(unsafe.Add(mem, addr-base)))
			case uopKind(opLw):
				addr = *reg(x, u.rs1) + u.imm
				if addr-base >= size || addr&3 != 0 {
					goto loadMiss
				}
				*reg(x, u.rd) = *(*uint32)(unsafe.Add(mem, addr-base))
			case uopKind(opSb):
				addr = *reg(x, u.rs1) + u.imm
				if addr-base >= size || *(*uint8)(unsafe.Add(flags, (addr-base)/bus.LineSize)) != 0 {
					goto leave
				}
				*(*uint8)(unsafe.Add(mem, addr-base)) = uint8(*reg(x, u.rs2))
			case uopKind(opSh):
				addr = *reg(x, u.rs1) + u.imm
				if addr-base >= size || addr&1 != 0 || *(*uint8)(unsafe.Add(flags, (addr-base)/bus.LineSize)) != 0 {
					goto leave
				}
				*(*uint16)(unsafe.Add(mem, addr-base)) = uint16(*reg(x, u.rs2))
			case uopKind(opSw):
				addr = *reg(x, u.rs1) + u.imm
				if addr-base >= size || addr&3 != 0 || *(*uint8)(unsafe.Add(flags, (addr-base)/bus.LineSize)) != 0 {
					goto leave
				}
				*(*uint32)(unsafe.Add(mem, addr-base)) = *reg(x, u.rs2)
			case uopKind(opBeq):
				if *reg(x, u.rs1) == *reg(x, u.rs2) {
					goto taken
				}
				goto next
			case uopKind(opBne):
				if *reg(x, u.rs1) != *reg(x, u.rs2) {
					goto taken
				}
				goto next
			case uopKind(opBlt):
				if int32(*reg(x, u.rs1)) < int32(*reg(x, u.rs2)) {
					goto taken
				}
				goto next
			case uopKind(opBge):
				if int32(*reg(x, u.rs1)) >= int32(*reg(x, u.rs2)) {
					goto taken
				}
				goto next
			case uopKind(opBltu):
				if *reg(x, u.rs1) < *reg(x, u.rs2) {
					goto taken
				}
				goto next
			case uopKind(opBgeu):
				if *reg(x, u.rs1) >= *reg(x, u.rs2) {
					goto taken
				}
				goto next
			case uBeqBack:
				if *reg(x, u.rs1) == *reg(x, u.rs2) {
					goto takenBack
				}
				goto nextBack
			case uBneBack:
				if *reg(x, u.rs1) != *reg(x, u.rs2) {
					goto takenBack
				}
				goto nextBack
			case uBltBack:
				if int32(*reg(x, u.rs1)) < int32(*reg(x, u.rs2)) {
					goto takenBack
				}
				goto nextBack
			case uBgeBack:
				if int32(*reg(x, u.rs1)) >= int32(*reg(x, u.rs2)) {
					goto takenBack
				}
				goto nextBack
			case uBltuBack:
				if *reg(x, u.rs1) < *reg(x, u.rs2) {
					goto takenBack
				}
				goto nextBack
			case uBgeuBack:
				if *reg(x, u.rs1) >= *reg(x, u.rs2) {
					goto takenBack
				}
				goto nextBack
			case uJ:
				goto taken
			case uopKind(opJal):
				*reg(x, u.rd) = u.imm2
				goto taken
			case uJr:
				target = (*reg(x, u.rs1) + u.imm) &^ 1
				goto indirect
			case uopKind(opJalr):
				target = (*reg(x, u.rs1) + u.imm) &^ 1
				*reg(x, u.rd) = u.imm2
				goto indirect
			case uNext:
				goto inLine
			default: // uExec
				goto exec
			}
		}

	taken:
		cycle += uint64(b.cycles) + 2
		retired += b.retired
		entry, sizes = b.takenPC&^3, 0
		nb = b.taken
		if nb == nil || nb.pc != b.takenPC {
			if nb = c.lookup(b.takenPC); nb == nil {
				target = b.takenPC
				goto outside
			}
			b.taken = nb
		}
		cycle += uint64(nb.jumpExtra)
		b = nb
		continue

	takenBack:
		if btb != u.imm || entry == u.imm&^3 {
			btb = u.imm
			goto taken
		}
		// Predicted: the target follows without a gap if it is in the fetch
		// buffer.
		cycle += uint64(b.cycles) + 1
		retired += b.retired
		nb = b.taken
		if nb == nil || nb.pc != b.takenPC {
			if nb = c.lookup(b.takenPC); nb == nil {
				c.commit(cycle, retired, btb, noBranch, 0)
				if !b.fetchedAhead(sizes) {
					c.goTo(b.takenPC, 0)
				}
				c.pc, c.entry = b.takenPC, noBranch
				return running
			}
			b.taken = nb
		}
		if nb.jumpExtra != 0 && !b.ahead && !b.fetchedAhead(sizes) {
			cycle++
		}
		entry, sizes = noBranch, 0
		b = nb
		continue

	nextBack:
		if btb == u.imm && entry != u.imm&^3 {
			// Predicted wrongly: the way in line is a jump.
			btb = noBranch
			cycle += uint64(b.cycles) + 2
			retired += b.retired
			entry, sizes = b.nextPC&^3, 0
			nb = b.next
			if nb == nil || nb.pc != b.nextPC {
				if nb = c.lookup(b.nextPC); nb == nil {
					target = b.nextPC
					goto outside
				}
				b.next = nb
			}
			cycle += uint64(nb.jumpExtra)
			b = nb
			continue
		}

	next:
		cycle += uint64(b.cycles) + 1
		retired += b.retired
		sizes = b.sizesAfter(sizes)
		nb = b.next
		if nb == nil || nb.pc != b.nextPC {
			if nb = c.lookup(b.nextPC); nb == nil {
				c.pc = b.nextPC
				break
			}
			b.next = nb
		}
		b = nb
		continue

	indirect:
		cycle += uint64(b.cycles) + 2
		retired += b.retired
		entry, sizes = target&^3, 0
		nb = b.taken
		if nb == nil || nb.pc != target {
			if nb = c.lookup(target); nb == nil {
				goto outside
			}
			b.taken = nb
		}
		cycle += uint64(nb.jumpExtra)
		b = nb
		continue

	outside:
		c.commit(cycle, retired, btb, entry, sizes)
		c.goTo(target, 0)
		return running

	inLine:
		cycle += uint64(b.cycles)
		retired += b.retired
		sizes = b.sizesAfter(sizes)
		nb = b.next
		if nb == nil || nb.pc != b.nextPC {
			if nb = c.lookup(b.nextPC); nb == nil {
				c.commit(cycle, retired, btb, entry, sizes)
				c.pc, c.loading = b.nextPC, b.exitLoad
				return running
			}
			b.next = nb
		}
		if b.exitLoad != 0 {
			if b.exitLoad&nb.firstUse != 0 {
				if nb.retired&(1<<storeShift-1) <= 1 || cycle+1+uint64(nb.guard) >= limit {
					c.commit(cycle, retired, btb, entry, sizes)
					c.pc, c.loading = b.nextPC, b.exitLoad
					return running
				}
				cycle++
			} else if cycle+uint64(nb.guard) >= limit {
				c.commit(cycle, retired, btb, entry, sizes)
				c.pc, c.loading = b.nextPC, b.exitLoad
				return running
			}
		}
		b = nb
		continue

	loadMiss:
		if v, ok := c.otherLoad(u.op, addr); ok {
			*reg(x, u.rd) = v
			goto resume
		}

	leave:
		// The instruction does what blocks cannot; exec does it, and whatever
		// comes of it.
		{
			m := &b.meta[u.idx]
			c.commit(cycle+uint64(m.cyc), retired+uint64(u.idx)+b.retired>>storeShift<<storeShift, btb, entry, b.sizesAt(int(u.idx), sizes))
			c.pc = b.pc + uint32(m.off)
			in := m.in
			return c.exec(&in)
		}

	exec:
		{
			sizes = b.sizesAfter(sizes)
			c.commit(cycle+uint64(b.cycles), retired+b.retired, btb, entry, sizes)
			c.pc = b.pc + uint32(b.last.off)
			c.loading = b.exitLoad
			retired = 0
			epoch := c.code.epoch
			in := b.last.in
			if r := c.exec(&in); r != running {
				return r
			}
			if c.attn || c.excl || c.code.epoch != epoch || c.pc != b.nextPC || c.mustStep() {
				return running
			}
			nb = b.next
			if nb == nil || nb.pc != b.nextPC {
				if nb = c.lookup(b.nextPC); nb == nil {
					return running
				}
				b.next = nb
			}
			if c.loading&nb.firstUse != 0 || c.Cycle+uint64(nb.guard) >= c.limit {
				return running
			}
			c.loading = 0
			cycle, limit = c.Cycle, c.limit
			btb, entry, sizes = c.btb, c.entry, c.sizes
			b = nb
			continue
		}
	}
	c.commit(cycle, retired, btb, entry, sizes)
	return running
}
