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
