package symbols

import (
	"debug/elf"
	"encoding/binary"
)

// MaxDepth is the longest chain of callers that Unwind returns.
const MaxDepth = 64

// Numbers of registers as DWARF and gdb have them (RISC-V ELF psABI, "DWARF
// register numbers"; DWARF for the Arm architecture, 4.1).
const (
	riscvRA, riscvSP = 1, 2
	armSP, armLR     = 13, 14
)

// Unwind returns the program counters of the callers, beginning with pc
// itself. reg reads a register of the core by number, read memory. Addresses
// of callers are return addresses; look one byte before them for the call.
// t may be nil: then only the return address register is known.
func (t *Table) Unwind(pc uint32, reg func(num int) (uint32, bool), read func(addr uint32, p []byte) bool) []uint32 {
	u := unwinder{t: t, read: read, pc: pc, ra: riscvRA, sp: riscvSP, regs: map[int]uint32{}}
	n := 32
	if t != nil {
		t.load()
		if t.machine == elf.EM_ARM {
			u.ra, u.sp, n = armLR, armSP, 15
		}
	}
	for i := range n {
		if v, ok := reg(i); ok {
			u.regs[i] = v
		}
	}
	chain := []uint32{pc}
	for len(chain) < MaxDepth && u.step(len(chain) == 1) {
		if t != nil && len(t.exec) > 0 {
			// Whatever called the program's first function is not part of it.
			if _, ok := t.sectionEnd(u.pc - 1); !ok {
				break
			}
		}
		chain = append(chain, u.pc)
	}
	return chain
}

type unwinder struct {
	t      *Table
	read   func(addr uint32, p []byte) bool
	pc     uint32
	ra, sp int
	regs   map[int]uint32
}

// step goes to the caller. It returns false at the end of the chain.
func (u *unwinder) step(innermost bool) bool {
	// A return address may be the first of the next function, when the call
	// was the last instruction of one that never returns.
	at := u.pc
	if !innermost {
		at--
	}
	oldPC, oldSP := u.pc, u.regs[u.sp]
	if !u.byFrame(at) && !u.byPrologue(at, innermost) {
		return false
	}
	u.pc &^= 1
	// Progress: a frame above the last, or at least another pc.
	sp := u.regs[u.sp]
	return u.pc != 0 && sp >= oldSP && (sp != oldSP || u.pc != oldPC)
}

// byFrame uses call frame information.
func (u *unwinder) byFrame(at uint32) bool {
	if u.t == nil {
		return false
	}
	e := u.t.frameFor(at)
	if e == nil {
		return false
	}
	r, ok := e.rowAt(at)
	if !ok {
		return false
	}
	base, ok := u.regs[r.cfaReg]
	if !ok {
		return false
	}
	cfa := base + uint32(r.cfaOffset)
	next := make(map[int]uint32, len(u.regs))
	for n, v := range u.regs {
		next[n] = v
	}
	next[u.sp] = cfa
	for n, rl := range r.regs {
		switch rl.kind {
		case ruleOffset:
			if v, ok := u.word(cfa + uint32(rl.n)); ok {
				next[n] = v
			} else {
				delete(next, n)
			}
		case ruleValue:
			next[n] = cfa + uint32(rl.n)
		case ruleReg:
			if v, ok := u.regs[int(rl.n)]; ok {
				next[n] = v
			} else {
				delete(next, n)
			}
		case ruleUnknown:
			delete(next, n)
		}
	}
	ra, ok := next[e.ra]
	if !ok {
		return false
	}
	u.regs, u.pc = next, ra
	return true
}

func (u *unwinder) word(addr uint32) (uint32, bool) {
	var b [4]byte
	if addr&3 != 0 || !u.read(addr, b[:]) {
		return 0, false
	}
	return binary.LittleEndian.Uint32(b[:]), true
}
