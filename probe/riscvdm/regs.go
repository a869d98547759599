package riscvdm

import (
	"context"
	"fmt"

	"github.com/stem-hw/stem-hw/target"
)

// gdb's numbers of registers.
const (
	numPC   = 32
	numCSR0 = 65
	numPriv = 65 + 4096
)

var gprNames = [32]string{
	"zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "fp", "s1", "a0", "a1", "a2", "a3", "a4", "a5",
	"a6", "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6",
}

// csrs are the control registers of Hazard3 that have a name of their own
// (Wren6991/Hazard3 hdl/hazard3_csr_addr.vh).
var csrs = []struct {
	n    int
	name string
}{
	{0x300, "mstatus"}, {0x301, "misa"}, {0x304, "mie"}, {0x305, "mtvec"}, {0x306, "mcounteren"}, {0x30a, "menvcfg"},
	{0x310, "mstatush"}, {0x31a, "menvcfgh"}, {0x320, "mcountinhibit"}, {0x340, "mscratch"}, {0x341, "mepc"},
	{0x342, "mcause"}, {0x343, "mtval"}, {0x344, "mip"}, {0x7a0, "tselect"}, {0x7a1, "tdata1"}, {0x7a2, "tdata2"},
	{0x7a4, "tinfo"}, {0x7a5, "tcontrol"}, {0x7b0, "dcsr"}, {0x7b1, "dpc"}, {0xb00, "mcycle"}, {0xb02, "minstret"},
	{0xb80, "mcycleh"}, {0xb82, "minstreth"}, {0xbd0, "pmpcfgm0"}, {0xbe0, "meiea"}, {0xbe1, "meipa"}, {0xbe2, "meifa"},
	{0xbe3, "meipra"}, {0xbe4, "meinext"}, {0xbe5, "meicontext"}, {0xbf0, "msleep"}, {0xbff, "dmdata0"}, {0xc00, "cycle"},
	{0xc02, "instret"}, {0xc80, "cycleh"}, {0xc82, "instreth"}, {0xf11, "mvendorid"}, {0xf12, "marchid"},
	{0xf13, "mimpid"}, {0xf14, "mhartid"}, {0xf15, "mconfigptr"},
}

// Registers lists the registers of a hart in gdb's features (gdb manual, "RISC-V
// Features").
func Registers() []target.Register {
	const cpu, csr, virtual = "org.gnu.gdb.riscv.cpu", "org.gnu.gdb.riscv.csr", "org.gnu.gdb.riscv.virtual"
	var rs []target.Register
	for i, name := range gprNames {
		typ := ""
		switch i {
		case 1:
			typ = "code_ptr"
		case 2, 3, 4, 8:
			typ = "data_ptr"
		}
		rs = append(rs, target.Register{Num: i, Name: name, Bits: 32, Feature: cpu, Group: "general", Type: typ, Save: true})
	}
	rs = append(rs, target.Register{Num: numPC, Name: "pc", Bits: 32, Feature: cpu, Group: "general", Type: "code_ptr", Save: true})
	add := func(n int, name string) {
		rs = append(rs, target.Register{Num: numCSR0 + n, Name: name, Bits: 32, Feature: csr, Group: "csr", Type: "int"})
	}
	for _, c := range csrs {
		add(c.n, c.name)
	}
	for i := range 4 {
		add(0x3a0+i, fmt.Sprintf("pmpcfg%d", i))
	}
	for i := range 16 {
		add(0x3b0+i, fmt.Sprintf("pmpaddr%d", i))
	}
	for i := range 29 {
		add(0x323+i, fmt.Sprintf("mhpmevent%d", i+3))
		add(0xb03+i, fmt.Sprintf("mhpmcounter%d", i+3))
		add(0xb83+i, fmt.Sprintf("mhpmcounter%dh", i+3))
	}
	return append(rs, target.Register{Num: numPriv, Name: "priv", Bits: 8, Feature: virtual, Group: "general", Type: "int"})
}

// Register reads a register by its number in Registers.
func (h *Hart) Register(ctx context.Context, num int) (uint64, error) {
	var v uint32
	var err error
	switch {
	case num >= 0 && num < 32:
		v, err = h.GPR(ctx, num)
	case num == numPC:
		v, err = h.PC(ctx)
	case num >= numCSR0 && num < numCSR0+csrMaxPlus:
		v, err = h.CSR(ctx, num-numCSR0)
	case num == numPriv:
		v, err = h.Privilege(ctx)
	default:
		err = fmt.Errorf("there is no register %d", num)
	}
	return uint64(v), err
}

// SetRegister writes a register by its number in Registers.
func (h *Hart) SetRegister(ctx context.Context, num int, v uint64) error {
	switch {
	case num >= 0 && num < 32:
		return h.SetGPR(ctx, num, uint32(v))
	case num == numPC:
		return h.SetPC(ctx, uint32(v))
	case num >= numCSR0 && num < numCSR0+csrMaxPlus:
		return h.SetCSR(ctx, num-numCSR0, uint32(v))
	case num == numPriv:
		return h.SetPrivilege(ctx, uint32(v))
	}
	return fmt.Errorf("there is no register %d", num)
}
