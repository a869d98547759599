package sim

import "encoding/binary"

// What an Arm core leaves behind when it takes an exception (Arm v8-M
// architecture reference manual, B3.19 and B3.21): eight words on the stack of
// the program, and in lr a value that says which stack and how much.
const (
	armSP, armLR  = 13, 14
	armMSP        = 26
	armPSP        = 27
	excReturn     = 0xff000000 // lr in a handler is at least this
	excReturnPSP  = 1 << 2     // the frame is on the process stack
	excReturnNoFP = 1 << 4     // the frame has no floating-point registers
	frameSize     = 0x20
	frameFPSize   = 0x68
	xpsrAligned   = 1 << 9 // one word was left out to align the frame
	armLockup     = 0xeffffffe
)

// armVector returns the address of the handler of the exception that the core
// is in, 0 if it is in none.
func (t *Target) armVector(core int) uint32 {
	x, _ := t.cores[core].ReadReg(armXPSR)
	if x&0x1ff == 0 {
		return 0
	}
	return t.armWord(core, t.armWord(core, armVTOR)+4*uint32(x&0x1ff)) &^ 1
}

func (t *Target) armWord(core int, addr uint32) uint32 {
	var b [4]byte
	if t.m.Peek(core, addr, b[:]) != 4 {
		return 0
	}
	return binary.LittleEndian.Uint32(b[:])
}

// armStacked returns the registers as they were where the exception came, for a
// core at the first instruction of a handler; nil if they cannot be read.
func (t *Target) armStacked(core int) map[int]uint32 {
	reg := func(n int) uint32 {
		v, _ := t.cores[core].ReadReg(n)
		return uint32(v)
	}
	lr := reg(armLR)
	if lr < excReturn {
		return nil
	}
	frame := reg(armMSP)
	if lr&excReturnPSP != 0 {
		frame = reg(armPSP)
	}
	var b [frameSize]byte
	if t.m.Peek(core, frame, b[:]) != len(b) {
		return nil
	}
	out := map[int]uint32{}
	for i, n := range [8]int{0, 1, 2, 3, 12, armLR, armPC, armXPSR} {
		out[n] = binary.LittleEndian.Uint32(b[4*i:])
	}
	size := uint32(frameSize)
	if lr&excReturnNoFP == 0 {
		size = frameFPSize
	}
	if out[armXPSR]&xpsrAligned != 0 {
		size += 4
	}
	out[armSP] = frame + size
	return out
}

// armSpins reports whether an Arm core jumps to itself in the handler of a fault
// that only a reset can leave: HardFault or NMI, as the default handlers of
// start-up files do.
func (t *Target) armSpins(core int) bool {
	c := t.cores[core]
	if c.Halted() || c.Asleep() {
		return false
	}
	pc := c.PC()
	if to, ok := t.jump(core, pc); !ok || to != pc {
		return false
	}
	x, _ := c.ReadReg(armXPSR)
	return x&0x1ff == 2 || x&0x1ff == 3
}
