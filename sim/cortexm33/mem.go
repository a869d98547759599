package cortexm33

import (
	"encoding/binary"

	"github.com/stem-hw/stem-hw/sim/bus"
)

var le = binary.LittleEndian

const (
	pageSize = 4096
	tlbSize  = 256
	tlbMask  = tlbSize - 1

	// noPage is the tag of an empty entry. The comparisons of the loop keep the
	// page and at most the two lowest bits, so that bit 2 never matches.
	noPage = 4
)

// tlb remembers pages that the core may access without a look at windows, MPU
// or SAU. There is one for loads and one for stores.
type tlb [tlbSize]tlbEntry

// tlbEntry holds one page. tag is its address, or noPage.
type tlbEntry struct {
	tag   uint32
	mem   *[pageSize]byte
	flags *[pageSize / bus.LineSize]uint8
}

func (t *tlb) flush() {
	for i := range t {
		t[i].tag = noPage
	}
}

func (c *Core) flushTLB() {
	c.rt.flush()
	c.wt.flush()
}

// page enters the page of addr into the TLB if all of it is plain memory with
// the same permissions and without watchpoints.
func (c *Core) page(w *bus.Window, addr uint32, write bool) {
	base := addr &^ (pageSize - 1)
	if w.Wait != 0 || !w.Contains(base, pageSize) || c.dbg.watched(base) || !c.uniform(base) {
		return
	}
	off := base - w.Base
	e := &c.rt[base>>12&tlbMask]
	if write {
		if w.Flags == nil || off%bus.LineSize != 0 {
			return
		}
		e = &c.wt[base>>12&tlbMask]
		e.flags = (*[pageSize / bus.LineSize]uint8)(w.Flags[off/bus.LineSize:])
	}
	e.mem = (*[pageSize]byte)(w.Mem[off:])
	e.tag = base
}

// access is where in a block an access happens, so that the time is known.
type access struct {
	now  uint64
	priv bool
	ns   bool
	// begun: an earlier access of the same instruction was made, so the bus is
	// not asked again whether it is ready.
	begun bool
}

func (c *Core) accessNow(now uint64) access {
	return access{now: now, priv: c.privileged(), ns: c.ns}
}

func (a *access) bits(ns bool) bus.Access {
	var b bus.Access
	if a.priv {
		b |= bus.Privileged
	}
	if ns {
		b |= bus.NonSecure
	}
	return b
}

// read loads size bytes at addr. On failure c.abort and c.why say why.
func (c *Core) read(a *access, addr, size uint32) (v uint32, ok bool) {
	if addr&(size-1) != 0 {
		return c.readUnaligned(a, addr, size)
	}
	ns, ok := c.checkData(addr, false, a)
	if !ok {
		return 0, false
	}
	if w := c.window(addr); w != nil && w.Contains(addr, size) {
		c.page(w, addr, false)
		c.Cycle += uint64(w.Wait)
		if c.dbg.nWatch != 0 {
			c.watch(addr, size, false)
		}
		m := w.Mem[addr-w.Base:]
		switch size {
		case 1:
			return uint32(m[0]), true
		case 2:
			return uint32(le.Uint16(m)), true
		}
		return le.Uint32(m), true
	}
	if addr>>20 == 0xe00 {
		return c.ppbRead(a, addr, size)
	}
	if !a.begun && !c.bus.Ready(a.now) {
		c.abort = abortNotReady
		return 0, false
	}
	a.begun = true
	v, wait, ok := c.bus.Load(a.now, addr, uint8(size), a.bits(ns))
	if !ok && c.ignoresBusFault() {
		return 0, true
	}
	if !ok {
		c.fault(fault{exc: excBusFault, cfsr: cfsrPRECISERR | cfsrBFARVALID, addr: addr})
		return 0, false
	}
	c.Cycle += uint64(wait)
	a.now += uint64(wait)
	if c.dbg.nWatch != 0 {
		c.watch(addr, size, false)
	}
	return v, true
}

// write stores size bytes at addr.
func (c *Core) write(a *access, addr, size, v uint32) bool {
	if addr&(size-1) != 0 {
		return c.writeUnaligned(a, addr, size, v)
	}
	ns, ok := c.checkData(addr, true, a)
	if !ok {
		return false
	}
	if w := c.window(addr); w != nil && w.Contains(addr, size) && w.Writable {
		c.page(w, addr, true)
		c.Cycle += uint64(w.Wait)
		if c.dbg.nWatch != 0 {
			c.watch(addr, size, true)
		}
		m := w.Mem[addr-w.Base:]
		switch size {
		case 1:
			m[0] = byte(v)
		case 2:
			le.PutUint16(m, uint16(v))
		default:
			le.PutUint32(m, v)
		}
		if w.Flags != nil {
			if f := w.Flags[(addr-w.Base)/bus.LineSize]; f != 0 {
				c.lineStored(addr, size, f)
			}
		}
		return true
	}
	if addr>>20 == 0xe00 {
		return c.ppbWrite(a, addr, size, v)
	}
	if !a.begun && !c.bus.Ready(a.now) {
		c.abort = abortNotReady
		return false
	}
	a.begun = true
	wait, ok := c.bus.Store(a.now, addr, uint8(size), v, a.bits(ns))
	if !ok && c.ignoresBusFault() {
		return true
	}
	if !ok {
		c.fault(fault{exc: excBusFault, cfsr: cfsrPRECISERR | cfsrBFARVALID, addr: addr})
		return false
	}
	c.Cycle += uint64(wait)
	a.now += uint64(wait)
	if c.dbg.nWatch != 0 {
		c.watch(addr, size, true)
	}
	return true
}

// lineStored handles a store into a line with flags: code there is dropped and
// whoever watches is told.
func (c *Core) lineStored(addr, size uint32, f uint8) {
	c.brk = true
	if f&bus.LineCode != 0 {
		c.code.invalidate(c, addr, addr+size)
	}
	if c.watcher != nil {
		c.watcher.LineStored(c.hart, addr, uint8(size), f)
	}
}

// ignoresBusFault reports whether a data access that the bus refuses is to be
// ignored: CCR.BFHFNMIGN at a negative priority.
func (c *Core) ignoresBusFault() bool {
	return c.scs.ccr[0]&ccrBFHFNMIGN != 0 && c.negativePriority()
}

// trapUnaligned reports whether an unaligned access is to be refused.
func (c *Core) trapUnaligned(addr uint32) bool {
	if c.scs.ccr[b2i(c.ns)]&ccrUNALIGNTRP != 0 || addr>>29 == 2 || addr>>29 >= 5 {
		c.fault(fault{exc: excUsageFault, cfsr: cfsrUNALIGNED})
		return true
	}
	return false
}

func (c *Core) readUnaligned(a *access, addr, size uint32) (v uint32, ok bool) {
	if c.trapUnaligned(addr) {
		return 0, false
	}
	c.Cycle++
	for i := uint32(0); i < size; i++ {
		b, ok := c.read(a, addr+i, 1)
		if !ok {
			return 0, false
		}
		v |= b << (8 * i)
	}
	return v, true
}

func (c *Core) writeUnaligned(a *access, addr, size, v uint32) bool {
	if c.trapUnaligned(addr) {
		return false
	}
	c.Cycle++
	// Both ends are checked first, so that a fault leaves memory alone.
	for _, p := range [2]uint32{addr, addr + size - 1} {
		if _, ok := c.checkData(p, true, a); !ok {
			return false
		}
	}
	for i := uint32(0); i < size; i++ {
		if !c.write(a, addr+i, 1, v>>(8*i)&0xff) {
			return false
		}
	}
	return true
}

// missLoad performs a load that the TLB did not answer and writes rd. It
// returns true if run must come out; then everything is settled.
func (c *Core) missLoad(b *block, i int, addr uint32, kind uint8, rd uint8) bool {
	a := c.accessNow(c.Cycle + uint64(b.meta[i].at))
	v, ok := c.loadKind(&a, addr, kind)
	if !ok {
		c.leave(b, i)
		return true
	}
	c.R[rd&15] = v
	return c.afterMiss(b, i)
}

// missStore is the like for stores.
func (c *Core) missStore(b *block, i int, addr uint32, kind uint8, v uint32) bool {
	a := c.accessNow(c.Cycle + uint64(b.meta[i].at))
	if !c.write(&a, addr, 1<<kind, v) {
		c.leave(b, i)
		return true
	}
	return c.afterMiss(b, i)
}

// afterMiss leaves the block behind operation i if something happened.
func (c *Core) afterMiss(b *block, i int) bool {
	if !c.brk {
		return false
	}
	c.leave(b, i+1)
	return true
}

// storedLine is called by the fast path after a store into a flagged line.
func (c *Core) storedLine(b *block, i int, addr, size uint32, f uint8) bool {
	c.lineStored(addr, size, f)
	c.leave(b, i+1)
	return true
}

// leave stops the block in front of operation i: pc, ITSTATE, cycles and the
// instruction count become those of that point.
func (c *Core) leave(b *block, i int) {
	m := &b.meta[i]
	c.pc, c.it = m.pc, m.it
	c.Cycle += uint64(m.at)
	c.instret += uint64(m.n)
}

// loadKind loads and extends.
func (c *Core) loadKind(a *access, addr uint32, kind uint8) (uint32, bool) {
	switch kind {
	case memByte:
		return c.read(a, addr, 1)
	case memHalf:
		return c.read(a, addr, 2)
	case memSByte:
		v, ok := c.read(a, addr, 1)
		return uint32(int32(int8(v))), ok
	case memSHalf:
		v, ok := c.read(a, addr, 2)
		return uint32(int32(int16(v))), ok
	}
	return c.read(a, addr, 4)
}

// fetchHalf fetches 16 bits of code.
func (c *Core) fetchHalf(addr uint32) (uint32, bool) {
	if w := c.window(addr); w != nil && w.Contains(addr, 2) {
		if !w.Executable {
			c.fault(fault{exc: excBusFault, cfsr: cfsrIBUSERR})
			return 0, false
		}
		return uint32(le.Uint16(w.Mem[addr-w.Base:])), true
	}
	if addr>>20 == 0xe00 {
		c.fault(fault{exc: excMemManage, cfsr: cfsrIACCVIOL})
		return 0, false
	}
	v, ok := c.bus.Fetch(addr)
	if !ok {
		c.fault(fault{exc: excBusFault, cfsr: cfsrIBUSERR})
	}
	return uint32(v), ok
}

// fault records why the present instruction cannot complete.
func (c *Core) fault(f fault) {
	c.abort = abortFault
	c.why = f
}
