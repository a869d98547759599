package hazard3_test

import (
	"testing"

	"github.com/stem-hw/stem-hw/sim/hazard3"
)

// Permissions of pmpcfg on the testbench; RP2350 swaps R and X.
const (
	cfgR, cfgW, cfgX = 1, 2, 4
	cfgNA4, cfgNAPOT = 2 << 3, 3 << 3
	cfgL             = 0x80
)

// napot is the pmpaddr of size bytes at addr.
func napot(addr, size uint32) uint32 { return addr>>2 | size>>3 - 1 }

func TestPMPData(t *testing.T) {
	const lw, sw = 0x0005a503, 0x00a5a023
	region := napot(testRAM+0x4000, 0x1000)
	for _, tc := range []struct {
		name  string
		cfg   uint32
		m     uint32 // pmpcfgm0
		user  bool
		raw   uint32
		addr  uint32
		cause uint32 // 0: allowed
	}{
		{"U without a region", 0, 0, true, lw, testRAM + 0x4000, 5},
		{"U reads", cfgR | cfgNAPOT, 0, true, lw, testRAM + 0x4ffc, 0},
		{"U reads beyond", cfgR | cfgNAPOT, 0, true, lw, testRAM + 0x5000, 5},
		{"U writes what it may read", cfgR | cfgNAPOT, 0, true, sw, testRAM + 0x4000, 7},
		{"U writes", cfgR | cfgW | cfgNAPOT, 0, true, sw, testRAM + 0x4000, 0},
		{"M ignores", cfgNAPOT, 0, false, sw, testRAM + 0x4000, 0},
		{"M is held by L", cfgL | cfgNAPOT, 0, false, lw, testRAM + 0x4000, 5},
		{"M is held by pmpcfgm0", cfgNAPOT, 1, false, sw, testRAM + 0x4000, 7},
		{"misaligned comes first", cfgL | cfgNAPOT, 0, false, lw, testRAM + 0x4001, 4},
	} {
		for _, silicon := range []bool{false, true} {
			cfg, bits := hazard3.Testbench(), tc.cfg
			if silicon {
				cfg = hazard3.Silicon(hazard3.A2)
				bits = bits&^5 | bits&1<<2 | bits>>2&1
			}
			var a asm
			a.w(tc.raw)
			g := newTest(t, cfg, a.b)
			// Region 0 is tested, region 1 lets U-mode execute.
			x := uint32(cfgX)
			if silicon {
				x = cfgR
			}
			g.SetCSR(0x3b0, region)
			g.SetCSR(0x3b1, napot(testRAM, 0x1000))
			g.SetCSR(0x3a0, bits|(x|cfgNAPOT)<<8)
			g.SetCSR(0xbd0, tc.m)
			if tc.user {
				g.WriteReg(65+4096, 0)
			}
			g.X[11] = tc.addr
			g.one()
			trap := g.LastTrap()
			if trap.Cause != tc.cause {
				t.Errorf("%s (silicon %v): cause %d, want %d", tc.name, silicon, trap.Cause, tc.cause)
			}
			if tc.cause != 0 && (!trap.HasAddr || trap.Addr != tc.addr) {
				t.Errorf("%s: fault address 0x%08x", tc.name, trap.Addr)
			}
		}
	}
}

func TestPMPFetch(t *testing.T) {
	var a asm
	a.h(1)
	a.w(0x13) // straddles the end of the region's first 32 bytes when at 0x1e
	for _, tc := range []struct {
		name string
		pc   uint32
		user bool
		ok   bool
	}{
		{"U inside", 0x00, true, true},
		{"U 16 bits at the end", 0x1e, true, true},
		{"U 32 bits across the end", 0x3e - 0x20, true, false},
		{"U outside", 0x40, true, false},
		{"M outside", 0x40, false, true},
		{"M across the end", 0x1e, false, false},
	} {
		g := newTest(t, hazard3.Testbench(), nil)
		code := make([]byte, 0x80)
		for i := 0; i < len(code); i += 2 {
			code[i] = 1
		}
		if tc.name != "U 16 bits at the end" {
			copy(code[0x1e:], a.b[2:])
		}
		g.poke(testRAM, code)
		g.SetPC(testRAM + tc.pc)
		g.SetCSR(0x3b0, napot(testRAM, 0x20))
		g.SetCSR(0x3a0, cfgX|cfgNAPOT)
		if tc.user {
			g.WriteReg(65+4096, 0)
		}
		g.one()
		if ok := g.LastTrap().Count == 0; ok != tc.ok || !ok && g.LastTrap().Cause != 1 {
			t.Errorf("%s: %v, want %v (%+v)", tc.name, ok, tc.ok, g.LastTrap())
		}
	}
}

func TestPMPRegisters(t *testing.T) {
	g := newTest(t, hazard3.Silicon(hazard3.A2), nil)
	// NA4 and TOR do not exist with a grain of 32 bytes.
	g.SetCSR(0x3a0, cfgNA4<<8|1<<3)
	if v := g.csr(0x3a0); v != 0 {
		t.Errorf("pmpcfg0 0x%08x", v)
	}
	// The low address bits read 1 while the region is off, 0 while it is on.
	g.SetCSR(0x3b0, 0x1000)
	if v := g.csr(0x3b0); v != 0x1003 {
		t.Errorf("pmpaddr0 0x%08x while off", v)
	}
	g.SetCSR(0x3a0, cfgNAPOT)
	if v := g.csr(0x3b0); v != 0x1000 {
		t.Errorf("pmpaddr0 0x%08x while on", v)
	}
	// L locks both until reset.
	g.SetCSR(0x3a0, cfgL|cfgNAPOT|7)
	g.SetCSR(0x3a0, 0)
	g.SetCSR(0x3b0, 0)
	if g.csr(0x3a0) != cfgL|cfgNAPOT|7 || g.csr(0x3b0) != 0x1000 {
		t.Errorf("locked: 0x%08x 0x%08x", g.csr(0x3a0), g.csr(0x3b0))
	}
	// pmpcfgm0 cannot hold the hardwired regions.
	g.SetCSR(0xbd0, 0xffffffff)
	if v := g.csr(0xbd0); v != 0xff {
		t.Errorf("pmpcfgm0 0x%08x", v)
	}
	g.Reset()
	if g.csr(0x3a0) != 0 || g.csr(0x3b0) != 3 || g.csr(0xbd0) != 0 {
		t.Error("reset must unlock")
	}
	tb := newTest(t, hazard3.Testbench(), nil)
	tb.SetCSR(0x3a0, cfgNA4|1<<11)
	if v := tb.csr(0x3a0); v != cfgNA4 {
		t.Errorf("testbench pmpcfg0 0x%08x: NA4 exists, TOR does not", v)
	}
}
