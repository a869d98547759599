package hazard3_test

import (
	"fmt"
	"testing"

	"github.com/stem-hw/stem-hw/sim/bus"
	"github.com/stem-hw/stem-hw/sim/hazard3"
)

// both runs a test with the plain loop and with blocks.
func both(t *testing.T, f func(t *testing.T, plain bool)) {
	for _, plain := range []bool{true, false} {
		t.Run(fmt.Sprintf("plain=%v", plain), func(t *testing.T) { f(t, plain) })
	}
}

func TestSelfModifyingCode(t *testing.T) {
	both(t, func(t *testing.T, plain bool) {
		var a asm
		a.w(0x00b52823) // sw a1, 16(a0): the instruction at 16
		for range 3 {
			a.w(0x13)
		}
		a.w(0x00100613) // li a2, 1
		a.w(0x0000006f) // j .
		g := newTest(t, hazard3.Testbench(), a.b)
		g.Plain = plain
		run := func(word uint32) uint32 {
			g.X[10], g.X[11] = testRAM, word
			g.SetPC(testRAM)
			g.Run(g.Cycle + 50)
			return g.X[12]
		}
		for i := uint32(2); i < 6; i++ {
			// li a2, i replaces what follows in the same block, without fence.i.
			if got := run(i<<20 | 0x613); got != i {
				t.Errorf("li a2, %d gave %d", i, got)
			}
		}
		// A byte inside an instruction; a store next to code changes nothing.
		g.X[10] = testRAM
		put32(g.word(testRAM), 0x00b509a3) // sb a1, 19(a0)
		g.InvalidateCode(testRAM, testRAM+4)
		if got := run(0x01); got != 0x10+5&0xf {
			t.Errorf("after sb: %d", got)
		}
	})
}

func TestSharedCodeIsInvalidatedForBoth(t *testing.T) {
	a := newTest(t, hazard3.Testbench(), nil)
	b := &rig{base: a.base, ram: a.ram, flags: a.flags}
	b.Core = hazard3.New(hazard3.Testbench(), 1, b, b)
	b.ShareCode(a.Core)
	b.Map([]bus.Window{{Base: a.base, Mem: a.ram, Flags: a.flags, Writable: true, Executable: true}})
	var code, store asm
	code.w(0x00100613) // li a2, 1
	code.w(0x6f)
	store.w(0x00b52023) // sw a1, 0(a0)
	store.w(0x6f)
	b.poke(testRAM+0x100, code.b)
	b.SetPC(testRAM + 0x100)
	b.Run(b.Cycle + 20)
	a.poke(testRAM, store.b)
	a.SetPC(testRAM)
	a.X[10], a.X[11] = testRAM+0x100, 0x00700613
	a.Run(a.Cycle + 20)
	b.SetPC(testRAM + 0x100)
	b.Run(b.Cycle + 20)
	if b.X[12] != 7 {
		t.Errorf("x12 is %d, want 7", b.X[12])
	}
}

// TestAccessCycle: an access in the middle of a block reaches the bus at its
// own cycle, and what the bus does counts from there.
func TestAccessCycle(t *testing.T) {
	both(t, func(t *testing.T, plain bool) {
		var a asm
		a.w(0x13)
		a.w(0x02c5d533) // divu: 19 cycles
		a.w(0x0006a703) // lw a4, 0(a3)
		a.w(0x13)
		a.w(0x00e6a023) // sw a4, 0(a3)
		for range 20 {
			a.w(0x13)
		}
		g := newTest(t, hazard3.Testbench(), a.b)
		g.Plain = plain
		g.X[12], g.X[13] = 1, 0x40000000
		start := g.Cycle
		var at []uint64
		g.mmio = func(now uint64, addr uint32, size uint8, write bool, v uint32) (uint32, uint32, bool) {
			at = append(at, now-start)
			if write {
				g.Shorten(now + 3)
			}
			return 5, 2, true
		}
		r := g.Run(start + 1000)
		if fmt.Sprint(at) != "[20 24]" {
			t.Errorf("accesses at %v, want [20 24]", at)
		}
		if r != bus.ReasonLimit || g.Cycle-start != 27 || g.X[14] != 5 {
			t.Errorf("%d after %d cycles, x14 %d", r, g.Cycle-start, g.X[14])
		}
	})
}

func TestInterruptAfterOwnStore(t *testing.T) {
	both(t, func(t *testing.T, plain bool) {
		var a asm
		a.w(0x00e6a023) // sw a4, 0(a3)
		for range 20 {
			a.w(0x13)
		}
		g := newTest(t, hazard3.Testbench(), a.b)
		g.Plain = plain
		g.X[13] = 0x40000000
		g.SetCSR(0x304, 8)
		g.SetCSR(0x300, 8)
		g.mmio = func(uint64, uint32, uint8, bool, uint32) (uint32, uint32, bool) {
			g.SetMSIP(true)
			return 0, 0, true
		}
		g.poke(testRAM+0xf00, a.b[4:])
		g.Run(g.Cycle + 6)
		if g.csr(0x341) != testRAM+12 {
			t.Errorf("mepc 0x%08x: two more instructions run", g.csr(0x341))
		}
	})
}

func TestGate(t *testing.T) {
	both(t, func(t *testing.T, plain bool) {
		var a asm
		a.w(encJ(1, 0x800)) // jal ra, the gate
		a.w(0x00150513)     // addi a0, a0, 1
		a.w(0x6f)
		g := newTest(t, hazard3.Testbench(), a.b)
		g.Plain = plain
		wait := 2
		g.SetGate(testRAM+0x800, testRAM+0x900, func(pc uint32) bool {
			if wait--; wait >= 0 {
				return false
			}
			g.X[10] = pc
			g.SetPC(g.X[1])
			g.Cycle += 100
			return true
		})
		for range 2 {
			if r := g.Run(g.Cycle + 50); r != bus.ReasonNotReady {
				t.Fatalf("%d", r)
			}
		}
		g.Run(g.Cycle + 150)
		if g.X[10] != testRAM+0x801 {
			t.Errorf("x10 0x%08x", g.X[10])
		}
	})
}

func TestReadOnlyWindow(t *testing.T) {
	both(t, func(t *testing.T, plain bool) {
		// A loop that sums words of a second window, as constants in flash are.
		var a asm
		a.w(0x0005a603) // lw a2, 0(a1)
		a.w(0x00458593) // addi a1, a1, 4
		a.w(0x00c50533) // add a0, a0, a2
		a.w(encB(11, 13, 1, 0xfffffff4))
		a.w(0x6f)
		g := newTest(t, hazard3.Testbench(), a.b)
		flash := make([]byte, 4096)
		for i := range flash {
			flash[i] = byte(i)
		}
		g.Map([]bus.Window{
			{Base: testRAM, Mem: g.ram, Flags: g.flags, Writable: true, Executable: true},
			{Base: 0x10000000, Mem: flash, Executable: true},
		})
		g.Plain = plain
		g.X[11], g.X[13] = 0x10000000, 0x10000400
		g.Run(g.Cycle + 5000)
		var want uint32
		for i := 0; i < 0x400; i += 4 {
			want += le32(flash[i:])
		}
		if g.X[10] != want {
			t.Errorf("sum 0x%08x, want 0x%08x", g.X[10], want)
		}
	})
}
