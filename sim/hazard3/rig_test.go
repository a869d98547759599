package hazard3_test

import (
	"math/rand/v2"

	"github.com/stem-hw/stem-hw/sim/bus"
	"github.com/stem-hw/stem-hw/sim/hazard3"
)

// rig is a core with RAM and nothing else around it, for tests.
type rig struct {
	*hazard3.Core
	base  uint32
	ram   []byte
	flags []uint8
	// mmio, if set, answers what is not RAM.
	mmio   func(now uint64, addr uint32, size uint8, write bool, v uint32) (uint32, uint32, bool)
	events int
	// granted is the answer to lr.w.
	refuse bool
}

func newRig(cfg hazard3.Config, base uint32, size int) *rig {
	g := &rig{base: base, ram: make([]byte, size), flags: make([]uint8, size/bus.LineSize)}
	g.Core = hazard3.New(cfg, 0, g, g)
	g.Map([]bus.Window{{Base: base, Mem: g.ram, Flags: g.flags, Writable: true, Executable: true}})
	return g
}

func (g *rig) word(addr uint32) []byte {
	if off := addr - g.base; off < uint32(len(g.ram)) {
		return g.ram[off : off+4]
	}
	return nil
}

func (g *rig) LineStored(int, uint32, uint8, uint8) {}
func (g *rig) Ready(uint64) bool                    { return true }

func (g *rig) Load(now uint64, addr uint32, size uint8, _ bus.Access) (uint32, uint32, bool) {
	if g.mmio != nil {
		return g.mmio(now, addr, size, false, 0)
	}
	return 0, 0, false
}

func (g *rig) Store(now uint64, addr uint32, size uint8, v uint32, _ bus.Access) (uint32, bool) {
	if g.mmio != nil {
		_, wait, ok := g.mmio(now, addr, size, true, v)
		return wait, ok
	}
	return 0, false
}

func (g *rig) Fetch(uint32) (uint16, bool) { return 0, false }

func (g *rig) LoadExclusive(_ uint64, addr uint32, _ uint8, _ bus.Access) (uint32, uint32, bool, bool) {
	p := g.word(addr)
	if p == nil {
		return 0, 0, false, false
	}
	return le32(p), 0, !g.refuse, true
}

func (g *rig) StoreExclusive(_ uint64, addr uint32, _ uint8, v uint32, _ bus.Access) (uint32, bool, bool) {
	p := g.word(addr)
	if p == nil {
		return 0, false, false
	}
	put32(p, v)
	return 0, true, true
}

func (g *rig) AMO(_ uint64, addr uint32, f func(uint32) uint32, _ bus.Access) (uint32, uint32, bool) {
	p := g.word(addr)
	if p == nil || g.refuse {
		return 0, 0, false
	}
	old := le32(p)
	put32(p, f(old))
	return old, 0, true
}

func (g *rig) SendEvent(uint64) { g.events++; g.PostEvent() }

// poke writes memory as a debugger does.
func (g *rig) poke(addr uint32, b []byte) {
	copy(g.ram[addr-g.base:], b)
	g.InvalidateCode(addr, addr+uint32(len(b)))
}

func le32(p []byte) uint32 {
	return uint32(p[0]) | uint32(p[1])<<8 | uint32(p[2])<<16 | uint32(p[3])<<24
}

func put32(p []byte, v uint32) {
	p[0], p[1], p[2], p[3] = byte(v), byte(v>>8), byte(v>>16), byte(v>>24)
}

// rpState is the state in which a random program begins.
type rpState struct {
	x    [32]uint32
	data []byte
}

func randState(r *rand.Rand) rpState {
	s := rpState{data: make([]byte, rpDataLen)}
	for i := range s.x {
		switch r.IntN(4) {
		case 0:
			s.x[i] = r.Uint32()
		case 1:
			s.x[i] = uint32(int32(r.IntN(64) - 32))
		case 2:
			s.x[i] = 1 << r.IntN(32)
		case 3:
			s.x[i] = r.Uint32() >> r.IntN(32)
		}
	}
	for i := range s.data {
		s.data[i] = byte(r.Uint32())
	}
	s.x[0] = 0
	s.x[regSP] = rpStack
	s.x[regSPBase] = rpStack
	s.x[regSaveArea] = rpSave
	s.x[regDataA] = rpData + 0x200
	s.x[regDataB] = rpData + 0x600
	return s
}

// setUp puts a program and its state into a rig for random programs.
func (g *rig) setUp(code []byte, s rpState) {
	g.poke(rpHandler, handlerCode())
	put32(g.word(rpSave+8), rpLog)
	g.poke(rpCode, code)
	copy(g.ram[rpData-rpRAM:], s.data)
	g.X = s.x
	g.SetPC(rpCode)
	g.SetCSR(0x305, rpHandler)
	g.SetCSR(0x300, 0x1800)
}

// newRandRig returns a rig for random programs; the run stops at rpEnd.
func newRandRig(cfg hazard3.Config) *rig {
	g := newRig(cfg, rpRAM, rpRAMSize)
	g.SetGate(rpEnd, rpEnd+2, func(uint32) bool { g.Stop(); return true })
	return g
}
