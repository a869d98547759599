package hazard3

import (
	"math/bits"
	"unsafe"
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

// storeShift: Core.instret counts stores of blocks from this bit on, and
// instructions below it, so that a block adds to both at once. The stores are
// only looked at for changes, over short runs.
const (
	storeShift  = 48
	instretMask = 1<<storeShift - 1
)

// count is the number of the block's instructions.
func (b *block) count() uint64 { return b.retired & instretMask }

// leaveBlock counts a whole block and the cycles of its last instruction.
func (c *Core) leaveBlock(b *block, cycles uint64) {
	c.Cycle += uint64(b.cycles) + cycles
	c.instret += b.retired
}

// link returns the block at pc, which at remembers; nil if there can be none.
func (c *Core) link(at **block, pc uint32) *block {
	if b := *at; b.pc == pc {
		return b
	}
	return c.relink(at, pc)
}

func (c *Core) relink(at **block, pc uint32) *block {
	b := c.lookup(pc)
	if b != nil {
		*at = b
	}
	return b
}

// mispredicted leaves a block in line whose branch was predicted taken: that is
// a jump. nil: the loop has to go on from pc.
func (c *Core) mispredicted(b *block) *block {
	c.btb = noBranch
	c.leaveBlock(b, 2)
	c.entry, c.sizes = b.nextPC&^3, jumpSizes(b.nextPC)
	nb := c.link(&b.next, b.nextPC)
	if nb == nil {
		c.goTo(b.nextPC, 0)
		return nil
	}
	c.Cycle += uint64(nb.jumpExtra)
	return nb
}

// predictedOut follows a predicted branch to where no block can be.
func (c *Core) predictedOut(b *block) {
	c.leaveBlock(b, 1)
	if !b.fetchedAhead(c.sizes) {
		c.goTo(b.takenPC, 0)
	}
	c.pc, c.entry, c.sizes = b.takenPC, noBranch, jumpSizes(b.takenPC)
}

// follow prepares for going on in line from b to nb, when b may end in a load:
// false if it cannot be done here, then everything is set for the loop.
func (c *Core) follow(b, nb *block) bool {
	stall := uint64(0)
	if nb != nil && b.exitLoad&nb.firstUse != 0 {
		stall = 1
		if nb.count() <= 1 {
			nb = nil // a branch that waits is the plain loop's
		}
	}
	if nb == nil || c.Cycle+stall+uint64(nb.guard) >= c.limit {
		c.pc, c.loading = b.nextPC, b.exitLoad
		return false
	}
	c.Cycle += stall
	return true
}

// leaveAt ends a block before its instruction i, which does what blocks cannot:
// exec does it, and whatever comes of it.
func (c *Core) leaveAt(b *block, i int) int {
	m := &b.meta[i]
	c.sizes = b.sizesAt(i, c.sizes)
	c.Cycle += uint64(m.cyc)
	c.instret += uint64(i) | b.retired&^instretMask
	c.pc = b.pc + uint32(m.off)
	in := m.in
	return c.exec(&in)
}

// execLast executes the last instruction of a block by exec. It returns the
// block to go on with, or nil with the answer of runBlocks.
func (c *Core) execLast(b *block, answer *uint32) *block {
	c.leaveBlock(b, 0)
	c.sizes = b.sizesAfter(c.sizes)
	c.pc = b.pc + uint32(b.last.off)
	c.loading = b.exitLoad
	epoch := c.code.epoch
	in := b.last.in
	r := c.exec(&in)
	*answer = uint32(r)
	if r != running || c.attn || c.excl || c.code.epoch != epoch || c.pc != b.nextPC || c.mustStep() {
		return nil
	}
	nb := c.link(&b.next, b.nextPC)
	if nb == nil {
		return nil
	}
	if c.loading&nb.firstUse != 0 || c.Cycle+uint64(nb.guard) >= c.limit {
		return nil
	}
	c.loading = 0
	return nb
}

// sizesAfter is Core.sizes behind the block's instructions, if it was sizes
// before the block.
func (b *block) sizesAfter(sizes uint8) uint8 {
	if b.long {
		return b.sizes
	}
	return sizesBehind(sizes, b.sizes, b.count())
}

// sizesBehind is Core.sizes behind n instructions, if it was before in front of
// them and would be static if they were all that counts.
func sizesBehind(before, static uint8, n uint64) uint8 {
	switch n {
	case 0:
		return before
	case 1:
		if before&fromJump != 0 {
			return 0
		}
		return (before<<1 | static&1) & 3
	case 2:
		// The first one does not count if it came alone.
		return static &^ (before & fromJump >> 6)
	}
	return static
}

// sizesAt is Core.sizes before instruction i of the block.
func (b *block) sizesAt(i int, sizes uint8) uint8 {
	return sizesBehind(sizes, b.meta[i].sizes, uint64(i))
}

// fetchedAhead is Core.fetchedAhead for the branch at the end of the block, if
// Core.sizes was sizes before the block.
func (b *block) fetchedAhead(sizes uint8) bool {
	if !b.aheadDynamic {
		return b.ahead
	}
	sizes = sizesBehind(sizes, b.last.sizes, b.count()-1)
	return aheadFor(b.pc+uint32(b.last.off), b.last.in.size, sizes)
}

// leaveUnfused is leaveAt for a pair that loads from elsewhere than the fast
// window: from now on it is executed one by one.
func (c *Core) leaveUnfused(b *block, i int) int {
	b.unfuse()
	return c.leaveAt(b, i)
}

// after is the micro-operation behind u.
func after(u *uop) *uop { return (*uop)(unsafe.Add(unsafe.Pointer(u), unsafe.Sizeof(*u))) }

// otherLoad loads for a micro-operation from a window that is not the fast one,
// and returns the next micro-operation. It returns nil for everything that exec
// has to deal with; then missed is the place of the instruction in its block.
func (c *Core) otherLoad(u *uop, addr uint32) *uop {
	op := u.op
	size := [5]uint8{1, 2, 4, 1, 2}[op-uopKind(opLb)]
	w := c.find(addr)
	if addr&(uint32(size)-1) != 0 || w == nil || w.wait != 0 {
		c.missed = int(u.idx)
		return nil
	}
	v := w.read(addr-w.base, size)
	switch op {
	case uopKind(opLb):
		v = uint32(int8(v))
	case uopKind(opLh):
		v = uint32(int16(v))
	}
	*reg(c, u.rd) = v
	return after(u)
}

// rareOp does the operations that would need calls in the loop, and returns the
// next micro-operation.
//
//go:noinline
func (c *Core) rareOp(u *uop) *uop {
	a, b := *reg(c, u.rs1), *reg(c, u.rs2)
	var v uint32
	switch op(u.op) {
	case opOrn:
		v = a | ^b
	case opXnor:
		v = ^(a ^ b)
	case opMax:
		v = uint32(max(int32(a), int32(b)))
	case opMaxu:
		v = max(a, b)
	case opRol:
		v = bits.RotateLeft32(a, int(b&31))
	case opRor:
		v = bits.RotateLeft32(a, -int(b&31))
	case opBclr:
		v = a &^ (1 << (b & 31))
	case opBext:
		v = a >> (b & 31) & 1
	case opBinv:
		v = a ^ 1<<(b&31)
	case opBset:
		v = a | 1<<(b&31)
	case opPack:
		v = a&0xffff | b<<16
	case opMulh:
		v = mulh(a, b)
	case opSlt:
		v = boolTo(int32(a) < int32(b))
	case opMulhsu:
		v = mulhsu(a, b)
	case opDivu:
		v = divu(a, b)
	case opRemu:
		v = remu(a, b)
	case opDiv:
		c.Cycle += divCycles(a) - divuCycles
		v = div(a, b)
	case opRem:
		c.Cycle += divCycles(a) - divuCycles
		v = rem(a, b)
	case opPackh:
		v = a&0xff | b&0xff<<8
	case opBextm:
		v = a >> (b & 31) & u.imm
	case opClmul:
		v = uint32(clmul64(a, b))
	case opClmulh:
		v = uint32(clmul64(a, b) >> 32)
	case opClmulr:
		v = uint32(clmul64(a, b) >> 31)
	case opOrcB:
		v = orcB(a)
	case opBrev8:
		v = brev8(a)
	case opZip:
		v = zip(a)
	case opUnzip:
		v = unzip(a)
	}
	*reg(c, u.rd) = v
	c.X[0] = 0
	return after(u)
}
