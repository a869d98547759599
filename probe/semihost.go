package probe

import (
	"context"

	"github.com/stem-hw/stem-hw/target"
)

// semihosted serves a semihosting call that a core stands at. again is true if
// the core runs on, or waits for input; a call that ends the program ends the
// running.
func (t *Target) semihosted(ctx context.Context, core int, pc uint32) (again bool, err error) {
	if t.host == nil {
		return false, nil
	}
	if t.pointAt(pc) {
		return false, nil
	}
	arg0, arg1, next, ok := t.eng.semihosting(ctx, core, pc)
	if !ok {
		return false, nil
	}
	c := &semihostCore{t: t, ctx: ctx, core: core, arg0: arg0, arg1: arg1}
	r := t.host.Call(c)
	if c.err != nil {
		return false, c.err
	}
	switch {
	case r.Again:
		return true, nil // the next look makes the call again
	case r.Exit:
		if err := t.eng.halt(ctx, t.run&^(1<<core)); err != nil {
			return false, err
		}
		return false, t.halted(ctx, target.Stop{Core: core, Reason: target.StopExit, PC: pc, Code: r.Code, How: r.How})
	}
	if err := t.eng.setPC(ctx, core, next); err != nil {
		return false, err
	}
	return true, t.eng.resume(ctx, 1<<core)
}

// typed is called when there is input: a call that waits is made again by the
// next look at the cores.
func (t *Target) typed() {}

// semihostCore is a core as package semihost wants it.
type semihostCore struct {
	t          *Target
	ctx        context.Context
	core       int
	arg0, arg1 int
	err        error
}

func (c *semihostCore) keep(err error) bool {
	if err != nil && c.t.isLost(err) {
		c.err = err
	}
	return err == nil
}

// Args implements semihost.Core.
func (c *semihostCore) Args() (op, param uint32) {
	a, err := c.t.eng.register(c.ctx, c.core, c.arg0)
	if err == nil {
		var b uint64
		b, err = c.t.eng.register(c.ctx, c.core, c.arg1)
		param = uint32(b)
	}
	if err != nil {
		c.err = err
	}
	return uint32(a), param
}

// SetResult implements semihost.Core.
func (c *semihostCore) SetResult(v uint32) {
	if err := c.t.eng.setRegister(c.ctx, c.core, c.arg0, uint64(v)); err != nil {
		c.err = err
	}
}

// Read implements semihost.Core.
func (c *semihostCore) Read(addr uint32, p []byte) bool {
	return c.keep(c.t.eng.read(c.ctx, c.core, addr, p, true))
}

// Write implements semihost.Core. What a debugger may not write, a program's
// call may not either.
func (c *semihostCore) Write(addr uint32, p []byte) bool {
	if why, _ := refusal(addr, len(p)); why != "" {
		return false
	}
	return c.keep(c.t.eng.write(c.ctx, c.core, addr, p, true))
}
