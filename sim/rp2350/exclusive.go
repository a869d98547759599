package rp2350

import (
	"encoding/binary"

	"github.com/stem-hw/stem-hw/sim/bus"
)

// The global exclusive monitor (datasheet 2.1.6): one reservation for each
// core, 16 bytes, SRAM only. A write by anybody else to the granule kills it
// and posts an event to the core that lost it.

func inSRAM(addr uint32) bool { return addr-sramBase < sramSize }

// LoadExclusive implements bus.Bus.
func (b *coreBus) LoadExclusive(now uint64, addr uint32, size uint8, a bus.Access) (v, wait uint32, granted, ok bool) {
	v, wait, ok = b.Load(now, addr, size, a)
	if !ok || !inSRAM(addr) {
		return v, wait, false, ok
	}
	c := b.c
	c.dropReservation(b.n)
	b.n.reservation = addr / bus.LineSize
	c.flags[(addr-sramBase)/bus.LineSize] |= bus.LineReserved
	return v, wait, true, true
}

// StoreExclusive implements bus.Bus.
func (b *coreBus) StoreExclusive(now uint64, addr uint32, size uint8, v uint32, a bus.Access) (wait uint32, stored, ok bool) {
	b.at(now)
	c := b.c
	stands := inSRAM(addr) && b.n.reservation == addr/bus.LineSize
	c.dropReservation(b.n)
	if !stands {
		return 0, false, true // no access is made
	}
	c.storeSRAM(b.n, addr, size, v)
	return 0, true, true
}

// AMO implements bus.Bus.
func (b *coreBus) AMO(now uint64, addr uint32, f func(old uint32) uint32, a bus.Access) (old, wait uint32, ok bool) {
	b.at(now)
	if !inSRAM(addr) {
		return 0, 0, false
	}
	c := b.c
	old = binary.LittleEndian.Uint32(c.sram[addr-sramBase:])
	c.storeSRAM(b.n, addr, 4, f(old))
	return old, 0, true
}

// dropReservation forgets a core's reservation.
func (c *Chip) dropReservation(n *node) {
	g := n.reservation
	if g == noReservation {
		return
	}
	n.reservation = noReservation
	if n.other.reservation != g {
		c.flags[g-sramBase/bus.LineSize] &^= bus.LineReserved
	}
}

// LineStored implements bus.Watcher: hart stored into a line that somebody
// watches.
func (c *Chip) LineStored(hart int, addr uint32, size uint8, flags uint8) {
	if flags&bus.LineCode != 0 {
		line := addr &^ (bus.LineSize - 1)
		c.flags[(line-sramBase)/bus.LineSize] &^= bus.LineCode
		for _, n := range c.nodes {
			n.cpu.InvalidateCode(line, line+bus.LineSize)
		}
	}
	if flags&bus.LineReserved != 0 {
		for _, n := range c.nodes {
			if n.id != hart && n.reservation == addr/bus.LineSize {
				c.dropReservation(n)
				c.postEventTo(n)
			}
		}
	}
}
