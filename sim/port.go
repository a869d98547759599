package sim

import (
	"context"
	"time"

	"github.com/stem-hw/stem-hw/sim/machine"
)

// Do executes f while the machine stands still between two slices. f may change
// what it likes of the machine; it must not call the target.
func (t *Target) Do(ctx context.Context, f func(m machine.Machine)) error {
	return t.do(ctx, func() error {
		f(t.m)
		return nil
	})
}

// DoAfter is Do after the machine ran for as long as spent says: what a debugger
// spends on its wires passes for the machine, too, or a program would stand still
// while it is watched. At real speed it also ran towards the present, by a slice
// at most: many requests leave it none of its own, and each should be answered soon.
func (t *Target) DoAfter(ctx context.Context, spent func() time.Duration, f func(m machine.Machine)) error {
	const slice = time.Duration(realSlice * float64(time.Second))
	return t.do(ctx, func() error {
		t.runFor(max(spent(), min(t.behind(), slice)))
		f(t.m)
		return nil
	})
}

// runFor lets the machine run for a time, if it runs.
func (t *Target) runFor(d time.Duration) {
	end := t.m.CycleAt(t.m.Seconds() + min(d, maxSpent).Seconds())
	for t.active && !t.again && !t.sleeping {
		now := t.m.Now()
		if now >= end {
			return
		}
		t.advance(end)
		if t.m.Now() == now {
			return // nothing in it moves
		}
	}
}

// maxSpent bounds what one request may make the machine run.
const maxSpent = 3 * time.Second

// parkTime is how long a machine in which nothing happens is left alone.
const parkTime = 5 * time.Millisecond

// portEvent deals with what Run reported while a debug port controls the cores.
func (t *Target) portEvent(e machine.Event) {
	switch e.Kind {
	case machine.EventCrash:
		// The core stays where it is, as on the chip. Each different way is told
		// once.
		if e.Cause != t.crashed {
			t.crashed = e.Cause
			t.notice(machine.Notice{Text: e.Cause, Core: e.Core, PC: t.cores[e.Core].PC()})
		}
		t.parked = true
	case machine.EventAsleep:
		t.parked = true
	case machine.EventExit:
		t.parked = true
	case machine.EventReset:
		if t.opt.Restarted != nil {
			t.opt.Restarted(e.Core)
		}
	case machine.EventLimit, machine.EventStop:
	}
}
