package hazard3_test

import (
	"fmt"
	"testing"

	"github.com/stem-hw/stem-hw/sim/hazard3"
)

// Cycle counts by hazard3_core.v, hazard3_frontend.v and
// hazard3_muldiv_seq.v with memory without wait states.
func TestCycles(t *testing.T) {
	const (
		nop  = 0x00000013
		lw   = 0x0005a503 // lw a0, 0(a1)
		add  = 0x00a50633 // add a2, a0, a0
		sw   = 0x00a5a223 // sw a0, 4(a1)
		swA  = 0x00b52223 // sw a1, 4(a0)
		lr   = 0x1005a52f
		sc   = 0x18c5a6af // sc.w a3, a2, (a1)
		amo  = 0x00c5a6af // amoadd.w a3, a2, (a1)
		add3 = 0x00d68633 // add a2, a3, a3
	)
	type step struct {
		raw    uint32
		cycles uint64
	}
	w := func(raw uint32, cycles uint64) step { return step{raw, cycles} }
	for _, tc := range []struct {
		name  string
		steps []step
	}{
		{"in line", []step{w(nop, 1), w(0x02b50533, 1), w(0x02b51533, 1), w(0x34051573, 1), w(0x0ff0000f, 1)}},
		{"load and use", []step{w(lw, 1), w(add, 2)}},
		{"load and other", []step{w(lw, 1), w(nop, 1), w(add, 1)}},
		{"load and store of it", []step{w(lw, 1), w(sw, 1)}},
		{"load and store to it", []step{w(lw, 1), w(swA, 2)}},
		{"divisions", []step{w(0x02c5d533, 19), w(0x02c5f533, 19), w(0x02c5c533, 19), w(0x02d5c533, 19), w(0x02b6e533, 20)}},
		{"lr and sc", []step{w(lr, 1), w(sc, 2), w(add3, 2)}},
		{"lr, gap, sc", []step{w(lr, 1), w(nop, 1), w(sc, 1), w(nop, 1), w(add3, 1)}},
		{"amo", []step{w(amo, 4), w(amo, 4), w(add3, 1)}},
		{"lr and amo", []step{w(lr, 1), w(amo, 5)}},
		{"jump to the next", []step{w(0x0040006f, 2)}},
		{"branch not taken", []step{w(0x00b59463, 1)}},
		{"branch taken", []step{w(0x00b58263, 2)}},
		{"fence.i", []step{w(0x0000100f, 2)}},
		// The low bits of a CSR's number count as a register: menvcfg is 0x30a.
		{"CSR number looks like a register", []step{w(lw, 1), w(0x30a025f3, 2)}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var a asm
			for _, s := range tc.steps {
				a.w(s.raw)
			}
			g := newTest(t, hazard3.Testbench(), a.b)
			g.X[10], g.X[11], g.X[12], g.X[13] = testRAM+0x2000, testRAM+0x1000, 3, 0xfffffff0
			put32(g.word(testRAM+0x1000), testRAM+0x2000)
			for i, s := range tc.steps {
				before := g.Cycle
				g.one()
				if got := g.Cycle - before; got != s.cycles {
					t.Errorf("step %d (0x%08x): %d cycles, want %d", i, s.raw, got, s.cycles)
				}
			}
		})
	}
}

// loop runs a program and returns the cycles of each instruction at pc.
func cyclesAt(g *rig, pc uint32, n int) []uint64 {
	var out []uint64
	for range n {
		at, before := g.PC(), g.Cycle
		g.one()
		if at == pc {
			out = append(out, g.Cycle-before)
		}
	}
	return out
}

func TestBranchPredictor(t *testing.T) {
	for _, tc := range []struct {
		name string
		pad  int // halfwords of c.nop before the loop
		body []uint32
		want string
	}{
		// First taken: mispredicted. Then predicted. The last one falls out.
		{"aligned target", 0, []uint32{0xfff50513, 0xfe051ee3}, "[2 1 1 1 2]"},
		// A 32-bit target across words is waited for after a predicted branch
		// too, unless its first half is in the buffer already.
		{"target across words", 1, []uint32{0x00000013, 0xfff50513, 0xfe051ce3}, "[3 2 2 2 2]"},
		{"target across words, behind a short one", 1, []uint32{0xfff50513, 0x00000013, 0x0001, 0xfe051be3}, "[3 1 1 1 2]"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var a asm
			for range tc.pad {
				a.h(1)
			}
			var at uint32
			for _, raw := range tc.body {
				at = uint32(len(a.b))
				if raw>>16 == 0 && raw&3 != 3 {
					a.h(raw)
				} else {
					a.w(raw)
				}
			}
			for range 8 {
				a.h(1)
			}
			g := newTest(t, hazard3.Testbench(), a.b)
			g.X[10] = 5
			if got := fmt.Sprint(cyclesAt(g, testRAM+at, tc.pad+5*len(tc.body))); got != tc.want {
				t.Errorf("the branch takes %s, want %s", got, tc.want)
			}
		})
	}
}

func TestZcmpCycles(t *testing.T) {
	for _, tc := range []struct {
		raw    uint32
		cycles uint64
	}{
		{cmPush | 4<<4, 2}, {cmPush | 15<<4, 14}, {cmPop | 4<<4, 2}, {cmPop | 15<<4, 14},
		{cmPopret | 4<<4, 4}, {cmPopret | 5<<4, 4}, {cmPopret | 15<<4, 15},
		{cmPopretz | 4<<4, 4}, {cmPopretz | 5<<4, 5}, {cmPopretz | 15<<4, 16},
		{0xac22 | 2<<7 | 3<<2, 2}, {0xac62, 2},
	} {
		var a asm
		a.h(tc.raw)
		g := newTest(t, hazard3.Testbench(), a.b)
		g.X[2] = testRAM + 0x2000
		for i := uint32(0); i < 128; i += 4 {
			put32(g.word(testRAM+0x2000+i), testRAM+0x100)
		}
		before := g.Cycle
		g.one()
		if got := g.Cycle - before; got != tc.cycles {
			t.Errorf("0x%04x: %d cycles, want %d", tc.raw, got, tc.cycles)
		}
	}
}

func TestTrapCycles(t *testing.T) {
	for _, tc := range []struct {
		name   string
		raw    uint32
		x11    uint32
		cycles uint64
	}{
		{"ecall", 0x73, 0, 3}, {"ebreak", 0x100073, 0, 3}, {"mret", 0x30200073, 0, 3}, {"illegal", 0, 0, 3},
		{"misaligned", 0x0005a503, 1, 3}, {"misaligned AMO", 0x00a5a52f, 1, 4},
		{"bus fault", 0x00002503, 0, 4}, {"AMO fault", 0x00a0252f, 0, 5},
	} {
		var a asm
		a.w(tc.raw)
		g := newTest(t, hazard3.Testbench(), a.b)
		g.SetCSR(0x341, testRAM+0x100)
		g.SetCSR(0x300, 0x1800)
		g.X[11] = testRAM + tc.x11
		before := g.Cycle
		g.one()
		if got := g.Cycle - before; got != tc.cycles {
			t.Errorf("%s: %d cycles, want %d", tc.name, got, tc.cycles)
		}
	}
}
