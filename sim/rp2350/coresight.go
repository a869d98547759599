package rp2350

import (
	"github.com/stem-hw/stem-hw/sim/debugport"
	"github.com/stem-hw/stem-hw/sim/rp2350/periph"
)

// The window of self-hosted debug (RP2350 datasheet 3.5.6).
const (
	coresightBase = 0x40140000
	// apbTimeout is when the APB bridge gives up, in cycles (datasheet 2.1.4).
	apbTimeout = 65535
)

// windowRefused reports whether the fabric refuses an access of the window at
// once: a core at its own access port, or an access port at an access port.
func (c *Chip) windowRefused(off uint32, o periph.Origin) bool {
	core, is := debugport.WindowCore(off)
	if !is {
		return false
	}
	if o.Core == originDebugger {
		return c.nodes[c.accessCore&1].isArm()
	}
	return o.Core == core
}

// windowLocks reports whether an access of the window would wait for itself: it
// occupies the APB bridge while the access port it drives asks for it.
func (c *Chip) windowLocks(off uint32) bool {
	addr, ok := c.AccessPorts().WindowTarget(off)
	return ok && addr>>28 == apbBase>>28
}

// loadWindow and storeWindow make an access of the window.
func (c *Chip) loadWindow(addr uint32, o periph.Origin, peek bool) (v, wait uint32, ok bool) {
	off := addr - coresightBase
	switch {
	case c.windowRefused(off, o):
		return 0, 0, false
	case peek: // most registers of access ports do something when they are read
		return 0, 0, true
	case c.windowLocks(off):
		return 0, apbTimeout, false
	}
	defer c.throughWindow()()
	v, ok = c.AccessPorts().WindowRead(off)
	return v, apbReadWait, ok
}

func (c *Chip) storeWindow(addr, v uint32, o periph.Origin) (wait uint32, ok bool) {
	off := addr - coresightBase
	switch {
	case c.windowRefused(off, o):
		return 0, false
	case c.windowLocks(off):
		return apbTimeout, false
	}
	defer c.throughWindow()()
	return apbWriteWait, c.AccessPorts().WindowWrite(off, v)
}

// throughWindow prepares an access in which a running core acts as a debugger of
// the other one. The function it returns ends it.
func (c *Chip) throughWindow() func() {
	who := c.accessCore
	return func() {
		c.accessCore = who
		c.followDue = true
		c.shorten(0)
	}
}

// AccessPorts are the chip's access ports, for debuggers outside and within.
func (c *Chip) AccessPorts() *debugport.AccessPorts {
	if c.aps == nil {
		c.aps = debugport.NewAccessPorts(c.DebugPort())
	}
	return c.aps
}
