package hazard3_test

import (
	"encoding/binary"
	"math/rand/v2"
)

// The memory of random programs, all of it RAM of the machines that run them.
const (
	rpRAM     = 0x80000000
	rpRAMSize = 1 << 20
	rpHandler = rpRAM + 0x0100 // the trap handler
	rpSave    = rpRAM + 0x0400 // its save area: x30, x29, pointer into the log
	rpLog     = rpRAM + 0x0800 // what it logs: mcause and mepc of each trap
	rpCode    = rpRAM + 0x2000
	rpEnd     = rpRAM + 0x8000 // where every program ends
	rpData    = rpRAM + 0x10000
	rpStack   = rpRAM + 0x11000
	rpDataLen = 0x1800 // data and stack, compared after each program
)

// Registers that programs keep: the stack pointer's base, the handler's save
// area, and two pointers to data that compressed loads and stores can use.
const (
	regSP, regSPBase, regSaveArea = 2, 3, 4
	regDataA, regDataB            = 14, 15
	// Counters of loops, the second one for c.bnez.
	regCountA, regCountB = 28, 13
)

// randProg writes random programs that end: jumps only go forward, memory is
// only accessed around the kept pointers.
type randProg struct {
	r    *rand.Rand
	code []byte
	// starts are the offsets of the instructions, targets what must be patched
	// when its destination is known.
	n       int
	patches []patch
	zbc     bool
	// custom adds what only Hazard3 has; misaligned adds misaligned accesses,
	// which trap on Hazard3 alone.
	custom, misaligned bool
	// A loop in progress: where it began, its counter, and what is left of it.
	loopAt, loopLeft int
	loopReg          uint32
}

type patch struct {
	at   int  // offset of the jump
	kind byte // 'B' branch, 'J' jal, 'b' c.beqz, 'j' c.j, 'a' auipc of a jalr pair
	skip int  // instructions to go
}

func newRandProg(seed uint64) *randProg {
	return &randProg{r: rand.New(rand.NewPCG(seed, 0x68617a6172643300))}
}

// handlerCode is the trap handler: it logs mcause and mepc and skips the
// instruction.
func handlerCode() []byte {
	var a asm
	a.sw(30, 4, 0)
	a.sw(29, 4, 4)
	a.lw(29, 4, 8)
	a.csrr(30, 0x342)
	a.sw(30, 29, 0)
	a.csrr(30, 0x341)
	a.sw(30, 29, 4)
	a.i(29, 29, 8, 0, 0x13)
	a.sw(29, 4, 8)
	a.i(29, 30, 0, 5, 0x03) // lhu
	a.i(29, 29, 3, 7, 0x13) // andi
	a.i(29, 29, 0xffd, 0, 0x13)
	a.i(30, 30, 2, 0, 0x13)
	a.w(encB(29, 0, 1, 8)) // bnez
	a.i(30, 30, 2, 0, 0x13)
	a.w(0x341<<20 | 30<<15 | 1<<12 | 0x73) // csrw mepc, x30
	a.lw(30, 4, 0)
	a.lw(29, 4, 4)
	a.w(0x30200073)
	return a.b
}

// asm collects encodings.
type asm struct{ b []byte }

func (a *asm) w(v uint32) { a.b = binary.LittleEndian.AppendUint32(a.b, v) }
func (a *asm) h(v uint32) { a.b = binary.LittleEndian.AppendUint16(a.b, uint16(v)) }

func (a *asm) i(rd, rs1, imm, f3, opc uint32) {
	a.w(imm&0xfff<<20 | rs1<<15 | f3<<12 | rd<<7 | opc)
}
func (a *asm) r(rd, rs1, rs2, f3, f7, opc uint32) {
	a.w(f7<<25 | rs2<<20 | rs1<<15 | f3<<12 | rd<<7 | opc)
}
func (a *asm) s(rs1, rs2, imm, f3 uint32) {
	a.w(imm>>5&0x7f<<25 | rs2<<20 | rs1<<15 | f3<<12 | imm&31<<7 | 0x23)
}
func (a *asm) lw(rd, rs1, imm uint32)  { a.i(rd, rs1, imm, 2, 0x03) }
func (a *asm) sw(rs2, rs1, imm uint32) { a.s(rs1, rs2, imm, 2) }
func (a *asm) csrr(rd, n uint32)       { a.i(rd, 0, n, 2, 0x73) }

func encB(rs1, rs2, f3, off uint32) uint32 {
	return off>>12&1<<31 | off>>5&0x3f<<25 | rs2<<20 | rs1<<15 | f3<<12 | off>>1&15<<8 | off>>11&1<<7 | 0x63
}

func encJ(rd, off uint32) uint32 {
	return off>>20&1<<31 | off>>1&0x3ff<<21 | off>>11&1<<20 | off>>12&0xff<<12 | rd<<7 | 0x6f
}

func encCB(h, off uint32) uint32 {
	return h&^0x1c7c | off>>8&1<<12 | off>>3&3<<10 | off>>6&3<<5 | off>>1&3<<3 | off>>5&1<<2
}

func encCJ(h, off uint32) uint32 {
	return h&^0x1ffc | off>>11&1<<12 | off>>4&1<<11 | off>>8&3<<9 | off>>10&1<<8 | off>>6&1<<7 | off>>7&1<<6 | off>>1&7<<3 | off>>5&1<<2
}

func (p *randProg) n32(n int) uint32 { return uint32(p.r.IntN(n)) }

// reg is any register, dst one that may be written.
func (p *randProg) reg() uint32 { return p.n32(32) }

func (p *randProg) dst() uint32 {
	for {
		r := p.n32(32)
		switch r {
		case regSP, regSPBase, regSaveArea, regDataA, regDataB, regCountA, regCountB:
			continue
		}
		return r
	}
}

// creg is a register of the short formats, cdst one that may be written, both
// as their 3-bit field.
func (p *randProg) creg() uint32 { return p.n32(8) }
func (p *randProg) cdst() uint32 { return p.n32(5) }

// program returns n random instructions (a few more where they come in groups)
// and a jump to rpEnd, for address base.
func (p *randProg) program(n int, base uint32) []byte {
	p.code, p.n, p.patches = p.code[:0], 0, p.patches[:0]
	p.loopLeft = 0
	for p.n < n || p.loopLeft > 0 {
		p.one(base)
		p.loop()
	}
	for _, t := range p.patches {
		p.fix(t, base, len(p.code))
	}
	end := len(p.code)
	p.patches = p.patches[:0]
	a := asm{p.code}
	a.w(encJ(0, rpEnd-(base+uint32(end))))
	p.code = a.b
	return p.code
}

// step notes that an instruction is complete: jumps over it count it.
func (p *randProg) step(base uint32) {
	p.n++
	keep := p.patches[:0]
	for _, t := range p.patches {
		t.skip--
		if t.skip < 0 {
			p.fix(t, base, t.at)
			continue
		}
		keep = append(keep, t)
	}
	p.patches = keep
}

// fix makes a jump go to where the code ends now.
func (p *randProg) fix(t patch, base uint32, _ int) {
	off := uint32(len(p.code) - t.at)
	b := p.code[t.at:]
	switch t.kind {
	case 'B':
		v := binary.LittleEndian.Uint32(b)
		binary.LittleEndian.PutUint32(b, encB(v>>15&31, v>>20&31, v>>12&7, off))
	case 'J':
		v := binary.LittleEndian.Uint32(b)
		binary.LittleEndian.PutUint32(b, encJ(v>>7&31, off))
	case 'b':
		binary.LittleEndian.PutUint16(b, uint16(encCB(uint32(binary.LittleEndian.Uint16(b)), off)))
	case 'j':
		binary.LittleEndian.PutUint16(b, uint16(encCJ(uint32(binary.LittleEndian.Uint16(b)), off)))
	case 'a':
		// auipc rd, 0 was emitted at t.at; the jalr behind it takes the offset.
		v := binary.LittleEndian.Uint32(b[4:])
		binary.LittleEndian.PutUint32(b[4:], v&0xfffff|off<<20)
	}
}

// loop begins and ends loops that run a few times.
func (p *randProg) loop() {
	a := asm{p.code}
	switch {
	case p.loopLeft > 1:
		p.loopLeft--
		return
	case p.loopLeft == 1:
		p.loopLeft = 0
		if p.loopReg == regCountA {
			a.i(regCountA, regCountA, 0xfff, 0, 0x13)
			a.w(encB(regCountA, 0, 1, uint32(p.loopAt-len(a.b))))
		} else {
			a.h(1<<12 | regCountB<<7 | 31<<2 | 1) // c.addi -1
			a.h(encCB(7<<13|(regCountB-8)<<7|1, uint32(p.loopAt-len(a.b))))
		}
	case p.n32(15) == 0:
		// No jump may miss the counter's start.
		for _, t := range p.patches {
			p.fix(t, 0, 0)
		}
		p.patches = p.patches[:0]
		p.loopReg = [2]uint32{regCountA, regCountB}[p.n32(2)]
		a.h(2<<13 | p.loopReg<<7 | (1+p.n32(6))<<2 | 1) // c.li
		p.loopAt, p.loopLeft = len(a.b), 1+p.r.IntN(8)
	}
	p.code = a.b
}

func (p *randProg) one(base uint32) {
	a := asm{p.code}
	switch k := p.n32(100); {
	case k < 30:
		p.alu32(&a)
	case k < 55:
		p.compressed(&a)
	case k < 72:
		p.memory(&a)
	case k < 82:
		p.jump(&a)
	case k < 86:
		p.muldiv(&a)
	case k < 92:
		p.zcmp(&a, base)
	case k < 95:
		p.atomic(&a)
	case k < 98:
		p.csr(&a)
	default:
		p.trap(&a)
	}
	p.code = a.b
	p.step(base)
}
