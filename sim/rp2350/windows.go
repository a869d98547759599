package rp2350

import "github.com/stem-hw/stem-hw/sim/bus"

// remap gives the cores their windows: SRAM, flash as far as translation, cache
// and direct mode let it be read plainly, and XIP_SRAM when all of it is
// pinned. Everything else goes through the fabric.
func (c *Chip) remap() {
	if c.nodes[0] == nil || c.nodes[0].cpu == nil {
		return
	}
	if c.counts() {
		c.nodes[0].cpu.Map(nil)
		c.nodes[1].cpu.Map(nil)
		return
	}
	ws := []bus.Window{{Base: sramBase, Mem: c.sram, Flags: c.flags, Writable: true, Executable: true}}
	ws = c.flashWindows(ws)
	if x := c.xip; x.pinnedTop == len(x.pin) && x.ctrl&xipEnSecure != 0 {
		if c.cacheFlags == nil {
			c.cacheFlags = make([]uint8, cacheSize/bus.LineSize)
		}
		ws = append(ws, bus.Window{Base: xipSRAMBase, Mem: x.data[:], Flags: c.cacheFlags, Writable: true, Executable: true})
	}
	for _, n := range c.nodes {
		n.cpu.Map(ws)
	}
}

// flashWindows appends one window for each run of flash that is contiguous in
// the address space and in the chip.
func (c *Chip) flashWindows(ws []bus.Window) []bus.Window {
	q, x := c.qmi, c.xip
	if q.direct() || c.flash.Busy() {
		return ws
	}
	m := c.flash.Bytes()
	size := uint32(len(m))
	// Pinned lines inside the flash's address range hide it.
	cached := x.pinned == x.pinnedTop
	for pane := uint32(0); pane < 4; {
		t := q.atrans[pane]
		n, phys := t>>16<<12, t&0xfff<<12
		base := pane * paneSize
		pane++
		if n > paneSize {
			n = paneSize
		}
		for n != 0 && n%paneSize == 0 && pane < 4 && q.atrans[pane]&0xfff<<12 == phys+n {
			more := min(q.atrans[pane]>>16<<12, paneSize)
			n += more
			pane++
			if more != paneSize {
				break
			}
		}
		if phys >= size {
			continue // mirrored by the flash chip; the fabric serves it
		}
		n = min(n, size-phys)
		if n == 0 {
			continue
		}
		w := bus.Window{Mem: m[phys : phys+n], Executable: true}
		if cached {
			w.Base = xipBase + base
			ws = append(ws, w)
		}
		if x.ctrl&xipNoUncachedSec == 0 {
			w.Base = xipNoCache + base
			ws = append(ws, w)
		}
	}
	if x.ctrl&xipNoUntranslatedSec == 0 {
		ws = append(ws, bus.Window{Base: xipNoTranslate, Mem: m, Executable: true})
	}
	return ws
}

// invalidate drops decoded code in an address range on both cores.
func (c *Chip) invalidate(lo, hi uint32) {
	for _, n := range c.nodes {
		if n != nil && n.cpu != nil {
			n.cpu.InvalidateCode(lo, hi)
		}
	}
}

// flashChanged hears from the flash chip that [lo, hi) of it changed. Where
// that is in the address space depends on the translation; the untranslated
// identity is not enough, so all decoded flash code goes.
func (c *Chip) flashChanged(lo, hi uint32) {
	c.invalidate(xipBase, xipEnd-1)
}
