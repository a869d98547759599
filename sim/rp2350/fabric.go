package rp2350

import (
	"encoding/binary"
	"fmt"

	"github.com/stem-hw/stem-hw/sim/bus"
	"github.com/stem-hw/stem-hw/sim/rp2350/periph"
)

// coreBus is one core's way into the fabric.
type coreBus struct {
	c *Chip
	n *node
}

var _ bus.Bus = (*coreBus)(nil)

// Ready implements bus.Bus: a core may not be ahead of the other one, and
// core 0 goes first on a tie. A debugger's access between runs waits for nobody.
func (b *coreBus) Ready(now uint64) bool {
	o := b.n.other
	if !o.runs() || b.c.cur == nil {
		return true
	}
	t := o.clock()
	return now < t || now == t && b.n.id == 0
}

// at brings the chip to the cycle of an access: what is due by then happens
// first.
func (b *coreBus) at(now uint64) {
	c := b.c
	if c.q.next() <= now {
		c.fire(now)
	}
	c.now = now
}

func (b *coreBus) origin(a bus.Access) periph.Origin {
	core := b.n.id
	if a&bus.Debug != 0 {
		core = originDebugger
	}
	return periph.Origin{Core: core, Privileged: a&bus.Privileged != 0, NonSecure: a&bus.NonSecure != 0}
}

const originDebugger = 3

// Load implements bus.Bus.
func (b *coreBus) Load(now uint64, addr uint32, size uint8, a bus.Access) (v, wait uint32, ok bool) {
	b.at(now)
	v, wait, ok = b.c.load(b.n, addr, size, b.origin(a), false)
	if !ok && a&bus.Debug == 0 {
		b.c.explainRefusal(addr, false, b.origin(a))
	}
	if b.c.parts.Bus.Counting() {
		b.c.counted(b.n.id, addr, wait)
	}
	return v, wait, ok
}

// Store implements bus.Bus.
func (b *coreBus) Store(now uint64, addr uint32, size uint8, v uint32, a bus.Access) (wait uint32, ok bool) {
	b.at(now)
	wait, ok = b.c.store(b.n, addr, size, v, b.origin(a))
	if !ok && a&bus.Debug == 0 {
		b.c.explainRefusal(addr, true, b.origin(a))
	}
	if b.c.parts.Bus.Counting() {
		b.c.counted(b.n.id, addr, wait)
	}
	return wait, ok
}

// Fetch implements bus.Bus: code outside the windows, which is XIP memory that
// no window covers (mirrors, beyond a translation's window: refused).
func (b *coreBus) Fetch(addr uint32) (v uint16, ok bool) {
	c := b.c
	switch {
	case addr >= xipBase && addr < xipMaintenance, addr >= xipNoTranslate && addr < xipEnd,
		addr >= sramBase && addr < sramBase+sramSize:
		w, wait, ok := c.load(b.n, addr&^3, 4, periph.Origin{Core: b.n.id, Privileged: true}, false)
		if addr&2 == 0 && c.parts.Bus.Counting() {
			c.counted(b.n.id, addr, wait)
		}
		return uint16(w >> (8 * (addr & 2))), ok
	}
	return 0, false
}

// SendEvent implements bus.Bus.
func (b *coreBus) SendEvent(now uint64) {
	b.at(now)
	b.c.postEvent()
}

// load reads from anywhere. peek asks for no side effects.
func (c *Chip) load(n *node, addr uint32, size uint8, o periph.Origin, peek bool) (v, wait uint32, ok bool) {
	var word uint32
	switch addr >> 28 {
	case 0:
		if addr >= romSize {
			return 0, 0, false
		}
		word, ok = binary.LittleEndian.Uint32(c.rom.mem[addr&^3:]), true
	case 1:
		word, wait, ok = c.xip.load(addr&^3, o, peek)
	case 2:
		off := addr - sramBase
		if off >= sramSize {
			return 0, 0, false
		}
		word, ok = binary.LittleEndian.Uint32(c.sram[off&^3:]), true
	case 4, 5:
		word, wait, ok = c.loadIO(addr, size, o, peek)
	case 0xd:
		word, ok = c.sio.load(n.id, addr, o, peek)
	case 0xe: // a core's own accesses to its PPB never come here
		if a, isArm := n.cpu.(arm); isArm {
			word, ok = a.PeekPPB(addr &^ 3)
		}
	}
	return lane(word, addr, size), wait, ok
}

// lane picks the bytes of a narrow read out of the word on the bus.
func lane(word, addr uint32, size uint8) uint32 {
	switch size {
	case 1:
		return word >> (8 * (addr & 3)) & 0xff
	case 2:
		return word >> (8 * (addr & 2)) & 0xffff
	}
	return word
}

// replicate puts a narrow datum on all lanes, as the fabric does for devices
// without byte strobes (datasheet 2.1.5).
func replicate(v uint32, size uint8) uint32 {
	switch size {
	case 1:
		return v & 0xff * 0x01010101
	case 2:
		return v & 0xffff * 0x00010001
	}
	return v
}

// onLane puts a narrow datum on its own lane with zeros beside it.
func onLane(v, addr uint32, size uint8) uint32 {
	switch size {
	case 1:
		return v & 0xff << (8 * (addr & 3))
	case 2:
		return v & 0xffff << (8 * (addr & 2))
	}
	return v
}

// store writes to anywhere.
func (c *Chip) store(n *node, addr uint32, size uint8, v uint32, o periph.Origin) (wait uint32, ok bool) {
	switch addr >> 28 {
	case 0:
		if addr < romSize {
			c.explain(explainROM, fmt.Sprintf("store to %#08x: the boot ROM cannot be written, the store is ignored; a null pointer?", addr), addr)
		}
		return 0, addr < romSize
	case 1:
		return c.xip.store(addr, size, v, o)
	case 2:
		if addr-sramBase >= sramSize {
			return 0, false
		}
		c.storeSRAM(n, addr, size, v)
		return 0, true
	case 4, 5:
		return c.storeIO(addr, size, v, o)
	case 0xd:
		return 0, c.sio.store(n.id, addr, replicate(v, size), o)
	case 0xe:
		if a, isArm := n.cpu.(arm); isArm {
			return 0, a.WritePPB(addr, size, v, o.NonSecure)
		}
	}
	return 0, false
}

// storeSRAM writes memory and tells whoever watches the line.
func (c *Chip) storeSRAM(n *node, addr uint32, size uint8, v uint32) {
	c.storeSRAMBy(n.id, addr, size, v)
}

// storeSRAMBy is storeSRAM for any manager.
func (c *Chip) storeSRAMBy(manager int, addr uint32, size uint8, v uint32) {
	off := addr - sramBase
	switch size {
	case 1:
		c.sram[off] = byte(v)
	case 2:
		binary.LittleEndian.PutUint16(c.sram[off:], uint16(v))
	default:
		binary.LittleEndian.PutUint32(c.sram[off:], v)
	}
	if f := c.flags[off/bus.LineSize]; f != 0 {
		c.LineStored(manager, addr, size, f)
	}
}
