package targettest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stem-hw/stem-hw/target"
)

func (c Case) halter(t *testing.T) {
	for _, check := range []struct {
		name string
		f    func(*halted)
	}{
		{"LoadLeavesHalted", (*halted).checkLoaded},
		{"Breakpoint", func(h *halted) { h.checkBreakpoint(target.PointHardware) }},
		{"SoftwareBreakpoint", func(h *halted) { h.checkBreakpoint(target.PointSoftware) }},
		{"BreakpointTwice", (*halted).checkBreakpointTwice},
		{"Step", (*halted).checkStep},
		{"StepWithBreakpoint", (*halted).checkStepWithBreakpoint},
		{"RangeStep", (*halted).checkRange},
		{"Watchpoints", (*halted).checkWatch},
		{"Halt", (*halted).checkHalt},
		{"Running", (*halted).checkRunning},
		{"Registers", (*halted).checkRegisters},
		{"SetPC", (*halted).checkSetPC},
		{"OneCore", (*halted).checkOneCore},
		{"ResetHalt", (*halted).checkReset},
		{"Start", (*halted).checkStart},
	} {
		t.Run(check.name, func(t *testing.T) {
			c.with(t, func(f *fixture) {
				h := &halted{fixture: f, h: f.t.(target.Halter)}
				if err := f.t.Load(f.ctx, f.p.Image); err != nil {
					f.Fatalf("Load: %v", err)
				}
				check.f(h)
			})
		})
	}
}

// halted is a target with the program loaded and all cores stopped.
type halted struct {
	*fixture
	h target.Halter
}

func (h *halted) must(what string, err error) {
	h.Helper()
	if err != nil {
		h.Fatalf("%s: %v", what, err)
	}
}

func (h *halted) reg(core, num int) uint64 {
	h.Helper()
	v, err := h.h.ReadRegister(h.ctx, core, num)
	if err != nil {
		h.Fatalf("ReadRegister(core %d, %d): %v", core, num, err)
	}
	return v
}

func (h *halted) pc(core int) uint32 {
	h.Helper()
	return uint32(h.reg(core, h.p.PC))
}

// all resumes every core, and one resumes core 0 as a says.
func (h *halted) all() {
	h.Helper()
	var as []target.Action
	for _, c := range h.desc.Cores {
		as = append(as, target.Action{Core: c.ID})
	}
	h.must("Resume", h.h.Resume(h.ctx, as))
}

func (h *halted) one(a target.Action) {
	h.Helper()
	h.must("Resume", h.h.Resume(h.ctx, []target.Action{a}))
}

func (h *halted) wait() target.Stop {
	h.Helper()
	s, err := h.h.Wait(h.ctx)
	if err != nil {
		h.Fatalf("Wait: %v", err)
	}
	return s
}

func (h *halted) point(kind target.PointKind, addr uint32) target.Point {
	n := h.p.Step
	if kind >= target.PointWrite {
		n = 4
	}
	return target.Point{Kind: kind, Addr: addr, Len: n}
}

func (h *halted) set(p target.Point) {
	h.Helper()
	h.must("SetBreakpoint", h.h.SetBreakpoint(h.ctx, p))
}

func (h *halted) clear(p target.Point) {
	h.Helper()
	h.must("ClearBreakpoint", h.h.ClearBreakpoint(h.ctx, p))
}

// toLoop lets the program run to Loop for the first time, on core 0 alone, and
// removes the breakpoint.
func (h *halted) toLoop() {
	h.Helper()
	p := h.point(target.PointHardware, h.p.Loop)
	h.set(p)
	h.one(target.Action{Core: 0})
	h.stopsAt(h.wait(), target.StopBreakpoint, h.p.Loop)
	h.clear(p)
}

func (h *halted) stopsAt(s target.Stop, reason target.StopReason, pc uint32) {
	h.Helper()
	if s.Reason != reason || s.PC != pc {
		h.Fatalf("stopped by %s, want %q at %#x (Loop is %#x)", say(s), reason, pc, h.p.Loop)
	}
	if got := h.pc(s.Core); got != pc {
		h.Fatalf("the stop says pc %#x, register %d of core %d says %#x", pc, h.p.PC, s.Core, got)
	}
}

// say describes a stop.
func say(s target.Stop) string {
	text := fmt.Sprintf("%q of core %d at %#x", s.Reason, s.Core, s.PC)
	if s.Crash != nil {
		text += ": " + s.Crash.Cause
	}
	return text
}

func (h *halted) checkLoaded() {
	s := h.wait()
	if s.Reason == "" {
		h.Errorf("Wait after Load gives no reason: %+v", s)
	}
	h.pc(0)
	// Nothing was executed: the word that the program writes is as loaded.
	if m, ok := h.t.(target.Memory); ok {
		var b [4]byte
		h.must("ReadMemory", m.ReadMemory(h.ctx, 0, h.p.Data, b[:]))
		if b != [4]byte{} {
			h.Errorf("the program ran before it was started: its word is % x", b)
		}
	}
}

func (h *halted) checkBreakpoint(kind target.PointKind) {
	p := h.point(kind, h.p.Loop)
	h.set(p)
	h.one(target.Action{Core: 0})
	h.stopsAt(h.wait(), target.StopBreakpoint, h.p.Loop)
	if n := h.reg(0, h.p.Count); n != 0 {
		h.Errorf("the count is %d at the first stop: the breakpoint must stop before its instruction", n)
	}
	for want := uint64(1); want <= 3; want++ {
		h.one(target.Action{Core: 0})
		h.stopsAt(h.wait(), target.StopBreakpoint, h.p.Loop)
		if n := h.reg(0, h.p.Count); n != want {
			h.Fatalf("the count is %d at stop %d: going on from a breakpoint must make progress, by one round", n, want+1)
		}
	}
}

func (h *halted) checkBreakpointTwice() {
	p := h.point(target.PointHardware, h.p.Loop)
	h.set(p)
	h.set(p)
	h.one(target.Action{Core: 0})
	h.stopsAt(h.wait(), target.StopBreakpoint, h.p.Loop)
	h.clear(p)
	// One removal is enough.
	other := h.point(target.PointHardware, h.p.Func)
	h.set(other)
	h.one(target.Action{Core: 0})
	h.stopsAt(h.wait(), target.StopBreakpoint, h.p.Func)
	h.clear(other)
	h.one(target.Action{Core: 0})
	h.must("Halt", h.h.Halt(h.ctx))
	if s := h.wait(); s.Reason != target.StopHalt {
		h.Errorf("stopped by %q after all breakpoints were removed", s.Reason)
	}
}

func (h *halted) checkStep() {
	h.toLoop()
	for _, want := range []uint32{h.p.Store, h.p.Read, h.p.Call, h.p.Func, h.p.Ret, h.p.Jump, h.p.Loop} {
		h.one(target.Action{Core: 0, Kind: target.ActionStep})
		h.stopsAt(h.wait(), target.StopStep, want)
	}
	if n := h.reg(0, h.p.Count); n != 1 {
		h.Errorf("the count is %d after one round of steps", n)
	}
	// Going on after steps is not a step.
	p := h.point(target.PointHardware, h.p.Jump)
	h.set(p)
	h.one(target.Action{Core: 0})
	h.stopsAt(h.wait(), target.StopBreakpoint, h.p.Jump)
}

func (h *halted) checkStepWithBreakpoint() {
	h.toLoop()
	h.set(h.point(target.PointHardware, h.p.Loop))
	h.one(target.Action{Core: 0, Kind: target.ActionStep})
	h.stopsAt(h.wait(), target.StopStep, h.p.Store)
	if n := h.reg(0, h.p.Count); n != 1 {
		h.Errorf("the count is %d after a step from a breakpoint", n)
	}
}

func (h *halted) checkRange() {
	h.toLoop()
	h.one(target.Action{Core: 0, Kind: target.ActionRange, Start: h.p.Loop, End: h.p.Call})
	h.stopsAt(h.wait(), target.StopStep, h.p.Call)
	// A call leaves the range.
	h.one(target.Action{Core: 0, Kind: target.ActionRange, Start: h.p.Call, End: h.p.Jump})
	h.stopsAt(h.wait(), target.StopStep, h.p.Func)
	// A breakpoint inside the range stops.
	h.toLoop()
	h.set(h.point(target.PointHardware, h.p.Read))
	h.one(target.Action{Core: 0, Kind: target.ActionRange, Start: h.p.Loop, End: h.p.Call})
	h.stopsAt(h.wait(), target.StopBreakpoint, h.p.Read)
}

func (h *halted) checkWatch() {
	if h.desc.Watchpoints == 0 {
		h.Skip("no watchpoints")
	}
	h.toLoop()
	for _, c := range []struct {
		kind  target.PointKind
		where []uint32 // the instructions whose access counts
	}{
		{target.PointWrite, []uint32{h.p.Store, h.p.Store}},
		{target.PointRead, []uint32{h.p.Read, h.p.Read}},
		{target.PointAccess, []uint32{h.p.Store, h.p.Read, h.p.Store}},
	} {
		p := h.point(c.kind, h.p.Data)
		h.set(p)
		for i, at := range c.where {
			h.one(target.Action{Core: 0})
			s := h.wait()
			if s.Reason != target.StopWatchpoint {
				h.Fatalf("watchpoint kind %d, stop %d: stopped by %q at %#x", c.kind, i, s.Reason, s.PC)
			}
			// Before the access or behind it: hardware differs.
			if s.PC != at && s.PC != at+h.p.Step {
				h.Errorf("watchpoint kind %d, stop %d: pc %#x, want %#x or the next instruction", c.kind, i, s.PC, at)
			}
			if s.Addr != h.p.Data {
				h.Errorf("watchpoint kind %d, stop %d: data address %#x, want %#x", c.kind, i, s.Addr, h.p.Data)
			}
			if s.Point != p {
				h.Errorf("watchpoint kind %d, stop %d: point %+v, want %+v", c.kind, i, s.Point, p)
			}
		}
		h.clear(p)
		// Back to Loop, so that the next kind begins alike.
		h.toLoop()
	}
}

func (h *halted) checkHalt() {
	h.toLoop()
	h.one(target.Action{Core: 0})
	for range 2 {
		h.must("Halt", h.h.Halt(h.ctx))
		s := h.wait()
		if s.Reason != target.StopHalt {
			h.Errorf("Halt gives %q", s.Reason)
		}
		if pc := h.pc(0); pc < h.p.Loop || pc > h.p.Ret {
			h.Errorf("halted at %#x, outside of the program's loop", pc)
		}
	}
	if _, err := h.h.Wait(h.ctx); err != nil {
		h.Errorf("Wait with nothing running: %v", err)
	}
}

func (h *halted) checkRunning() {
	h.toLoop()
	h.all()
	if _, err := h.h.ReadRegister(h.ctx, 0, h.p.Count); !errors.Is(err, target.ErrRunning) {
		h.Errorf("ReadRegister of a running core: %v, want ErrRunning", err)
	}
	if err := h.h.WriteRegister(h.ctx, 0, h.p.Count, 1); !errors.Is(err, target.ErrRunning) {
		h.Errorf("WriteRegister of a running core: %v, want ErrRunning", err)
	}
	ctx, cancel := context.WithCancel(h.ctx)
	cancel()
	if _, err := h.h.Wait(ctx); !errors.Is(err, target.ErrRunning) || !errors.Is(err, context.Canceled) {
		h.Errorf("Wait with an ended context: %v, want ErrRunning and context.Canceled", err)
	}
	// A breakpoint set while it runs takes effect.
	h.set(h.point(target.PointHardware, h.p.Func))
	if s := h.wait(); s.Reason != target.StopBreakpoint || s.PC != h.p.Func {
		h.Errorf("a breakpoint set while running: stopped by %q at %#x", s.Reason, s.PC)
	}
}

func (h *halted) checkRegisters() {
	h.toLoop()
	for _, v := range []uint64{0xdeadbeef, 0, 0xffffffff} {
		h.must("WriteRegister", h.h.WriteRegister(h.ctx, 0, h.p.Count, v))
		if got := h.reg(0, h.p.Count); got != v {
			h.Errorf("register %d reads %#x after %#x was written", h.p.Count, got, v)
		}
	}
	h.must("WriteRegister", h.h.WriteRegister(h.ctx, 0, h.p.Count, 41))
	h.one(target.Action{Core: 0, Kind: target.ActionStep})
	h.wait()
	if got := h.reg(0, h.p.Count); got != 42 {
		h.Errorf("the program does not see a written register: %d, want 42", got)
	}
	if h.p.Zero >= 0 {
		_ = h.h.WriteRegister(h.ctx, 0, h.p.Zero, 7)
		if got := h.reg(0, h.p.Zero); got != 0 {
			h.Errorf("register %d reads %#x, it must stay 0", h.p.Zero, got)
		}
	}
	for _, r := range h.desc.Registers {
		if r.Bits > 32 {
			continue
		}
		if v, err := h.h.ReadRegister(h.ctx, 0, r.Num); err != nil {
			h.Errorf("register %d %s is described and cannot be read: %v", r.Num, r.Name, err)
		} else if r.Bits < 64 && v>>r.Bits != 0 {
			h.Errorf("register %s has %d bits and reads %#x", r.Name, r.Bits, v)
		}
	}
	if _, err := h.h.ReadRegister(h.ctx, 0, 1<<20); err == nil {
		h.Error("a register that does not exist can be read")
	}
	if _, err := h.h.ReadRegister(h.ctx, len(h.desc.Cores), h.p.PC); err == nil {
		h.Error("a core that does not exist can be read")
	}
	if err := h.h.Resume(h.ctx, []target.Action{{Core: len(h.desc.Cores)}}); err == nil {
		h.Error("a core that does not exist can be resumed")
	}
}

func (h *halted) checkSetPC() {
	h.toLoop()
	h.must("WriteRegister", h.h.WriteRegister(h.ctx, 0, h.p.PC, uint64(h.p.Func)))
	if pc := h.pc(0); pc != h.p.Func {
		h.Fatalf("pc reads %#x after %#x was written", pc, h.p.Func)
	}
	h.one(target.Action{Core: 0, Kind: target.ActionStep})
	h.stopsAt(h.wait(), target.StopStep, h.p.Ret)
}

func (h *halted) checkOneCore() {
	if len(h.desc.Cores) < 2 {
		h.Skip("one core")
	}
	h.toLoop()
	before := h.pc(1)
	p := h.point(target.PointHardware, h.p.Jump)
	h.set(p)
	for range 3 {
		h.one(target.Action{Core: 0})
		if s := h.wait(); s.Core != 0 {
			h.Fatalf("core %d stopped, but only core 0 was resumed", s.Core)
		}
	}
	if after := h.pc(1); after != before {
		h.Errorf("core 1 went from %#x to %#x without having been resumed", before, after)
	}
}

func (h *halted) checkReset() {
	start := h.pc(0)
	h.toLoop()
	h.must("Reset", h.t.Reset(h.ctx, target.ResetHalt))
	if s := h.wait(); s.PC != start {
		h.Errorf("stopped at %#x after ResetHalt, want %#x as after Load", s.PC, start)
	}
	// The program is still there and starts over.
	h.toLoop()
	if n := h.reg(0, h.p.Count); n != 0 {
		h.Errorf("the count is %d after a reset", n)
	}
}

func (h *halted) checkStart() {
	h.must("Start", h.t.Start(h.ctx))
	h.set(h.point(target.PointHardware, h.p.Func))
	if s := h.wait(); s.Reason != target.StopBreakpoint || s.PC != h.p.Func {
		h.Errorf("stopped by %q at %#x after Start", s.Reason, s.PC)
	}
	h.must("Reset", h.t.Reset(h.ctx, target.ResetRun))
	if s := h.wait(); s.Reason != target.StopBreakpoint || s.PC != h.p.Func {
		h.Errorf("stopped by %q at %#x after ResetRun: breakpoints survive a reset", s.Reason, s.PC)
	}
	if n := h.reg(0, h.p.Count); n != 1 {
		h.Errorf("the count is %d at the first call after ResetRun", n)
	}
}
