package sim

import (
	"encoding/binary"
	"fmt"

	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/sim/hazard3"
	"github.com/stem-hw/stem-hw/sim/machine"
	"github.com/stem-hw/stem-hw/target"
)

// How firmware for a bare chip ends. The pico-sdk's _exit is a loop of
// breakpoint instructions; without a debugger the first one raises an
// exception, whose default handler is a breakpoint instruction again, and so
// for ever (crt0_riscv.S, crt0.S, newlib_interface.c of pico-sdk 2.2.0). A
// panic and a failed assertion end in _exit(1), an unhandled exception or
// interrupt in the handler's breakpoint.
//
// So that registers and stack are still those of the place where it happened,
// breakpoint instructions stop the core as under a debugger. If the firmware has
// a handler of its own, the exception is let happen and everything goes on. If
// the exception would lead nowhere, that is the end: a crash at once, unless the
// watchdog runs and will start the firmware again; an exit with status 0 when
// the other core has nothing to say any more either, since on the chip it goes
// on when main has returned.

// findsEnds says whether programs of this machine end that way.
func (t *Target) findsEnds() bool { return t.desc.Name == MachineRP2350 }

// ebreak deals with a core that stopped although no debugger is there.
func (t *Target) ebreak(core int) {
	c := t.cores[core]
	e, _ := c.(ebreaker)
	if t.passing[core] || e == nil || c.StopReason().Reason != target.StopBreakpoint {
		t.passing[core] = false
		if e != nil {
			e.StopOnEbreak(t.findsEnds())
		}
		c.Step(false)
		c.Resume()
		return
	}
	if t.endless(core) {
		s := t.endOf(core, "")
		watchdog := t.watchdogRuns(core)
		if !watchdog && (s.Reason != target.StopExit || s.Code != 0) {
			t.ended = true
			t.halted(s)
			return
		}
		if s.Crash != nil && s.Reason == target.StopCrash {
			t.notice(machine.Notice{
				Text: fmt.Sprintf("core %d crashed: %s; the watchdog runs and may reset the chip", core, s.Crash.Cause),
				Core: core, PC: s.PC,
			})
		}
		// It loops from here on; the machine tells when all is quiet.
		t.over[core] = &s
		e.StopOnEbreak(false)
		c.Resume()
		return
	}
	t.passing[core] = true
	e.StopOnEbreak(false)
	c.Step(true)
	c.Resume()
}

// The watchdog's control register on the RP2350, and its enable bit (datasheet
// 12.9, WATCHDOG_CTRL).
const (
	watchdogCtrl   = 0x400d8000
	watchdogEnable = 1 << 30
)

func (t *Target) watchdogRuns(core int) bool {
	var b [4]byte
	return t.m.Peek(core, watchdogCtrl, b[:]) == 4 && binary.LittleEndian.Uint32(b[:])&watchdogEnable != 0
}

// stuck deals with a core of which the machine says that it cannot go on.
func (t *Target) stuck(e machine.Event) {
	s := t.endOf(e.Core, e.Cause)
	if over := t.over[e.Core]; over != nil && !t.debug {
		s = *over
	}
	t.ended = true
	if t.debug && s.Reason == target.StopAsleep {
		s.Reason = target.StopCrash
	}
	t.halted(s)
}

// asleep deals with a machine in which nothing will happen any more. A core that
// is not asleep then jumps to itself for ever: if it does so in the handler of an
// exception, that is a crash.
func (t *Target) asleep(e machine.Event) {
	t.ended = true
	for i, c := range t.cores {
		if over := t.over[i]; over != nil {
			t.halted(*over)
			return
		}
		if !c.Asleep() && t.place(i, c.PC()) == inHandler {
			t.halted(t.endOf(i, ""))
			return
		}
	}
	t.halted(target.Stop{Reason: target.StopAsleep, Core: e.Core, PC: t.cores[e.Core].PC(), How: e.Cause})
}

// exitNames are the functions whose endless loop is an orderly end, with the
// status in the first argument register.
var exitNames = map[string]bool{"_exit": true, "_Exit": true}

// endOf describes the end of a core that cannot go on. cause is the machine's
// word for it, empty after a breakpoint instruction.
func (t *Target) endOf(core int, cause string) target.Stop {
	c := t.cores[core]
	pc := c.PC()
	s := target.Stop{Core: core, PC: pc}
	if t.debug && cause == "" {
		s.Reason = target.StopBreakpoint
		return s
	}
	where := t.place(core, pc)
	switch {
	case where == inExit:
		s.Reason, s.Code, s.How = target.StopExit, int(int32(t.arg0(core))), "exit()"
		if s.Code != 0 {
			s.Crash = t.crash(core, pc, "")
		}
		return s
	case where == inSpin:
		s.Reason, s.How = target.StopAsleep, "jumps to itself with interrupts off"
		return s
	}
	at := pc
	if where == inHandler {
		var why string
		if why, at = t.unhandled(core); why != "" {
			cause = why
		}
	}
	if cause == "" {
		cause = "breakpoint instruction without a debugger"
	}
	s.Reason, s.Crash = target.StopCrash, t.crash(core, at, cause)
	s.PC = at
	return s
}

type place uint8

const (
	elsewhere place = iota
	inExit          // the loop of _exit
	inHandler       // what handles exceptions, or interrupts nobody handles
	inSpin          // a jump to itself
)

// place says in what kind of dead end pc is.
func (t *Target) place(core int, pc uint32) place {
	fn, named := t.opt.Symbols.Function(pc)
	in, size := t.instruction(core, pc)
	switch {
	case named && exitNames[fn.Name]:
		return inExit
	case t.handles(core, pc), named && fn.Name == "__unhandled_user_irq":
		return inHandler
	case in == instrBreak && !named:
		// _exit without its name: a breakpoint and a jump back to it.
		if to, ok := t.jump(core, pc+size); ok && to == pc && t.arg0(core) < 256 {
			return inExit
		}
	case in == instrJump:
		if to, ok := t.jump(core, pc); ok && to == pc {
			if t.inException(core) {
				return inHandler
			}
			return inSpin
		}
	}
	return elsewhere
}

// endless reports whether the exception of a breakpoint instruction would be
// answered by another one, or by nothing at all.
func (t *Target) endless(core int) bool {
	pc, ok := t.handler(core)
	if !ok {
		return false
	}
	for range 8 {
		in, _ := t.instruction(core, pc)
		switch in {
		case instrBreak, instrNone:
			return true
		case instrJump:
			to, ok := t.jump(core, pc)
			if !ok {
				return false
			}
			if to == pc {
				return true
			}
			pc = to
		default:
			return false
		}
	}
	return false
}

// handles reports whether the handler of the last exception or interrupt leads
// to pc over nothing but jumps.
func (t *Target) handles(core int, pc uint32) bool {
	at, ok := t.handler(core)
	if t.arch() == image.ArchARM {
		return pc == armLockup || t.armVector(core) == pc
	}
	if !ok {
		return false
	}
	if cause := t.csr(core, csrMcause); cause>>31 == 1 && t.csr(core, csrMtvec)&1 == 1 {
		at += cause << 2
	}
	for range 8 {
		if at == pc {
			return t.csr(core, csrMepc) != pc
		}
		to, ok := t.jump(core, at)
		if !ok || to == at {
			return false
		}
		at = to
	}
	return false
}

// inException reports whether the core never came back from its last exception:
// a handler of the program's own, which may have done this and that before it
// gave up.
func (t *Target) inException(core int) bool {
	l, ok := t.cores[core].(interface{ LastTrap() hazard3.Trap })
	if !ok {
		return false
	}
	tr := l.LastTrap()
	return tr.Count > 0 && !tr.Returned && t.csr(core, csrMcause) == tr.Cause && t.csr(core, csrMepc) == tr.PC
}

// Kinds of instructions that matter here.
type instr uint8

const (
	instrOther instr = iota
	instrBreak
	instrJump
	instrNone // cannot be fetched, or no instruction
)

// instruction classifies what is at pc.
func (t *Target) instruction(core int, pc uint32) (kind instr, size uint32) {
	lo, ok := t.half(core, pc)
	if !ok {
		return instrNone, 0
	}
	if t.arch() == image.ArchARM {
		switch {
		case lo>>8 == 0xbe:
			return instrBreak, 2
		case lo>>11 == 0x1c:
			return instrJump, 2
		}
		return instrOther, 2
	}
	if lo == 0 {
		return instrNone, 2
	}
	if lo&3 != 3 {
		switch {
		case lo == 0x9002:
			return instrBreak, 2
		case lo&0xe003 == 0xa001:
			return instrJump, 2
		}
		return instrOther, 2
	}
	hi, ok := t.half(core, pc+2)
	if !ok {
		return instrNone, 4
	}
	switch w := uint32(hi)<<16 | uint32(lo); {
	case w == 0x00100073:
		return instrBreak, 4
	case w&0xfff == 0x06f:
		return instrJump, 4
	}
	return instrOther, 4
}

// jump returns where an unconditional jump at pc goes.
func (t *Target) jump(core int, pc uint32) (uint32, bool) {
	kind, size := t.instruction(core, pc)
	if kind != instrJump {
		return 0, false
	}
	lo, _ := t.half(core, pc)
	if t.arch() == image.ArchARM {
		return pc + 4 + uint32(int32(uint32(lo)<<21)>>20), true
	}
	if size == 2 { // c.j: offset bits 11|4|9:8|10|6|7|3:1|5
		w := uint32(lo)
		o := w>>12&1<<11 | w>>11&1<<4 | w>>9&3<<8 | w>>8&1<<10 | w>>7&1<<6 | w>>6&1<<7 | w>>3&7<<1 | w>>2&1<<5
		return pc + uint32(int32(o<<20)>>20), true
	}
	hi, _ := t.half(core, pc+2)
	w := uint32(hi)<<16 | uint32(lo)
	o := w>>31&1<<20 | w>>21&0x3ff<<1 | w>>20&1<<11 | w>>12&0xff<<12
	return pc + uint32(int32(o<<11)>>11), true
}

func (t *Target) half(core int, addr uint32) (uint16, bool) {
	var b [2]byte
	if t.m.Peek(core, addr, b[:]) != 2 {
		return 0, false
	}
	return binary.LittleEndian.Uint16(b[:]), true
}
