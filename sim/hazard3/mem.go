package hazard3

import (
	"unsafe"

	"github.com/stem-hw/stem-hw/sim/bus"
)

// window is a bus.Window with its memory as a pointer. Offsets are checked
// against size by hand; memory is little-endian, as the host's.
type window struct {
	base     uint32
	size     uint32
	mem      unsafe.Pointer
	flags    unsafe.Pointer // nil if not writable
	wait     uint32
	writable bool
}

func makeWindow(w *bus.Window) window {
	if len(w.Mem) == 0 {
		return window{}
	}
	v := window{
		base: w.Base, size: uint32(len(w.Mem)), mem: unsafe.Pointer(unsafe.SliceData(w.Mem)),
		wait: w.Wait, writable: w.Writable && w.Flags != nil,
	}
	if v.writable {
		v.flags = unsafe.Pointer(unsafe.SliceData(w.Flags))
	}
	return v
}

// status is how a memory access ended.
type status uint8

const (
	// memOK: done.
	memOK status = iota
	// memTrap: it raised an exception, which was taken.
	memTrap
	// memWait: it could not begin (Bus.Ready said no); nothing happened.
	memWait
	// memHalt: a watchpoint stopped the core before the access.
	memHalt
)

// find returns the window that holds addr, which is aligned, or nil.
func (c *Core) find(addr uint32) *window {
	if addr-c.fast.base < c.fast.size {
		return &c.fast
	}
	if addr-c.last.base < c.last.size {
		return &c.last
	}
	for i := range c.windows {
		w := &c.windows[i]
		if addr-w.Base < uint32(len(w.Mem)) {
			c.last = makeWindow(w)
			return &c.last
		}
	}
	return nil
}

func (w *window) read(off uint32, size uint8) uint32 {
	p := unsafe.Add(w.mem, off)
	switch size {
	case 1:
		return uint32(*(*uint8)(p))
	case 2:
		return uint32(*(*uint16)(p))
	}
	return *(*uint32)(p)
}

func (w *window) write(off uint32, size uint8, v uint32) {
	p := unsafe.Add(w.mem, off)
	switch size {
	case 1:
		*(*uint8)(p) = uint8(v)
	case 2:
		*(*uint16)(p) = uint16(v)
	default:
		*(*uint32)(p) = v
	}
}

func (w *window) lineFlags(off uint32) *uint8 {
	return (*uint8)(unsafe.Add(w.flags, off/bus.LineSize))
}

// load reads memory for an instruction; the value is right-aligned and not
// extended.
func (c *Core) load(addr uint32, size uint8) (uint32, status) {
	if addr&(uint32(size)-1) != 0 {
		return 0, c.except(causeLoadAlign, addr)
	}
	if c.pmp.dataActive && !c.pmpAllows(addr, pmpR) {
		return 0, c.except(causeLoadFault, addr)
	}
	if c.dbg.watching && c.watchHit(addr, size, false) {
		return 0, memHalt
	}
	if w := c.find(addr); w != nil {
		c.Cycle += uint64(w.wait)
		return w.read(addr-w.base, size), memOK
	}
	if !c.bus.Ready(c.Cycle) {
		return 0, memWait
	}
	c.inBus = true
	v, wait, ok := c.bus.Load(c.Cycle, addr, size, c.lsAccess)
	c.inBus = false
	c.lock.activity++
	if !ok {
		return 0, c.busFault(causeLoadFault, addr)
	}
	c.Cycle += uint64(wait)
	return v, memOK
}

// store writes memory for an instruction.
func (c *Core) store(addr uint32, size uint8, v uint32) status {
	if addr&(uint32(size)-1) != 0 {
		return c.except(causeStoreAlign, addr)
	}
	if c.pmp.dataActive && !c.pmpAllows(addr, pmpW) {
		return c.except(causeStoreFault, addr)
	}
	if c.dbg.watching && c.watchHit(addr, size, true) {
		return memHalt
	}
	c.lock.activity++
	if w := c.find(addr); w != nil && w.writable {
		off := addr - w.base
		w.write(off, size, v)
		c.Cycle += uint64(w.wait)
		if f := *w.lineFlags(off); f != 0 {
			c.stored(addr, size, f, w.lineFlags(off))
		}
		return memOK
	}
	if !c.bus.Ready(c.Cycle) {
		return memWait
	}
	c.inBus = true
	wait, ok := c.bus.Store(c.Cycle, addr, size, c.laneMask(v, size), c.lsAccess)
	c.inBus = false
	if !ok {
		return c.busFault(causeStoreFault, addr)
	}
	c.Cycle += uint64(wait)
	return memOK
}

// laneMask keeps the bytes of v that a store of size bytes writes.
func (c *Core) laneMask(v uint32, size uint8) uint32 {
	switch size {
	case 1:
		return v & 0xff
	case 2:
		return v & 0xffff
	}
	return v
}

// stored deals with a store into a line whose flags were f.
func (c *Core) stored(addr uint32, size uint8, f uint8, line *uint8) {
	if f&bus.LineCode != 0 {
		lo := addr &^ (bus.LineSize - 1)
		*line &^= bus.LineCode
		c.code.invalidate(lo, lo+bus.LineSize-1)
	}
	if f &^= bus.LineCode; f != 0 && c.watch != nil {
		c.watch.LineStored(c.hart, addr, size, f)
	}
}

// loadReserved is lr.w.
func (c *Core) loadReserved(addr uint32) (uint32, status) {
	if addr&3 != 0 {
		return 0, c.except(causeLoadAlign, addr)
	}
	if c.pmp.dataActive && !c.pmpAllows(addr, pmpR) {
		return 0, c.except(causeLoadFault, addr)
	}
	if c.dbg.watching && c.watchHit(addr, 4, false) {
		return 0, memHalt
	}
	if !c.bus.Ready(c.Cycle) {
		return 0, memWait
	}
	c.inBus = true
	v, wait, granted, ok := c.bus.LoadExclusive(c.Cycle, addr, 4, c.lsAccess|bus.Exclusive)
	c.inBus = false
	c.lock.activity++
	if !ok {
		c.reserved = false
		return 0, c.busFault(causeLoadFault, addr)
	}
	c.reserved = granted
	c.Cycle += uint64(wait)
	return v, memOK
}

// storeConditional is sc.w; the value is 0 for success and 1 for failure.
func (c *Core) storeConditional(addr, v uint32) (uint32, status) {
	if addr&3 != 0 {
		return 0, c.except(causeStoreAlign, addr)
	}
	if !c.reserved {
		// The local monitor suppresses the bus access and with it the check of
		// permissions (hazard3_core.v, x_memop_vld).
		return 1, memOK
	}
	if c.pmp.dataActive && !c.pmpAllows(addr, pmpW) {
		return 0, c.except(causeStoreFault, addr)
	}
	if c.dbg.watching && c.watchHit(addr, 4, true) {
		return 0, memHalt
	}
	if !c.bus.Ready(c.Cycle) {
		return 0, memWait
	}
	c.reserved = false
	c.lock.activity++
	c.inBus = true
	wait, stored, ok := c.bus.StoreExclusive(c.Cycle, addr, 4, v, c.lsAccess|bus.Exclusive)
	c.inBus = false
	if !ok {
		return 0, c.busFault(causeStoreFault, addr)
	}
	c.Cycle += uint64(wait)
	if !stored {
		return 1, memOK
	}
	c.codeStored(addr)
	return 0, memOK
}

// codeStored drops decoded code after the bus wrote a word for the core.
func (c *Core) codeStored(addr uint32) {
	if w := c.find(addr); w != nil && w.writable {
		if line := w.lineFlags(addr - w.base); *line&bus.LineCode != 0 {
			c.stored(addr, 4, bus.LineCode, line)
		}
	}
}

// amo is amo*.w with function fn and operand arg; it returns the old value.
func (c *Core) amo(addr, fn, arg uint32) (uint32, status) {
	if addr&3 != 0 {
		// AMOs have a phase of their own for errors.
		return 0, c.exceptCost(causeStoreAlign, addr, 4)
	}
	// The first of its two accesses is a read: R is checked first, then W, and
	// both fail as a store (hazard3_core.v, x_except).
	if c.pmp.dataActive && !(c.pmpAllows(addr, pmpR) && c.pmpAllows(addr, pmpW)) {
		return 0, c.except(causeStoreFault, addr)
	}
	if c.dbg.watching && (c.watchHit(addr, 4, false) || c.watchHit(addr, 4, true)) {
		return 0, memHalt
	}
	if !c.bus.Ready(c.Cycle) {
		return 0, memWait
	}
	c.reserved = false
	c.lock.activity++
	c.amoFn, c.amoArg = fn, arg
	c.inBus = true
	old, wait, ok := c.bus.AMO(c.Cycle, addr, c.amoFunc, c.lsAccess|bus.Exclusive)
	c.inBus = false
	if !ok {
		return 0, c.exceptCost(causeStoreFault, addr, 5)
	}
	c.Cycle += uint64(wait)
	c.codeStored(addr)
	return old, memOK
}

// amoStep computes what an AMO stores.
func (c *Core) amoStep(old uint32) uint32 {
	v := c.amoArg
	switch c.amoFn {
	case amoSwap:
		return v
	case amoAdd:
		return old + v
	case amoXor:
		return old ^ v
	case amoAnd:
		return old & v
	case amoOr:
		return old | v
	case amoMin:
		return uint32(min(int32(old), int32(v)))
	case amoMax:
		return uint32(max(int32(old), int32(v)))
	case amoMinu:
		return min(old, v)
	}
	return max(old, v)
}
