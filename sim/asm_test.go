package sim

import (
	"encoding/binary"

	"github.com/stem-hw/stem-hw/image"
)

// A few instructions of RV32I for test programs. Registers are by number.
const (
	zero, ra, sp, t0, t1, a0, a1, a2 = 0, 1, 2, 5, 6, 10, 11, 12

	ebreak = 0x00100073
	wfi    = 0x10500073
	mret   = 0x30200073
	self   = 0x0000006f // jal zero, 0
	// The markers around a semihosting ebreak.
	semiIn, semiOut = 0x01f01013, 0x40705013
)

func addi(rd, rs, imm int) uint32 {
	return uint32(imm&0xfff)<<20 | uint32(rs)<<15 | uint32(rd)<<7 | 0x13
}
func lui(rd int, v uint32) uint32   { return v&0xfffff000 | uint32(rd)<<7 | 0x37 }
func auipc(rd int, v uint32) uint32 { return v&0xfffff000 | uint32(rd)<<7 | 0x17 }
func lw(rd, rs, imm int) uint32     { return addi(rd, rs, imm)&^0x7f | 2<<12 | 0x03 }
func csrw(csr int, rs int) uint32   { return uint32(csr)<<20 | uint32(rs)<<15 | 1<<12 | 0x73 }
func csrr(rd int, csr int) uint32   { return uint32(csr)<<20 | 2<<12 | uint32(rd)<<7 | 0x73 }
func sw(rs2, rs1, imm int) uint32 {
	return uint32(imm&0xfe0)<<20 | uint32(rs2)<<20 | uint32(rs1)<<15 | 2<<12 | uint32(imm&0x1f)<<7 | 0x23
}
func branch(f3 uint32, rs1, rs2, off int) uint32 {
	o := uint32(off)
	return o>>12&1<<31 | o>>5&0x3f<<25 | uint32(rs2)<<20 | uint32(rs1)<<15 | f3<<12 | o>>1&0xf<<8 | o>>11&1<<7 | 0x63
}
func beq(rs1, rs2, off int) uint32 { return branch(0, rs1, rs2, off) }
func bne(rs1, rs2, off int) uint32 { return branch(1, rs1, rs2, off) }
func jal(rd, off int) uint32 {
	o := uint32(off)
	return o>>20&1<<31 | o>>1&0x3ff<<21 | o>>11&1<<20 | o>>12&0xff<<12 | uint32(rd)<<7 | 0x6f
}

// ramImage is a program at an address.
func ramImage(at uint32, words ...uint32) *image.Image {
	p := make([]byte, 4*len(words))
	for i, w := range words {
		binary.LittleEndian.PutUint32(p[4*i:], w)
	}
	return &image.Image{
		Path: "test.elf", Format: image.FormatELF, Arch: image.ArchRISCV, Entry: at, HasEntry: true,
		Segments: []image.Segment{{Addr: at, Data: p, Name: "segment 0"}},
	}
}

// prints is code that prints text with t0 as scratch register and t1 pointing
// at the fake's registers.
func prints(text string) []uint32 {
	code := []uint32{lui(t1, fakePut)}
	for _, c := range []byte(text) {
		code = append(code, addi(t0, zero, int(c)), sw(t0, t1, 0))
	}
	return code
}
