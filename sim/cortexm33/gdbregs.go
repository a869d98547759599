package cortexm33

import (
	"fmt"

	"github.com/stem-hw/stem-hw/target"
)

// Register numbers for debuggers beyond r0 to r15.
const (
	// RegXPSR is gdb's number of xPSR in its M-profile feature.
	RegXPSR = 25
	// RegMSP is the first of the system registers, RegMSPNS of the banked ones,
	// RegD0 of the floating-point ones.
	RegMSP   = 26
	RegMSPNS = 32
	RegD0    = 40
	RegFPSCR = 56
)

// Registers lists the registers as gdb-multiarch knows them (gdb manual,
// "ARM Features").
func Registers() []target.Register {
	var rs []target.Register
	add := func(num int, name string, bits int, feature, group, typ string, save bool) {
		rs = append(rs, target.Register{Num: num, Name: name, Bits: bits, Feature: feature, Group: group, Type: typ, Save: save})
	}
	const m, sys, sec, vfp = "org.gnu.gdb.arm.m-profile", "org.gnu.gdb.arm.m-system", "org.gnu.gdb.arm.secext", "org.gnu.gdb.arm.vfp"
	for i := 0; i < 13; i++ {
		add(i, fmt.Sprintf("r%d", i), 32, m, "general", "int", true)
	}
	add(13, "sp", 32, m, "general", "data_ptr", true)
	add(14, "lr", 32, m, "general", "int", true)
	add(15, "pc", 32, m, "general", "code_ptr", true)
	add(RegXPSR, "xpsr", 32, m, "general", "int", true)
	for i, n := range []string{"msp", "psp"} {
		add(RegMSP+i, n, 32, sys, "system", "data_ptr", false)
	}
	for i, n := range []string{"primask", "basepri", "faultmask", "control"} {
		add(RegMSP+2+i, n, 8, sys, "system", "int8", false)
	}
	for i, n := range []string{"msp_ns", "psp_ns", "msp_s", "psp_s", "msplim_s", "psplim_s", "msplim_ns", "psplim_ns"} {
		add(RegMSPNS+i, n, 32, sec, "system", "data_ptr", false)
	}
	for i := 0; i < 16; i++ {
		add(RegD0+i, fmt.Sprintf("d%d", i), 64, vfp, "float", "ieee_double", true)
	}
	add(RegFPSCR, "fpscr", 32, vfp, "float", "int", true)
	return rs
}

// ReadReg reads a register by its number in Registers.
func (c *Core) ReadReg(num int) (v uint64, ok bool) {
	s := b2i(c.ns)
	switch {
	case num >= 0 && num <= 15:
		return uint64(c.readSelector(num)), true
	case num == RegXPSR:
		return uint64(c.xpsr()), true
	case num == RegMSP, num == RegMSP+1:
		return uint64(c.getSP(s, num-RegMSP)), true
	case num >= RegMSP+2 && num < RegMSPNS:
		return uint64(c.special(s) >> (8 * (num - RegMSP - 2)) & 0xff), true
	case num >= RegMSPNS && num < RegD0:
		return uint64(c.readSelector(24 + num - RegMSPNS)), true
	case num >= RegD0 && num < RegFPSCR:
		i := 2 * (num - RegD0)
		return uint64(c.S[i+1])<<32 | uint64(c.S[i]), true
	case num == RegFPSCR:
		return uint64(c.fpscr), true
	}
	return 0, false
}

// WriteReg writes one.
func (c *Core) WriteReg(num int, v uint64) bool {
	w := uint32(v)
	switch {
	case num == 15:
		c.SetPC(w)
	case num >= 0 && num < 15:
		c.writeSelector(num, w)
	case num == RegXPSR:
		c.writeSelector(16, w)
	case num == RegMSP, num == RegMSP+1:
		c.putSP(b2i(c.ns), num-RegMSP, w)
	case num >= RegMSP+2 && num < RegMSPNS:
		sh := 8 * (num - RegMSP - 2)
		s := b2i(c.ns)
		c.setSpecial(s, c.special(s)&^(0xff<<sh)|w&0xff<<sh)
	case num >= RegMSPNS && num < RegD0:
		c.writeSelector(24+num-RegMSPNS, w)
	case num >= RegD0 && num < RegFPSCR:
		i := 2 * (num - RegD0)
		c.S[i], c.S[i+1] = w, uint32(v>>32)
	case num == RegFPSCR:
		c.writeSelector(33, w)
	default:
		return false
	}
	return true
}
