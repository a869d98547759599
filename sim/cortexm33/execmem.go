package cortexm33

import "math/bits"

// execMem performs the loads and stores outside the hot loop.
func (c *Core) execMem(b *block, i int, o *op) outcome {
	a := c.accessNow(c.Cycle + uint64(b.meta[i].at))
	ok, out := true, slowNext
	switch o.code {
	case opPush:
		ok = c.pushFast(o.imm) || c.storeMultiple(&a, 13, o.imm, amWback|amDec)
	case opPop:
		ok = c.popFast(o.imm) || c.loadMultiple(&a, 13, o.imm, amWback)
	case opLdm, opLdmX:
		ok = c.loadMultiple(&a, o.rn, o.imm, o.x)
		if o.imm>>15 != 0 {
			out = slowBranch
		}
	case opStm, opStmX:
		ok = c.storeMultiple(&a, o.rn, o.imm, o.x)
	case opPopPC:
		ok = c.loadMultiple(&a, 13, o.imm, amWback)
		out = slowBranch
	case opLdrW:
		ok = c.loadIndexed(&a, o, memWord)
	case opLdrbW:
		ok = c.loadIndexed(&a, o, memByte)
	case opLdrhW:
		ok = c.loadIndexed(&a, o, memHalf)
	case opStrW:
		ok = c.storeIndexed(&a, o, memWord)
	case opStrbW:
		ok = c.storeIndexed(&a, o, memByte)
	case opStrhW:
		ok = c.storeIndexed(&a, o, memHalf)
	case opLdrd:
		ok = c.dual(&a, o, amIndex, true)
	case opStrd:
		ok = c.dual(&a, o, amIndex, false)
	case opLdrdX:
		ok = c.dual(&a, o, o.x, true)
	case opStrdX:
		ok = c.dual(&a, o, o.x, false)
	case opLoad:
		ok = c.loadAny(&a, o)
		if o.rd == 15 {
			out = slowBranch
		}
	case opStore:
		ok = c.storeAny(&a, o)
	case opLdrex:
		ok = c.loadExclusive(&a, o)
	case opStrex:
		ok = c.storeExclusive(&a, o)
	}
	if !ok {
		c.leave(b, i)
		return slowOut
	}
	if out == slowBranch {
		return c.jumped(b, i)
	}
	if c.brk {
		c.leave(b, i+1)
		return slowOut
	}
	return slowNext
}

// jumped finishes a load into PC: the value is in c.R[15].
func (c *Core) jumped(b *block, i int) outcome {
	v := c.R[15]
	if v&1 == 0 || v >= 0xe0000000 {
		return c.branchSpecial(b, i, v)
	}
	c.pc = v &^ 1
	if c.brk {
		c.brkBranch(b, i)
		return slowOut
	}
	return slowBranch
}

// brkBranch leaves the block behind its final branch, whose target is c.pc.
func (c *Core) brkBranch(b *block, i int) {
	pc := c.pc
	c.leave(b, len(b.meta)-1)
	c.Cycle += takenCost
	c.pc, c.it = pc, 0
}

// pushFast stores a register list below SP if TLB and limits allow it to be
// done at once.
func (c *Core) pushFast(list uint32) bool {
	n := uint32(bits.OnesCount32(list)) * 4
	sp := c.R[13]
	lo := sp - n
	e := &c.wt[lo>>12&tlbMask]
	if e.tag != lo&^0xffc || lo>>12 != (sp-1)>>12 || lo < c.spLimit || lo > sp {
		return false
	}
	for l := lo &^ 15; l < sp; l += 16 {
		if e.flags[l>>4&255] != 0 {
			return false
		}
	}
	off := lo & 0xffc
	for l := list; l != 0; l &= l - 1 {
		le.PutUint32(e.mem[off&0xffc:][:4], c.R[bits.TrailingZeros32(l)&15])
		off += 4
	}
	c.R[13] = lo
	return true
}

func (c *Core) popFast(list uint32) bool {
	n := uint32(bits.OnesCount32(list)) * 4
	sp := c.R[13]
	hi := sp + n
	e := &c.rt[sp>>12&tlbMask]
	if e.tag != sp&^0xffc || sp>>12 != (hi-1)>>12 || list&(1<<13) != 0 {
		return false
	}
	off := sp & 0xffc
	for l := list; l != 0; l &= l - 1 {
		c.R[bits.TrailingZeros32(l)&15] = le.Uint32(e.mem[off&0xffc:][:4])
		off += 4
	}
	c.R[13] = hi
	return true
}

// checkSP faults if v, about to become SP, is below the limit.
func (c *Core) checkSP(v uint32) bool {
	if v < c.spLimit {
		c.fault(fault{exc: excUsageFault, cfsr: cfsrSTKOF})
		return false
	}
	return true
}

func (c *Core) loadMultiple(a *access, rn uint8, list uint32, x uint16) bool {
	n := uint32(bits.OnesCount32(list)) * 4
	addr, end := c.R[rn&15], c.R[rn&15]+n
	if x&amDec != 0 {
		addr -= n
		end = addr
	}
	if !c.wordAligned(addr) {
		return false
	}
	if rn == 13 && x&amWback != 0 && x&amDec != 0 && !c.checkSP(end) {
		return false
	}
	var v [16]uint32
	left := list
	if e := &c.rt[addr>>12&tlbMask]; e.tag == addr&^0xffc && addr>>12 == (addr+n-1)>>12 {
		off := addr & 0xffc
		for l := list; l != 0; l &= l - 1 {
			v[bits.TrailingZeros32(l)&15] = le.Uint32(e.mem[off&0xffc:][:4])
			off += 4
		}
		left = 0
	}
	for l := left; l != 0; l &= l - 1 {
		w, ok := c.read(a, addr, 4)
		if !ok {
			return false
		}
		v[bits.TrailingZeros32(l)&15] = w
		addr += 4
	}
	if x&amWback != 0 && list>>rn&1 == 0 {
		c.setReg(rn, end)
	}
	for l := list; l != 0; l &= l - 1 {
		k := uint8(bits.TrailingZeros32(l))
		c.setReg(k, v[k&15])
	}
	return true
}

// setReg writes a register, keeping SP aligned.
func (c *Core) setReg(n uint8, v uint32) {
	if n == 13 {
		v &^= 3
	}
	c.R[n&15] = v
}

func (c *Core) storeMultiple(a *access, rn uint8, list uint32, x uint16) bool {
	n := uint32(bits.OnesCount32(list)) * 4
	addr, end := c.R[rn&15], c.R[rn&15]+n
	if x&amDec != 0 {
		addr -= n
		end = addr
	}
	if !c.wordAligned(addr) {
		return false
	}
	if rn == 13 && x&amWback != 0 && !c.checkSP(min(addr, end)) {
		return false
	}
	for l := list; l != 0; l &= l - 1 {
		if !c.write(a, addr, 4, c.R[bits.TrailingZeros32(l)&15]) {
			return false
		}
		addr += 4
	}
	if x&amWback != 0 {
		c.setReg(rn, end)
	}
	return true
}

// wordAligned faults on an address that must be a multiple of four.
func (c *Core) wordAligned(addr uint32) bool {
	if addr&3 != 0 {
		c.fault(fault{exc: excUsageFault, cfsr: cfsrUNALIGNED})
		return false
	}
	return true
}

// index returns the address of an indexed access and the value written back.
func (c *Core) index(o *op, x uint16) (addr, back uint32) {
	base := c.R[o.rn&15]
	back = base + o.imm
	if x&amIndex != 0 {
		return back, back
	}
	return base, back
}

func (c *Core) loadIndexed(a *access, o *op, kind uint8) bool {
	addr, back := c.index(o, o.x)
	var v uint32
	if e := &c.rt[addr>>12&tlbMask]; kind == memByte && e.tag == addr&^0xfff {
		v = uint32(e.mem[addr&0xfff])
	} else if kind == memWord && e.tag == addr&^0xffc {
		v = le.Uint32(e.mem[addr&0xffc:][:4])
	} else {
		var ok bool
		if v, ok = c.loadKind(a, addr, kind); !ok {
			return false
		}
	}
	c.R[o.rn&15] = back
	c.R[o.rd&15] = v
	return true
}

func (c *Core) storeIndexed(a *access, o *op, kind uint8) bool {
	addr, back := c.index(o, o.x)
	v := c.R[o.rd&15]
	e := &c.wt[addr>>12&tlbMask]
	switch {
	case kind == memByte && e.tag == addr&^0xfff && e.flags[addr>>4&255] == 0:
		e.mem[addr&0xfff] = byte(v)
	case kind == memWord && e.tag == addr&^0xffc && e.flags[addr>>4&255] == 0:
		le.PutUint32(e.mem[addr&0xffc:][:4], v)
	default:
		if !c.write(a, addr, 1<<kind, v) {
			return false
		}
	}
	c.R[o.rn&15] = back
	return true
}

// dual performs LDRD and STRD.
func (c *Core) dual(a *access, o *op, x uint16, load bool) bool {
	addr, back := c.index(o, x)
	if o.rn == 15 {
		addr = o.imm
	}
	if !c.wordAligned(addr) {
		return false
	}
	if o.rn == 13 && x&amWback != 0 && !c.checkSP(back) {
		return false
	}
	if load {
		if e := &c.rt[addr>>12&tlbMask]; e.tag == addr&^0xffc {
			if off := addr & 0xffc; off <= 0xff8 {
				c.R[o.rd&15], c.R[o.ra&15] = le.Uint32(e.mem[off:off+4]), le.Uint32(e.mem[off+4:off+8])
				if x&amWback != 0 {
					c.setReg(o.rn, back)
				}
				return true
			}
		}
		v0, ok := c.read(a, addr, 4)
		if !ok {
			return false
		}
		v1, ok := c.read(a, addr+4, 4)
		if !ok {
			return false
		}
		c.R[o.rd&15], c.R[o.ra&15] = v0, v1
	} else if e := &c.wt[addr>>12&tlbMask]; e.tag == addr&^0xffc && addr&15 != 12 && e.flags[addr>>4&255] == 0 {
		off := addr & 0xffc
		le.PutUint32(e.mem[off:off+4], c.R[o.rd&15])
		le.PutUint32(e.mem[(off+4)&0xffc:][:4], c.R[o.ra&15])
	} else {
		if !c.write(a, addr, 4, c.R[o.rd&15]) || !c.write(a, addr+4, 4, c.R[o.ra&15]) {
			return false
		}
	}
	if x&amWback != 0 {
		c.setReg(o.rn, back)
	}
	return true
}

// anyAddress computes the address of opLoad and opStore.
func (c *Core) anyAddress(o *op) (addr, back uint32, ok bool) {
	switch {
	case o.rn == 15:
		return o.imm, 0, true
	case o.x&amReg != 0:
		return c.R[o.rn&15] + c.R[o.rm&15]<<(o.im2&3), 0, true
	}
	addr, back = c.index(o, o.x)
	if o.rn == 13 && o.x&amWback != 0 && !c.checkSP(back) {
		return 0, 0, false
	}
	if o.x&amAcquire != 0 && addr&(1<<o.ra-1) != 0 {
		c.fault(fault{exc: excUsageFault, cfsr: cfsrUNALIGNED})
		return 0, 0, false
	}
	return addr, back, true
}

func (c *Core) loadAny(a *access, o *op) bool {
	addr, back, ok := c.anyAddress(o)
	if !ok {
		return false
	}
	if o.x&amUnpriv != 0 {
		a.priv = false
	}
	if o.rd == 15 && !c.wordAligned(addr) {
		return false
	}
	v, ok := c.loadKind(a, addr, o.ra)
	if !ok {
		return false
	}
	if o.x&amWback != 0 {
		c.setReg(o.rn, back)
	}
	c.setReg(o.rd, v)
	return true
}

func (c *Core) storeAny(a *access, o *op) bool {
	addr, back, ok := c.anyAddress(o)
	if !ok {
		return false
	}
	if o.x&amUnpriv != 0 {
		a.priv = false
	}
	if !c.write(a, addr, 1<<o.ra, c.R[o.rd&15]) {
		return false
	}
	if o.x&amWback != 0 {
		c.setReg(o.rn, back)
	}
	return true
}

// exclusive is the local monitor.
type exclusive struct {
	valid bool
	addr  uint32
}

func (c *Core) loadExclusive(a *access, o *op) bool {
	addr := c.R[o.rn&15] + o.imm
	size := uint32(1) << o.ra
	if addr&(size-1) != 0 {
		c.fault(fault{exc: excUsageFault, cfsr: cfsrUNALIGNED})
		return false
	}
	ns, ok := c.checkData(addr, false, a)
	if !ok {
		return false
	}
	if !c.bus.Ready(a.now) {
		c.abort = abortNotReady
		return false
	}
	v, wait, granted, ok := c.bus.LoadExclusive(a.now, addr, uint8(size), a.bits(ns))
	if !ok {
		c.fault(fault{exc: excBusFault, cfsr: cfsrPRECISERR | cfsrBFARVALID, addr: addr})
		return false
	}
	c.Cycle += uint64(wait)
	c.excl = exclusive{granted, addr}
	c.R[o.rd&15] = v
	if c.dbg.nWatch != 0 {
		c.watch(addr, size, false)
	}
	return true
}

func (c *Core) storeExclusive(a *access, o *op) bool {
	addr := c.R[o.rn&15] + o.imm
	size := uint32(1) << o.ra
	if addr&(size-1) != 0 {
		c.fault(fault{exc: excUsageFault, cfsr: cfsrUNALIGNED})
		return false
	}
	ns, ok := c.checkData(addr, true, a)
	if !ok {
		return false
	}
	if !c.excl.valid || c.excl.addr != addr {
		c.excl.valid = false
		c.R[o.rd&15] = 1
		return true
	}
	if !c.bus.Ready(a.now) {
		c.abort = abortNotReady
		return false
	}
	c.excl.valid = false
	wait, stored, ok := c.bus.StoreExclusive(a.now, addr, uint8(size), c.R[o.rm&15]&(1<<(8*size-1)<<1-1), a.bits(ns))
	if !ok {
		c.fault(fault{exc: excBusFault, cfsr: cfsrPRECISERR | cfsrBFARVALID, addr: addr})
		return false
	}
	c.Cycle += uint64(wait)
	c.R[o.rd&15] = b2u(!stored)
	if stored {
		if w := c.window(addr); w != nil && w.Flags != nil {
			if f := w.Flags[(addr-w.Base)/16]; f != 0 {
				c.lineStored(addr, size, f)
			}
		}
		if c.dbg.nWatch != 0 {
			c.watch(addr, size, true)
		}
	}
	return true
}
