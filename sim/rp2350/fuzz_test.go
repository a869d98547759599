package rp2350

import (
	"encoding/binary"
	"testing"

	"github.com/stem-hw/stem-hw/sim/bus"
)

// FuzzFabric makes arbitrary accesses from both cores: nothing may panic,
// whatever firmware does.
func FuzzFabric(f *testing.F) {
	seed := func(words ...uint32) {
		var b []byte
		for _, w := range words {
			b = binary.LittleEndian.AppendUint32(b, w)
		}
		f.Add(b)
	}
	seed(xipMaintenance+7, 0, xipBase, 1, qmiCSR, csrEN, qmiTX, 6, qmiATRANS, 0xffffffff)
	seed(sioBase+0x54, 1, sioBase+0x58, 0, 0x40018004, 1<<24, 0x400d8000, 1<<31)
	seed(0x40060008, 0xacce0001, 0x400e080c, 0, bootRAMBase+btTBYBAddr, 0xffffffff)
	f.Fuzz(func(t *testing.T, ops []byte) {
		r := newRig(t, Options{FlashSize: 1 << 16})
		r.program((&asm{}).wfi().back(1))
		r.Run(200)
		r.store32(0, regResetsClear, 0x1fffffff)
		for n := 0; len(ops) >= 8 && n < 200; n++ {
			addr, v := binary.LittleEndian.Uint32(ops), binary.LittleEndian.Uint32(ops[4:])
			ops = ops[8:]
			size := uint8(1) << (v >> 30 % 3)
			addr &^= uint32(size) - 1
			b := r.nodes[n&1].bus
			a := []bus.Access{bus.Privileged, bus.NonSecure}[v>>29&1]
			switch v >> 27 & 3 {
			case 0:
				b.Load(r.Chip.now, addr, size, a)
			case 1, 2:
				b.Store(r.Chip.now, addr, size, v, a)
			case 3:
				b.Fetch(addr &^ 1)
				b.LoadExclusive(r.Chip.now, addr&^3, 4, a)
				b.StoreExclusive(r.Chip.now, addr&^3, 4, v, a)
			}
			if n%16 == 15 {
				r.Run(r.Now() + 1000)
			}
		}
		r.Run(r.Now() + 10_000)
	})
}

// FuzzROMFunctions calls ROM functions with arbitrary arguments.
func FuzzROMFunctions(f *testing.F) {
	f.Add(byte(0), uint32(buffer), uint32(16), uint32(0xffff), uint32(0))
	f.Add(byte(10), uint32(0xffffffff), uint32(0xffffffff), uint32(1<<16), uint32(0xd8))
	f.Add(byte(17), uint32(1<<8|1), uint32(xipBase), uint32(0x02000000), uint32(buffer))
	f.Fuzz(func(t *testing.T, which byte, w0, w1, w2, w3 uint32) {
		r := newRig(t, Options{FlashSize: 1 << 16})
		r.program((&asm{}).wfi().back(1))
		r.Run(200)
		n := r.nodes[0]
		core := n.cpu.(riscv).Core
		fn := &romFuncs[int(which)%len(romFuncs)]
		for i, v := range []uint32{w0, w1, w2, w3} {
			core.X[regA0+i] = v
		}
		core.X[regRA] = sramBase
		r.boot.setWord(btTBYBAddr, w2)
		r.boot.setWord(btDowngradeAddr, w3)
		n.asleep = false
		core.SetPC(romArmStubs + 4*uint32(int(which)%len(romFuncs)))
		if r.rom.funcs[core.PC()] != fn {
			t.Fatal("the table does not lead to the function")
		}
		r.Run(n.clock() + 10)
		r.Run(r.Now() + 1000)
	})
}
