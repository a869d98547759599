package hazard3_test

import (
	"testing"

	"github.com/stem-hw/stem-hw/sim/bus"
	"github.com/stem-hw/stem-hw/sim/hazard3"
)

func TestExceptions(t *testing.T) {
	const nowhere = 0x40000000
	for _, tc := range []struct {
		name  string
		raw   uint32
		x11   uint32
		cause uint32
		count uint32 // of minstret: ecall, ebreak and mret retire
	}{
		{"illegal", 0, 0, 2, 0},
		{"ebreak", 0x00100073, 0, 3, 1},
		{"c.ebreak", 0x9002, 0, 3, 1},
		{"ecall", 0x00000073, 0, 11, 1},
		{"lw misaligned", 0x0005a503, testRAM + 2, 4, 0},
		{"lh misaligned", 0x00059503, testRAM + 1, 4, 0},
		{"lr.w misaligned", 0x1005a52f, testRAM + 2, 4, 0},
		{"lw fault", 0x0005a503, nowhere, 5, 0},
		{"lr.w fault", 0x1005a52f, nowhere, 5, 0},
		{"sw misaligned", 0x00a5a023, testRAM + 1, 6, 0},
		{"sc.w misaligned", 0x18a5a52f, testRAM + 1, 6, 0},
		{"amoadd.w misaligned", 0x00a5a52f, testRAM + 1, 6, 0},
		{"sw fault", 0x00a5a023, nowhere, 7, 0},
		{"amoadd.w fault", 0x00a5a52f, nowhere, 7, 0},
	} {
		for _, plain := range []bool{true, false} {
			var a asm
			a.w(tc.raw)
			for range 60 {
				a.h(1)
			}
			g := newTest(t, hazard3.Testbench(), a.b)
			g.poke(testRAM+0xf00, a.b[4:])
			g.Plain = plain
			g.SetCSR(0x300, 8)
			g.X[11] = tc.x11
			var heard hazard3.Trap
			g.OnTrap = func(tr hazard3.Trap) { heard = tr }
			g.Run(g.Cycle + 4)
			if g.csr(0x342) != tc.cause || g.csr(0x341) != testRAM || heard.Cause != tc.cause {
				t.Errorf("%s: mcause %d, mepc 0x%08x, heard %+v", tc.name, g.csr(0x342), g.csr(0x341), heard)
			}
			if s := g.csr(0x300); s != 0x1880 {
				t.Errorf("%s: mstatus 0x%08x", tc.name, s)
			}
			if g.PC()-(testRAM+0xf00) > 8 || g.csr(0x343) != 0 {
				t.Errorf("%s: pc 0x%08x", tc.name, g.PC())
			}
			if heard.HasAddr && heard.Addr != tc.x11 {
				t.Errorf("%s: address 0x%08x", tc.name, heard.Addr)
			}
			if n := g.csr(0xb02) - (g.PC()-(testRAM+0xf00))/2; n != tc.count {
				t.Errorf("%s: minstret counted %d, want %d", tc.name, n, tc.count)
			}
		}
	}
}

func TestFetchFault(t *testing.T) {
	var a asm
	a.w(0x00058067) // jr a1
	g := newTest(t, hazard3.Testbench(), a.b)
	g.X[11] = 0x40000000
	g.many(2)
	if g.csr(0x342) != 1 || g.csr(0x341) != 0x40000000 {
		t.Errorf("mcause %d, mepc 0x%08x", g.csr(0x342), g.csr(0x341))
	}
}

func TestLockup(t *testing.T) {
	// An illegal instruction in the trap handler.
	for _, plain := range []bool{true, false} {
		g := newTest(t, hazard3.Testbench(), []byte{0, 0})
		g.Plain = plain
		if r := g.Run(1000); r != bus.ReasonLockup || !g.Looping() || g.LastTrap().PC != testRAM+0xf00 {
			t.Errorf("plain %v: %d, %+v", plain, r, g.LastTrap())
		}
		if r := g.Run(g.Cycle + 1000); r != bus.ReasonLockup {
			t.Errorf("plain %v: %d the second time", plain, r)
		}
		// Code from outside ends it.
		g.poke(testRAM+0xf00, []byte{1, 0, 1, 0, 1, 0})
		if r := g.one(); r != bus.ReasonLimit {
			t.Errorf("plain %v: %d after a change", plain, r)
		}
	}
	// A handler that stores before it fails again makes a difference each time.
	var a asm
	a.w(0x00b5a023) // sw a1, 0(a1)
	a.h(0)
	for _, plain := range []bool{true, false} {
		g := newTest(t, hazard3.Testbench(), []byte{0, 0})
		g.poke(testRAM+0xf00, a.b)
		g.Plain = plain
		g.X[11] = testRAM + 0x1000
		if r := g.Run(1000); r != bus.ReasonLimit {
			t.Errorf("plain %v: %d", plain, r)
		}
	}
}

func TestJumpToItself(t *testing.T) {
	for _, size := range []int{2, 4} {
		var a asm
		if size == 2 {
			a.h(0xa001)
		} else {
			a.w(0x6f)
		}
		g := newTest(t, hazard3.Testbench(), a.b)
		if r := g.Run(g.Cycle + 1001); r != bus.ReasonLockup || g.Looping() {
			t.Fatalf("interrupts off: %d", r)
		}
		g = newTest(t, hazard3.Testbench(), a.b)
		g.SetCSR(0x304, 0x80)
		g.SetCSR(0x300, 8)
		start := g.Cycle
		if r := g.Run(start + 1001); r != bus.ReasonLimit || g.Cycle != start+1002 || g.Instret() != 501 {
			t.Errorf("%d: %d cycles, %d instructions", r, g.Cycle-start, g.Instret())
		}
		g.SetMTIP(true)
		g.one()
		if g.csr(0x341) != testRAM {
			t.Errorf("mepc 0x%08x", g.csr(0x341))
		}
	}
}

func TestMret(t *testing.T) {
	var a asm
	a.w(0x30200073)
	g := newTest(t, hazard3.Testbench(), a.b)
	g.SetCSR(0x300, 0x20080) // MPRV, MPIE, MPP = U
	g.SetCSR(0x341, testRAM+0x100)
	g.one()
	if s := g.csr(0x300); s != 0x88 || g.Priv() != 0 || g.PC() != testRAM+0x100 {
		t.Errorf("mstatus 0x%08x, privilege %d, pc 0x%08x", s, g.Priv(), g.PC())
	}
	// The same in U-mode is illegal.
	g.SetCSR(0x3b0, 0x3fffffff)
	g.SetCSR(0x3a0, 0x1f)
	g.poke(testRAM+0x100, a.b)
	g.one()
	if g.LastTrap().Cause != 2 || g.LastTrap().Priv != 0 || g.Priv() != 3 {
		t.Errorf("%+v", g.LastTrap())
	}
}

func TestReservation(t *testing.T) {
	const lr, sc = 0x1005a52f, 0x18c5a6af
	run := func(refuse bool, words ...uint32) *rig {
		var a asm
		for _, w := range words {
			a.w(w)
		}
		g := newTest(t, hazard3.Testbench(), a.b)
		g.refuse = refuse
		g.X[11], g.X[12] = testRAM+0x1000, 77
		g.many(len(words))
		return g
	}
	if g := run(false, lr, sc); g.X[13] != 0 || le32(g.word(testRAM+0x1000)) != 77 {
		t.Errorf("lr, sc: %d", g.X[13])
	}
	if g := run(false, sc); g.X[13] != 1 || le32(g.word(testRAM+0x1000)) != 0 {
		t.Errorf("sc alone: %d", g.X[13])
	}
	if g := run(false, lr, sc, sc); g.X[13] != 1 {
		t.Errorf("second sc: %d", g.X[13])
	}
	if g := run(true, lr, sc); g.X[13] != 1 || g.LastTrap().Count != 0 {
		t.Errorf("no exclusives there: %d", g.X[13])
	}
	if g := run(true, 0x00c5a6af); g.LastTrap().Cause != 7 {
		t.Errorf("AMO without exclusives: %+v", g.LastTrap())
	}
	if g := run(false, lr, 0x73); true {
		g.exec(sc, testRAM+0x1000)
		if g.X[13] != 1 {
			t.Error("a trap must clear the local monitor")
		}
	}
}

func TestSemihosting(t *testing.T) {
	var a asm
	a.w(0x01f01013)
	a.w(0x00100073)
	a.w(0x40705013)
	for _, plain := range []bool{true, false} {
		g := newTest(t, hazard3.Testbench(), a.b)
		g.Plain = plain
		calls := 0
		g.Semihost = func() bool { calls++; g.X[10] = 9; return g.PC() == testRAM+4 }
		g.Run(g.Cycle + 3)
		if calls != 1 || g.X[10] != 9 || g.LastTrap().PC == testRAM+4 {
			t.Errorf("%d calls, %+v", calls, g.LastTrap())
		}
		g.Semihost = func() bool { return false }
		g.SetPC(testRAM)
		g.Run(g.Cycle + 3)
		if g.LastTrap().Cause != 3 {
			t.Errorf("refused: %+v", g.LastTrap())
		}
	}
}
