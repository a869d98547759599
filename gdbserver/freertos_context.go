package gdbserver

import "github.com/stem-hw/stem-hw/image"

// Saved registers of a task that does not run, as the kernel's ports leave
// them at the saved stack pointer.
//
// RISC-V, port for RP2350 (FreeRTOS-Kernel-Community-Supported-Ports,
// GCC/RP2350_RISC-V/include/portContext.h), 31 words: pc, x1, x5..x31,
// critical nesting, mstatus. RISC-V, port of the kernel itself
// (portable/GCC/RISC-V/portContext.h), 31 words: pc, mstatus, x1, x5..x31,
// critical nesting. They are told apart by where a plausible mstatus stands.
//
// Cortex-M33 (portable/GCC/ARM_CM33_NTZ/non_secure): PSPLIM, EXC_RETURN,
// r4..r11, then s16..s31 if EXC_RETURN says so, then the frame of the
// hardware: r0..r3, r12, lr, pc, xPSR and the FP registers.

const (
	contextWords = 31
	mstatusMPP   = 0x1800
)

// saved returns the address at which register num of a task is kept; ok is
// false for a register that is not kept.
func (r *freeRTOS) saved(k *task, num int, m reader) (addr uint32, ok bool, err error) {
	if r.arch == image.ArchARM {
		addr, ok = r.savedArm(k, num, m)
		return addr, ok, nil
	}
	addr, ok = r.savedRISCV(k, num, m)
	return addr, ok, nil
}

// register returns the value of register num of a task that does not run.
func (r *freeRTOS) register(k *task, num int, m reader) (uint64, error) {
	if v, ok := r.computed(k, num, m); ok {
		return uint64(v), nil
	}
	addr, ok, err := r.saved(k, num, m)
	if err != nil {
		return 0, err
	}
	if !ok {
		return 0, errNotSaved
	}
	v, readable := m.word(addr)
	if !readable {
		return 0, errNotSaved
	}
	return uint64(v), nil
}

// computed returns registers that follow from where the context lies: zero,
// and the stack pointer before the context was saved.
func (r *freeRTOS) computed(k *task, num int, m reader) (uint32, bool) {
	if r.arch == image.ArchARM {
		if num != 13 {
			return 0, false
		}
		frame, words, ok := r.armFrame(k, m)
		if !ok {
			return 0, false
		}
		sp := frame + 4*words
		// Bit 9 of the stacked xPSR says that the hardware aligned the stack.
		if xpsr, ok := m.word(frame + 28); ok && xpsr&(1<<9) != 0 {
			sp += 4
		}
		return sp, true
	}
	switch num {
	case 0:
		return 0, true
	case 2:
		return k.top + 4*contextWords, true
	}
	return 0, false
}

func (r *freeRTOS) savedRISCV(k *task, num int, m reader) (uint32, bool) {
	x1 := k.top + 4
	if v, ok := m.word(k.top + 4); ok && v&^0x88 == mstatusMPP {
		x1 = k.top + 8 // the kernel's own port keeps mstatus before x1
	}
	switch {
	case num == 32:
		return k.top, true
	case num == 1:
		return x1, true
	case num >= 5 && num <= 31:
		return x1 + 4*uint32(num-4), true
	}
	return 0, false
}

// armFrame finds the frame that the hardware stacked, and its size in words.
func (r *freeRTOS) armFrame(k *task, m reader) (frame, words uint32, ok bool) {
	excReturn, ok := m.word(k.top + 4)
	if !ok {
		return 0, 0, false
	}
	frame, words = k.top+4*10, 8
	if excReturn>>24 == 0xff && excReturn&0x10 == 0 {
		frame += 4 * 16
		words = 26
	}
	return frame, words, true
}

func (r *freeRTOS) savedArm(k *task, num int, m reader) (uint32, bool) {
	frame, _, ok := r.armFrame(k, m)
	if !ok {
		return 0, false
	}
	switch {
	case num >= 0 && num <= 3:
		return frame + 4*uint32(num), true
	case num >= 4 && num <= 11:
		return k.top + 8 + 4*uint32(num-4), true
	case num == 12:
		return frame + 16, true
	case num == 14:
		return frame + 20, true
	case num == 15:
		return frame + 24, true
	case num == 25:
		return frame + 28, true
	}
	return 0, false
}
