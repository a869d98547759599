package probe

import (
	"context"
	"fmt"

	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/image/boot"
	"github.com/stem-hw/stem-hw/target"
)

// Breakpoints in flash beyond the comparators: the line of the XIP cache with the
// instruction is pinned, and the breakpoint instruction is written there. The flash
// itself is not touched. Source: RP2350 datasheet 4.4.1 (cache maintenance: the
// operation is in the low bits of the address; a pinned line always hits).
const (
	xipMaintenance = 0x18000000
	maintInvalid   = 0 // by set and way
	maintPin       = 7
	lineSize       = 8
	lineIndex      = 0x3ff8 // address bits that choose a line of the cache
	regXIPControl  = 0x400c8000
	xipWritable    = 1 << 10
	shortLength    = 2 // the breakpoint instructions that fit everywhere
)

func isFlash(addr uint32) bool { return addr >= flashBase && addr < xipSRAM }

// room is how many comparators breakpoints of a person get; one is kept for the
// entry of the program (trap) once there are more breakpoints than comparators.
func (t *Target) room() int {
	n, _ := t.eng.limits()
	return n - 1
}

// wantsPin reports whether a new breakpoint in flash needs a pinned line.
func (t *Target) wantsPin(p target.Point) bool {
	if p.Kind > target.PointHardware || !isFlash(p.Addr) {
		return false
	}
	return t.used() > t.room()
}

// used is how many comparators the breakpoints need.
func (t *Target) used() (n int) {
	for _, h := range t.hardware() {
		if h.Kind == target.PointHardware {
			n++
		}
	}
	return n
}

// placePinned puts a breakpoint instruction into a pinned line.
func (t *Target) placePinned(ctx context.Context, addr uint32) error {
	for at := range t.soft {
		if isFlash(at) && at&^(lineSize-1) != addr&^(lineSize-1) && (at^addr)&lineIndex == 0 {
			return fmt.Errorf("no breakpoint fits at 0x%08x: the one at 0x%08x uses the same line of the XIP cache", addr, at)
		}
	}
	return t.stopped(ctx, func() error {
		old := make([]byte, shortLength)
		if err := t.eng.read(ctx, 0, addr-flashBase+xipNoCache, old, true); err != nil {
			return t.memoryError(err)
		}
		t.soft[addr] = old
		return t.pin(ctx, addr)
	})
}

// stopped does f with the cores halted, for a moment if they run.
func (t *Target) stopped(ctx context.Context, f func() error) error {
	if t.run == 0 {
		return f()
	}
	return t.briefly(ctx, f)
}

// pin fills the line of an address with what is in flash, and the breakpoints in
// it.
func (t *Target) pin(ctx context.Context, addr uint32) error {
	line := addr &^ (lineSize - 1)
	data := make([]byte, lineSize)
	if err := t.eng.read(ctx, 0, line-flashBase+xipNoCache, data, true); err != nil {
		return t.memoryError(err)
	}
	for at, old := range t.soft {
		if at&^(lineSize-1) == line {
			copy(data[at-line:], t.eng.breakpoint(uint32(len(old))))
		}
	}
	if err := t.eng.write(ctx, 0, xipMaintenance+line-flashBase+maintPin, []byte{0}, true); err != nil {
		return t.memoryError(err)
	}
	return t.patch(ctx, 0, line, data)
}

// unpin gives a line back to the cache, or what other breakpoints need of it.
func (t *Target) unpin(ctx context.Context, addr uint32) error {
	line := addr &^ (lineSize - 1)
	for at := range t.soft {
		if at&^(lineSize-1) == line {
			return t.pin(ctx, addr)
		}
	}
	return t.memoryError(t.eng.write(ctx, 0, xipMaintenance+line&lineIndex+maintInvalid, []byte{0}, true))
}

// patch writes instructions where breakpoints are: into RAM, or into a pinned
// line, for which the window is made writable meanwhile.
func (t *Target) patch(ctx context.Context, core int, addr uint32, p []byte) error {
	halted := t.run == 0
	if !isFlash(addr) {
		return t.memoryError(t.eng.write(ctx, core, addr, p, halted))
	}
	var b [4]byte
	if err := t.eng.read(ctx, core, regXIPControl, b[:], halted); err != nil {
		return err
	}
	ctrl := uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
	if err := t.poke(ctx, regXIPControl, ctrl|xipWritable); err != nil {
		return err
	}
	err := t.memoryError(t.eng.write(ctx, core, addr, p, halted))
	if rerr := t.poke(ctx, regXIPControl, ctrl); err == nil {
		err = rerr
	}
	return err
}

// pinnedPoints reports whether there are breakpoints in pinned lines.
func (t *Target) pinnedPoints() bool {
	for at := range t.soft {
		if isFlash(at) {
			return true
		}
	}
	return false
}

// repin pins every line again: the boot ROM empties the cache.
func (t *Target) repin(ctx context.Context) error {
	for at := range t.soft {
		if isFlash(at) {
			if err := t.pin(ctx, at); err != nil {
				return err
			}
		}
	}
	return nil
}

// setTrap sets a trap at the program's entry if core 0 is still in the boot
// ROM, which empties the cache before it starts a program.
func (t *Target) setTrap(ctx context.Context, pc uint32) error {
	t.trap = 0
	if pc >= romSize || !t.pinnedPoints() {
		return nil
	}
	entry, ok := t.entry(ctx)
	if !ok {
		return nil
	}
	t.trap = entry
	return t.eng.points(ctx, unique(append(t.hardware(), target.Point{Kind: target.PointHardware, Addr: entry, Len: shortLength})))
}

// sprung deals with a core at the trap; it runs on unless a breakpoint of a
// person's is there.
func (t *Target) sprung(ctx context.Context, core int, pc uint32) (done bool, err error) {
	if t.trap == 0 || pc != t.trap {
		return false, nil
	}
	t.trap = 0
	run := t.run
	if err := t.eng.halt(ctx, run&^(1<<core)); err != nil {
		return false, err
	}
	t.run = 0
	err = t.repin(ctx)
	if err == nil {
		err = t.eng.points(ctx, t.hardware())
	}
	t.run = run
	if err != nil {
		return false, err
	}
	for _, p := range t.points {
		if p.Kind <= target.PointHardware && p.Addr == pc {
			return false, nil
		}
	}
	return true, t.eng.resume(ctx, run)
}

// flashReader reads flash for the boot ROM's decisions.
type flashReader struct {
	t   *Target
	ctx context.Context
}

// ReadAt implements io.ReaderAt; off is a bus address.
func (f flashReader) ReadAt(p []byte, off int64) (int, error) {
	if off < flashBase || off+int64(len(p)) > flashBase+int64(f.t.chip.FlashSize) {
		return 0, fmt.Errorf("0x%x is no flash", off)
	}
	if err := f.t.eng.read(f.ctx, 0, uint32(off)-flashBase+xipNoTranslate, p, true); err != nil {
		return 0, err
	}
	return len(p), nil
}

// entry is where the boot ROM will start the program in flash.
func (t *Target) entry(ctx context.Context) (uint32, bool) {
	cpu := boot.Arm
	if t.eng.arch() == image.ArchRISCV {
		cpu = boot.RISCV
	}
	d := boot.FindImage(flashReader{t, ctx}, boot.Options{Chip: boot.A2, CPU: cpu})
	return d.Entry.PC &^ 1, d.Outcome == boot.OutcomeBoot
}
