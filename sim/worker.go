package sim

import (
	"time"

	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/sim/machine"
	"github.com/stem-hw/stem-hw/target"
)

// work is the worker: it alone touches the machine.
func (t *Target) work() {
	defer close(t.done)
	for {
		if !t.active {
			select {
			case f := <-t.reqs:
				f()
			case <-t.quit:
				return
			}
			continue
		}
		select {
		case f := <-t.reqs:
			f()
			continue
		case <-t.quit:
			return
		default:
		}
		if d := t.ahead(); d > 0 {
			if !t.wait(d, false) {
				return
			}
			continue
		}
		t.advance(t.limit())
		if t.parked {
			t.parked = false
			if !t.wait(parkTime, false) {
				return
			}
		}
		if t.active && (t.again || t.sleeping) {
			t.again, t.sleeping = false, false
			if !t.wait(0, true) {
				return
			}
		}
	}
}

// wait serves requests until d has passed (0: no limit), or, if input is set,
// until there is input or no hope of any. It returns false when the target is
// closed.
func (t *Target) wait(d time.Duration, input bool) bool {
	t.flush()
	var timer <-chan time.Time
	if d > 0 {
		c, stop := t.opt.Clock.After(d)
		defer stop()
		timer = c
	}
	var ready <-chan struct{}
	if input {
		ready = t.in.ready()
	}
	for t.active {
		select {
		case f := <-t.reqs:
			f()
			if d == 0 && !input {
				return true
			}
		case <-t.quit:
			return false
		case <-timer:
			return true
		case <-ready:
			return true
		}
	}
	return true
}

// advance runs a slice up to limit and deals with what it reports.
func (t *Target) advance(limit uint64) {
	t.feed()
	// At full speed an open input is no reason to let time pass: the machine
	// says when all sleep, and the worker waits for the input. At real speed
	// time passes.
	t.m.InputOpen(t.opt.Speed == SpeedReal && !t.in.ended())
	e := t.m.Run(limit)
	t.flush()
	if t.again {
		// The call is made again when it can be served.
		t.cores[t.againCore].SetPC(t.againPC)
	}
	t.event(e)
	if t.active && !t.debug && t.arch() == image.ArchARM {
		for i := range t.cores {
			if t.active && t.armSpins(i) && !t.watchdogRuns(i) {
				t.stuck(machine.Event{Kind: machine.EventCrash, Core: i})
			}
		}
	}
	if t.active && (t.halting || t.decision.made && t.m.Seconds() >= t.decision.by) {
		t.halted(target.Stop{Reason: target.StopHalt, PC: t.cores[0].PC()})
	}
	if t.active && t.cycles > 0 && t.m.Now() >= t.cycles {
		t.halted(target.Stop{Reason: target.StopCycles, PC: t.cores[0].PC()})
	}
}

// feed offers input to the machine.
func (t *Target) feed() {
	t.fed = false
	if t.semiInput {
		return
	}
	if len(t.pending) == 0 {
		t.pending = t.in.take(t.pending[:0], 256)
	}
	if len(t.pending) > 0 {
		n := t.m.Input(t.pending)
		t.pending = t.pending[n:]
		t.fed = n > 0
	}
}

// event deals with what Run reported.
func (t *Target) event(e machine.Event) {
	if t.opt.DebugPort {
		t.portEvent(e)
		return
	}
	switch e.Kind {
	case machine.EventLimit:
	case machine.EventStop:
		t.coreStopped(e.Core)
	case machine.EventExit:
		t.ended = true
		t.halted(target.Stop{Reason: target.StopExit, Core: e.Core, PC: t.cores[e.Core].PC(), Code: e.Code, How: e.How})
	case machine.EventCrash:
		t.stuck(e)
	case machine.EventAsleep:
		waiting, ended := t.in.state()
		switch {
		case t.fed: // what was just typed may wake a core
		case waiting && len(t.pending) == 0: // it came while the machine ran
		case t.debug, !ended:
			t.sleeping = true
		default:
			t.asleep(e)
		}
	case machine.EventReset:
		clear(t.passing)
		clear(t.over)
		t.desc = t.m.Describe() // the cores may be of the other architecture now
		t.arm()
		for _, c := range t.cores {
			c.SetPoints(t.points)
		}
		if t.host != nil {
			t.host.Reset()
		}
		if t.opt.Restarted != nil {
			t.opt.Restarted(e.Core)
		}
		if t.debug {
			t.halted(target.Stop{Reason: target.StopReset, Core: e.Core, PC: t.cores[e.Core].PC()})
		}
	}
}

// coreStopped deals with a core that entered Debug state.
func (t *Target) coreStopped(core int) {
	c := t.cores[core]
	s := c.StopReason()
	s.Core, s.PC = core, c.PC()
	if r, ok := t.ranges[core]; ok && s.Reason == target.StopStep && s.PC >= r.Start && s.PC < r.End {
		if !t.hasBreakpoint(s.PC) {
			c.Step(true)
			c.Resume()
			return
		}
		s.Reason = target.StopBreakpoint
	}
	if !t.debug {
		t.ebreak(core)
		return
	}
	for i, other := range t.cores {
		if i != core {
			other.Step(false)
		}
	}
	t.halted(s)
}

func (t *Target) hasBreakpoint(pc uint32) bool {
	for _, p := range t.points {
		if p.Addr == pc && p.Kind <= target.PointHardware {
			return true
		}
	}
	return false
}

// output takes one printed byte.
func (t *Target) output(stream string, b byte) {
	if stream != t.stream || len(t.printed) >= 4096 {
		t.flush()
		t.stream = stream
	}
	t.printed = append(t.printed, b)
	if b == '\n' {
		t.flush()
	}
}

// flush hands on what was printed.
func (t *Target) flush() {
	if len(t.printed) == 0 {
		return
	}
	done := t.halting
	if n := t.decide(t.stream, t.printed); n > 0 && !done {
		t.out.put(t.printed[:n])
		if t.opt.Output != nil {
			t.opt.Output(t.stream, t.printed[:n])
		}
	}
	t.printed = t.printed[:0]
}

func (t *Target) notice(n machine.Notice) {
	t.flush()
	if t.opt.Notice != nil {
		t.opt.Notice(n)
	}
}
