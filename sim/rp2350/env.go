package rp2350

import (
	"github.com/stem-hw/stem-hw/sim/machine"
	"github.com/stem-hw/stem-hw/sim/rp2350/periph"
	"github.com/stem-hw/stem-hw/sim/timebase"
)

// env is the chip as its blocks see it.
type env struct{ c *Chip }

var (
	_ periph.Env    = env{}
	_ periph.System = env{}
)

func (e env) Now() uint64 { return e.c.now }

func (e env) Schedule(ev *periph.Event, when uint64) {
	c := e.c
	if when < c.now {
		when = c.now
	}
	c.q.schedule(ev, when)
	c.shorten(when)
}

func (e env) Cancel(ev *periph.Event) { e.c.q.cancel(ev) }

func (e env) SetIRQ(n int, level bool) {
	c := e.c
	old := c.irq
	c.irq = setBit(old, n, level)
	if c.irq != old {
		c.nodes[0].refreshIRQs(c)
		c.nodes[1].refreshIRQs(c)
	}
}

func (e env) SetCoreIRQ(core, n int, level bool) {
	c := e.c
	nd := c.nodes[core&1]
	old := nd.irq
	nd.irq = setBit(old, n, level)
	if nd.irq != old {
		nd.refreshIRQs(c)
	}
}

func setBit(v uint64, n int, on bool) uint64 {
	if on {
		return v | 1<<uint(n)
	}
	return v &^ (1 << uint(n))
}

func (e env) Notice(text string) { e.c.notice(text, 0) }

func (e env) Core() int {
	if e.c.cur != nil {
		return e.c.cur.id
	}
	return e.c.accessCore
}

// notice reports a remark, each distinct text once.
func (c *Chip) notice(text string, addr uint32) {
	if c.noticed[text] {
		return
	}
	c.noticed[text] = true
	if c.hooks.Notice == nil {
		return
	}
	n := machine.Notice{Text: text, Addr: addr}
	if c.cur != nil {
		n.Core, n.PC = c.cur.id, c.cur.cpu.PC()
	}
	c.hooks.Notice(n)
}

// SysClock implements periph.System.
func (e env) SysClock(r timebase.Rate) {
	if e.c.line.Rate() == r {
		return
	}
	e.c.line.SetRate(e.c.now, r)
	e.c.sio.clockChanged()
	e.c.placeAlarms()
	// Limits given in seconds were computed with the old rate.
	e.c.shorten(e.c.now)
}

// SysRate implements periph.System.
func (e env) SysRate() timebase.Rate { return e.c.line.Rate() }

// HoldBlocks implements periph.System.
func (e env) HoldBlocks(mask uint32) {
	c := e.c
	newly := mask &^ c.heldBlocks
	c.heldBlocks = mask
	for _, s := range c.slots {
		if s.block != nil && s.resetBit >= 0 && newly>>uint(s.resetBit)&1 != 0 {
			s.block.Reset()
		}
	}
}

// HoldCore implements periph.System.
func (e env) HoldCore(core int, held bool) {
	n := e.c.nodes[core&1]
	n.psmHeld = held
	e.c.hold(n)
}

// Reset implements periph.System.
func (e env) Reset(cause periph.ResetCause, psm uint32) {
	c := e.c
	c.resetPending, c.resetCause, c.resetPSM = true, cause, psm
	c.shorten(0)
}
