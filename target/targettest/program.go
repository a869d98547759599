package targettest

import (
	"encoding/binary"

	"github.com/stem-hw/stem-hw/image"
)

// Program is the program that the suite runs, with the addresses of its parts:
//
//	Entry: count = 0
//	       pointer = Data
//	Loop:  count = count + 1
//	Store: [pointer] = count
//	Read:  other = [pointer]
//	Call:  call Func
//	Jump:  jump Loop
//	Func:  calls = calls + 1
//	Ret:   return
//	Data:  a word
type Program struct {
	Image                                                 *image.Image
	Entry, Loop, Store, Read, Call, Jump, Func, Ret, Data uint32
	// Count, Pointer and PC are registers by number; Zero is one that is
	// always 0, or -1.
	Count, Pointer, PC, Zero int
	// Step is the size of the instructions at Loop, Store and Read.
	Step uint32
	// CountBy2 is the instruction at Loop with 2 in place of 1.
	CountBy2 []byte
}

// ProgramFor returns the program for an architecture at an address.
func ProgramFor(arch image.Arch, at uint32) *Program {
	if arch == image.ArchARM {
		return thumb(at)
	}
	return riscv(at)
}

func program(arch image.Arch, at uint32, code []byte) *Program {
	return &Program{
		Image: &image.Image{
			Path: "conformance.elf", Format: image.FormatELF, Arch: arch, Entry: at, HasEntry: true,
			Segments: []image.Segment{{Addr: at, Data: code, Name: "segment 0"}},
		},
		Entry: at,
	}
}

// riscv is the program in RV32I, without compressed instructions.
func riscv(at uint32) *Program {
	words := []uint32{
		0x00000513, // 00 addi a0, zero, 0
		0x00000597, // 04 auipc a1, 0
		0x02458593, // 08 addi a1, a1, 0x24      (Data)
		0x00150513, // 0c addi a0, a0, 1         Loop
		0x00a5a023, // 10 sw a0, 0(a1)           Store
		0x0005a603, // 14 lw a2, 0(a1)           Read
		0x008000ef, // 18 jal ra, 8              Call
		0xff1ff06f, // 1c jal zero, -16          Jump
		0x00168693, // 20 addi a3, a3, 1         Func
		0x00008067, // 24 jalr zero, 0(ra)       Ret
		0,          // 28 Data
	}
	code := make([]byte, 4*len(words))
	for i, w := range words {
		binary.LittleEndian.PutUint32(code[4*i:], w)
	}
	p := program(image.ArchRISCV, at, code)
	p.Loop, p.Store, p.Read, p.Call, p.Jump = at+0x0c, at+0x10, at+0x14, at+0x18, at+0x1c
	p.Func, p.Ret, p.Data = at+0x20, at+0x24, at+0x28
	p.Count, p.Pointer, p.PC, p.Zero = 10, 11, 32, 0
	p.Step = 4
	p.CountBy2 = []byte{0x13, 0x05, 0x25, 0x00}
	return p
}

// thumb is the program in T32.
func thumb(at uint32) *Program {
	halves := []uint16{
		0x2000,         // 00 movs r0, #0
		0x4905,         // 02 ldr r1, [pc, #20]  (literal at 0x18)
		0x3001,         // 04 adds r0, #1        Loop
		0x6008,         // 06 str r0, [r1]       Store
		0x680a,         // 08 ldr r2, [r1]       Read
		0xf000, 0xf801, // 0a bl 0x10            Call
		0xe7f9, // 0e b 0x04                     Jump
		0x3301, // 10 adds r3, #1                Func
		0x4770, // 12 bx lr                      Ret
		0, 0,   // 14 Data
		0, 0, // 18 literal: the address of Data
	}
	code := make([]byte, 2*len(halves))
	for i, h := range halves {
		binary.LittleEndian.PutUint16(code[2*i:], h)
	}
	binary.LittleEndian.PutUint32(code[0x18:], at+0x14)
	p := program(image.ArchARM, at, code)
	p.Loop, p.Store, p.Read, p.Call, p.Jump = at+0x04, at+0x06, at+0x08, at+0x0a, at+0x0e
	p.Func, p.Ret, p.Data = at+0x10, at+0x12, at+0x14
	p.Count, p.Pointer, p.PC, p.Zero = 0, 1, 15, -1
	p.Step = 2
	p.CountBy2 = []byte{0x02, 0x30}
	return p
}
