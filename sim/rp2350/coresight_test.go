package rp2350

import (
	"testing"

	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/sim/bus"
	"github.com/stem-hw/stem-hw/sim/debugport"
)

// Core 0 debugs core 1 through the window (datasheet 3.5.6).
func TestSelfHostedArm(t *testing.T) {
	r := newRig(t, Options{Arch: image.ArchARM})
	r.Run(200_000)
	const ap1 = coresightBase + 0x4000
	r.want(coresightBase, 0x2003) // the root table
	r.want(ap1+0xdfc, 0x34770008)
	r.store32(0, ap1+0xd00, 0x22000012)
	set := func(addr, v uint32) {
		r.store32(0, ap1+0xd04, addr)
		r.store32(0, ap1+0xd0c, v)
	}
	get := func(addr uint32) uint32 {
		r.store32(0, ap1+0xd04, addr)
		return r.load32(0, ap1+0xd0c)
	}
	set(sramBase, 0xe7fe)
	set(regDHCSR, keyDHCSR|3)
	r.Run(r.Now() + 1000)
	if v := get(regDHCSR); v>>17&1 == 0 || !r.nodes[1].halted {
		t.Errorf("DHCSR of core 1 is %#x", v)
	}
	if r.nodes[0].cpu.Halted() {
		t.Error("core 0 halted")
	}
	set(regDCRDR, sramBase)
	set(regDCRSR, 15|1<<16)
	set(regDHCSR, keyDHCSR|1)
	r.Run(r.Now() + 1000)
	if pc := r.nodes[1].cpu.PC(); pc != sramBase {
		t.Errorf("core 1 runs at %#x", pc)
	}
	// The same registers as from outside.
	dp := debugport.NewDP(r.DebugPort())
	dp.Transact(4, 0x50000000)
	dp.Transact(8, 0x4d00)
	dp.Transact(7, 0)
	if v := dp.Transact(0xe, 0); v != regDHCSR+4 {
		t.Errorf("from outside TAR is %#x", v)
	}
}

func TestSelfHostedRefused(t *testing.T) {
	r := newRig(t, Options{Arch: image.ArchARM})
	r.Run(200_000)
	r.faults(coresightBase + 0x2000 + 0xd00) // its own port
	if _, ok := r.load(1, coresightBase+0x2000+0xd00, 4); !ok {
		t.Error("core 1 cannot reach core 0's port")
	}
	// An access port may not access one, nor a core the APB through one.
	if _, ok := r.DebugPort().Load(1, coresightBase+0x2000+0xd00, 4, asDebugger); ok {
		t.Error("an access port reaches an access port")
	}
	r.store32(0, coresightBase+0x4d00, 0x22000002)
	r.store32(0, coresightBase+0x4d04, 0x40000000)
	before := r.nodes[0].bus
	_, wait, ok := before.Load(r.Chip.now, coresightBase+0x4d0c, 4, privileged)
	if ok || wait < 60_000 {
		t.Errorf("a deadlock of the APB: %v after %d cycles", ok, wait)
	}
	// Secure accesses alone.
	if _, _, ok := before.Load(r.Chip.now, coresightBase, 4, privileged|bus.NonSecure); ok {
		t.Error("a Non-secure access goes through")
	}
	// No alias pages: 0x1000 is not the root table again.
	r.want(coresightBase+0x1000, 0)
}

// Hart 0 halts and lets go hart 1 through the Debug Module, and itself.
func TestSelfHostedRISCV(t *testing.T) {
	r := newRig(t, Options{})
	const apb = coresightBase + 0xa000
	// a0 = CSW; sw CSW, TAR, DRW with what a1..a3 hold; then loop.
	code := []uint32{
		0x00b52023, // sw a1, 0(a0)     CSW
		0x00c52223, // sw a2, 4(a0)     TAR
		0x00d52623, // sw a3, 12(a0)    DRW
		0x00e52623, // sw a4, 12(a0)    DRW
		0x00178793, // addi a5, a5, 1
		0xffdff06f, // j .-4
	}
	for i, w := range code {
		r.store32(0, sramBase+4*uint32(i), w)
	}
	r.Run(200_000)
	for i, n := range r.nodes {
		core := n.cpu.(riscv).Core
		core.SetPC(sramBase + uint32(i)*16)
		for x, v := range map[int]uint32{10: apb + 0xd00, 11: 0x22000002, 12: 0x40, 13: 1, 14: 1<<31 | 1<<16 | 1} {
			core.X[x] = v
		}
	}
	r.Run(r.Now() + 10_000)
	if !r.nodes[1].cpu.Halted() || r.nodes[0].cpu.Halted() {
		t.Fatalf("halted: %v, %v", r.nodes[0].cpu.Halted(), r.nodes[1].cpu.Halted())
	}
	n := r.nodes[0].cpu.(riscv).Core.X[15]
	r.Run(r.Now() + 10_000)
	if r.nodes[0].cpu.(riscv).Core.X[15] == n {
		t.Error("hart 0 does not go on")
	}
	// Now itself.
	core := r.nodes[0].cpu.(riscv).Core
	core.X[14] = 1<<31 | 1
	core.SetPC(sramBase)
	r.Run(r.Now() + 10_000)
	if !core.Halted() || core.PC() != sramBase+16 {
		t.Errorf("hart 0 halted %v, at %#x", core.Halted(), core.PC())
	}
}
