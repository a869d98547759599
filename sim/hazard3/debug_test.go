package hazard3_test

import (
	"testing"

	"github.com/stem-hw/stem-hw/sim/bus"
	"github.com/stem-hw/stem-hw/sim/hazard3"
	"github.com/stem-hw/stem-hw/sim/machine"
	"github.com/stem-hw/stem-hw/target"
)

var _ machine.Core = (*hazard3.Core)(nil)

func nops(n int) []byte {
	var a asm
	for range n {
		a.h(1)
	}
	return a.b
}

func TestHaltStepResume(t *testing.T) {
	g := newTest(t, hazard3.Testbench(), nops(100))
	g.Halt()
	if r := g.Run(g.Cycle + 10); r != bus.ReasonHalted || g.PC() != testRAM || g.StopReason().Reason != target.StopHalt {
		t.Fatalf("%d %+v", r, g.StopReason())
	}
	if v := g.csr(0x7b0); v != 0x400006c3 {
		t.Errorf("dcsr 0x%08x after a halt request", v)
	}
	g.Step(true)
	for i := uint32(1); i < 4; i++ {
		g.Resume()
		if r := g.Run(g.Cycle + 10); r != bus.ReasonHalted || g.PC() != testRAM+2*i || g.StopReason().Reason != target.StopStep {
			t.Fatalf("%d at 0x%08x: %+v", r, g.PC(), g.StopReason())
		}
	}
	g.Step(false)
	g.Resume()
	if r := g.Run(g.Cycle + 10); r != bus.ReasonLimit || g.PC() != testRAM+26 {
		t.Errorf("%d at 0x%08x", r, g.PC())
	}
}

// A step of an instruction that repeats itself for ever ends like any other.
func TestStepWhereNothingMoves(t *testing.T) {
	for name, code := range map[string]uint32{"jump to itself": 0x0000006f, "trap to itself": 0} {
		var a asm
		a.w(code)
		g := newTest(t, hazard3.Testbench(), a.b)
		g.SetCSR(0x305, testRAM) // mtvec
		if r := g.Run(g.Cycle + 1000); r != bus.ReasonLockup {
			t.Fatalf("%s: %d", name, r)
		}
		g.HaltNow()
		g.Step(true)
		for range 3 {
			g.Resume()
			if r := g.Run(g.Cycle + 100); r != bus.ReasonHalted || g.PC() != testRAM || g.StopReason().Reason != target.StopStep {
				t.Errorf("%s: %d at 0x%08x: %+v", name, r, g.PC(), g.StopReason())
			}
		}
	}
}

func TestStepTakesNoInterruptAndDoesNotSleep(t *testing.T) {
	var a asm
	a.w(0x10500073)
	a.w(0x13)
	g := newTest(t, hazard3.Testbench(), a.b)
	g.SetCSR(0x304, 8)
	g.SetCSR(0x300, 8)
	g.Halt()
	g.Run(g.Cycle + 1)
	g.SetMSIP(true)
	g.Step(true)
	g.Resume()
	if r := g.Run(g.Cycle + 10); r != bus.ReasonHalted || g.PC() != testRAM+4 {
		t.Fatalf("%d at 0x%08x", r, g.PC())
	}
	g.Step(false)
	g.Resume()
	g.one()
	if g.csr(0x341) != testRAM+4 {
		t.Errorf("mepc 0x%08x", g.csr(0x341))
	}
	// A step into an exception stops before the handler.
	g = newTest(t, hazard3.Testbench(), []byte{0, 0})
	g.Halt()
	g.Run(g.Cycle + 1)
	g.Step(true)
	g.Resume()
	if g.Run(g.Cycle + 10); !g.Halted() || g.PC() != testRAM+0xf00 {
		t.Errorf("at 0x%08x", g.PC())
	}
}

func TestBreakpoints(t *testing.T) {
	g := newTest(t, hazard3.Testbench(), nops(100))
	g.Run(g.Cycle + 50) // there are blocks already
	g.SetPC(testRAM)
	g.SetPoints([]target.Point{{Kind: target.PointSoftware, Addr: testRAM + 20, Len: 2}, {Kind: target.PointHardware, Addr: testRAM + 40, Len: 2}})
	for _, want := range []uint32{20, 40} {
		if r := g.Run(g.Cycle + 200); r != bus.ReasonHalted || g.PC() != testRAM+want || g.StopReason().Reason != target.StopBreakpoint {
			t.Fatalf("%d at 0x%08x", r, g.PC())
		}
		g.Resume() // goes on from the breakpoint it stands at
	}
	g.SetPoints(nil)
	if r := g.Run(g.Cycle + 10); r != bus.ReasonLimit {
		t.Errorf("%d", r)
	}
}

func TestBreakpointInLoop(t *testing.T) {
	var a asm
	a.w(0x00150513) // addi a0, a0, 1
	a.h(1)
	a.h(1)
	a.w(encJ(0, 0xfffffff8))
	g := newTest(t, hazard3.Testbench(), a.b)
	g.Run(g.Cycle + 100)
	n := g.X[10]
	g.SetPoints([]target.Point{{Kind: target.PointHardware, Addr: testRAM + 6, Len: 2}})
	for i := uint32(1); i < 5; i++ {
		if r := g.Run(g.Cycle + 1000); r != bus.ReasonHalted || g.PC() != testRAM+6 || g.X[10]-n > i {
			t.Fatalf("%d at 0x%08x, x10 %d after %d", r, g.PC(), g.X[10], n)
		}
		g.Resume()
	}
	// It goes with the points, not with the code.
	g.SetPoints(nil)
	if r := g.Run(g.Cycle + 1000); r != bus.ReasonLimit {
		t.Errorf("%d", r)
	}
}

func TestWatchpoints(t *testing.T) {
	const lw, sb = 0x0005a503, 0x00a58123 // lw a0, 0(a1); sb a0, 2(a1)
	for _, tc := range []struct {
		kind target.PointKind
		addr uint32
		raw  uint32
		hit  bool
	}{
		{target.PointWrite, 0, lw, false}, {target.PointRead, 3, lw, true}, {target.PointRead, 4, lw, false},
		{target.PointWrite, 2, sb, true}, {target.PointWrite, 3, sb, false}, {target.PointAccess, 2, sb, true}, {target.PointRead, 2, sb, false},
	} {
		var a asm
		a.w(tc.raw)
		a.w(0x13)
		g := newTest(t, hazard3.Testbench(), a.b)
		g.X[11] = testRAM + 0x1000
		g.SetPoints([]target.Point{{Kind: tc.kind, Addr: testRAM + 0x1000 + tc.addr, Len: 1}})
		g.Run(g.Cycle + 2)
		if g.Halted() != tc.hit {
			t.Errorf("%+v: halted is %v", tc, g.Halted())
		}
		if tc.hit {
			if s := g.StopReason(); s.Reason != target.StopWatchpoint || s.PC != testRAM {
				t.Errorf("%+v", s)
			}
			g.Resume()
			g.one()
			if g.Halted() || g.PC() != testRAM+4 {
				t.Error("resuming must perform the access")
			}
		}
	}
}

func TestEbreakUnderDebugger(t *testing.T) {
	var a asm
	a.w(0x00100073)
	g := newTest(t, hazard3.Testbench(), a.b)
	g.StopOnEbreak(true)
	if r := g.Run(g.Cycle + 10); r != bus.ReasonHalted || g.PC() != testRAM || g.csr(0x7b0)>>6&7 != 1 {
		t.Errorf("%d at 0x%08x, dcsr 0x%08x", r, g.PC(), g.csr(0x7b0))
	}
}

func TestTriggers(t *testing.T) {
	set := func(g *rig, tdata1 uint32) {
		g.exec(csrOp(1, 0x7a0, 11), 1)
		g.exec(csrOp(1, 0x7a2, 11), testRAM+4)
		g.exec(csrOp(1, 0x7a1, 11), tdata1)
	}
	g := newTest(t, hazard3.Silicon(hazard3.A2), nops(20))
	g.poke(testRAM+0xf00, nops(20))
	set(g, 1<<6|1<<2)
	g.Run(g.Cycle + 4)
	if g.csr(0x342) == 3 {
		t.Error("fired without tcontrol.MTE")
	}
	g.SetPC(testRAM)
	g.SetCSR(0x7a5, 8)
	g.Run(g.Cycle + 5)
	if g.csr(0x342) != 3 || g.csr(0x341) != testRAM+4 || g.csr(0x7a5) != 0x80 {
		t.Errorf("mcause %d, mepc 0x%08x, tcontrol 0x%x", g.csr(0x342), g.csr(0x341), g.csr(0x7a5))
	}
	// Only a debugger can set DMODE, and only then does action 1 work.
	g = newTest(t, hazard3.Silicon(hazard3.A2), nops(20))
	set(g, 1<<27|1<<12|1<<6|1<<2)
	g.Run(g.Cycle + 5)
	if g.Halted() {
		t.Error("entered Debug mode without DMODE")
	}
	g.SetPC(testRAM)
	g.SetCSR(0x7a1, 1<<27|1<<12|1<<6|1<<2)
	g.exec(csrOp(1, 0x7a1, 11), 0) // ignored: it is the debugger's
	if r := g.Run(g.Cycle + 5); r != bus.ReasonHalted || g.PC() != testRAM+4 || g.csr(0x7b0)>>6&7 != 2 {
		t.Errorf("%d at 0x%08x, dcsr 0x%08x", r, g.PC(), g.csr(0x7b0))
	}
}

func TestInject(t *testing.T) {
	g := newTest(t, hazard3.Silicon(hazard3.A2), nops(20))
	g.SetCSR(0xb00, 0)
	g.Run(g.Cycle + 3)
	g.Halt()
	g.Run(g.Cycle + 1)
	pc, cycles := g.PC(), g.csr(0xb00)
	g.SetData0(0x1234)
	if r := g.Inject(csrOp(2, 0xbff, 0)); r != hazard3.InjectedOK || g.X[10] != 0x1234 {
		t.Errorf("csrr dmdata0: %d, 0x%x", r, g.X[10])
	}
	g.X[10] = 0x77
	if r := g.Inject(0xbff51073); r != hazard3.InjectedOK || g.Data0() != 0x77 {
		t.Errorf("csrw dmdata0: %d, 0x%x", r, g.Data0())
	}
	g.X[11] = testRAM + 0x1000
	if r := g.Inject(0x00a5a023); r != hazard3.InjectedOK || le32(g.word(testRAM+0x1000)) != 0x77 {
		t.Errorf("sw: %d", r)
	}
	g.X[11] = 0x40000000
	for _, raw := range []uint32{0x0005a503, 0x0000006f, 0x00000517, 0x00000063, 0x0000100f, 0, 0x5c002573} {
		if r := g.Inject(raw); r != hazard3.InjectedException {
			t.Errorf("0x%08x: %d, want an exception", raw, r)
		}
	}
	if r := g.Inject(0x00100073); r != hazard3.InjectedEbreak {
		t.Errorf("ebreak: %d", r)
	}
	if g.PC() != pc || g.csr(0xb00) != cycles || g.csr(0x342) != 0 {
		t.Errorf("pc 0x%08x, mcycle %d, mcause %d", g.PC(), g.csr(0xb00), g.csr(0x342))
	}
	// dpc can be written.
	g.X[10] = testRAM + 0x20
	if r := g.Inject(0x7b151073); r != hazard3.InjectedOK || g.PC() != testRAM+0x20 {
		t.Errorf("csrw dpc: %d, 0x%08x", r, g.PC())
	}
	// Time passes while halted, mcycle stands.
	g.SkipTo(g.Cycle + 1000)
	if g.csr(0xb00) != cycles {
		t.Errorf("mcycle %d, want %d", g.csr(0xb00), cycles)
	}
}

func TestRegisters(t *testing.T) {
	g := newTest(t, hazard3.Silicon(hazard3.A2), nil)
	seen := map[int]bool{}
	for _, r := range g.Registers() {
		if seen[r.Num] || r.Name == "" || r.Feature == "" {
			t.Errorf("%+v", r)
		}
		seen[r.Num] = true
		if _, ok := g.ReadReg(r.Num); !ok {
			t.Errorf("%s (%d) cannot be read", r.Name, r.Num)
		}
	}
	for _, n := range []int{0, 31, 32, 65 + 0x300, 65 + 0xbe4, 4161} {
		if !seen[n] {
			t.Errorf("register %d is missing", n)
		}
	}
	if !g.WriteReg(5, 7) || g.X[5] != 7 || !g.WriteReg(0, 7) || g.X[0] != 0 {
		t.Error("general registers")
	}
	if _, ok := g.ReadReg(65 + 0x180); ok {
		t.Error("satp does not exist")
	}
	// A debugger's look at meinext does not clear a forced interrupt.
	g.SetIRQs(0)
	g.exec(csrOp(2, 0xbe0, 11), 1<<16)
	g.exec(csrOp(2, 0xbe2, 11), 1<<16)
	g.ReadReg(65 + 0xbe4)
	if g.csr(0x344)&0x800 == 0 {
		t.Error("reading meinext had a side effect")
	}
}
