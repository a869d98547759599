package symbols

import (
	"debug/elf"
	"encoding/binary"
)

// maxPrologue is how far a function's beginning is read, in bytes.
const maxPrologue = 256

// byPrologue reads the beginning of a RISC-V function without call frame
// information: what was taken off sp, and where ra was stored. In the innermost
// frame of unknown code the return address is still in ra.
func (u *unwinder) byPrologue(at uint32, innermost bool) bool {
	size, saved, known := uint32(0), -1, false
	if u.t != nil && u.t.machine == elf.EM_RISCV {
		if f, ok := u.t.Function(at); ok {
			size, saved, known = u.prologue(f.Addr, at)
		}
	}
	sp := u.regs[u.sp]
	switch {
	case known && saved >= 0:
		ra, ok := u.word(sp + uint32(saved))
		if !ok {
			return false
		}
		u.pc = ra
	case innermost:
		ra, ok := u.regs[u.ra]
		if !ok {
			return false
		}
		u.pc = ra
	default:
		return false
	}
	u.regs[u.sp] = sp + size
	// The caller's own return address is on its stack, not in the register.
	delete(u.regs, u.ra)
	return true
}

// prologue follows the straight code from start to at. size is what was taken
// off sp, saved the offset of ra from the present sp, or -1.
func (u *unwinder) prologue(start, at uint32) (size uint32, saved int, ok bool) {
	saved = -1
	off := 0 // offset of ra from the sp at the function's entry
	have := false
	end := min(at, start+maxPrologue)
	for pc := start; pc < end; {
		var b [4]byte
		if !u.read(pc, b[:2]) {
			return 0, -1, false
		}
		lo := binary.LittleEndian.Uint16(b[:])
		if lo&3 != 3 {
			pc += 2
			down, raAt, stop := prologue16(lo)
			size += down
			if raAt >= 0 {
				have, off = true, raAt-int(size)
			}
			if stop {
				break
			}
			continue
		}
		if !u.read(pc, b[:]) {
			return 0, -1, false
		}
		pc += 4
		w := binary.LittleEndian.Uint32(b[:])
		switch {
		case w&0xfffff == 0x10113: // addi sp, sp, imm
			imm := int32(w) >> 20
			if imm >= 0 {
				return 0, -1, false
			}
			size += uint32(-imm)
		case w&0x1fff07f == 0x0112023: // sw ra, imm(sp)
			imm := int(int32(w)>>25)<<5 | int(w>>7&0x1f)
			have, off = true, imm-int(size)
		case w&0x7f == 0x63, w&0x7f == 0x6f, w&0x7f == 0x67:
			pc = end // a branch: the prologue is over
		}
	}
	if have {
		saved = off + int(size)
	}
	return size, saved, true
}

// prologue16 decodes the 16-bit instructions of prologues. down is taken off
// sp; raAt is the offset from the new sp at which ra was stored, or -1. cm.push
// puts the last register of its list at the top and ra lowest (Zcmp 1.0.4).
func prologue16(w uint16) (down uint32, raAt int, stop bool) {
	switch {
	case w&0xef83 == 0x6101: // c.addi16sp
		imm := int32(w>>12&1)<<9 | int32(w>>6&1)<<4 | int32(w>>5&1)<<6 | int32(w>>3&3)<<7 | int32(w>>2&1)<<5
		imm = imm << 22 >> 22
		if imm < 0 {
			return uint32(-imm), -1, false
		}
		return 0, -1, true
	case w&0xef83 == 0x0101: // c.addi sp, imm
		imm := int32(w>>12&1)<<5 | int32(w>>2&0x1f)
		imm = imm << 26 >> 26
		if imm < 0 {
			return uint32(-imm), -1, false
		}
		return 0, -1, true
	case w&0xe07f == 0xc006: // c.swsp ra
		return 0, int(w>>9&0xf)<<2 | int(w>>7&3)<<6, false
	case w&0xff03 == 0xb802: // cm.push
		rlist := uint32(w >> 4 & 0xf)
		if rlist < 4 {
			return 0, -1, true
		}
		regs := rlist - 3
		if rlist == 15 {
			regs = 13
		}
		down = (regs*4+15)&^15 + uint32(w>>2&3)*16
		return down, int(down - regs*4), false
	case w&0xe003 == 0xa001, w&0xc003 == 0xc001, w&0xe07f == 0x8002: // jumps, branches
		return 0, -1, true
	}
	return 0, -1, false
}
