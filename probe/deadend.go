package probe

import (
	"context"
	"encoding/binary"
	"time"

	"github.com/stem-hw/stem-hw/target"
)

// A program that nobody debugs comes to a dead end at a breakpoint instruction or
// in a jump to itself. The first is seen by itself. Of the second an Arm core tells
// by vector catch; Hazard3 has nothing of the kind, so its harts are halted for a
// moment now and then, less often the longer all is well.
const (
	firstLook = 50 * time.Millisecond
	lastLook  = 2 * time.Second
)

// lookout says when the next look at the harts is due.
type lookout struct {
	due  time.Time
	next time.Duration
}

// begin makes the next look an early one: a program starts.
func (l *lookout) begin(now time.Time) { l.next, l.due = firstLook, now.Add(firstLook) }

// now reports whether a look is due, and puts the next one off.
func (l *lookout) now(now time.Time) bool {
	if now.Before(l.due) {
		return false
	}
	l.next = min(2*l.next, lastLook)
	l.due = now.Add(l.next)
	return true
}

// lookAtHarts halts the running harts for a moment to see whether one stands in the
// endless loop of an exception that nothing handles; stopped is true if one does.
func (t *Target) lookAtHarts(ctx context.Context) (stopped bool, err error) {
	run := t.run
	if err := t.eng.halt(ctx, run); err != nil {
		return false, err
	}
	var again uint32
	for i := range cores {
		if run>>i&1 == 0 {
			continue
		}
		s, err := t.eng.stopped(ctx, i)
		if err != nil {
			return false, err
		}
		if s.Reason != target.StopHalt {
			// It stopped by itself just now.
			if stopped, err := t.coreStopped(ctx, i); stopped || err != nil {
				return stopped, err
			}
			continue
		}
		again |= 1 << i
		if text := t.eng.crash(ctx, i); text != "" && t.selfJump(ctx, i, s.PC) {
			return true, t.crashed(ctx, i, text)
		}
	}
	return false, t.eng.resume(ctx, again)
}

// word reads an instruction's four bytes, 0 where there are none.
func (t *Target) word(ctx context.Context, core int, addr uint32) uint32 {
	var b [4]byte
	for i := 0; i < len(b); i += 2 { // it may be the last half-word of a memory
		if t.eng.read(ctx, core, addr+uint32(i), b[i:i+2], true) != nil {
			break
		}
	}
	return binary.LittleEndian.Uint32(b[:])
}

// selfJump reports whether the instruction at pc jumps to itself.
func (t *Target) selfJump(ctx context.Context, core int, pc uint32) bool {
	off, ok := t.jump(t.word(ctx, core, pc))
	return ok && off == 0
}

// jump decodes an unconditional jump: c.j and jal to nowhere on RISC-V (RISC-V
// Unprivileged ISA, 2.5 and 18.4), b on Arm (Armv8-M ARM, C2.4.15, encoding T2).
func (t *Target) jump(w uint32) (offset int32, ok bool) {
	bit := func(from, to int) uint32 { return w >> from & 1 << to }
	switch {
	case t.eng.arch() == archARM:
		return int32(w<<21)>>20 + 4, w&0xf800 == 0xe000
	case w&0xe003 == 0xa001:
		v := bit(12, 11) | bit(11, 4) | bit(10, 9) | bit(9, 8) | bit(8, 10) | bit(7, 6) | bit(6, 7) | w>>3&7<<1 | bit(2, 5)
		return int32(v<<20) >> 20, true
	case w&0xfff == 0x6f:
		v := bit(31, 20) | w>>12&0xff<<12 | bit(20, 11) | w>>21&0x3ff<<1
		return int32(v<<11) >> 11, true
	}
	return 0, false
}

// ownBreakpoint says how a program ended that executed a breakpoint instruction of
// its own: the endless loop around one is that of _exit, with the status as its
// argument (raspberrypi/pico-sdk, pico_clib_interface/newlib_interface.c), else it
// is a crash. It is called where nobody debugs; done is false if nobody minds.
func (t *Target) ownBreakpoint(ctx context.Context, core int, pc uint32) (done bool, err error) {
	if !t.o.CatchFaults || t.pointAt(pc) {
		return false, nil
	}
	n, err := t.breakInstruction(ctx, core, pc)
	if err != nil || n == 0 {
		return false, err
	}
	if err := t.eng.halt(ctx, t.run&^(1<<core)); err != nil {
		return false, err
	}
	if off, ok := t.jump(t.word(ctx, core, pc+n)); ok && off == -int32(n) {
		status, err := t.eng.register(ctx, core, t.firstArgument())
		if err != nil {
			return false, err
		}
		if status < 256 {
			return true, t.halted(ctx, target.Stop{Core: core, Reason: target.StopExit, PC: pc, Code: int(status), How: "exit()"})
		}
	}
	text := t.eng.crash(ctx, core)
	if text == "" || text == aFault {
		text = "breakpoint instruction without a debugger"
	}
	return true, t.crashed(ctx, core, text)
}

// firstArgument is the register of a function's first argument.
func (t *Target) firstArgument() int {
	if t.eng.arch() == archARM {
		return 0
	}
	return riscvA0
}

// crashPlace is where the cores know the instruction of a crash, which is not where
// they stand.
type crashPlace interface {
	crashPlace(ctx context.Context, core int) (pc uint32, ok bool)
}

// pointAt reports whether a breakpoint is set at an address.
func (t *Target) pointAt(pc uint32) bool {
	for _, p := range t.points {
		if p.Kind <= target.PointHardware && p.Addr == pc {
			return true
		}
	}
	return false
}
