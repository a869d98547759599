package sim

import (
	"fmt"

	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/sim/hazard3"
	"github.com/stem-hw/stem-hw/target"
)

// Numbers of registers in gdb's numbering (see target.Register).
const (
	riscvPC   = 32
	csrBase   = 65
	csrMtvec  = 0x305
	csrMepc   = 0x341
	csrMcause = 0x342
	armPC     = 15
	armXPSR   = 25
)

// armVTOR is the address of the vector table's address (Arm v8-M, B3.2.1), and
// vectorHardFault the offset of the handler of last resort.
const (
	armVTOR         = 0xe000ed08
	vectorHardFault = 3 * 4
)

func (t *Target) arch() image.Arch { return t.desc.Arch }

func (t *Target) arg0(core int) uint32 {
	n := riscvA0
	if t.arch() == image.ArchARM {
		n = armR0
	}
	v, _ := t.cores[core].ReadReg(n)
	return uint32(v)
}

func (t *Target) csr(core, n int) uint32 {
	v, _ := t.cores[core].ReadReg(csrBase + n)
	return uint32(v)
}

// handler returns the address that handles exceptions.
func (t *Target) handler(core int) (uint32, bool) {
	if t.arch() != image.ArchARM {
		v, ok := t.cores[core].ReadReg(csrBase + csrMtvec)
		return uint32(v) &^ 3, ok
	}
	at := t.armWord(core, t.armWord(core, armVTOR)+vectorHardFault) &^ 1
	return at, at != 0
}

// unhandled describes the exception or interrupt that nobody handled, and where
// it happened.
func (t *Target) unhandled(core int) (cause string, pc uint32) {
	if t.arch() == image.ArchARM {
		if f, ok := t.cores[core].(interface {
			Fault() (text string, pc uint32, ok bool)
		}); ok {
			if text, pc, ok := f.Fault(); ok {
				return text + ", which nothing handles", pc
			}
		}
		if st := t.armStacked(core); st != nil {
			x, _ := t.cores[core].ReadReg(armXPSR)
			return fmt.Sprintf("exception %d, which nothing handles", x&0x1ff), st[armPC]
		}
		return "", t.cores[core].PC()
	}
	mcause, mepc := t.csr(core, csrMcause), t.csr(core, csrMepc)
	if mcause>>31 == 1 {
		if n := t.arg0(core); mcause<<1>>1 == 11 && n < 64 {
			// __unhandled_user_irq leaves the number in a0.
			return fmt.Sprintf("interrupt %d, which nothing handles", n), mepc
		}
		return hazard3.CauseName(mcause) + ", which nothing handles", mepc
	}
	cause = hazard3.CauseName(mcause)
	if l, ok := t.cores[core].(interface{ LastTrap() hazard3.Trap }); ok {
		if tr := l.LastTrap(); tr.Cause == mcause && tr.PC == mepc && tr.HasAddr {
			cause += fmt.Sprintf(" at %#08x", tr.Addr)
		}
	}
	if mcause == 2 {
		if in, ok := t.half(core, mepc); ok {
			v := uint32(in)
			if hi, ok := t.half(core, mepc+2); ok && in&3 == 3 {
				v |= uint32(hi) << 16
			}
			cause += fmt.Sprintf(" %#x", v)
		}
	}
	return cause, mepc
}

// crash collects what is known of a core at pc.
func (t *Target) crash(core int, pc uint32, cause string) *target.Crash {
	cr := &target.Crash{Cause: cause, Core: core, PC: pc}
	c := t.cores[core]
	last := riscvPC
	var stacked map[int]uint32
	if t.arch() == image.ArchARM {
		last = armXPSR
		if t.place(core, c.PC()) == inHandler {
			stacked = t.armStacked(core)
		}
	}
	reg := func(n int) (uint32, bool) {
		if v, ok := stacked[n]; ok {
			return v, true
		}
		v, ok := c.ReadReg(n)
		return uint32(v), ok
	}
	for _, r := range t.desc.Registers {
		if r.Num > last || r.Num == 0 && last == riscvPC {
			continue // x0 is always zero
		}
		v, ok := reg(r.Num)
		if !ok {
			continue
		}
		if r.Num == riscvPC && last == riscvPC || r.Num == armPC && last == armXPSR {
			v = pc
		}
		cr.Registers = append(cr.Registers, target.NamedValue{Name: r.Name, Value: v})
	}
	read := func(addr uint32, p []byte) bool { return t.m.Peek(core, addr, p) == len(p) }
	cr.Frames = t.opt.Symbols.Unwind(pc, reg, read)
	return cr
}
