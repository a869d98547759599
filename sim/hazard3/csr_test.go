package hazard3_test

import (
	"fmt"
	"testing"

	"github.com/stem-hw/stem-hw/sim/hazard3"
)

// csrOp encodes an access to CSR n: funct3 1 write, 2 set, 3 clear, with rd x10
// and rs1.
func csrOp(f3, n, rs1 uint32) uint32 { return n<<20 | rs1<<15 | f3<<12 | 10<<7 | 0x73 }

type csrCase struct {
	n           uint32
	reset, mask uint32 // the bits that can be written
}

// common are the registers that the testbench and RP2350 share
// (hazard3_csr.v).
var common = []csrCase{
	{0x300, 0x1800, 0x00221888}, {0x310, 0, 0}, {0x304, 0, 0x888}, {0x306, 0, 7},
	{0x30a, 0, 0}, {0x31a, 0, 0}, {0x320, 5, 5}, {0x323, 0, 0}, {0x33f, 0, 0},
	{0x340, 0, 0xffffffff}, {0x341, 0, 0xfffffffe}, {0x342, 0, 0x8000000f}, {0x343, 0, 0}, {0x344, 0, 0},
	{0x7a0, 0, 3}, {0x7a1, 0x20000000, 0x104c}, {0x7a2, 0, 0xffffffff}, {0x7a4, 4, 0}, {0x7a5, 0, 0x88},
	{0xb03, 0, 0}, {0xb1f, 0, 0}, {0xb83, 0, 0}, {0xb9f, 0, 0},
	{0xb00, 0, 0xffffffff}, {0xb80, 0, 0xffffffff}, {0xb02, 0, 0xffffffff}, {0xb82, 0, 0xffffffff},
	{0xbf0, 0, 7},
	{0xbe2, 0, 0xffff0000}, {0xbe0, 0, 0xffff0000}, {0xbe1, 0, 0}, {0xbe3, 0, 0xffff0000},
	{0xbe4, 0x80000000, 0},
}

func TestCSRs(t *testing.T) {
	silicon := []csrCase{
		{0x301, 0x40901105, 0}, {0x305, 0x7ffc, 0xfffffffd},
		{0x3a0, 0, 0x9f9f9f9f}, {0x3a1, 0, 0x9f9f9f9f}, {0x3a2, 0x001f1f1f, 0}, {0x3a3, 0, 0},
		{0x3b0, 3, 0x3ffffffc}, {0x3b8, 0x01ffffff, 0x3ffffffc}, {0x3b9, 0x13ffffff, 0x3ffffffc},
		{0x3ba, 0x35ffffff, 0x3ffffffc}, {0x3bb, 0, 0}, {0x3bf, 0, 0}, {0xbd0, 0, 0xff},
	}
	bench := []csrCase{
		{0x301, 0x40901107, 0}, {0x305, 0, 0xfffffffd},
		{0x3a0, 0, 0x9f9f9f9f}, {0x3a1, 0, 0}, {0x3b0, 0, 0x3fffffff}, {0x3b3, 0, 0x3fffffff}, {0x3b4, 0, 0}, {0xbd0, 0, 0xf},
	}
	for _, m := range []struct {
		name  string
		cfg   hazard3.Config
		cases []csrCase
	}{
		{"silicon", hazard3.Silicon(hazard3.A2), append(silicon, common...)},
		{"testbench", hazard3.Testbench(), append(bench, common...)},
	} {
		for _, tc := range m.cases {
			t.Run(fmt.Sprintf("%s/%03x", m.name, tc.n), func(t *testing.T) {
				var a asm
				a.w(csrOp(2, tc.n, 0)) // csrr
				a.w(csrOp(1, tc.n, 11))
				a.w(csrOp(2, tc.n, 0))
				a.w(csrOp(3, tc.n, 11))
				a.w(csrOp(2, tc.n, 0))
				g := newRig(m.cfg, testRAM, testSize)
				g.poke(testRAM, a.b)
				g.SetPC(testRAM)
				g.one()
				if g.X[10] != tc.reset {
					t.Errorf("0x%08x after reset, want 0x%08x", g.X[10], tc.reset)
				}
				fixed := tc.reset &^ tc.mask
				ones := fixed | tc.mask
				switch tc.n {
				case 0x3a0, 0x3a1:
					// The locks hold what was written until reset, and A = 3 stays.
				case 0xbe0, 0xbe2, 0xbe3:
					// The raw operand holds the index of a window that does not exist.
					ones = 0
				}
				g.X[11] = 0xffffffff
				g.one()
				g.one()
				if g.X[10] != ones {
					t.Errorf("0x%08x after writing ones, want 0x%08x", g.X[10], ones)
				}
			})
		}
	}
	t.Run("identity", func(t *testing.T) {
		for n, want := range map[uint16]uint32{0xf11: 0x493, 0xf12: 27, 0xf13: 0x86fc4e3f, 0xf14: 0, 0xf15: 0} {
			g := newRig(hazard3.Silicon(hazard3.A2), testRAM, testSize)
			if v := g.csr(n); v != want {
				t.Errorf("CSR 0x%03x is 0x%08x, want 0x%08x", n, v, want)
			}
		}
	})
}

func TestCounters(t *testing.T) {
	var a asm
	a.w(csrOp(2, 0xb00, 0)) // csrr x10, mcycle
	a.w(csrOp(2, 0xb02, 0)&^0xf80 | 12<<7)
	a.w(csrOp(1, 0xb00, 11) &^ 0xf80) // csrw mcycle, x11
	a.w(csrOp(2, 0xb00, 0)&^0xf80 | 13<<7)
	a.w(csrOp(1, 0xb02, 11) &^ 0xf80)
	a.w(csrOp(2, 0xb02, 0)&^0xf80 | 14<<7)
	a.w(csrOp(2, 0xb00, 0)&^0xf80 | 15<<7)
	g := newTest(t, hazard3.Testbench(), a.b)
	g.X[11] = 1000
	g.SetCSR(0xb00, 50)
	g.SetCSR(0xb02, 70)
	g.many(7)
	for r, want := range map[int]uint32{10: 50, 12: 71, 13: 1000, 14: 1000, 15: 1003} {
		if g.X[r] != want {
			t.Errorf("x%d is %d, want %d", r, g.X[r], want)
		}
	}
}

func TestUserModeSeesCountersIfAllowed(t *testing.T) {
	for _, tc := range []struct {
		n, counteren uint32
		ok           bool
	}{{0xc00, 0, false}, {0xc00, 1, true}, {0xc80, 1, true}, {0xc02, 1, false}, {0xc02, 4, true}, {0xb00, 7, false}, {0x340, 7, false}, {0xf14, 7, false}} {
		var a asm
		a.w(csrOp(2, tc.n, 0))
		g := newTest(t, hazard3.Silicon(hazard3.A2), a.b)
		g.SetCSR(0x306, tc.counteren)
		// Region 0 lets U-mode execute everywhere: on RP2350 X is bit 0.
		g.SetCSR(0x3b0, 0x3fffffff)
		g.SetCSR(0x3a0, 0x1f)
		g.WriteReg(65+4096, 0)
		g.one()
		if ok := g.LastTrap().Count == 0; ok != tc.ok {
			t.Errorf("CSR 0x%03x with mcounteren %d: %v, want %v", tc.n, tc.counteren, ok, tc.ok)
		}
	}
}
