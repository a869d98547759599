package sim

import (
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/sim/machine"
)

// Register numbers of arguments and results.
const (
	riscvA0, riscvA1 = 10, 11
	armR0, armR1     = 0, 1
)

// semihost serves a semihosting breakpoint of a core.
func (t *Target) semihost(core int) (machine.Event, bool) {
	c := &semihostCore{t: t, core: core, arg0: riscvA0, arg1: riscvA1}
	if t.desc.Arch == image.ArchARM {
		c.arg0, c.arg1 = armR0, armR1
	}
	pc := t.cores[core].PC()
	r := t.host.Call(c)
	switch {
	case r.Again:
		t.again, t.againCore, t.againPC = true, core, pc
		return machine.Event{Kind: machine.EventLimit}, true
	case r.Exit:
		return machine.Event{Kind: machine.EventExit, Core: core, Code: r.Code, How: r.How}, true
	}
	return machine.Event{}, false
}

// semihostCore is a core as package semihost wants it.
type semihostCore struct {
	t          *Target
	core       int
	arg0, arg1 int
}

// Args implements semihost.Core.
func (c *semihostCore) Args() (op, param uint32) {
	a, _ := c.t.cores[c.core].ReadReg(c.arg0)
	b, _ := c.t.cores[c.core].ReadReg(c.arg1)
	return uint32(a), uint32(b)
}

// SetResult implements semihost.Core.
func (c *semihostCore) SetResult(v uint32) {
	c.t.cores[c.core].WriteReg(c.arg0, uint64(v))
}

// Read implements semihost.Core.
func (c *semihostCore) Read(addr uint32, p []byte) bool {
	return c.t.m.Peek(c.core, addr, p) == len(p)
}

// Write implements semihost.Core.
func (c *semihostCore) Write(addr uint32, p []byte) bool {
	return c.t.m.Poke(c.core, addr, p, false) == len(p)
}

// semihostConsole is the console of semihosting calls: the target's own.
type semihostConsole struct{ t *Target }

// Put implements semihost.Console.
func (c semihostConsole) Put(p []byte) {
	for _, b := range p {
		c.t.output("semihosting", b)
	}
}

// Get implements semihost.Console.
func (c semihostConsole) Get(p []byte) (n int, closed bool) {
	// A program that reads this way gets all input from here on.
	c.t.semiInput = true
	if len(c.t.pending) > 0 {
		n = copy(p, c.t.pending)
		c.t.pending = c.t.pending[n:]
		return n, false
	}
	// Ask for the end first: what is written before it is not lost then.
	ended := c.t.in.ended()
	got := c.t.in.take(p[:0], len(p))
	return len(got), len(got) == 0 && ended
}
