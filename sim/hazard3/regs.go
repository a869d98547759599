package hazard3

import (
	"fmt"

	"github.com/stem-hw/stem-hw/target"
)

// gdb's numbers of RISC-V registers (target.Register).
const (
	regPC   = 32
	regCSR0 = 65
	regPriv = 65 + 4096
)

// Features of gdb's target descriptions.
const (
	featureCPU     = "org.gnu.gdb.riscv.cpu"
	featureCSR     = "org.gnu.gdb.riscv.csr"
	featureVirtual = "org.gnu.gdb.riscv.virtual"
)

var regNames = [32]string{
	"zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "fp", "s1", "a0", "a1", "a2", "a3", "a4", "a5",
	"a6", "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6",
}

// RegName is the ABI name of a general register; s0 is fp, as gdb calls it.
func RegName(i int) string { return regNames[i&31] }

// ReadReg reads a register by gdb's number.
func (c *Core) ReadReg(num int) (v uint64, ok bool) {
	switch {
	case num >= 0 && num < 32:
		return uint64(c.X[num]), true
	case num == regPC:
		return uint64(c.pc), true
	case num >= regCSR0 && num < regCSR0+4096:
		r, ok := c.CSR(uint16(num - regCSR0))
		return uint64(r), ok
	case num == regPriv:
		return uint64(c.priv), true
	}
	return 0, false
}

// WriteReg writes a register by gdb's number. x0 takes all values and stays 0.
func (c *Core) WriteReg(num int, v uint64) (ok bool) {
	switch {
	case num == 0:
		return true
	case num > 0 && num < 32:
		c.X[num] = uint32(v)
		return true
	case num == regPC:
		c.SetPC(uint32(v))
		return true
	case num >= regCSR0 && num < regCSR0+4096:
		return c.SetCSR(uint16(num-regCSR0), uint32(v))
	case num == regPriv:
		c.priv = 0
		if v&2 != 0 {
			c.priv = 3
		}
		c.permissionsChanged()
		c.updateIRQ()
		return true
	}
	return false
}

type csrName struct {
	n    uint16
	name string
}

// csrNames are the registers that have a name of their own; counters, events
// and PMP registers are added by number.
var csrNames = []csrName{
	{csrMstatus, "mstatus"}, {csrMisa, "misa"}, {csrMie, "mie"}, {csrMtvec, "mtvec"},
	{csrMcounteren, "mcounteren"}, {csrMenvcfg, "menvcfg"}, {csrMstatush, "mstatush"},
	{csrMenvcfgh, "menvcfgh"}, {csrMcountinhibit, "mcountinhibit"}, {csrMscratch, "mscratch"},
	{csrMepc, "mepc"}, {csrMcause, "mcause"}, {csrMtval, "mtval"}, {csrMip, "mip"},
	{csrTselect, "tselect"}, {csrTdata1, "tdata1"}, {csrTdata2, "tdata2"}, {csrTinfo, "tinfo"},
	{csrTcontrol, "tcontrol"}, {csrDcsr, "dcsr"}, {csrDpc, "dpc"},
	{csrMcycle, "mcycle"}, {csrMinstret, "minstret"}, {csrMcycleh, "mcycleh"}, {csrMinstreth, "minstreth"},
	{csrPmpcfgm0, "pmpcfgm0"}, {csrMeiea, "meiea"}, {csrMeipa, "meipa"}, {csrMeifa, "meifa"},
	{csrMeipra, "meipra"}, {csrMeinext, "meinext"}, {csrMeicontext, "meicontext"},
	{csrMsleep, "msleep"}, {csrDmdata0, "dmdata0"},
	{csrCycle, "cycle"}, {csrInstret, "instret"}, {csrCycleh, "cycleh"}, {csrInstreth, "instreth"},
	{csrMvendorid, "mvendorid"}, {csrMarchid, "marchid"}, {csrMimpid, "mimpid"},
	{csrMhartid, "mhartid"}, {csrMconfigptr, "mconfigptr"},
}

// Registers describes all registers of the core to gdb.
func (c *Core) Registers() []target.Register {
	var rs []target.Register
	for i, name := range regNames {
		typ := ""
		switch i {
		case 1:
			typ = "code_ptr"
		case 2, 3, 4, 8:
			typ = "data_ptr"
		}
		rs = append(rs, target.Register{Num: i, Name: name, Bits: 32, Feature: featureCPU, Group: "general", Type: typ, Save: true})
	}
	rs = append(rs, target.Register{Num: regPC, Name: "pc", Bits: 32, Feature: featureCPU, Group: "general", Type: "code_ptr", Save: true})
	add := func(n uint16, name string) {
		rs = append(rs, target.Register{Num: regCSR0 + int(n), Name: name, Bits: 32, Feature: featureCSR, Group: "csr", Type: "int"})
	}
	for _, r := range csrNames {
		add(r.n, r.name)
	}
	for i := range uint16(4) {
		add(csrPmpcfg0+i, fmt.Sprintf("pmpcfg%d", i))
	}
	for i := range uint16(16) {
		add(csrPmpaddr0+i, fmt.Sprintf("pmpaddr%d", i))
	}
	for i := range uint16(29) {
		add(csrMhpmevent3+i, fmt.Sprintf("mhpmevent%d", i+3))
		add(csrMhpmcounter3+i, fmt.Sprintf("mhpmcounter%d", i+3))
		add(csrMhpm3h+i, fmt.Sprintf("mhpmcounter%dh", i+3))
	}
	return append(rs, target.Register{Num: regPriv, Name: "priv", Bits: 8, Feature: featureVirtual, Group: "general", Type: "int"})
}

// CSRName names a control register, or is empty.
func CSRName(n uint16) string {
	for _, r := range csrNames {
		if r.n == n {
			return r.name
		}
	}
	return ""
}
