package cortexm33

import (
	"testing"

	"github.com/stem-hw/stem-hw/sim/bus"
	"github.com/stem-hw/stem-hw/target"
)

// program places halfwords behind a vector table whose entries all lead to the
// first of them.
func program(t *testing.T, code ...uint16) *bare {
	m := newBare(t)
	table := le.AppendUint32(nil, 0x38001000)
	for range 79 {
		table = le.AppendUint32(table, progStart|1)
	}
	var p []byte
	for _, h := range code {
		p = le.AppendUint16(p, h)
	}
	m.poke(0x10000000, table)
	m.poke(progStart, p)
	m.core.Reset()
	return m
}

const progStart = 0x10000200

// port accesses debug registers as an access port does.
type port struct {
	t *testing.T
	c *Core
}

func (p port) read(addr uint32) uint32 {
	v, ok := p.c.ReadPPB(addr, 4, false)
	if !ok {
		p.t.Fatalf("read of %#x refused", addr)
	}
	return v
}

func (p port) write(addr, v uint32) {
	if !p.c.WritePPB(addr, 4, v, false) {
		p.t.Fatalf("write of %#x refused", addr)
	}
}

// reg reads a core register through DCRSR.
func (p port) reg(n uint32) uint32 {
	p.write(dcrsr, n)
	return p.read(dcrdr)
}

const (
	dhcsr  = 0xe000edf0
	dcrsr  = 0xe000edf4
	dcrdr  = 0xe000edf8
	demcr  = 0xe000edfc
	dfsr   = 0xe000ed30
	dbgKey = 0xa05f << 16
)

// loop: movs r0,#0; adds r0,#1; str r0,[r1]; b back
var counting = []uint16{0x2000, 0x3001, 0x6008, 0xe7fc}

func TestDebugHaltStepRegisters(t *testing.T) {
	m := program(t, counting...)
	m.core.R[1] = 0x38000000
	p := port{t, m.core}
	if v := p.read(dhcsr); v>>25&1 != 1 {
		t.Errorf("DHCSR %#x: S_RESET_ST is not set after reset", v)
	}
	if v := p.read(dhcsr); v>>25&1 != 0 {
		t.Errorf("DHCSR %#x: S_RESET_ST is not cleared by reading", v)
	}
	p.write(dhcsr, dbgKey|dhcsrCDEBUGEN|dhcsrCHALT)
	if r := m.core.Run(1000); r != bus.ReasonHalted {
		t.Fatalf("reason %d", r)
	}
	if v := p.read(dhcsr); v&0x30003 != 0x30003 {
		t.Errorf("DHCSR %#x, want C_DEBUGEN, C_HALT, S_REGRDY, S_HALT", v)
	}
	if pc := p.reg(15); pc != progStart {
		t.Errorf("pc %#x", pc)
	}
	for i := range 3 {
		p.write(dhcsr, dbgKey|dhcsrCDEBUGEN|dhcsrCSTEP|dhcsrCMASKINTS)
		if r := m.core.Run(m.core.Cycle + 1000); r != bus.ReasonHalted {
			t.Fatalf("step %d: reason %d", i, r)
		}
		if pc := p.reg(15); pc != progStart+2*uint32(i+1) {
			t.Errorf("step %d: pc %#x", i, pc)
		}
	}
	if v := p.read(dfsr); v&dfsrHALTED == 0 {
		t.Errorf("DFSR %#x", v)
	}
	p.write(dcrdr, 41)
	p.write(dcrsr, 1<<16) // r0
	if m.core.R[0] != 41 {
		t.Errorf("r0 is %d", m.core.R[0])
	}
	if v := p.reg(17); v != 0x38001000 {
		t.Errorf("msp %#x", v)
	}
	p.write(dcrdr, 0x3f800000)
	p.write(dcrsr, 1<<16|70) // s6
	if v := p.reg(70); v != 0x3f800000 {
		t.Errorf("s6 %#x", v)
	}
}

func TestBreakpointUnit(t *testing.T) {
	m := program(t, counting...)
	m.core.R[1] = 0x38000000
	p := port{t, m.core}
	if v := p.read(0xe0002000); v != 0x10000080 {
		t.Errorf("FP_CTRL %#x", v)
	}
	p.write(0xe0002000, 3)
	p.write(0xe0002008, (progStart+4)|1)
	p.write(dhcsr, dbgKey|dhcsrCDEBUGEN)
	for want := uint32(1); want < 4; want++ {
		if r := m.core.Run(m.core.Cycle + 1000); r != bus.ReasonHalted {
			t.Fatalf("reason %d", r)
		}
		if pc := p.reg(15); pc != progStart+4 {
			t.Fatalf("pc %#x", pc)
		}
		if m.core.R[0] != want {
			t.Errorf("r0 %d, want %d", m.core.R[0], want)
		}
		// A comparator on the present pc stops at once; move it away to go on.
		p.write(dhcsr, dbgKey|dhcsrCDEBUGEN)
		n := m.core.Instret()
		if m.core.Run(m.core.Cycle + 1000); m.core.Instret() != n {
			t.Error("the breakpoint on the present pc did not hit at once")
		}
		p.write(0xe0002008, 0)
		p.write(dhcsr, dbgKey|dhcsrCDEBUGEN|dhcsrCSTEP)
		m.core.Run(m.core.Cycle + 1000)
		p.write(0xe0002008, (progStart+4)|1)
		p.write(dhcsr, dbgKey|dhcsrCDEBUGEN)
	}
}

func TestWatchpointUnit(t *testing.T) {
	m := program(t, counting...)
	m.core.R[1] = 0x38000020
	p := port{t, m.core}
	p.write(demcr, demcrTRCENA)
	p.write(0xe0001020, 0x38000020)
	p.write(0xe0001028, 2<<10|1<<4|matchDataW)
	p.write(dhcsr, dbgKey|dhcsrCDEBUGEN)
	if r := m.core.Run(1000); r != bus.ReasonHalted {
		t.Fatalf("reason %d", r)
	}
	if pc := p.reg(15); pc != progStart+6 {
		t.Errorf("pc %#x, want behind the store", pc)
	}
	if v := p.read(0xe0001028); v>>24&1 != 1 {
		t.Errorf("DWT_FUNCTION0 %#x: MATCHED is not set", v)
	}
	if v := p.read(dfsr); v&dfsrDWTTRAP == 0 {
		t.Errorf("DFSR %#x", v)
	}
}

func TestVectorCatch(t *testing.T) {
	m := program(t, 0xde00) // udf
	p := port{t, m.core}
	p.write(dhcsr, dbgKey|dhcsrCDEBUGEN)
	p.write(demcr, demcrVCHARDERR)
	if r := m.core.Run(1000); r != bus.ReasonHalted {
		t.Fatalf("reason %d", r)
	}
	if v := p.read(dfsr); v&dfsrVCATCH == 0 {
		t.Errorf("DFSR %#x", v)
	}
	p.write(demcr, demcrVCCORERESET)
	m.core.Reset()
	if r := m.core.Run(m.core.Cycle + 1000); r != bus.ReasonHalted || p.reg(15) != progStart {
		t.Errorf("after reset: reason %d, pc %#x", r, p.reg(15))
	}
}

func TestPoints(t *testing.T) {
	m := program(t, counting...)
	m.core.R[1] = 0x38000000
	m.core.SetPoints([]target.Point{{Kind: target.PointHardware, Addr: progStart + 2, Len: 2}})
	for want := range uint32(4) {
		if r := m.core.Run(m.core.Cycle + 1000); r != bus.ReasonHalted || m.core.PC() != progStart+2 || m.core.R[0] != want {
			t.Fatalf("round %d: reason %d, pc %#x, r0 %d", want, r, m.core.PC(), m.core.R[0])
		}
		if s := m.core.StopReason(); s.Reason != target.StopBreakpoint {
			t.Errorf("stopped by %q", s.Reason)
		}
		m.core.Resume()
	}
	m.core.HaltNow()
	m.core.SetPoints([]target.Point{{Kind: target.PointWrite, Addr: 0x38000002, Len: 1}})
	m.core.Resume()
	if r := m.core.Run(m.core.Cycle + 1000); r != bus.ReasonHalted {
		t.Fatalf("watchpoint: reason %d", r)
	}
	if s := m.core.StopReason(); s.Reason != target.StopWatchpoint || s.Addr != 0x38000000 {
		t.Errorf("%+v", s)
	}
}

func TestITMAndCycleCounter(t *testing.T) {
	m := program(t, 0x7010, 0xe7fd) // strb r0,[r2]; b .-2
	m.core.R[0], m.core.R[2] = 'x', 0xe0000000
	p := port{t, m.core}
	var got []byte
	m.core.OnITM = func(port int, v uint32, size uint8) {
		if port != 0 || size != 1 {
			t.Errorf("port %d, size %d", port, size)
		}
		got = append(got, byte(v))
	}
	m.core.Run(20)
	if len(got) != 0 {
		t.Error("a stimulus port that is off was heard")
	}
	p.write(demcr, demcrTRCENA)
	p.write(0xe0000e80, 1)
	p.write(0xe0000e00, 1)
	p.write(0xe0001000, 1)
	before, start := p.read(0xe0001004), m.core.Cycle
	m.core.Run(m.core.Cycle + 100)
	if len(got) < 10 || got[0] != 'x' {
		t.Errorf("heard %q", got)
	}
	if n := p.read(0xe0001004) - before; uint64(n) != m.core.Cycle-start {
		t.Errorf("CYCCNT went on by %d, the clock by %d", n, m.core.Cycle-start)
	}
}

// TestIgnoredAtNegativePriority: with CCR.BFHFNMIGN and STKOFHFNMIGN, refused
// accesses and the stack limit do not count while FAULTMASK is set.
func TestIgnoredAtNegativePriority(t *testing.T) {
	// cpsid f; ldr r0,[r1]; str r0,[r1]; sub sp,#16; movs r2,#1; cpsie f; sub sp,#16; movs r3,#1
	m := program(t, 0xb671, 0x6808, 0x6008, 0xb084, 0x2201, 0xb661, 0xb084, 0x2301)
	c := m.core
	c.R[0], c.R[1] = 5, 0x60000000
	c.WritePPB(0xe000ed14, 4, 0x201|1<<8|1<<10, false)
	c.writeSelector(28, c.R[13]) // MSPLIM_S at the stack pointer
	c.Plain = true
	c.Run(40)
	if c.R[0] != 0 || c.R[2] != 1 {
		t.Errorf("r0 %d, r2 %d: the accesses were not ignored; %v", c.R[0], c.R[2], c.lastTrap)
	}
	if c.lastTrap.CFSR&cfsrSTKOF == 0 || c.lastTrap.PC != progStart+12 {
		t.Errorf("%v at %#x: the limit does not count again", c.lastTrap, c.lastTrap.PC)
	}
}
