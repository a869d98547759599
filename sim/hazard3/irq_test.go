package hazard3_test

import (
	"testing"

	"github.com/stem-hw/stem-hw/sim/bus"
	"github.com/stem-hw/stem-hw/sim/hazard3"
)

// irqRig has code full of nops, external interrupts on and lines enabled as
// given, with their priorities.
func irqRig(t *testing.T, pri map[int]uint32) *rig {
	t.Helper()
	var a asm
	for range 200 {
		a.h(1)
	}
	g := newTest(t, hazard3.Silicon(hazard3.A2), a.b)
	g.SetCSR(0x304, 0x888)
	for i, p := range pri {
		g.exec(csrOp(2, 0xbe0, 11), 1<<(16+i%16)|uint32(i/16))
		g.exec(csrOp(2, 0xbe3, 11), p<<(16+4*(i%4))|uint32(i/4))
	}
	g.SetPC(testRAM)
	return g
}

// exec executes one instruction out of line, with x11 set, and returns x10.
func (g *rig) exec(raw, x11 uint32) uint32 {
	pc := g.PC()
	var a asm
	a.w(raw)
	g.poke(testRAM+0xe00, a.b)
	g.SetPC(testRAM + 0xe00)
	g.X[11] = x11
	mie := g.csr(0x300) & 8
	g.SetCSR(0x300, g.csr(0x300)&^8)
	g.one()
	g.SetCSR(0x300, g.csr(0x300)|mie)
	g.SetPC(pc)
	return g.X[10]
}

func (g *rig) enable() { g.SetCSR(0x300, g.csr(0x300)|8) }

const (
	meinext    = 0xbe4
	meicontext = 0xbe5
)

func TestInterruptEntryAndReturn(t *testing.T) {
	g := irqRig(t, map[int]uint32{0: 0, 5: 2})
	g.SetCSR(0x305, testRAM+0xf00|1) // vectored
	g.poke(testRAM+0xf00+0x2c, []byte{0x73, 0x00, 0x20, 0x30})
	g.enable()
	g.SetIRQs(1 << 5)
	at := g.PC()
	g.one()
	if g.csr(0x342) != 1<<31|11 || g.csr(0x341) != at {
		t.Fatalf("mcause 0x%08x, mepc 0x%08x", g.csr(0x342), g.csr(0x341))
	}
	if g.PC() != testRAM+0xf2c {
		t.Fatalf("vector 0x%08x", g.PC())
	}
	g.SetIRQs(0)
	g.one() // mret: back, and preemption as it was
	if g.PC() != at {
		t.Fatalf("pc 0x%08x", g.PC())
	}
	if c := g.csr(meicontext); c != 0x8000 {
		t.Errorf("meicontext 0x%08x after mret, want 0x8000", c)
	}
}

func TestPreemption(t *testing.T) {
	g := irqRig(t, map[int]uint32{3: 4, 9: 7, 10: 4})
	nop := []byte{0x01, 0x00}
	for i := uint32(0); i < 64; i += 2 {
		g.poke(testRAM+0xf00+i, nop)
	}
	g.enable()
	g.SetIRQs(1<<3 | 1<<10)
	g.one()
	// IRQ 3 of priority 4 won over IRQ 10 of the same.
	if c := g.csr(meicontext); c>>16&31 != 5 || c&1 != 1 || c>>24&15 != 0 {
		t.Fatalf("meicontext 0x%08x", c)
	}
	if v := g.exec(csrOp(2, meinext, 0), 0); v != 3<<2 {
		t.Fatalf("meinext 0x%08x, want IRQ 3", v)
	}
	// UPDATE records it.
	if v := g.exec(meinext<<20|1<<15|6<<12|10<<7|0x73, 0); v != 3<<2 {
		t.Fatalf("meinext 0x%08x", v)
	}
	if c := g.csr(meicontext); c>>4&0x1ff != 3 || c>>15&1 != 0 || c>>16&31 != 5 {
		t.Fatalf("meicontext 0x%08x after UPDATE", c)
	}
	// IRQ 10 cannot preempt, IRQ 9 can.
	g.enable()
	g.one()
	if g.csr(0x300)&8 == 0 {
		t.Fatal("preempted by the same priority")
	}
	g.SetIRQs(1<<3 | 1<<9 | 1<<10)
	g.one()
	if c := g.csr(meicontext); c>>16&31 != 8 || c>>24&15 != 5 || c>>28 != 0 {
		t.Fatalf("meicontext 0x%08x after preemption", c)
	}
	// In the nested handler meinext shows only what is at or above PPREEMPT.
	g.SetIRQs(1<<3 | 1<<10)
	if v := g.exec(csrOp(2, meinext, 0), 0); v>>31 != 1 {
		t.Errorf("meinext 0x%08x, want none", v)
	}
	g.poke(g.PC(), []byte{0x73, 0x00, 0x20, 0x30}) // mret
	g.one()
	if c := g.csr(meicontext); c>>16&31 != 5 || c>>24&15 != 0 || c&1 != 0 {
		t.Errorf("meicontext 0x%08x after mret", c)
	}
}

func TestForceIsClearedByReadingMeinext(t *testing.T) {
	for _, irq := range []uint32{0, 17, 51} {
		g := irqRig(t, map[int]uint32{int(irq): 0})
		g.exec(csrOp(2, 0xbe2, 11), 1<<(16+irq%16)|irq/16)
		if v := g.exec(csrOp(2, 0xbe1, 11), irq/16); v != 1<<(16+irq%16) {
			t.Errorf("IRQ %d: meipa window 0x%08x", irq, v)
		}
		if g.csr(0x344)&0x800 == 0 {
			t.Errorf("IRQ %d is not pending", irq)
		}
		if v := g.exec(csrOp(1, meinext, 0)&^0xf80, 0); v == 0xbad {
			t.Fatal()
		}
		if g.csr(0x344)&0x800 == 0 {
			t.Errorf("IRQ %d: csrw meinext without a read cleared the force bit", irq)
		}
		if v := g.exec(csrOp(2, meinext, 0), 0); v != irq<<2 {
			t.Errorf("meinext 0x%08x, want IRQ %d", v, irq)
		}
		if g.csr(0x344)&0x800 != 0 {
			t.Errorf("IRQ %d is still forced", irq)
		}
	}
}

func TestPendingIsNotMaskedByEnable(t *testing.T) {
	g := irqRig(t, nil)
	g.SetIRQs(1<<20 | 1<<51)
	if v := g.exec(csrOp(2, 0xbe1, 11), 1); v != 1<<20 {
		t.Errorf("window 1 is 0x%08x", v)
	}
	if v := g.exec(csrOp(2, 0xbe1, 11), 3); v != 1<<19 {
		t.Errorf("window 3 is 0x%08x", v)
	}
	if v := g.exec(csrOp(2, 0xbe1, 11), 4); v != 0 {
		t.Errorf("window 4 is 0x%08x", v)
	}
	if g.csr(0x344)&0x800 != 0 {
		t.Error("pending without enable")
	}
}

func TestMeicontextSavesTimerAndSoftwareEnables(t *testing.T) {
	g := irqRig(t, nil)
	// csrrsi with CLEARTS: reads the enables and clears them.
	if v := g.exec(meicontext<<20|2<<15|6<<12|10<<7|0x73, 0); v&0xc != 0xc {
		t.Errorf("save bits 0x%08x", v)
	}
	if g.csr(0x304) != 0x800 {
		t.Errorf("mie 0x%03x", g.csr(0x304))
	}
	// Without CLEARTS they read 0.
	if v := g.exec(csrOp(2, meicontext, 0), 0); v&0xc != 0 {
		t.Errorf("save bits 0x%08x", v)
	}
	// Written as 1 they are restored.
	g.exec(csrOp(1, meicontext, 11), 0x8008)
	if g.csr(0x304) != 0x880 {
		t.Errorf("mie 0x%03x", g.csr(0x304))
	}
	// csrrc never clears.
	g.exec(csrOp(3, meicontext, 11), 2)
	if g.csr(0x304) != 0x880 {
		t.Errorf("mie 0x%03x after csrrc", g.csr(0x304))
	}
}

func TestOtherTrapsDoNotPushPreemption(t *testing.T) {
	g := irqRig(t, nil)
	g.SetMTIP(true)
	g.SetMSIP(true)
	g.enable()
	g.one()
	if g.csr(0x342) != 1<<31|3 {
		t.Errorf("mcause 0x%08x: software comes before timer", g.csr(0x342))
	}
	if c := g.csr(meicontext); c != 0x8000 {
		t.Errorf("meicontext 0x%08x", c)
	}
}

func TestUserModeGating(t *testing.T) {
	for _, tc := range []struct {
		cfg   hazard3.Config
		taken bool
	}{{hazard3.Silicon(hazard3.A2), false}, {hazard3.Testbench(), true}} {
		var a asm
		a.h(1)
		a.h(1)
		g := newTest(t, tc.cfg, a.b)
		g.SetCSR(0x3b0, 0x3fffffff)
		g.SetCSR(0x3a0, 0x1f)
		g.SetCSR(0x304, 0x80)
		g.SetMTIP(true)
		g.WriteReg(65+4096, 0)
		g.one()
		if taken := g.csr(0x342) == 1<<31|7; taken != tc.taken {
			t.Errorf("interrupt in U-mode with MIE = 0: %v, want %v", taken, tc.taken)
		}
	}
}

func TestInterruptRightAfterEnable(t *testing.T) {
	var a asm
	a.w(0x300<<20 | 8<<15 | 6<<12 | 0x73) // csrsi mstatus, 8
	for range 40 {
		a.h(1)
	}
	for _, plain := range []bool{true, false} {
		g := newTest(t, hazard3.Silicon(hazard3.A2), a.b)
		g.Plain = plain
		g.SetCSR(0x304, 8)
		g.SetMSIP(true)
		g.poke(testRAM+0xf00, a.b[4:])
		g.Run(g.Cycle + 8)
		if g.csr(0x341) != testRAM+4 {
			t.Errorf("plain %v: mepc 0x%08x, want the next instruction", plain, g.csr(0x341))
		}
	}
}

func TestSleep(t *testing.T) {
	const (
		wfi     = 0x10500073
		block   = 0x00002033
		unblock = 0x00102033
	)
	var a asm
	a.w(wfi)
	a.w(0x13)
	g := newTest(t, hazard3.Silicon(hazard3.A2), a.b)
	if r := g.Run(g.Cycle + 100); r != bus.ReasonAsleep || !g.Asleep() {
		t.Fatalf("wfi: %d", r)
	}
	g.SetMTIP(true)
	if r := g.Run(g.Cycle + 1); r != bus.ReasonAsleep {
		t.Fatalf("woken by an interrupt that mie masks: %d", r)
	}
	g.SetCSR(0x304, 0x80)
	g.one()
	if g.Asleep() || g.csr(0x342) != 0 {
		t.Error("wfi must wake without a trap while MIE is 0")
	}

	a.b = nil
	a.w(unblock)
	a.w(block)
	a.w(block)
	g = newTest(t, hazard3.Silicon(hazard3.A2), a.b)
	if r := g.Run(g.Cycle + 100); r != bus.ReasonAsleep || g.PC() != testRAM+12 || g.events != 1 {
		t.Fatalf("the event must let one block fall through: %d at 0x%08x", r, g.PC())
	}
	g.PostEvent()
	g.one()
	if g.Asleep() {
		t.Error("an event must wake h3.block")
	}

	for _, raw := range []uint32{wfi, block, unblock} {
		a.b = nil
		a.w(raw)
		g = newTest(t, hazard3.Testbench(), a.b)
		g.SetCSR(0x3b0, 0x3fffffff)
		g.SetCSR(0x3a0, 0x1f)
		g.SetCSR(0x300, 1<<21) // TW
		g.WriteReg(65+4096, 0)
		g.one()
		if g.LastTrap().Cause != 2 {
			t.Errorf("0x%08x in U-mode with TW: %+v", raw, g.LastTrap())
		}
	}
}
