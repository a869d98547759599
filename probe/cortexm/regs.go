package cortexm

import (
	"context"
	"errors"
	"fmt"

	"github.com/stem-hw/stem-hw/probe/mem"
	"github.com/stem-hw/stem-hw/target"
)

// Selectors of DCRSR.
const (
	selPC      = 15
	selXPSR    = 16
	selMSP     = 17
	selSpecial = 20
	selMSPNS   = 24
	selMSPLIM  = 28
	selFPSCR   = 33
	selS0      = 64
)

// Numbers of registers beyond r0 to r15, as gdb sees them.
const (
	numXPSR  = 25
	numMSP   = 26
	numPrim  = 28
	numMSPNS = 32
	numD0    = 40
	numFPSCR = 56
	numEnd   = 57
)

// Registers lists the registers in gdb's features for M-profile cores (gdb
// manual, "ARM Features").
func Registers() []target.Register {
	var rs []target.Register
	add := func(num int, name string, bits int, feature, group, typ string, save bool) {
		rs = append(rs, target.Register{Num: num, Name: name, Bits: bits, Feature: feature, Group: group, Type: typ, Save: save})
	}
	const m, sys, sec, vfp = "org.gnu.gdb.arm.m-profile", "org.gnu.gdb.arm.m-system", "org.gnu.gdb.arm.secext", "org.gnu.gdb.arm.vfp"
	for i := range 13 {
		add(i, fmt.Sprintf("r%d", i), 32, m, "general", "int", true)
	}
	add(13, "sp", 32, m, "general", "data_ptr", true)
	add(14, "lr", 32, m, "general", "int", true)
	add(15, "pc", 32, m, "general", "code_ptr", true)
	add(numXPSR, "xpsr", 32, m, "general", "int", true)
	add(numMSP, "msp", 32, sys, "system", "data_ptr", false)
	add(numMSP+1, "psp", 32, sys, "system", "data_ptr", false)
	for i, n := range []string{"primask", "basepri", "faultmask", "control"} {
		add(numPrim+i, n, 8, sys, "system", "int8", false)
	}
	for i, n := range []string{"msp_ns", "psp_ns", "msp_s", "psp_s", "msplim_s", "psplim_s", "msplim_ns", "psplim_ns"} {
		add(numMSPNS+i, n, 32, sec, "system", "data_ptr", false)
	}
	for i := range 16 {
		add(numD0+i, fmt.Sprintf("d%d", i), 64, vfp, "float", "ieee_double", true)
	}
	add(numFPSCR, "fpscr", 32, vfp, "float", "int", true)
	return rs
}

// general and the other groups are what is read together: a debugger that wants
// one register wants its neighbours.
var (
	general = selectors(0, 16)
	system  = append(selectors(selMSP, selMSP+1), append([]int{selSpecial}, selectors(selMSPNS, selMSPLIM+3)...)...)
	float   = append([]int{selFPSCR}, selectors(selS0, selS0+31)...)
)

func selectors(lo, hi int) (s []int) {
	for i := lo; i <= hi; i++ {
		s = append(s, i)
	}
	return s
}

// group is the group of a selector.
func group(sel int) []int {
	switch {
	case sel <= selXPSR:
		return general
	case sel == selFPSCR, sel >= selS0:
		return float
	}
	return system
}

// errNotReady is a register that was not transferred in time.
var errNotReady = errors.New("the core does not hand over its registers")

// selector reads a register by its number in DCRSR, together with its group.
func (c *Core) selector(ctx context.Context, sel int) (uint32, error) {
	if v, ok := c.regs[sel]; ok {
		return v, nil
	}
	list := group(sel)
	if c.regs == nil {
		c.regs = map[int]uint32{}
	}
	err := c.chunks.Do(ctx, len(list), func(off, n int) error {
		part := list[off : off+n]
		b := c.ap.Batch()
		b.Window(regDHCSR)
		for _, s := range part {
			b.Write(regDCRSR, uint32(s))
			b.Read(regDHCSR)
			b.Read(regDCRDR)
		}
		v, err := b.Run(ctx)
		if err != nil {
			return err
		}
		for i, s := range part {
			c.note(v[2*i])
			if v[2*i]&sRegRdy == 0 {
				if v[2*i+1], err = c.slowly(ctx, s); err != nil {
					return err
				}
			}
			c.regs[s] = v[2*i+1]
		}
		return nil
	})
	if err != nil {
		c.regs = nil
	}
	return c.regs[sel], err
}

// slowly reads one register and waits for it.
func (c *Core) slowly(ctx context.Context, sel int) (uint32, error) {
	v, err := c.window(ctx, func(b *mem.Batch) {
		b.Write(regDCRSR, uint32(sel))
		for range 8 {
			b.Read(regDHCSR)
		}
		b.Read(regDCRDR)
	})
	if err != nil {
		return 0, err
	}
	if v[7]&sRegRdy == 0 {
		return 0, errNotReady
	}
	return v[8], nil
}

// setSelector writes a register by its number in DCRSR.
func (c *Core) setSelector(ctx context.Context, sel int, w uint32) error {
	v, err := c.window(ctx, func(b *mem.Batch) {
		b.Write(regDCRDR, w)
		b.Write(regDCRSR, 1<<16|uint32(sel))
		for range 2 {
			b.Read(regDHCSR)
		}
	})
	if err != nil {
		return err
	}
	// One register may show in another: sp in msp, xpsr in control.
	c.regs = nil
	if v[1]&sRegRdy == 0 {
		return errNotReady
	}
	return nil
}

// Register reads a register by its number in Registers.
func (c *Core) Register(ctx context.Context, num int) (uint64, error) {
	one := func(sel int) (uint64, error) {
		v, err := c.selector(ctx, sel)
		return uint64(v), err
	}
	switch {
	case num >= 0 && num <= 15:
		return one(num)
	case num == numXPSR:
		return one(selXPSR)
	case num == numMSP, num == numMSP+1:
		return one(selMSP + num - numMSP)
	case num >= numPrim && num < numMSPNS:
		v, err := one(selSpecial)
		return v >> (8 * (num - numPrim)) & 0xff, err
	case num >= numMSPNS && num < numD0:
		return one(selMSPNS + num - numMSPNS)
	case num >= numD0 && num < numFPSCR:
		lo, err := one(selS0 + 2*(num-numD0))
		if err != nil {
			return 0, err
		}
		hi, err := one(selS0 + 2*(num-numD0) + 1)
		return hi<<32 | lo, err
	case num == numFPSCR:
		return one(selFPSCR)
	}
	return 0, fmt.Errorf("there is no register %d", num)
}

// xPSR fields: the T bit, and those of IT and of interrupted instructions.
const (
	xpsrT  uint32 = 1 << 24
	xpsrIT uint32 = 0x0600fc00
)

// SetRegister writes a register by its number in Registers.
func (c *Core) SetRegister(ctx context.Context, num int, v uint64) error {
	w := uint32(v)
	switch {
	case num == 15:
		return c.SetPC(ctx, w)
	case num >= 0 && num < 15:
		return c.setSelector(ctx, num, w)
	case num == numXPSR:
		return c.setSelector(ctx, selXPSR, w)
	case num == numMSP, num == numMSP+1:
		return c.setSelector(ctx, selMSP+num-numMSP, w)
	case num >= numPrim && num < numMSPNS:
		old, err := c.selector(ctx, selSpecial)
		if err != nil {
			return err
		}
		shift := 8 * (num - numPrim)
		return c.setSelector(ctx, selSpecial, old&^(0xff<<shift)|w&0xff<<shift)
	case num >= numMSPNS && num < numD0:
		return c.setSelector(ctx, selMSPNS+num-numMSPNS, w)
	case num >= numD0 && num < numFPSCR:
		if err := c.setSelector(ctx, selS0+2*(num-numD0), w); err != nil {
			return err
		}
		return c.setSelector(ctx, selS0+2*(num-numD0)+1, uint32(v>>32))
	case num == numFPSCR:
		return c.setSelector(ctx, selFPSCR, w)
	}
	return fmt.Errorf("there is no register %d", num)
}

// PC is the address of the next instruction.
func (c *Core) PC(ctx context.Context) (uint32, error) { return c.selector(ctx, selPC) }

// SetPC lets the core go on at another address, in Thumb state and outside of
// any IT block or interrupted instruction.
func (c *Core) SetPC(ctx context.Context, pc uint32) error {
	x, err := c.selector(ctx, selXPSR)
	if err != nil {
		return err
	}
	if err := c.setSelector(ctx, selPC, pc&^1); err != nil {
		return err
	}
	if want := x&^xpsrIT | xpsrT; want != x {
		return c.setSelector(ctx, selXPSR, want)
	}
	return nil
}

// Enter prepares the core to execute code at pc with interrupts off, on the main
// stack without a limit; args go into r0 and up.
func (c *Core) Enter(ctx context.Context, pc, sp uint32, args ...uint32) error {
	set := [][2]uint32{
		{selSpecial, 1}, {selMSPLIM, 0}, {selXPSR, xpsrT}, {selMSP, sp}, {13, sp}, {14, 0xffffffff}, {selPC, pc &^ 1},
	}
	for i, a := range args {
		set = append(set, [2]uint32{uint32(i), a})
	}
	for _, s := range set {
		if err := c.setSelector(ctx, int(s[0]), s[1]); err != nil {
			return err
		}
	}
	return nil
}
