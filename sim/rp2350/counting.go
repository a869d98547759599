package rp2350

import "github.com/stem-hw/stem-hw/sim/rp2350/periph"

// CountBus implements periph.System. While the performance counters count, the
// cores have no windows: every access goes through the fabric and is seen.
func (e env) CountBus(bool) { e.c.remap() }

// counts reports whether accesses are counted. It is called while the chip is
// being built, too.
func (c *Chip) counts() bool { return c.parts != nil && c.parts.Bus != nil && c.parts.Bus.Counting() }

// counted counts an access.
func (c *Chip) counted(core int, addr, wait uint32) {
	b := c.parts.Bus
	switch addr >> 28 {
	case 0:
		b.Access(periph.PortROM, wait)
	case 1:
		b.Access(periph.PortXIP0-periph.BusEvent(addr>>3&1)*4, wait)
	case 2:
		b.Access(sramPort(addr-sramBase), wait)
	case 4:
		b.Access(periph.PortAPB, wait)
	case 5:
		b.Access(periph.PortFastPeri, wait)
	case 0xd:
		b.Access([2]periph.BusEvent{periph.PortSIO0, periph.PortSIO1}[core&1], wait)
	}
}

// sramPort is the port of the bank that holds an offset: each half is striped
// over four banks, the two small ones are not (datasheet 4.2).
func sramPort(off uint32) periph.BusEvent {
	bank := off >> 2 & 3
	switch {
	case off >= 0x81000:
		bank = 9
	case off >= 0x80000:
		bank = 8
	case off >= 0x40000:
		bank += 4
	}
	return periph.PortSRAM0 - periph.BusEvent(bank)*4
}
