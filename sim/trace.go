package sim

import (
	"github.com/stem-hw/stem-hw/image"
)

// trace tells of an instruction about to be executed.
func (t *Target) trace(core int, pc uint32) {
	in := Instruction{Core: core, PC: pc, Count: t.cores[core].Instret()}
	if lo, ok := t.half(core, pc); ok {
		in.Code, in.Size = uint32(lo), 2
		if t.wide(lo) {
			if hi, ok := t.half(core, pc+2); ok {
				in.Code, in.Size = in.Code|uint32(hi)<<16, 4
			}
		}
	}
	t.opt.Trace(in)
}

// wide reports whether an instruction that begins with lo has 32 bits.
func (t *Target) wide(lo uint16) bool {
	if t.arch() == image.ArchARM {
		return lo>>11 >= 0x1d
	}
	return lo&3 == 3
}
