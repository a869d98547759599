package hazard3

import (
	"github.com/stem-hw/stem-hw/sim/bus"
	"github.com/stem-hw/stem-hw/target"
)

// access rights of loads and stores by privilege; U-mode counts as
// Non-secure on RP2350.
const (
	accessM = bus.Privileged
	accessU = bus.NonSecure
)

// debugState is Debug mode and the simulator's own breakpoints.
type debugState struct {
	mode    bool // the core is halted; its pc is dpc
	dcsr    uint32
	step    uint32 // dcsr.step, as what must be looked at
	haltReq uint32 // the cause of a halt that was asked for, 0 for none
	data0   uint32 // dmdata0, the Debug Module's register

	// injecting: an instruction of the Debug Module is executed; external: a
	// debugger accesses a CSR. exception tells how the injected one ended.
	injecting, external bool
	exception           bool

	points   []target.Point
	breaks   map[uint32]struct{}
	watching bool
	// passBreak: the breakpoint at the address the core was resumed at does
	// not stop it again; passWatch: nor the watchpoint of its instruction.
	passBreak, passWatch bool
	// checks: something must be looked at before each instruction. Breakpoints
	// need no such look: blocks end before them.
	checks bool

	reason target.Stop
}

// Halted reports whether the core is in Debug mode.
func (c *Core) Halted() bool { return c.dbg.mode }

// Halt puts the core into Debug mode, before its next instruction when it is
// running now.
func (c *Core) Halt() {
	if !c.dbg.mode && c.dbg.haltReq == 0 {
		c.dbg.haltReq = debugHalt
		c.attn = true
	}
}

// HaltNow puts a core that does not run at this moment into Debug mode at
// once. It must not be called from a hook or a bus call of this core.
func (c *Core) HaltNow() {
	if !c.dbg.mode {
		c.sleep = awake
		c.enterDebug(debugHalt)
	}
}

// Resume lets the core leave Debug mode.
func (c *Core) Resume() {
	c.dbg.haltReq = 0
	if !c.dbg.mode {
		return
	}
	c.dbg.mode = false
	c.dbg.passBreak, c.dbg.passWatch = true, true
	c.lock.stuck, c.lock.valid = false, false
	c.attn = true
}

// Step makes the core stop after one instruction once it is resumed
// (dcsr.step). Interrupts are not taken then, and wfi does not wait.
func (c *Core) Step(on bool) {
	c.dbg.dcsr &^= dcsrStep
	if on {
		c.dbg.dcsr |= dcsrStep
	}
	c.dbg.step = c.dbg.dcsr & dcsrStep
	c.updateChecks()
}

// StopOnEbreak makes ebreak enter Debug mode instead of raising an exception
// (dcsr.ebreakm and ebreaku): what a debugger wants.
func (c *Core) StopOnEbreak(on bool) {
	c.dbg.dcsr &^= dcsrEbreakM | dcsrEbreakU
	if on {
		c.dbg.dcsr |= dcsrEbreakM | dcsrEbreakU
	}
}

// PC is the address of the next instruction.
func (c *Core) PC() uint32 { return c.pc }

// SetPC sets it.
func (c *Core) SetPC(pc uint32) {
	c.pc = pc &^ 1
	c.loading, c.excl = 0, false
	c.sleep = awake
	c.lock.stuck, c.lock.valid = false, false
}

// SetPoints replaces all breakpoints and watchpoints of the core. There is no
// limit to their number; they do not use the trigger module.
func (c *Core) SetPoints(ps []target.Point) {
	for addr := range c.dbg.breaks {
		c.code.stop(addr, -1)
	}
	c.dbg.points = append(c.dbg.points[:0], ps...)
	c.dbg.breaks = nil
	c.dbg.watching = false
	for _, p := range ps {
		switch p.Kind {
		case target.PointSoftware, target.PointHardware:
			if c.dbg.breaks == nil {
				c.dbg.breaks = make(map[uint32]struct{})
			}
			if _, ok := c.dbg.breaks[p.Addr]; !ok {
				c.dbg.breaks[p.Addr] = struct{}{}
				c.code.stop(p.Addr, 1)
			}
		default:
			c.dbg.watching = true
		}
	}
	c.updateChecks()
}

// StopReason says why the core entered Debug mode last.
func (c *Core) StopReason() target.Stop { return c.dbg.reason }

// updateChecks decides whether the loop must look at each instruction.
func (c *Core) updateChecks() {
	d := &c.dbg
	d.checks = d.watching || d.step != 0 || c.pmp.fetchActive || c.trig.active()
}

// enterDebug halts the core; pc is that of the next instruction.
func (c *Core) enterDebug(cause uint32) {
	d := &c.dbg
	d.mode = true
	d.haltReq = 0
	d.dcsr = d.dcsr&^(7<<6) | cause<<6
	r := target.Stop{Core: c.hart, PC: c.pc}
	switch cause {
	case debugEbreak, debugTrigger:
		r.Reason = target.StopBreakpoint
	case debugStep:
		r.Reason = target.StopStep
	default:
		r.Reason = target.StopHalt
	}
	d.reason = r
}

// breakHit stops the core at a breakpoint of the simulator's debugger.
func (c *Core) breakHit() bool {
	if _, ok := c.dbg.breaks[c.pc]; !ok {
		return false
	}
	if c.dbg.passBreak {
		return false
	}
	c.enterDebug(debugTrigger)
	return true
}

// watchHit stops the core before an access that a watchpoint waits for.
func (c *Core) watchHit(addr uint32, size uint8, write bool) bool {
	if c.dbg.passWatch || c.dbg.injecting {
		return false
	}
	for _, p := range c.dbg.points {
		switch p.Kind {
		case target.PointWrite:
			if !write {
				continue
			}
		case target.PointRead:
			if write {
				continue
			}
		case target.PointAccess:
		default:
			continue
		}
		n := max(p.Len, 1)
		if addr+uint32(size) > p.Addr && addr < p.Addr+n {
			c.enterDebug(debugTrigger)
			c.dbg.reason.Reason = target.StopWatchpoint
			c.dbg.reason.Point = p
			c.dbg.reason.Addr = addr
			return true
		}
	}
	return false
}
