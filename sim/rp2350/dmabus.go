package rp2350

import "github.com/stem-hw/stem-hw/sim/rp2350/periph"

var _ periph.MemoryBus = env{}

// dmaReach reports whether the DMA controller's ports reach an address: SIO and
// the processors' own registers are not on its side of the fabric (datasheet
// 12.6.7).
func dmaReach(addr uint32) bool { return addr>>28 < 6 }

// DMARead implements periph.MemoryBus.
func (e env) DMARead(addr uint32, size uint8, o periph.Origin) (v, wait uint32, ok bool) {
	if !dmaReach(addr) {
		return 0, 0, false
	}
	return e.c.load(e.c.nodes[0], addr, size, o, false)
}

// DMARefusal implements periph.MemoryBus.
func (e env) DMARefusal(addr uint32, write bool, o periph.Origin) string {
	switch {
	case !dmaReach(addr):
		return "DMA reaches neither SIO nor the cores' own registers"
	case write && addr>>28 <= 1:
		return "it cannot be written"
	}
	return e.c.refusal(addr, write, o)
}

// DMAWrite implements periph.MemoryBus. Its writes kill the reservations of both
// cores, as o.Core is neither.
func (e env) DMAWrite(addr uint32, size uint8, v uint32, o periph.Origin) (wait uint32, ok bool) {
	if !dmaReach(addr) {
		return 0, false
	}
	if addr>>28 == 2 && addr-sramBase < sramSize {
		e.c.storeSRAMBy(o.Core, addr, size, v)
		return 0, true
	}
	return e.c.store(e.c.nodes[0], addr, size, v, o)
}
