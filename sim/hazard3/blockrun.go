package hazard3

import (
	"math/bits"
	"unsafe"

	"github.com/stem-hw/stem-hw/sim/bus"
)

// reg is the register at byte offset o of X, which is the first field of Core.
func reg(c *Core, o uint8) *uint32 {
	return (*uint32)(unsafe.Add(unsafe.Pointer(c), uintptr(o)))
}

// cpop counts the bits of a. math/bits would test for the instruction that does
// it, in the loop below.
func cpop(a uint32) uint32 {
	a -= a >> 1 & 0x55555555
	a = a&0x33333333 + a>>2&0x33333333
	return (a + a>>4) & 0x0f0f0f0f * 0x01010101 >> 24
}

// mustStep reports whether instructions must be looked at one by one.
func (c *Core) mustStep() bool {
	return c.dbg.checks || c.pmp.dataActive || c.Plain || c.Tracer != nil
}

// runBlocks executes blocks from c.pc on, until something must be done between
// two instructions that blocks cannot do: then it has executed at least one
// instruction.
//
// The loop over micro-operations needs six values, few enough for registers.
// All else is in the Core: Cycle and instret are those of the present block's
// start, pc is not kept up.
func (c *Core) runBlocks() int {
	b := c.lookup(c.pc)
	if b == nil || c.excl || c.loading&b.firstUse != 0 || c.Cycle+uint64(b.guard) >= c.limit {
		return c.step()
	}
	c.loading = 0
	var (
		mem    = c.fast.mem
		flags  = c.fast.flags
		base   = c.fast.base
		size   = c.fast.size
		u      *uop
		nb     *block
		addr   uint32
		target uint32
	)
	if c.fast.wait != 0 {
		size = 0
	}
	for {
		if c.Cycle+uint64(b.guard) >= c.limit {
			c.pc = b.pc
			return running
		}
		u = unsafe.SliceData(b.ops)
	resume:
		for ; ; u = (*uop)(unsafe.Add(unsafe.Pointer(u), unsafe.Sizeof(*u))) {
			switch u.op {
			case uopKind(opAdd):
				a, b := *reg(c, u.rs1), *reg(c, u.rs2)
				*reg(c, u.rd) = a + b
			case uopKind(opSub):
				a, b := *reg(c, u.rs1), *reg(c, u.rs2)
				*reg(c, u.rd) = a - b
			case uopKind(opSll):
				a, b := *reg(c, u.rs1), *reg(c, u.rs2)
				*reg(c, u.rd) = a << (b & 31)
			case uopKind(opSlt):
				a, b := *reg(c, u.rs1), *reg(c, u.rs2)
				*reg(c, u.rd) = boolTo(int32(a) < int32(b))
			case uopKind(opSltu):
				a, b := *reg(c, u.rs1), *reg(c, u.rs2)
				*reg(c, u.rd) = boolTo(a < b)
			case uopKind(opXor):
				a, b := *reg(c, u.rs1), *reg(c, u.rs2)
				*reg(c, u.rd) = a ^ b
			case uopKind(opSrl):
				a, b := *reg(c, u.rs1), *reg(c, u.rs2)
				*reg(c, u.rd) = a >> (b & 31)
			case uopKind(opSra):
				a, b := *reg(c, u.rs1), *reg(c, u.rs2)
				*reg(c, u.rd) = uint32(int32(a) >> (b & 31))
			case uopKind(opOr):
				a, b := *reg(c, u.rs1), *reg(c, u.rs2)
				*reg(c, u.rd) = a | b
			case uopKind(opAnd):
				a, b := *reg(c, u.rs1), *reg(c, u.rs2)
				*reg(c, u.rd) = a & b
			case uopKind(opMul):
				a, b := *reg(c, u.rs1), *reg(c, u.rs2)
				*reg(c, u.rd) = a * b
			case uopKind(opMulh):
				a, b := *reg(c, u.rs1), *reg(c, u.rs2)
				*reg(c, u.rd) = mulh(a, b)
			case uopKind(opMulhsu):
				a, b := *reg(c, u.rs1), *reg(c, u.rs2)
				*reg(c, u.rd) = mulhsu(a, b)
			case uopKind(opMulhu):
				a, b := *reg(c, u.rs1), *reg(c, u.rs2)
				*reg(c, u.rd) = mulhu(a, b)
			case uopKind(opDivu):
				a, b := *reg(c, u.rs1), *reg(c, u.rs2)
				*reg(c, u.rd) = divu(a, b)
			case uopKind(opRemu):
				a, b := *reg(c, u.rs1), *reg(c, u.rs2)
				*reg(c, u.rd) = remu(a, b)
			case uopKind(opSh1add):
				a, b := *reg(c, u.rs1), *reg(c, u.rs2)
				*reg(c, u.rd) = a<<1 + b
			case uopKind(opSh2add):
				a, b := *reg(c, u.rs1), *reg(c, u.rs2)
				*reg(c, u.rd) = a<<2 + b
			case uopKind(opSh3add):
				a, b := *reg(c, u.rs1), *reg(c, u.rs2)
				*reg(c, u.rd) = a<<3 + b
			case uopKind(opAndn):
				a, b := *reg(c, u.rs1), *reg(c, u.rs2)
				*reg(c, u.rd) = a &^ b
			case uopKind(opOrn):
				a, b := *reg(c, u.rs1), *reg(c, u.rs2)
				*reg(c, u.rd) = a | ^b
			case uopKind(opXnor):
				a, b := *reg(c, u.rs1), *reg(c, u.rs2)
				*reg(c, u.rd) = ^(a ^ b)
			case uopKind(opMax):
				a, b := *reg(c, u.rs1), *reg(c, u.rs2)
				*reg(c, u.rd) = uint32(max(int32(a), int32(b)))
			case uopKind(opMaxu):
				a, b := *reg(c, u.rs1), *reg(c, u.rs2)
				*reg(c, u.rd) = max(a, b)
			case uopKind(opMin):
				a, b := *reg(c, u.rs1), *reg(c, u.rs2)
				*reg(c, u.rd) = uint32(min(int32(a), int32(b)))
			case uopKind(opMinu):
				a, b := *reg(c, u.rs1), *reg(c, u.rs2)
				*reg(c, u.rd) = min(a, b)
			case uopKind(opRol):
				a, b := *reg(c, u.rs1), *reg(c, u.rs2)
				*reg(c, u.rd) = bits.RotateLeft32(a, int(b&31))
			case uopKind(opRor):
				a, b := *reg(c, u.rs1), *reg(c, u.rs2)
				*reg(c, u.rd) = bits.RotateLeft32(a, -int(b&31))
			case uopKind(opBclr):
				a, b := *reg(c, u.rs1), *reg(c, u.rs2)
				*reg(c, u.rd) = a &^ (1 << (b & 31))
			case uopKind(opBext):
				a, b := *reg(c, u.rs1), *reg(c, u.rs2)
				*reg(c, u.rd) = a >> (b & 31) & 1
			case uopKind(opBinv):
				a, b := *reg(c, u.rs1), *reg(c, u.rs2)
				*reg(c, u.rd) = a ^ 1<<(b&31)
			case uopKind(opBset):
				a, b := *reg(c, u.rs1), *reg(c, u.rs2)
				*reg(c, u.rd) = a | 1<<(b&31)
			case uopKind(opPack):
				a, b := *reg(c, u.rs1), *reg(c, u.rs2)
				*reg(c, u.rd) = a&0xffff | b<<16
			case uopKind(opPackh):
				a, b := *reg(c, u.rs1), *reg(c, u.rs2)
				*reg(c, u.rd) = a&0xff | b&0xff<<8
			case uopKind(opBextm):
				a, b := *reg(c, u.rs1), *reg(c, u.rs2)
				*reg(c, u.rd) = a >> (b & 31) & u.imm
			case uopKind(opDiv):
				a, b := *reg(c, u.rs1), *reg(c, u.rs2)
				c.Cycle += divCycles(a, b) - divuCycles
				if u.rd != 0 {
					*reg(c, u.rd) = div(a, b)
				}
			case uopKind(opRem):
				a, b := *reg(c, u.rs1), *reg(c, u.rs2)
				c.Cycle += divCycles(a, b) - divuCycles
				if u.rd != 0 {
					*reg(c, u.rd) = rem(a, b)
				}
			case uopKind(opAddi):
				a := *reg(c, u.rs1)
				*reg(c, u.rd) = a + u.imm
			case uopKind(opSlti):
				a := *reg(c, u.rs1)
				*reg(c, u.rd) = boolTo(int32(a) < int32(u.imm))
			case uopKind(opSltiu):
				a := *reg(c, u.rs1)
				*reg(c, u.rd) = boolTo(a < u.imm)
			case uopKind(opXori):
				a := *reg(c, u.rs1)
				*reg(c, u.rd) = a ^ u.imm
			case uopKind(opOri):
				a := *reg(c, u.rs1)
				*reg(c, u.rd) = a | u.imm
			case uopKind(opAndi):
				a := *reg(c, u.rs1)
				*reg(c, u.rd) = a & u.imm
			case uopKind(opSlli):
				a := *reg(c, u.rs1)
				*reg(c, u.rd) = a << (u.imm & 31)
			case uopKind(opSrli):
				a := *reg(c, u.rs1)
				*reg(c, u.rd) = a >> (u.imm & 31)
			case uopKind(opSrai):
				a := *reg(c, u.rs1)
				*reg(c, u.rd) = uint32(int32(a) >> (u.imm & 31))
			case uopKind(opRori):
				a := *reg(c, u.rs1)
				*reg(c, u.rd) = bits.RotateLeft32(a, -int(u.imm&31))
			case uopKind(opBclri):
				a := *reg(c, u.rs1)
				*reg(c, u.rd) = a &^ u.imm
			case uopKind(opBexti):
				a := *reg(c, u.rs1)
				*reg(c, u.rd) = a >> (u.imm & 31) & 1
			case uopKind(opBinvi):
				a := *reg(c, u.rs1)
				*reg(c, u.rd) = a ^ u.imm
			case uopKind(opBseti):
				a := *reg(c, u.rs1)
				*reg(c, u.rd) = a | u.imm
			case uopKind(opClz):
				a := *reg(c, u.rs1)
				*reg(c, u.rd) = uint32(bits.LeadingZeros32(a))
			case uopKind(opCtz):
				a := *reg(c, u.rs1)
				*reg(c, u.rd) = uint32(bits.TrailingZeros32(a))
			case uopKind(opCpop):
				a := *reg(c, u.rs1)
				*reg(c, u.rd) = cpop(a)
			case uopKind(opSextB):
				a := *reg(c, u.rs1)
				*reg(c, u.rd) = uint32(int8(a))
			case uopKind(opSextH):
				a := *reg(c, u.rs1)
				*reg(c, u.rd) = uint32(int16(a))
			case uopKind(opZextH):
				a := *reg(c, u.rs1)
				*reg(c, u.rd) = a & 0xffff
			case uopKind(opRev8):
				a := *reg(c, u.rs1)
				*reg(c, u.rd) = bits.ReverseBytes32(a)
			case uopKind(opBextmi):
				a := *reg(c, u.rs1)
				*reg(c, u.rd) = a >> (u.imm & 31) & u.imm2
			case uopKind(opMv):
				a := *reg(c, u.rs1)
				*reg(c, u.rd) = a
			case uopKind(opLi):
				*reg(c, u.rd) = u.imm
			case uopKind(opLb):
				addr = *reg(c, u.rs1) + u.imm
				if addr-base >= size {
					goto loadMiss
				}
				*reg(c, u.rd) = uint32(int8(*(*uint8)(unsafe.Add(mem, addr-base))))
			case uopKind(opLbu):
				addr = *reg(c, u.rs1) + u.imm
				if addr-base >= size {
					goto loadMiss
				}
				*reg(c, u.rd) = uint32(*(*uint8)(unsafe.Add(mem, addr-base)))
			case uopKind(opLh):
				addr = *reg(c, u.rs1) + u.imm
				if addr-base >= size || addr&1 != 0 {
					goto loadMiss
				}
				*reg(c, u.rd) = uint32(int16(*(*uint16)(unsafe.Add(mem, addr-base))))
			case uopKind(opLhu):
				addr = *reg(c, u.rs1) + u.imm
				if addr-base >= size || addr&1 != 0 {
					goto loadMiss
				}
				*reg(c, u.rd) = uint32(*(*uint16)(unsafe.Add(mem, addr-base)))
			case uopKind(opLw):
				addr = *reg(c, u.rs1) + u.imm
				if addr-base >= size || addr&3 != 0 {
					goto loadMiss
				}
				*reg(c, u.rd) = *(*uint32)(unsafe.Add(mem, addr-base))
			case uopKind(opSb):
				addr = *reg(c, u.rs1) + u.imm
				if addr-base >= size || *(*uint8)(unsafe.Add(flags, (addr-base)/bus.LineSize)) != 0 {
					goto leave
				}
				*(*uint8)(unsafe.Add(mem, addr-base)) = uint8(*reg(c, u.rs2))
			case uopKind(opSh):
				addr = *reg(c, u.rs1) + u.imm
				if addr-base >= size || addr&1 != 0 || *(*uint8)(unsafe.Add(flags, (addr-base)/bus.LineSize)) != 0 {
					goto leave
				}
				*(*uint16)(unsafe.Add(mem, addr-base)) = uint16(*reg(c, u.rs2))
			case uopKind(opSw):
				addr = *reg(c, u.rs1) + u.imm
				if addr-base >= size || addr&3 != 0 || *(*uint8)(unsafe.Add(flags, (addr-base)/bus.LineSize)) != 0 {
					goto leave
				}
				*(*uint32)(unsafe.Add(mem, addr-base)) = *reg(c, u.rs2)
			case uopKind(opBeq):
				if *reg(c, u.rs1) == *reg(c, u.rs2) {
					goto taken
				}
				goto next
			case uopKind(opBne):
				if *reg(c, u.rs1) != *reg(c, u.rs2) {
					goto taken
				}
				goto next
			case uopKind(opBlt):
				if int32(*reg(c, u.rs1)) < int32(*reg(c, u.rs2)) {
					goto taken
				}
				goto next
			case uopKind(opBge):
				if int32(*reg(c, u.rs1)) >= int32(*reg(c, u.rs2)) {
					goto taken
				}
				goto next
			case uopKind(opBltu):
				if *reg(c, u.rs1) < *reg(c, u.rs2) {
					goto taken
				}
				goto next
			case uopKind(opBgeu):
				if *reg(c, u.rs1) >= *reg(c, u.rs2) {
					goto taken
				}
				goto next
			case uBeqBack:
				if *reg(c, u.rs1) == *reg(c, u.rs2) {
					goto takenBack
				}
				goto nextBack
			case uBneBack:
				if *reg(c, u.rs1) != *reg(c, u.rs2) {
					goto takenBack
				}
				goto nextBack
			case uBltBack:
				if int32(*reg(c, u.rs1)) < int32(*reg(c, u.rs2)) {
					goto takenBack
				}
				goto nextBack
			case uBgeBack:
				if int32(*reg(c, u.rs1)) >= int32(*reg(c, u.rs2)) {
					goto takenBack
				}
				goto nextBack
			case uBltuBack:
				if *reg(c, u.rs1) < *reg(c, u.rs2) {
					goto takenBack
				}
				goto nextBack
			case uBgeuBack:
				if *reg(c, u.rs1) >= *reg(c, u.rs2) {
					goto takenBack
				}
				goto nextBack
			case uJ:
				goto taken
			case uopKind(opJal):
				*reg(c, u.rd) = u.imm2
				goto taken
			case uJr:
				target = (*reg(c, u.rs1) + u.imm) &^ 1
				goto indirect
			case uopKind(opJalr):
				target = (*reg(c, u.rs1) + u.imm) &^ 1
				*reg(c, u.rd) = u.imm2
				goto indirect
			case uopKind(opClmul), uopKind(opClmulh), uopKind(opClmulr),
				uopKind(opOrcB), uopKind(opBrev8), uopKind(opZip), uopKind(opUnzip):
				goto rare
			case uNext:
				goto inLine
			default: // uExec
				goto exec
			}
		}

	taken:
		c.leaveBlock(b, 2)
		c.entry, c.sizes = b.takenPC&^3, 0
		nb = b.taken
		if nb == nil || nb.pc != b.takenPC {
			if nb = c.lookup(b.takenPC); nb == nil {
				c.goTo(b.takenPC, 0)
				return running
			}
			b.taken = nb
		}
		c.Cycle += uint64(nb.jumpExtra)
		b = nb
		continue

	takenBack:
		if c.btb != u.imm || c.entry == u.imm&^3 {
			c.btb = u.imm
			goto taken
		}
		// Predicted: the target follows without a gap if it is in the fetch
		// buffer.
		c.leaveBlock(b, 1)
		nb = b.taken
		if nb == nil || nb.pc != b.takenPC {
			if nb = c.lookup(b.takenPC); nb == nil {
				if !b.fetchedAhead(c.sizes) {
					c.goTo(b.takenPC, 0)
				}
				c.pc, c.entry, c.sizes = b.takenPC, noBranch, 0
				return running
			}
			b.taken = nb
		}
		if nb.jumpExtra != 0 && !b.ahead && !b.fetchedAhead(c.sizes) {
			c.Cycle++
		}
		c.entry, c.sizes = noBranch, 0
		b = nb
		continue

	nextBack:
		if c.btb == u.imm && c.entry != u.imm&^3 {
			// Predicted wrongly: the way in line is a jump.
			c.btb = noBranch
			c.leaveBlock(b, 2)
			c.entry, c.sizes = b.nextPC&^3, 0
			nb = b.next
			if nb == nil || nb.pc != b.nextPC {
				if nb = c.lookup(b.nextPC); nb == nil {
					c.goTo(b.nextPC, 0)
					return running
				}
				b.next = nb
			}
			c.Cycle += uint64(nb.jumpExtra)
			b = nb
			continue
		}

	next:
		c.leaveBlock(b, 1)
		c.sizes = b.sizesAfter(c.sizes)
		nb = b.next
		if nb == nil || nb.pc != b.nextPC {
			if nb = c.lookup(b.nextPC); nb == nil {
				c.pc = b.nextPC
				return running
			}
			b.next = nb
		}
		b = nb
		continue

	indirect:
		c.leaveBlock(b, 2)
		c.entry, c.sizes = target&^3, 0
		nb = b.taken
		if nb == nil || nb.pc != target {
			if nb = c.lookup(target); nb == nil {
				c.goTo(target, 0)
				return running
			}
			b.taken = nb
		}
		c.Cycle += uint64(nb.jumpExtra)
		b = nb
		continue

	inLine:
		c.leaveBlock(b, 0)
		c.sizes = b.sizesAfter(c.sizes)
		nb = b.next
		if nb == nil || nb.pc != b.nextPC {
			nb = c.lookup(b.nextPC)
			b.next = nb
		}
		if !c.follow(b, nb) {
			return running
		}
		b = nb
		continue

	loadMiss:
		if v, ok := c.otherLoad(u.op, addr); ok {
			*reg(c, u.rd) = v
			u = (*uop)(unsafe.Add(unsafe.Pointer(u), unsafe.Sizeof(*u)))
			goto resume
		}
		goto leave

	rare:
		c.rareOp(u)
		u = (*uop)(unsafe.Add(unsafe.Pointer(u), unsafe.Sizeof(*u)))
		goto resume

	leave:
		return c.leaveAt(b, int(u.idx))

	exec:
		nb = c.execLast(b, &target)
		if nb == nil {
			return int(target)
		}
		b = nb
	}
}
