package hazard3

// commit writes back what runBlocks keeps in local variables. No load is in its
// data phase then.
func (c *Core) commit(cycle, retired uint64, btb, entry uint32, sizes uint8) {
	c.Cycle = cycle
	c.instret += retired & (1<<storeShift - 1)
	c.lock.activity += retired >> storeShift
	c.btb, c.entry, c.sizes = btb, entry, sizes
	c.loading, c.excl = 0, false
}

// sizesAfter is Core.sizes behind the block's instructions, if it was sizes
// before the block.
func (b *block) sizesAfter(sizes uint8) uint8 {
	if !b.short {
		return b.sizes
	}
	if len(b.meta) == 0 && b.retired == 0 {
		return sizes
	}
	return sizes<<1 | b.sizes&1
}

// sizesAt is Core.sizes before instruction i of the block.
func (b *block) sizesAt(i int, sizes uint8) uint8 {
	s := b.meta[i].sizes
	switch i {
	case 0:
		return sizes
	case 1:
		return sizes<<1 | s&1
	}
	return s
}

// fetchedAhead is Core.fetchedAhead for the branch at the end of the block, if
// Core.sizes was sizes before the block.
func (b *block) fetchedAhead(sizes uint8) bool {
	if !b.aheadDynamic {
		return b.ahead
	}
	if b.retired&(1<<storeShift-1) == 2 {
		sizes = sizes<<1 | b.last.sizes&1
	}
	return aheadFor(b.pc+uint32(b.last.off), b.last.in.size, sizes)
}

// otherLoad loads for a micro-operation from a window that is not the fast one.
// It answers false for everything that exec has to deal with.
func (c *Core) otherLoad(op uopKind, addr uint32) (uint32, bool) {
	size := [5]uint8{1, 2, 4, 1, 2}[op-uopKind(opLb)]
	if addr&(uint32(size)-1) != 0 {
		return 0, false
	}
	w := c.find(addr)
	if w == nil || w.wait != 0 {
		return 0, false
	}
	v := w.read(addr-w.base, size)
	switch op {
	case uopKind(opLb):
		v = uint32(int8(v))
	case uopKind(opLh):
		v = uint32(int16(v))
	}
	return v, true
}
