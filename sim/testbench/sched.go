package testbench

import (
	"fmt"

	"github.com/stem-hw/stem-hw/sim/bus"
	"github.com/stem-hw/stem-hw/sim/hazard3"
	"github.com/stem-hw/stem-hw/sim/machine"
)

// Run executes until the clock reaches limit or something is to be reported.
//
// Time is cut into turns of quantum cycles, and within one the harts run one
// after the other. A hart that must not make an access yet lets the others catch
// up first. A limit interrupts a turn but changes no order: the result does not
// depend on how a run is cut into calls.
func (b *board) Run(limit uint64) machine.Event {
	b.dirty = true
	for {
		if b.pending {
			b.pending = false
			return b.event
		}
		h := b.pick()
		if h == nil {
			if e, done := b.idle(limit); done {
				return e
			}
			continue
		}
		b.now = max(b.now, h.Cycle)
		if h.Cycle >= limit {
			return machine.Event{Kind: machine.EventLimit}
		}
		b.dev.tick(h.id, h.Cycle)
		target := min(limit, b.dev.due(h.id))
		for _, o := range b.harts {
			if o == h || !o.running() {
				continue
			}
			target = min(target, (h.Cycle/quantum+1)*quantum)
			if o.waits {
				target = min(target, max(o.want, h.Cycle+1))
			}
		}
		if e, stop := b.turn(h, target); stop {
			return e
		}
	}
}

// turn lets one hart run and deals with why it returned.
func (b *board) turn(h *hart, target uint64) (machine.Event, bool) {
	h.waits = false
	r := h.Core.Run(target)
	h.waits = r == bus.ReasonNotReady
	b.follow(h.Cycle)
	switch r {
	case bus.ReasonHalted:
		b.now = max(b.now, h.Cycle)
		return machine.Event{Kind: machine.EventStop, Core: h.id}, true
	case bus.ReasonLockup:
		h.dead = true
		if t := h.LastTrap(); h.Looping() {
			return machine.Event{
				Kind: machine.EventCrash, Core: h.id,
				Cause: fmt.Sprintf("%s at 0x%08x, again and again", hazard3.Describe(t), t.PC),
			}, true
		}
	}
	b.now = max(b.now, min(h.Cycle, target))
	return machine.Event{}, false
}

// running reports whether the hart wants to execute.
func (h *hart) running() bool {
	return !h.dead && !h.Halted() && (!h.Asleep() || h.CanWake())
}

// pick returns the hart to run next, or nil if none wants to.
func (b *board) pick() *hart {
	var first *hart
	for _, h := range b.harts {
		if !h.running() || h.waits && !h.Ready(h.want) {
			continue
		}
		if first == nil || h.Cycle/quantum < first.Cycle/quantum {
			first = h
		}
	}
	return first
}

// follow moves the clocks of harts that do not run up to now, and wakes those
// for which something is due.
func (b *board) follow(now uint64) {
	for _, o := range b.harts {
		if o.running() || o.Cycle >= now {
			continue
		}
		if due := b.dev.due(o.id); due <= now && !o.dead {
			o.SkipTo(due)
			b.dev.tick(o.id, o.Cycle)
			if o.running() {
				continue // it runs on from here
			}
		}
		o.SkipTo(now)
	}
}

// idle is what happens when no hart runs: time passes until something is due.
func (b *board) idle(limit uint64) (machine.Event, bool) {
	halted := true
	next := never
	for _, h := range b.harts {
		if h.Halted() {
			continue
		}
		halted = false
		if h.dead {
			continue
		}
		if h.WakesFor(hazard3.TimerInterrupt) {
			next = min(next, b.dev.due(h.id))
		}
	}
	if next == never {
		if halted {
			b.now = max(b.now, limit)
			return machine.Event{Kind: machine.EventLimit}, true
		}
		return b.asleepForEver(), true
	}
	now := min(next, limit)
	for _, h := range b.harts {
		h.SkipTo(now)
		b.dev.tick(h.id, h.Cycle)
	}
	b.now = max(b.now, now)
	return machine.Event{Kind: machine.EventLimit}, now >= limit
}

func (b *board) asleepForEver() machine.Event {
	e := machine.Event{Kind: machine.EventAsleep}
	for _, h := range b.harts {
		if h.dead && !h.Looping() {
			e.Core = h.id
			e.Cause = fmt.Sprintf("hart %d jumps to itself at 0x%08x with interrupts off", h.id, h.PC())
		}
	}
	return e
}
