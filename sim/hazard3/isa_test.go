package hazard3_test

import (
	"fmt"
	"testing"

	"github.com/stem-hw/stem-hw/sim/bus"
	"github.com/stem-hw/stem-hw/sim/hazard3"
)

const (
	testRAM  = 0x20000000
	testSize = 1 << 16
)

// machine returns a rig with code at testRAM, standing before it in M-mode with
// the trap vector at the end of RAM's first 4 KiB and counters running.
func newTest(t *testing.T, cfg hazard3.Config, code []byte) *rig {
	t.Helper()
	g := newRig(cfg, testRAM, testSize)
	g.poke(testRAM, code)
	g.SetPC(testRAM)
	g.SetCSR(0x305, testRAM+0xf00)
	g.SetCSR(0x320, 0)
	g.SetCSR(0x300, 0)
	return g
}

// one executes exactly one instruction.
func (g *rig) one() bus.Reason { return g.Run(g.Cycle + 1) }

func (g *rig) many(n int) {
	for range n {
		g.one()
	}
}

func (g *rig) csr(n uint16) uint32 {
	v, _ := g.CSR(n)
	return v
}

// R, I and so on encode the formats.
func encR(f7, f3, opc uint32) func(rd, rs1, rs2 uint32) uint32 {
	return func(rd, rs1, rs2 uint32) uint32 { return f7<<25 | rs2<<20 | rs1<<15 | f3<<12 | rd<<7 | opc }
}

func encI(f3, opc, imm uint32) uint32 { return imm&0xfff<<20 | 11<<15 | f3<<12 | 10<<7 | opc }

// reg3 is the instruction rd=x10, rs1=x11, rs2=x12.
func reg3(f7, f3 uint32) uint32 { return encR(f7, f3, 0x33)(10, 11, 12) }

func TestArithmetic(t *testing.T) {
	for _, tc := range []struct {
		name       string
		raw        uint32
		a, b, want uint32
	}{
		{"add", reg3(0, 0), 0xffffffff, 2, 1},
		{"sub", reg3(0x20, 0), 1, 2, 0xffffffff},
		{"sll by 33", reg3(0, 1), 3, 33, 6},
		{"slt", reg3(0, 2), 0x80000000, 1, 1},
		{"sltu", reg3(0, 3), 0x80000000, 1, 0},
		{"xor", reg3(0, 4), 0xff00ff00, 0x0ff00ff0, 0xf0f0f0f0},
		{"srl", reg3(0, 5), 0x80000000, 31, 1},
		{"sra", reg3(0x20, 5), 0x80000000, 31, 0xffffffff},
		{"or", reg3(0, 6), 0xf0, 0x0f, 0xff},
		{"and", reg3(0, 7), 0xf3, 0x3f, 0x33},
		{"mul", reg3(1, 0), 0x10001, 0x10001, 0x20001},
		{"mulh", reg3(1, 1), 0x80000000, 0x80000000, 0x40000000},
		{"mulhsu", reg3(1, 2), 0xffffffff, 0xffffffff, 0xffffffff},
		{"mulhu", reg3(1, 3), 0xffffffff, 0xffffffff, 0xfffffffe},
		{"div", reg3(1, 4), 0xfffffff9, 2, 0xfffffffd},
		{"div by zero", reg3(1, 4), 7, 0, 0xffffffff},
		{"div overflow", reg3(1, 4), 0x80000000, 0xffffffff, 0x80000000},
		{"divu", reg3(1, 5), 0xfffffff9, 2, 0x7ffffffc},
		{"divu by zero", reg3(1, 5), 7, 0, 0xffffffff},
		{"rem", reg3(1, 6), 0xfffffff9, 2, 0xffffffff},
		{"rem by zero", reg3(1, 6), 7, 0, 7},
		{"rem overflow", reg3(1, 6), 0x80000000, 0xffffffff, 0},
		{"remu", reg3(1, 7), 0xfffffff9, 2, 1},
		{"sh1add", reg3(0x10, 2), 0x80000001, 3, 5},
		{"sh2add", reg3(0x10, 4), 5, 3, 23},
		{"sh3add", reg3(0x10, 6), 5, 3, 43},
		{"andn", reg3(0x20, 7), 0xff, 0x0f, 0xf0},
		{"orn", reg3(0x20, 6), 0, 0xfffffffe, 1},
		{"xnor", reg3(0x20, 4), 0xff, 0x0f, 0xffffff0f},
		{"max", reg3(5, 6), 0xffffffff, 1, 1},
		{"maxu", reg3(5, 7), 0xffffffff, 1, 0xffffffff},
		{"min", reg3(5, 4), 0xffffffff, 1, 0xffffffff},
		{"minu", reg3(5, 5), 0xffffffff, 1, 1},
		{"rol", reg3(0x30, 1), 0x80000001, 4, 0x18},
		{"ror", reg3(0x30, 5), 0x80000001, 4, 0x18000000},
		{"bclr", reg3(0x24, 1), 0xff, 35, 0xf7},
		{"bext", reg3(0x24, 5), 0x8, 3, 1},
		{"binv", reg3(0x34, 1), 0x8, 3, 0},
		{"bset", reg3(0x14, 1), 0, 31, 0x80000000},
		{"pack", reg3(4, 4), 0x11112222, 0x33334444, 0x44442222},
		{"packh", reg3(4, 7), 0x11112222, 0x33334444, 0x4422},
		{"zext.h", 0x08000033 | 4<<12 | 11<<15 | 10<<7, 0x12345678, 0, 0x5678},
		{"clmul", reg3(5, 1), 0xb, 0xd, 0x7f},
		{"clmulh", reg3(5, 3), 0x80000000, 4, 2},
		{"clmulr", reg3(5, 2), 0x80000000, 4, 4},
		{"h3.bextm 5", 0x0b | 4<<26 | 12<<20 | 11<<15 | 10<<7, 0xfff0, 4, 0x1f},
		{"h3.bextmi 8", 0x400b | 7<<26 | 12<<20 | 11<<15 | 10<<7, 0xabcde000, 0, 0xde},
		{"addi", encI(0, 0x13, 0xfff), 0, 0, 0xffffffff},
		{"slti", encI(2, 0x13, 0xfff), 0x80000000, 0, 1},
		{"sltiu", encI(3, 0x13, 0xfff), 5, 0, 1},
		{"xori", encI(4, 0x13, 0xfff), 5, 0, 0xfffffffa},
		{"ori", encI(6, 0x13, 0x0f0), 5, 0, 0xf5},
		{"andi", encI(7, 0x13, 0x0f4), 0x15, 0, 0x14},
		{"slli", encI(1, 0x13, 31), 3, 0, 0x80000000},
		{"srli", encI(5, 0x13, 31), 0x80000000, 0, 1},
		{"srai", encI(5, 0x13, 0x41f), 0x80000000, 0, 0xffffffff},
		{"rori", encI(5, 0x13, 0x604), 0x1f, 0, 0xf0000001},
		{"bclri", encI(1, 0x13, 0x483), 0xff, 0, 0xf7},
		{"bexti", encI(5, 0x13, 0x483), 0x8, 0, 1},
		{"binvi", encI(1, 0x13, 0x683), 0, 0, 8},
		{"bseti 11", encI(1, 0x13, 0x28b), 0, 0, 2048},
		{"clz", encI(1, 0x13, 0x600), 0x10, 0, 27},
		{"clz 0", encI(1, 0x13, 0x600), 0, 0, 32},
		{"ctz", encI(1, 0x13, 0x601), 0x10, 0, 4},
		{"ctz 0", encI(1, 0x13, 0x601), 0, 0, 32},
		{"cpop", encI(1, 0x13, 0x602), 0xf00f0001, 0, 9},
		{"sext.b", encI(1, 0x13, 0x604), 0x180, 0, 0xffffff80},
		{"sext.h", encI(1, 0x13, 0x605), 0x18000, 0, 0xffff8000},
		{"orc.b", encI(5, 0x13, 0x287), 0x00100001, 0, 0x00ff00ff},
		{"rev8", encI(5, 0x13, 0x698), 0x11223344, 0, 0x44332211},
		{"brev8", encI(5, 0x13, 0x687), 0x01020380, 0, 0x8040c001},
		{"zip", encI(1, 0x13, 0x08f), 0x0000ffff, 0, 0x55555555},
		{"unzip", encI(5, 0x13, 0x08f), 0x55555555, 0, 0x0000ffff},
		{"lui", 0x12345537, 0, 0, 0x12345000},
		{"auipc", 0x00001517, 0, 0, testRAM + 0x1000},
	} {
		for _, plain := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/plain=%v", tc.name, plain), func(t *testing.T) {
				var a asm
				a.w(tc.raw)
				a.h(1) // c.nop, so that there is a block
				g := newTest(t, hazard3.Testbench(), a.b)
				g.Plain = plain
				g.X[11], g.X[12] = tc.a, tc.b
				g.Run(g.Cycle + 40)
				if g.LastTrap().Count != 0 && g.LastTrap().PC == testRAM {
					t.Fatalf("trapped: %s", hazard3.Describe(g.LastTrap()))
				}
				if g.X[10] != tc.want {
					t.Errorf("0x%08x, want 0x%08x", g.X[10], tc.want)
				}
			})
		}
	}
}

// Illegal and legal encodings as hazard3_decode.v and
// hazard3_instr_decompress.v have them.
func TestDecoder(t *testing.T) {
	for _, tc := range []struct {
		name    string
		raw     uint32
		illegal bool
		silicon bool // on RP2350 rather than the testbench
	}{
		{"all zero", 0, true, false},
		{"c.addi4spn x9 with zero immediate", 0x0004, false, false},
		{"c.lui with zero immediate", 0x6501, true, false},
		{"c.addi16sp with zero immediate", 0x6101, true, false},
		{"c.jr x0", 0x8002, true, false},
		{"c.lwsp x0", 0x4002, true, false},
		{"c.slli with bit 12", 0x1502, true, false},
		{"c.srli with bit 12", 0x9105, true, false},
		{"c.fld", 0x2000, true, false},
		{"c.flw", 0x6000, true, false},
		{"c.fsw", 0xe000, true, false},
		{"cm.push with rlist 3", 0xb832, true, false},
		{"c.mul", 0x9d4d, false, false},
		{"c.not", 0x9d75, false, false},
		{"c.zext.w", 0x9d71, true, false},
		{"fence", 0x0ff0000f, false, false},
		{"fence.tso", 0x8330000f, false, false},
		{"pause", 0x0100000f, false, false},
		{"fence with rd", 0x0ff0008f, true, false},
		{"fence.i", 0x0000100f, false, false},
		{"fence.i with an immediate", 0x0010100f, true, false},
		{"slli with bit 25", 0x02051513, true, false},
		{"lr.w with rs2", 0x1015a52f, true, false},
		{"jalr with funct3 1", 0x00059567, true, false},
		{"ld", 0x0005b503, true, false},
		{"system with funct3 4", 0x30004573, true, false},
		{"sret", 0x10200073, true, false},
		{"uret", 0x00200073, true, false},
		{"dret", 0x7b200073, true, false},
		{"sfence.vma", 0x12000073, true, false},
		{"bextm with bit 25", 0x0b | 1<<25 | 12<<20 | 11<<15 | 10<<7, true, false},
		{"bextm with bit 29", 0x0b | 1<<29 | 12<<20 | 11<<15 | 10<<7, true, false},
		{"custom-0 funct3 1", 0x100b, true, false},
		{"clmul on the testbench", reg3(5, 1), false, false},
		{"clmul on RP2350", reg3(5, 1), true, true},
		{"czero.eqz", reg3(7, 5), true, false},
		{"fadd.s", 0x00c5f553, true, false},
		{"flw", 0x0005a507, true, false},
		{"amoadd.d", 0x00c5b52f, true, false},
		{"read of an unknown CSR", 0x5c002573, true, false},
		{"medeleg", 0x30202573, true, false},
		{"time", 0xc0102573, true, false},
		{"satp", 0x18002573, true, false},
		{"tdata3", 0x7a302573, true, false},
		{"dcsr outside Debug mode", 0x7b002573, true, false},
		{"write of mhartid", 0xf1451073, true, false},
		{"csrrs mhartid, x0", 0xf1402573, false, false},
		{"write of cycle", 0xc0051073, true, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cfg := hazard3.Testbench()
			if tc.silicon {
				cfg = hazard3.Silicon(hazard3.A2)
			}
			var a asm
			a.w(tc.raw)
			a.w(0x13)
			g := newTest(t, cfg, a.b)
			g.X[11] = testRAM + 0x100
			g.one()
			trap := g.LastTrap()
			if got := trap.Count == 1 && trap.Cause == 2; got != tc.illegal {
				t.Errorf("illegal is %v, want %v (%+v)", got, tc.illegal, trap)
			}
		})
	}
}
