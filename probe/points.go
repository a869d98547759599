package probe

import (
	"context"
	"slices"

	"github.com/stem-hw/stem-hw/target"
)

// SetBreakpoint implements target.Halter. Breakpoints take comparators as long as
// there are some. Beyond them a software breakpoint in RAM is an instruction, and
// one in flash an instruction in a pinned line of the XIP cache.
func (t *Target) SetBreakpoint(ctx context.Context, p target.Point) error {
	return t.do(ctx, func() error {
		if slices.Contains(t.points, p) {
			return nil
		}
		was := slices.Clone(t.points)
		t.points = append(t.points, p)
		err := t.place(ctx, p)
		if err != nil {
			t.points = was
		}
		return err
	})
}

// place puts a new point into force.
func (t *Target) place(ctx context.Context, p target.Point) error {
	t.touched = true
	if _, there := t.soft[p.Addr]; there && p.Kind <= target.PointHardware {
		return nil
	}
	if t.wantsPin(p) {
		return t.placePinned(ctx, p.Addr)
	}
	// A comparator survives what a program does to its code, start-up code that
	// copies it to begin with.
	if p.Kind != target.PointSoftware || !inRAM(p.Addr) || t.used() <= t.room() {
		return t.apply(ctx)
	}
	n := uint32(2)
	if p.Len == 4 && t.chip.Arch[0] != archARM {
		n = 4
	}
	old := make([]byte, n)
	if err := t.eng.read(ctx, 0, p.Addr, old, t.run == 0); err != nil {
		return t.memoryError(err)
	}
	if err := t.eng.write(ctx, 0, p.Addr, t.eng.breakpoint(n), t.run == 0); err != nil {
		return t.memoryError(err)
	}
	t.soft[p.Addr] = old
	if !t.attached && t.run != 0 {
		return t.briefly(ctx, func() error { return nil }) // so that the instruction stops the cores
	}
	return nil
}

func inRAM(addr uint32) bool {
	return addr-sramBase < sramSize || addr-xipSRAM < xipSize
}

// ClearBreakpoint implements target.Halter.
func (t *Target) ClearBreakpoint(ctx context.Context, p target.Point) error {
	return t.do(ctx, func() error {
		i := slices.Index(t.points, p)
		if i < 0 {
			return nil
		}
		t.points = slices.Delete(t.points, i, i+1)
		old, soft := t.soft[p.Addr]
		if !soft || p.Kind > target.PointHardware {
			return t.apply(ctx)
		}
		if slices.ContainsFunc(t.points, func(q target.Point) bool { return q.Kind <= target.PointHardware && q.Addr == p.Addr }) {
			return nil
		}
		delete(t.soft, p.Addr)
		if isFlash(p.Addr) {
			return t.stopped(ctx, func() error { return t.unpin(ctx, p.Addr) })
		}
		return t.memoryError(t.eng.write(ctx, 0, p.Addr, old, t.run == 0))
	})
}

// apply puts the comparators into force, halting the cores for a moment where
// that is needed.
func (t *Target) apply(ctx context.Context) error {
	set := func() error { return t.eng.points(ctx, t.hardware()) }
	if t.run == 0 && t.attached {
		return set()
	}
	if t.run == 0 || t.attached && !t.eng.needsHalt() {
		return set()
	}
	return t.briefly(ctx, set)
}

// briefly halts the running cores, does f, and lets those go on that did not
// stop by themselves.
func (t *Target) briefly(ctx context.Context, f func() error) error {
	run, first := t.run, !t.attached
	if err := t.eng.halt(ctx, run); err != nil {
		return err
	}
	t.touched = true
	var again uint32
	for i := range cores {
		if run>>i&1 == 0 {
			continue
		}
		s, err := t.eng.stopped(ctx, i)
		if err != nil {
			return err
		}
		if s.Reason == target.StopHalt {
			again |= 1 << i
		}
	}
	if first {
		t.attached = true
		if err := t.eng.enable(ctx); err != nil {
			return err
		}
	}
	if err := f(); err != nil {
		_ = t.eng.resume(ctx, again)
		return err
	}
	if again == 0 {
		return nil
	}
	return t.eng.resume(ctx, again)
}
