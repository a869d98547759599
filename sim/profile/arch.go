package profile

import "encoding/binary"

// Registers by the numbers that gdb's descriptions of the two architectures
// give them: see sim/hazard3 and sim/cortexm33.
const (
	csrBase = 65
	regXPSR = 25
	regPSP  = 27

	vtor = 0xe000ed08 // Arm v8-M, VTOR
	mret = 0x30200073
)

// vectorBytes bounds the vectors of a RISC-V core: 16 words behind mtvec.
const vectorBytes = 64

func (cc *coreCount) reg(num int) uint32 {
	v, _ := cc.core.ReadReg(num)
	return uint32(v)
}

// size is that of the instruction that was executed last.
func (cc *coreCount) size() uint32 {
	var b [2]byte
	if cc.c.m.Peek(cc.n, cc.pc, b[:]) != 2 {
		return 0
	}
	h := binary.LittleEndian.Uint16(b[:])
	if cc.c.arch.arm && h>>11 >= 0x1d || !cc.c.arch.arm && h&3 == 3 {
		return 4
	}
	return 2
}

// trapped reports whether pc is where a RISC-V core goes with a trap.
func (cc *coreCount) trapped(pc uint32) bool {
	v := cc.reg(cc.c.arch.vector)
	return pc-v&^3 < vectorBytes && cc.pc-v&^3 >= vectorBytes
}

// vectored reports whether pc is the handler of the exception that an Arm core
// is in: with EXC_RETURN in the link register, it has just come there.
func (cc *coreCount) vectored(pc uint32) bool {
	n := cc.exception()
	return n != 0 && cc.word(cc.word(vtor)+4*n)&^1 == pc
}

// exception is the number of the exception that an Arm core is in.
func (cc *coreCount) exception() uint32 { return cc.reg(regXPSR) & 0x1ff }

func (cc *coreCount) word(addr uint32) uint32 {
	var b [4]byte
	if cc.c.m.Peek(cc.n, addr, b[:]) != 4 {
		return 0
	}
	return binary.LittleEndian.Uint32(b[:])
}

// stacked is the return address that an Arm core put on the stack.
func (cc *coreCount) stacked(link uint32) uint32 {
	sp := cc.reg(cc.c.arch.sp)
	if link&4 != 0 {
		sp = cc.reg(cc.c.arch.psp)
	}
	return cc.word(sp+24) &^ 1
}

// leftException reports whether the last instruction returned from an
// exception.
func (cc *coreCount) leftException() bool {
	if cc.c.arch.arm {
		return cc.exception() == 0
	}
	return cc.word(cc.pc) == mret
}
