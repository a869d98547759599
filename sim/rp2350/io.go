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
	off = s.offset(off) &^ 3
	if s.refuser != nil && s.refuser.Refuses(off, false, o) {
		return 0, 0, false
	}
	wait = s.readWait
	if c.held(s) {
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
	wait = s.writeWait
	if w.Op != periph.Plain {
		wait += s.aliasWait
	}
	switch {
	case c.held(s):
	case s.block == nil:
		c.unmodelled(s, addr, "write")
	default:
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
