package hazard3_test

import (
	"testing"

	"github.com/stem-hw/stem-hw/sim/bus"
	"github.com/stem-hw/stem-hw/sim/hazard3"
)

const (
	cmPush    = 0xb802
	cmPop     = 0xba02
	cmPopretz = 0xbc02
	cmPopret  = 0xbe02
)

// listRegs are the registers of each rlist, in the order of their addresses.
func listRegs(rlist uint32) []int {
	all := []int{1, 8, 9, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27}
	if rlist == 15 {
		return all
	}
	return all[:rlist-3]
}

func TestPushPop(t *testing.T) {
	for rlist := uint32(4); rlist < 16; rlist++ {
		for spimm := range uint32(4) {
			base := uint32(64)
			switch {
			case rlist < 8:
				base = 16
			case rlist < 12:
				base = 32
			case rlist < 15:
				base = 48
			}
			adj := base + 16*spimm
			regs := listRegs(rlist)
			var a asm
			a.h(cmPush | rlist<<4 | spimm<<2)
			a.h(cmPopretz | rlist<<4 | spimm<<2)
			g := newTest(t, hazard3.Testbench(), a.b)
			sp := uint32(testRAM + 0x3000)
			for i := range g.X {
				g.X[i] = uint32(i) * 0x01010100
			}
			g.X[0], g.X[2], g.X[1] = 0, sp, testRAM+0x100
			want := g.X
			g.one()
			if g.X[2] != sp-adj {
				t.Fatalf("rlist %d: sp moved by %d, want %d", rlist, sp-g.X[2], adj)
			}
			for i, r := range regs {
				at := sp - uint32(4*(len(regs)-i))
				if v := le32(g.word(at)); v != want[r] {
					t.Fatalf("rlist %d: 0x%08x at sp-%d, want x%d", rlist, v, sp-at, r)
				}
				g.X[r] = 0
			}
			g.one()
			want[10] = 0
			if g.X != want || g.PC() != testRAM+0x100 {
				t.Fatalf("rlist %d: popretz gave %08x at 0x%08x", rlist, g.X, g.PC())
			}
		}
	}
}

func TestPopFaultLeavesSP(t *testing.T) {
	for _, raw := range []uint32{cmPush | 7<<4, cmPop | 7<<4, cmPopret | 7<<4} {
		var a asm
		a.h(raw)
		g := newTest(t, hazard3.Testbench(), a.b)
		// The block straddles the start (push) or the end (pop) of RAM.
		sp := uint32(testRAM + 8)
		if raw != cmPush|7<<4 {
			sp = testRAM + testSize - 8
		}
		g.X[2] = sp
		g.X[1] = 0x1234
		g.one()
		trap := g.LastTrap()
		wantCause := uint32(5)
		if raw == cmPush|7<<4 {
			wantCause = 7
		}
		if trap.Cause != wantCause || trap.PC != testRAM || g.csr(0x341) != testRAM || g.X[2] != sp {
			t.Errorf("0x%04x: %+v, mepc 0x%08x, sp 0x%08x", raw, trap, g.csr(0x341), g.X[2])
		}
	}
}

func TestDoubleMoves(t *testing.T) {
	var a asm
	a.h(0xac22 | 1<<7 | 7<<2) // cm.mvsa01 s1, s7
	a.h(0xac62 | 0<<7 | 2<<2) // cm.mva01s s0, s2
	g := newTest(t, hazard3.Testbench(), a.b)
	g.X[10], g.X[11], g.X[8], g.X[18] = 1, 2, 3, 4
	g.many(2)
	if g.X[9] != 1 || g.X[23] != 2 || g.X[10] != 3 || g.X[11] != 4 {
		t.Errorf("%v", g.X)
	}
}

// waiting answers Ready with false a few times.
type waiting struct {
	*rig
	no int
}

func (w *waiting) Ready(uint64) bool { w.no--; return w.no < 0 }

func TestNotReadyBeginsNothing(t *testing.T) {
	g := newRig(hazard3.Testbench(), testRAM, testSize)
	w := &waiting{rig: g, no: 2}
	g.Core = hazard3.New(hazard3.Testbench(), 0, w, g)
	g.Map([]bus.Window{{Base: testRAM, Mem: g.ram, Flags: g.flags, Writable: true, Executable: true}})
	g.mmio = func(uint64, uint32, uint8, bool, uint32) (uint32, uint32, bool) { return 7, 3, true }
	var a asm
	a.w(0x0005a503) // lw a0, 0(a1)
	g.poke(testRAM, a.b)
	g.SetPC(testRAM)
	g.X[11] = 0x40000000
	for range 2 {
		if r := g.Run(g.Cycle + 10); r != bus.ReasonNotReady || g.PC() != testRAM || g.Instret() != 0 {
			t.Fatalf("%d at 0x%08x", r, g.PC())
		}
	}
	start := g.Cycle
	g.one()
	if g.X[10] != 7 || g.Cycle != start+4 {
		t.Errorf("x10 %d after %d cycles, want 7 after 4", g.X[10], g.Cycle-start)
	}
}
