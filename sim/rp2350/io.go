package rp2350

import (
	"fmt"

	"github.com/stem-hw/stem-hw/sim/rp2350/periph"
)

// loadIO reads a register. Reads through an alias are plain reads.
func (c *Chip) loadIO(addr uint32, size uint8, o periph.Origin, peek bool) (v, wait uint32, ok bool) {
	s, off := c.find(addr)
	if s == nil || !c.access.allows(s, o) {
		return 0, 0, false
	}
	if s.window {
		return c.loadWindow(addr&^3, o, peek)
	}
	off = s.offset(off) &^ 3
	if s.refuser != nil && s.refuser.Refuses(off, false, o) {
		return 0, 0, false
	}
	wait = s.readWait
	switch {
	case c.gated(s):
		return 0, gateWait, peek
	case c.held(s):
		if !peek {
			c.explain(explainHeld, s.name+" is held in reset (RESETS): reads give 0", addr)
		}
		return 0, wait, true
	}
	if s.block == nil {
		if !peek {
			c.unmodelled(s, addr, "read")
		}
		return 0, wait, true
	}
	return s.block.Read(off, peek), wait, true
}

// offset strips the alias pages.
func (s *slot) offset(off uint32) uint32 {
	if s.flat {
		return off
	}
	return off & 0xfff
}

// storeIO writes a register through the alias that addr says.
func (c *Chip) storeIO(addr uint32, size uint8, v uint32, o periph.Origin) (wait uint32, ok bool) {
	s, off := c.find(addr)
	if s == nil || !c.access.allows(s, o) {
		return 0, false
	}
	if s.window {
		return c.storeWindow(addr&^3, replicate(v, size), o)
	}
	w := periph.Write{Raw: replicate(v, size), Size: size, Lane: uint8(addr & 3)}
	if !s.flat {
		if off&0x4000 != 0 && s.base < ahbBase {
			w.Raw = onLane(v, addr, size)
		}
		w.Op = periph.Op(off >> 12 & 3)
	}
	off = s.offset(off) &^ 3
	if s.refuser != nil && s.refuser.Refuses(off, true, o) {
		return 0, false
	}
	if c.gated(s) {
		return gateWait, false
	}
	wait = s.writeWait
	if w.Op != periph.Plain {
		wait += s.aliasWait
	}
	switch {
	case c.held(s):
		c.explain(explainHeld, s.name+" is held in reset (RESETS): the write is lost", addr)
	case s.block == nil:
		c.unmodelled(s, addr, "write")
	default:
		if s.holes != nil && !s.flat && !s.holes.Has(off) {
			c.explain(explainHole, fmt.Sprintf("%s has no register at offset %#05x: the write is ignored", s.name, off), addr)
		}
		s.block.Write(off, w)
	}
	return wait, true
}

// unmodelled says once for each block that its registers do nothing.
func (c *Chip) unmodelled(s *slot, addr uint32, verb string) {
	if s.noticed {
		return
	}
	s.noticed = true
	c.notice(fmt.Sprintf("%s is not modelled: reads give 0, writes are lost (first %s at %#08x)", s.name, verb, addr), addr)
}
