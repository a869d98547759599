package rp2350

import (
	"github.com/stem-hw/stem-hw/sim/machine"
	"github.com/stem-hw/stem-hw/sim/rp2350/periph"
)

// Dormant implements periph.System.
func (e env) Dormant() {
	e.c.dormant = true
	e.c.shorten(0)
}

// stayDormant lets the world outside go on until something wakes the chip; no
// cycle of clk_sys passes. done says that Run must return.
func (c *Chip) stayDormant() (e machine.Event, done bool) {
	c.now = c.clock
	if c.parts.DormantWake() {
		c.dormant = false
		c.parts.WakeOscillators()
		return e, false
	}
	here := c.line.Picos(c.now)
	next, any := uint64(0), false
	for _, a := range c.alarms {
		if !any || a.picos < next {
			next, any = a.picos, true
		}
	}
	if p, ok := c.parts.NextWake(); ok && (!any || here+p < next) {
		next, any = here+p, true
	}
	if !any {
		return machine.Event{Kind: machine.EventAsleep, Cause: "dormant, and nothing will wake the chip"}, true
	}
	if next > here {
		c.line.Jump(c.now, next)
		c.parts.Pass(next - here)
	}
	c.placeAlarms()
	c.fire(c.now)
	return e, false
}

// PowerDown implements periph.System: the cores are looked at when none runs.
func (e env) PowerDown() { e.c.shorten(0) }

// powerDown switches the core domain off: both cores wait.
func (c *Chip) powerDown() {
	c.now = c.clock
	lost := c.parts.Powman.SwitchOff()
	c.resetParts(periph.ResetChip, psmAll)
	for _, n := range c.nodes {
		n.held = true
	}
	c.boot.powerUp()
	env{c}.Memories(lost)
}

// PowerUp implements periph.System: the chip boots with what stayed on.
func (e env) PowerUp() {
	c := e.c
	for _, n := range c.nodes {
		n.held = false
		c.resetCore(n)
	}
	c.startCores()
	c.report(machine.Event{Kind: machine.EventReset, How: "powered up by POWMAN"})
}

// Memories implements periph.System: what lost its power holds nothing.
func (e env) Memories(lost periph.MemoryDomain) {
	c := e.c
	const half = 0x40000
	if lost&periph.DomainSRAM0 != 0 {
		c.forget(0, half)
	}
	if lost&periph.DomainSRAM1 != 0 {
		c.forget(half, sramSize)
	}
	if lost&periph.DomainXIP != 0 && c.xip.pinned > 0 {
		c.xip.unpinAll()
	}
}

// forget clears a part of SRAM.
func (c *Chip) forget(lo, hi uint32) {
	clear(c.sram[lo:hi])
	c.outsideWrite(sramBase+lo, hi-lo)
}
