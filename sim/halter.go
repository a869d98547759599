package sim

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/stem-hw/stem-hw/sim/machine"
	"github.com/stem-hw/stem-hw/target"
)

var errEnded = errors.New("the program has ended; load or reset it first")

// Halt implements target.Halter.
func (t *Target) Halt(ctx context.Context) error {
	return t.do(ctx, func() error {
		t.attach()
		if t.active {
			t.halted(target.Stop{Reason: target.StopHalt, PC: t.cores[0].PC()})
		}
		return nil
	})
}

// Resume implements target.Halter.
func (t *Target) Resume(ctx context.Context, actions []target.Action) error {
	return t.do(ctx, func() error {
		if t.ended {
			return errEnded
		}
		for _, a := range actions {
			if a.Core < 0 || a.Core >= len(t.cores) {
				return fmt.Errorf("there is no core %d", a.Core)
			}
		}
		if t.active {
			return target.ErrRunning
		}
		t.attach()
		t.ranges = nil
		for _, a := range actions {
			c := t.cores[a.Core]
			c.Step(a.Kind != target.ActionContinue)
			if a.Kind == target.ActionRange {
				if t.ranges == nil {
					t.ranges = map[int]target.Action{}
				}
				t.ranges[a.Core] = a
			}
			c.Resume()
		}
		t.goOn()
		return nil
	})
}

// Wait implements target.Halter.
func (t *Target) Wait(ctx context.Context) (target.Stop, error) {
	for {
		t.mu.Lock()
		running, stop, changed := t.running, t.stop, t.changed
		t.mu.Unlock()
		if !running {
			return stop, nil
		}
		select {
		case <-changed:
		case <-t.done:
			return target.Stop{}, errClosed
		case <-ctx.Done():
			return target.Stop{}, fmt.Errorf("%w: %w", target.ErrRunning, ctx.Err())
		}
	}
}

// ReadRegister implements target.Halter.
func (t *Target) ReadRegister(ctx context.Context, core, num int) (v uint64, err error) {
	err = t.onHalted(ctx, core, func(c machine.Core) error {
		var ok bool
		if v, ok = c.ReadReg(num); !ok {
			return fmt.Errorf("core %d has no register %d", core, num)
		}
		return nil
	})
	return v, err
}

// WriteRegister implements target.Halter.
func (t *Target) WriteRegister(ctx context.Context, core, num int, v uint64) error {
	return t.onHalted(ctx, core, func(c machine.Core) error {
		t.fresh = false
		if !c.WriteReg(num, v) {
			return fmt.Errorf("core %d has no register %d that can be written", core, num)
		}
		return nil
	})
}

func (t *Target) onHalted(ctx context.Context, core int, f func(c machine.Core) error) error {
	return t.do(ctx, func() error {
		if core < 0 || core >= len(t.cores) {
			return fmt.Errorf("there is no core %d", core)
		}
		if t.active {
			return target.ErrRunning
		}
		return f(t.cores[core])
	})
}

// SetBreakpoint implements target.Halter.
func (t *Target) SetBreakpoint(ctx context.Context, p target.Point) error {
	return t.changePoints(ctx, func() {
		if !slices.Contains(t.points, p) {
			t.points = append(t.points, p)
		}
	})
}

// ClearBreakpoint implements target.Halter.
func (t *Target) ClearBreakpoint(ctx context.Context, p target.Point) error {
	return t.changePoints(ctx, func() {
		t.points = slices.DeleteFunc(t.points, func(q target.Point) bool { return p == q })
	})
}

func (t *Target) changePoints(ctx context.Context, change func()) error {
	return t.do(ctx, func() error {
		t.attach()
		change()
		for _, c := range t.cores {
			c.SetPoints(t.points)
		}
		return nil
	})
}

// attach makes the target one that a debugger uses.
func (t *Target) attach() {
	if !t.debug {
		t.debug = true
		t.arm()
	}
}

// ebreaker is a core that can stop at breakpoint instructions of the program
// instead of raising an exception, as it does under a hardware debugger.
type ebreaker interface{ StopOnEbreak(on bool) }

// arm makes breakpoint instructions stop the cores where somebody wants to
// know: a debugger, or the one who looks for the program's end.
func (t *Target) arm() {
	for i, c := range t.cores {
		if e, ok := c.(ebreaker); ok {
			e.StopOnEbreak(t.debug || t.findsEnds() && t.over[i] == nil)
		}
	}
}

// halted ends the running: every core stops and Wait hears of it.
func (t *Target) halted(s target.Stop) {
	t.flush()
	if t.active && t.opt.Stopping != nil {
		t.opt.Stopping(t.m)
	}
	for _, c := range t.cores {
		if h, ok := c.(interface{ HaltNow() }); ok {
			h.HaltNow()
		} else {
			c.Halt()
		}
	}
	t.active, t.ranges, t.halting = false, nil, false
	t.mu.Lock()
	t.running, t.stop = false, s
	close(t.changed)
	t.changed = make(chan struct{})
	t.mu.Unlock()
}

// goOn begins the running.
func (t *Target) goOn() {
	t.active, t.fresh = true, false
	t.pace = pace{}
	t.mu.Lock()
	t.running = true
	t.mu.Unlock()
}
