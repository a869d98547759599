package cortexm33

import "github.com/stem-hw/stem-hw/target"

// debug is Debug state: halting, stepping, the simulator's own breakpoints and
// watchpoints, and the registers of debugreg.go.
type debug struct {
	halted, haltReq, step bool
	// own: the simulator's debugger uses the core; ownReq: it asked for the halt.
	own, ownReq bool
	// enabled is DHCSR.C_DEBUGEN, maskInts C_MASKINTS in force.
	enabled, maskInts, cMask bool
	// stepIRQ: a step may take an interrupt; it then ends before the handler.
	stepIRQ, wasReset bool
	// retired is the count of instructions when S_RETIRE_ST was read last.
	retired             uint64
	demcr, dcrdr, dscsr uint32
	why                 uint32 // DFSR bit of the pending halt request

	points []target.Point
	breaks map[uint32]bool
	// cuts are the addresses this core keeps in the code cache's list.
	cuts []uint32
	// nWatch counts the watched ranges; pass is the address at which a
	// breakpoint does not stop a core that has just been resumed.
	nWatch int
	ranges [][2]uint32
	pass   uint32
	watchP target.Point
	watchA uint32
	reason target.Stop
}

func (d *debug) init() { d.pass = noPass }

const noPass = 1 // no instruction has an odd address

// Halted reports whether the core is in Debug state.
func (c *Core) Halted() bool { return c.dbg.halted }

// Halt puts the core into Debug state before its next instruction.
func (c *Core) Halt() {
	if !c.dbg.halted && !c.dbg.haltReq {
		c.dbg.haltReq, c.dbg.ownReq, c.dbg.why = true, true, dfsrHALTED
		c.dbg.reason.Reason = target.StopHalt
		c.attention()
	}
}

// HaltNow halts a core that does not run at this moment.
func (c *Core) HaltNow() {
	if !c.dbg.halted {
		c.enterDebug(dfsrHALTED, target.StopHalt)
	}
}

// Resume lets the core leave Debug state.
func (c *Core) Resume() {
	c.dbg.haltReq, c.dbg.ownReq = false, false
	if !c.dbg.halted {
		return
	}
	c.dbg.halted = false
	c.dbg.pass = c.pc
	c.attention()
}

// Step makes the core stop after one instruction once it is resumed. Interrupts
// are not taken by that instruction.
func (c *Core) Step(on bool) {
	c.dbg.step, c.dbg.stepIRQ = on, false
	c.dbg.own = c.dbg.own || on
}

// StopOnEbreak makes BKPT enter Debug state instead of raising an exception, as
// DHCSR.C_DEBUGEN does.
func (c *Core) StopOnEbreak(on bool) { c.dbg.enabled, c.dbg.own = on, on }

// PC is the address of the next instruction.
func (c *Core) PC() uint32 { return c.pc }

// SetPC sets it, as a Thumb address: bit 0 is ignored.
func (c *Core) SetPC(pc uint32) {
	c.pc, c.thumb, c.it = pc&^1, true, 0
	c.asleep = awake
	c.lockedUp = false
	c.attention()
}

// StopReason says why the core entered Debug state last.
func (c *Core) StopReason() target.Stop { return c.dbg.reason }

// SetPoints replaces all breakpoints and watchpoints of the core. There is no
// limit to their number; they do not use FPB or DWT.
func (c *Core) SetPoints(ps []target.Point) {
	c.dbg.points = append(c.dbg.points[:0], ps...)
	c.pointsChanged()
}

// pointsChanged puts all breakpoints and watchpoints, the debugger's own and
// those of FPB and DWT, into force.
func (c *Core) pointsChanged() {
	d := &c.dbg
	for _, a := range d.cuts {
		if c.code.cuts[a]--; c.code.cuts[a] <= 0 {
			delete(c.code.cuts, a)
		}
		c.code.invalidate(c, a, a+2)
	}
	d.cuts, d.breaks, d.ranges = d.cuts[:0], nil, d.ranges[:0]
	cut := func(a uint32) {
		if c.code.cuts == nil {
			c.code.cuts = map[uint32]int{}
		}
		c.code.cuts[a]++
		d.cuts = append(d.cuts, a)
		c.code.invalidate(c, a, a+2)
	}
	for _, p := range d.points {
		switch p.Kind {
		case target.PointSoftware, target.PointHardware:
			if d.breaks == nil {
				d.breaks = map[uint32]bool{}
			}
			d.breaks[p.Addr&^1] = true
			cut(p.Addr &^ 1)
		default:
			d.ranges = append(d.ranges, [2]uint32{p.Addr, p.Addr + max(p.Len, 1) - 1})
		}
	}
	if c.fpb.enabled {
		for _, v := range c.fpb.comp {
			if v&1 != 0 {
				cut(v &^ 1)
			}
		}
	}
	c.dwt.ranges(func(lo, hi uint32) { d.ranges = append(d.ranges, [2]uint32{lo, hi}) })
	d.nWatch = len(d.ranges)
	c.flushTLB()
	c.attention()
}

// watched reports whether a watched range touches the page at base, which then
// must not enter the TLB.
func (d *debug) watched(base uint32) bool {
	for _, r := range d.ranges {
		if r[0] <= base+pageSize-1 && r[1] >= base {
			return true
		}
	}
	return false
}

// watch looks whether an access hits a watchpoint; the core then halts behind
// the instruction.
func (c *Core) watch(addr, size uint32, write bool) {
	d := &c.dbg
	for _, p := range d.points {
		switch {
		case p.Kind <= target.PointHardware, p.Kind == target.PointWrite && !write, p.Kind == target.PointRead && write:
			continue
		}
		if addr < p.Addr+max(p.Len, 1) && addr+size > p.Addr {
			d.watchP, d.watchA = p, addr
			d.haltReq, d.ownReq, d.why = true, true, dfsrDWTTRAP
			d.reason.Reason = target.StopWatchpoint
			c.attention()
			return
		}
	}
	if d.demcr&demcrTRCENA != 0 && c.dwt.dataHit(addr, size, write) {
		d.watchP, d.watchA = target.Point{Kind: target.PointAccess, Addr: addr, Len: size}, addr
		c.debugEvent(dfsrDWTTRAP, target.StopWatchpoint)
	}
}

// debugEvent requests a halt, or pends DebugMonitor, whichever is enabled.
func (c *Core) debugEvent(why uint32, r target.StopReason) {
	switch {
	case c.haltsOnEvents():
		c.dbg.haltReq, c.dbg.why = true, why
		c.dbg.reason.Reason = r
		c.attention()
	case c.monitorReady():
		c.scs.dfsr |= why
		c.pend(excDebugMon, 0)
	}
}

// monitorReady reports whether a DebugMonitor exception would be taken now.
func (c *Core) monitorReady() bool {
	return c.dbg.demcr&demcrMONEN != 0 && c.prioOf(excDebugMon, 0) < c.executionPriority()
}

// breakpointHit looks for a breakpoint at pc. It returns true if the
// instruction must not be executed; c.abort then says what to do instead.
func (c *Core) breakpointHit(pc uint32) bool {
	d := &c.dbg
	if d.breaks[pc] && d.pass != pc {
		c.abort = abortHalt
		d.why, d.reason.Reason = dfsrBKPT, target.StopBreakpoint
		return true
	}
	if !c.fpb.hit(pc) && !(d.demcr&demcrTRCENA != 0 && c.dwt.insnHit(pc)) {
		return false
	}
	switch {
	case c.haltsOnEvents():
		c.abort = abortHalt
		d.why, d.reason.Reason = dfsrBKPT, target.StopBreakpoint
		return true
	case c.monitorReady():
		c.scs.dfsr |= dfsrBKPT
		c.fault(fault{exc: excDebugMon})
		return true
	}
	return false
}

// enterDebug halts the core; pc is that of the next instruction.
func (c *Core) enterDebug(why uint32, r target.StopReason) {
	d := &c.dbg
	d.halted, d.haltReq, d.ownReq = true, false, false
	c.scs.dfsr |= why
	c.asleep = awake
	d.reason = target.Stop{Core: c.hart, PC: c.pc, Reason: r}
	if r == target.StopWatchpoint {
		d.reason.Point, d.reason.Addr = d.watchP, d.watchA
	}
}

// vectorCatch halts instead of taking an exception that DEMCR catches.
func (c *Core) vectorCatch(exc uint32, bank int, f *fault) bool {
	d := &c.dbg
	if !c.haltsOnEvents() {
		return false
	}
	var bit uint32
	switch exc {
	case excHardFault:
		bit = demcrVCHARDERR
	case excMemManage:
		bit = demcrVCMMERR
	case excBusFault:
		bit = demcrVCBUSERR
	case excSecureFault:
		bit = demcrVCSFERR
	case excUsageFault:
		bit = demcrVCSTATERR
		if f != nil && f.cfsr&cfsrNOCP != 0 {
			bit = demcrVCNOCPERR
		} else if f != nil && f.cfsr&(cfsrUNALIGNED|cfsrDIVBYZERO) != 0 {
			bit = demcrVCCHKERR
		}
	}
	if d.demcr&bit == 0 {
		return false
	}
	c.enterDebug(dfsrVCATCH, target.StopCrash)
	return true
}

// coreReset is what a reset of the core does to debug: vector catch.
func (d *debug) coreReset(c *Core) {
	d.wasReset, d.halted, d.pass = true, false, noPass
	d.haltReq, d.ownReq = false, false
	if c.haltsOnEvents() && d.demcr&demcrVCCORERESET != 0 {
		d.haltReq, d.why = true, dfsrVCATCH
		d.reason.Reason = target.StopHalt
	}
	c.pointsChanged()
}
