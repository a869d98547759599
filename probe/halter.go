package probe

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/stem-hw/stem-hw/target"
)

// Halt implements target.Halter.
func (t *Target) Halt(ctx context.Context) error {
	return t.do(ctx, func() error { return t.haltAll(ctx) })
}

// haltAll stops every core and notes it.
func (t *Target) haltAll(ctx context.Context) error {
	if t.run == 0 {
		return nil
	}
	if err := t.endFlash(ctx); err != nil {
		return err
	}
	if err := t.eng.halt(ctx, both); err != nil {
		return err
	}
	if t.attached {
		// A core that stopped by itself just before says more than this halt.
		for i := range cores {
			if t.run>>i&1 == 0 {
				continue
			}
			if done, err := t.stoppedBefore(ctx, i); done || err != nil {
				return err
			}
		}
	}
	return t.halted(ctx, target.Stop{Reason: target.StopHalt})
}

// stoppedBefore deals with a core that stopped by itself before it was halted;
// done is false if it did not, or would run on.
func (t *Target) stoppedBefore(ctx context.Context, core int) (done bool, err error) {
	s, err := t.eng.stopped(ctx, core)
	if err != nil || s.Reason == target.StopHalt {
		return false, err
	}
	if s.Reason == target.StopBreakpoint {
		if done, err := t.sprung(ctx, core, s.PC); done || err != nil {
			if err == nil {
				err = t.eng.halt(ctx, both)
			}
			return false, err
		}
		again, err := t.semihosted(ctx, core, s.PC)
		if err != nil || t.run == 0 {
			return true, err
		}
		if again {
			return false, t.eng.halt(ctx, 1<<core)
		}
	}
	if s.Reason == target.StopCrash {
		return true, t.crashed(ctx, core, t.eng.crash(ctx, core))
	}
	return true, t.halted(ctx, s)
}

// halted notes that all cores are halted; a stop without a pc is completed.
func (t *Target) halted(ctx context.Context, s target.Stop) error {
	t.run, t.ranges = 0, nil
	t.touched = true
	if !t.attached {
		t.attached = true
		if err := t.arm(ctx); err != nil {
			return err
		}
	}
	if s.PC == 0 {
		pc, err := t.eng.pc(ctx, s.Core)
		if err != nil {
			return err
		}
		s.PC = pc
	}
	t.stop = s
	return nil
}

// arm puts everything into force that a reset of the cores takes away.
func (t *Target) arm(ctx context.Context) error {
	if err := t.eng.enable(ctx); err != nil {
		return err
	}
	t.trap = 0
	return t.eng.points(ctx, t.hardware())
}

// hardware are the points that need comparators.
func (t *Target) hardware() []target.Point {
	var ps []target.Point
	for _, p := range t.points {
		if _, soft := t.soft[p.Addr]; p.Kind <= target.PointHardware && soft {
			continue
		}
		if p.Kind == target.PointSoftware {
			p.Kind = target.PointHardware
		}
		ps = append(ps, p)
	}
	return unique(ps)
}

// unique leaves out points that are there already.
func unique(ps []target.Point) (out []target.Point) {
	for _, p := range ps {
		there := false
		for _, q := range out {
			there = there || q.Kind == p.Kind && q.Addr == p.Addr && (p.Kind == target.PointHardware || q.Len == p.Len)
		}
		if !there {
			out = append(out, p)
		}
	}
	return out
}

// Resume implements target.Halter.
func (t *Target) Resume(ctx context.Context, actions []target.Action) error {
	return t.do(ctx, func() error {
		for _, a := range actions {
			if a.Core < 0 || a.Core >= cores {
				return fmt.Errorf("there is no core %d", a.Core)
			}
		}
		if t.run != 0 {
			return target.ErrRunning
		}
		if err := t.endFlash(ctx); err != nil {
			return err
		}
		return t.resume(ctx, actions)
	})
}

// resume lets cores go on. Cores that stand on a breakpoint are stepped off it
// while nothing else runs.
func (t *Target) resume(ctx context.Context, actions []target.Action) error {
	var mask uint32
	var steps []target.Action
	for _, a := range actions {
		if a.Kind != target.ActionContinue {
			steps = append(steps, a)
			continue
		}
		mask |= 1 << a.Core
		if err := t.leavePoint(ctx, a.Core); err != nil {
			return err
		}
	}
	t.touched = true
	if mask != 0 {
		pc, err := t.eng.pc(ctx, 0)
		if err == nil {
			err = t.setTrap(ctx, pc)
		}
		if err != nil {
			return err
		}
		if err := t.eng.resume(ctx, mask); err != nil {
			return err
		}
		t.run = mask
		t.look.begin(time.Now())
	}
	if len(steps) == 0 {
		return nil
	}
	t.ranges = map[int]target.Action{}
	for _, a := range steps {
		if err := t.stepCore(ctx, a.Core); err != nil {
			return err
		}
		if a.Kind == target.ActionRange {
			t.ranges[a.Core] = a
		}
	}
	t.run = mask | coreMask(steps)
	if len(t.ranges) > 0 {
		return nil // Wait goes on with it
	}
	return t.stepped(ctx, steps[0].Core)
}

func coreMask(as []target.Action) (mask uint32) {
	for _, a := range as {
		mask |= 1 << a.Core
	}
	return mask
}

// stepped notes that a step ended: everything else is stopped, too.
func (t *Target) stepped(ctx context.Context, core int) error {
	if err := t.eng.halt(ctx, t.run&^(1<<core)); err != nil {
		return err
	}
	return t.halted(ctx, target.Stop{Core: core, Reason: target.StopStep})
}

// leavePoint steps a core off the breakpoint that it stands on, and over a
// breakpoint instruction of the program's own.
func (t *Target) leavePoint(ctx context.Context, core int) error {
	pc, err := t.eng.pc(ctx, core)
	if err != nil {
		return err
	}
	for _, p := range t.points {
		if p.Kind <= target.PointHardware && p.Addr == pc {
			return t.stepCore(ctx, core)
		}
	}
	if t.stop.Reason != target.StopBreakpoint || t.stop.Core != core || t.stop.PC != pc {
		return nil
	}
	return t.skipBreakpoint(ctx, core)
}

// skipBreakpoint moves the pc behind a breakpoint instruction of the program's
// own: nothing else would ever get past it.
func (t *Target) skipBreakpoint(ctx context.Context, core int) error {
	pc, err := t.eng.pc(ctx, core)
	if err != nil {
		return err
	}
	if _, ours := t.soft[pc]; ours {
		return nil
	}
	n, err := t.breakInstruction(ctx, core, pc)
	if err != nil || n == 0 {
		return err
	}
	return t.eng.setPC(ctx, core, pc+n)
}

// breakInstruction is the length of the breakpoint instruction at pc, 0 if there
// is another one.
func (t *Target) breakInstruction(ctx context.Context, core int, pc uint32) (uint32, error) {
	var b [4]byte
	if err := t.eng.read(ctx, core, pc, b[:2], true); err != nil {
		return 0, nil //nolint:nilerr // where nothing can be read no breakpoint stands
	}
	half := uint32(b[0]) | uint32(b[1])<<8
	if t.chip.Arch[0] == archARM {
		if half&0xff00 == 0xbe00 {
			return 2, nil
		}
		return 0, nil
	}
	if half == shortBreak {
		return 2, nil
	}
	if half != ebreak&0xffff || t.eng.read(ctx, core, pc+2, b[2:], true) != nil {
		return 0, nil
	}
	if uint32(b[2])|uint32(b[3])<<8 == ebreak>>16 {
		return 4, nil
	}
	return 0, nil
}

// stepCore executes one instruction, the original one where a software
// breakpoint stands.
func (t *Target) stepCore(ctx context.Context, core int) error {
	pc, err := t.eng.pc(ctx, core)
	if err != nil {
		return err
	}
	old, soft := t.soft[pc]
	if !soft {
		if err := t.eng.step(ctx, core); err != nil {
			return err
		}
		// A breakpoint instruction of the program's own gets a step nowhere.
		if now, err := t.eng.pc(ctx, core); err != nil || now != pc {
			return err
		}
		return t.skipBreakpoint(ctx, core)
	}
	if err := t.patch(ctx, core, pc, old); err != nil {
		return err
	}
	err = t.eng.step(ctx, core)
	return errors.Join(err, t.patch(ctx, core, pc, t.eng.breakpoint(uint32(len(old)))))
}

// Wait implements target.Halter.
func (t *Target) Wait(ctx context.Context) (target.Stop, error) {
	quick := time.Now().Add(quickTime)
	for {
		var s target.Stop
		running := true
		err := func() error {
			t.mu.Lock()
			defer t.mu.Unlock()
			if t.run != 0 && ctx.Err() != nil {
				return fmt.Errorf("%w: %w", target.ErrRunning, ctx.Err())
			}
			return t.locked(context.WithoutCancel(ctx), func() error {
				if t.run != 0 {
					if err := t.poll(context.WithoutCancel(ctx), ctx.Done()); err != nil {
						return err
					}
				}
				s, running = t.stop, t.run != 0
				return nil
			})
		}()
		if err != nil {
			return target.Stop{}, err
		}
		if !running {
			return s, nil
		}
		d := pollTime
		if time.Now().Before(quick) {
			d = quickPoll
		}
		timer := time.NewTimer(d)
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

// Between two looks at running cores: at first a stop is expected soon.
const (
	quickTime = 50 * time.Millisecond
	quickPoll = 200 * time.Microsecond
	pollTime  = 5 * time.Millisecond
)

// poll looks once at the cores that run. enough ends a long row of steps.
func (t *Target) poll(ctx context.Context, enough <-chan struct{}) error {
	if t.flash != nil {
		return nil
	}
	if len(t.ranges) > 0 {
		return t.stepRanges(ctx, enough)
	}
	s, reset, err := t.eng.states(ctx)
	if err != nil {
		if done, rerr := t.afterReset(ctx, err); done {
			return rerr
		}
		return err
	}
	if reset {
		return t.wasReset(ctx)
	}
	t.pollRTT(ctx)
	if t.o.CatchFaults && t.attached && t.eng.arch() != archARM && t.look.now(time.Now()) {
		if stopped, err := t.lookAtHarts(ctx); stopped || err != nil {
			return err
		}
		return nil
	}
	for i, c := range s {
		switch {
		case t.run>>i&1 == 0:
		case c.halted:
			if stopped, err := t.coreStopped(ctx, i); stopped || err != nil {
				return err
			}
		case c.lockedUp:
			if !t.attached {
				return nil
			}
			if err := t.eng.halt(ctx, both); err != nil {
				return err
			}
			return t.crashed(ctx, i, "lock-up after "+t.eng.crash(ctx, i))
		}
	}
	return nil
}

// coreStopped deals with a core that stopped by itself; stopped is false if it
// runs again.
func (t *Target) coreStopped(ctx context.Context, core int) (stopped bool, err error) {
	s, err := t.eng.stopped(ctx, core)
	if err != nil {
		return false, err
	}
	if s.Reason == target.StopBreakpoint {
		if done, err := t.sprung(ctx, core, s.PC); done || err != nil {
			return false, err
		}
		again, err := t.semihosted(ctx, core, s.PC)
		if err != nil {
			return false, err
		}
		if again {
			return false, nil
		}
		if t.run == 0 {
			return true, nil // the call ended the program
		}
		if done, err := t.ownBreakpoint(ctx, core, s.PC); done || err != nil {
			return done, err
		}
	}
	if err := t.eng.halt(ctx, t.run&^(1<<core)); err != nil {
		return false, err
	}
	if s.Reason == target.StopCrash {
		return true, t.crashed(ctx, core, t.eng.crash(ctx, core))
	}
	return true, t.halted(ctx, s)
}

// crashed notes a crash.
func (t *Target) crashed(ctx context.Context, core int, cause string) error {
	pc, err := t.eng.pc(ctx, core)
	if err != nil {
		return err
	}
	c := &target.Crash{Cause: cause, Core: core, PC: pc}
	if e, ok := t.eng.(crashPlace); ok {
		if at, ok := e.crashPlace(ctx, core); ok {
			c.PC = at
		}
	}
	for _, r := range t.eng.registers() {
		if r.Group != "general" || r.Bits != 32 {
			continue
		}
		if v, err := t.eng.register(ctx, core, r.Num); err == nil {
			if r.Name == "pc" {
				v = uint64(c.PC)
			}
			c.Registers = append(c.Registers, target.NamedValue{Name: r.Name, Value: uint32(v)})
		}
	}
	return t.halted(ctx, target.Stop{Core: core, Reason: target.StopCrash, PC: pc, Crash: c})
}

// stepRanges goes on with cores that step through a range, one step each.
func (t *Target) stepRanges(ctx context.Context, enough <-chan struct{}) error {
	const batch = 32 // steps between two looks at who else wants the target
	for range batch {
		for core, a := range t.ranges {
			pc, err := t.eng.pc(ctx, core)
			if err != nil {
				return err
			}
			if pc < a.Start || pc >= a.End {
				return t.stepped(ctx, core)
			}
			for _, p := range t.points {
				if p.Kind <= target.PointHardware && p.Addr == pc {
					if err := t.eng.halt(ctx, t.run&^(1<<core)); err != nil {
						return err
					}
					return t.halted(ctx, target.Stop{Core: core, Reason: target.StopBreakpoint, PC: pc})
				}
			}
			if err := t.stepCore(ctx, core); err != nil {
				return err
			}
		}
		if t.run&^rangeMask(t.ranges) != 0 {
			s, _, err := t.eng.states(ctx)
			if err != nil {
				return err
			}
			for i, c := range s {
				if _, steps := t.ranges[i]; !steps && t.run>>i&1 != 0 && c.halted {
					if stopped, err := t.coreStopped(ctx, i); stopped || err != nil {
						return err
					}
				}
			}
		}
		select {
		case <-enough:
			return nil
		default:
		}
	}
	return nil
}

func rangeMask(m map[int]target.Action) (mask uint32) {
	for core := range m {
		mask |= 1 << core
	}
	return mask
}

// onHalted does f with a core that has to be halted.
func (t *Target) onHalted(ctx context.Context, core int, f func() error) error {
	return t.do(ctx, func() error {
		if core < 0 || core >= cores {
			return fmt.Errorf("there is no core %d", core)
		}
		if t.run != 0 {
			return target.ErrRunning
		}
		if err := t.endFlash(ctx); err != nil {
			return err
		}
		return f()
	})
}

// ReadRegister implements target.Halter.
func (t *Target) ReadRegister(ctx context.Context, core, num int) (v uint64, err error) {
	err = t.onHalted(ctx, core, func() error {
		v, err = t.eng.register(ctx, core, num)
		return err
	})
	return v, err
}

// WriteRegister implements target.Halter.
func (t *Target) WriteRegister(ctx context.Context, core, num int, v uint64) error {
	return t.onHalted(ctx, core, func() error { return t.eng.setRegister(ctx, core, num, v) })
}
