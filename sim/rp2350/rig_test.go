package rp2350

import (
	"encoding/binary"
	"testing"

	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/sim/bus"
	"github.com/stem-hw/stem-hw/sim/machine"
)

// rig is a chip under test with what it said.
type rig struct {
	*Chip
	t       *testing.T
	out     string
	notices []machine.Notice
}

func newRig(t *testing.T, opt Options) *rig {
	t.Helper()
	r := &rig{Chip: New(opt), t: t}
	r.SetHooks(machine.Hooks{
		Output: func(_ string, b byte) { r.out += string(rune(b)) },
		Notice: func(n machine.Notice) { r.notices = append(r.notices, n) },
	})
	// Peripherals that tests touch come out of reset.
	r.store32(0, regResetsClear, 0x1fffffff)
	return r
}

const privileged = bus.Privileged

func (r *rig) load(core int, addr uint32, size uint8) (uint32, bool) {
	v, _, ok := r.nodes[core].bus.Load(r.Chip.now, addr, size, privileged)
	return v, ok
}

func (r *rig) load32(core int, addr uint32) uint32 {
	r.t.Helper()
	v, ok := r.load(core, addr, 4)
	if !ok {
		r.t.Fatalf("load of %#x faults", addr)
	}
	return v
}

func (r *rig) storeN(core int, addr uint32, size uint8, v uint32) bool {
	_, ok := r.nodes[core].bus.Store(r.Chip.now, addr, size, v, privileged)
	return ok
}

func (r *rig) store32(core int, addr, v uint32) {
	r.t.Helper()
	if !r.storeN(core, addr, 4, v) {
		r.t.Fatalf("store to %#x faults", addr)
	}
}

// want compares a word.
func (r *rig) want(addr, v uint32) {
	r.t.Helper()
	if got := r.load32(0, addr); got != v {
		r.t.Errorf("word at %#x is %#x, want %#x", addr, got, v)
	}
}

// faults expects a load and a store to be refused.
func (r *rig) faults(addr uint32) {
	r.t.Helper()
	if _, ok := r.load(0, addr, 4); ok {
		r.t.Errorf("load of %#x should fault", addr)
	}
	if r.storeN(0, addr, 4, 0) {
		r.t.Errorf("store to %#x should fault", addr)
	}
}

// lines are the levels of a core's interrupt lines.
func (r *rig) line(core, n int) bool { return (r.irq|r.nodes[core].irq)>>n&1 != 0 }

// program loads code as a RAM image that starts at 0x20000000.
func (r *rig) program(p *asm) {
	r.t.Helper()
	img := &image.Image{
		Path: "test", Arch: image.ArchRISCV, Entry: sramBase, HasEntry: true,
		Segments: []image.Segment{{Addr: sramBase, Data: p.bytes(), Name: "code"}},
	}
	if err := r.Load(img); err != nil {
		r.t.Fatal(err)
	}
}

// until runs to the next thing that Run reports.
func (r *rig) until(limit uint64) machine.Event {
	return r.Run(r.Now() + limit)
}

// asm assembles the few instructions that tests need.
type asm struct{ words []uint32 }

func (p *asm) bytes() []byte {
	b := make([]byte, 4*len(p.words))
	for i, w := range p.words {
		binary.LittleEndian.PutUint32(b[4*i:], w)
	}
	return b
}

func (p *asm) emit(w ...uint32) *asm { p.words = append(p.words, w...); return p }

// Register numbers by their ABI names.
const (
	ra, sp, t0, t1, t2, a0, a1, a2, a3, a4, s0, s1 = 1, 2, 5, 6, 7, 10, 11, 12, 13, 14, 8, 9
)

// li loads a constant in two instructions.
func (p *asm) li(rd, v uint32) *asm {
	lo := v & 0xfff
	hi := (v + 0x800) &^ 0xfff
	return p.emit(hi|rd<<7|0x37, lo<<20|rd<<15|rd<<7|0x13)
}

func (p *asm) lw(rd, base, off uint32) *asm {
	return p.emit(off&0xfff<<20 | base<<15 | 2<<12 | rd<<7 | 0x03)
}

func (p *asm) lhu(rd, base, off uint32) *asm {
	return p.emit(off&0xfff<<20 | base<<15 | 5<<12 | rd<<7 | 0x03)
}

func (p *asm) sw(rs, base, off uint32) *asm {
	return p.emit(off>>5&0x7f<<25 | rs<<20 | base<<15 | 2<<12 | off&0x1f<<7 | 0x23)
}

func (p *asm) jalr(rd, rs uint32) *asm { return p.emit(rs<<15 | rd<<7 | 0x67) }
func (p *asm) wfi() *asm               { return p.emit(0x10500073) }
func (p *asm) block() *asm             { return p.emit(0x00002033) }

// back jumps n instructions back.
func (p *asm) back(n int) *asm {
	off := uint32(-4 * n)
	return p.emit(off>>20&1<<31 | off>>1&0x3ff<<21 | off>>11&1<<20 | off>>12&0xff<<12 | 0x6f)
}

// store writes a constant to an address, by t0 and t1.
func (p *asm) store(addr, v uint32) *asm { return p.li(t0, addr).li(t1, v).sw(t1, t0, 0) }

// rom calls a ROM function by its code; arguments are in a0 to a3.
func (p *asm) rom(code string) *asm {
	p.emit(a0<<15|s0<<7|0x13, a1<<15|s1<<7|0x13) // mv s0, a0; mv s1, a1
	p.li(t0, 0x7dfa).lhu(t0, t0, 0)
	p.li(a0, uint32(code[0])|uint32(code[1])<<8).li(a1, 1).jalr(ra, t0)
	p.emit(a0<<15 | t0<<7 | 0x13)                // mv t0, a0
	p.emit(s0<<15|a0<<7|0x13, s1<<15|a1<<7|0x13) // and back
	return p.jalr(ra, t0)
}
