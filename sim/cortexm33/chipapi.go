package cortexm33

import (
	"fmt"
)

// What a machine with a boot ROM needs of a core beyond Run.

// Hart is the core's number.
func (c *Core) Hart() int { return c.hart }

// Config returns the parameters the core was made with.
func (c *Core) Config() Config { return c.cfg }

// LastTrap is the exception taken last.
func (c *Core) LastTrap() Trap { return c.lastTrap }

// Looping reports whether the core is in lockup.
func (c *Core) Looping() bool { return c.lockedUp }

// StackWord reads the word n of the stack, 0 at SP.
func (c *Core) StackWord(n int) (uint32, bool) { return c.readWord(c.R[13] + 4*uint32(n)) }

// EnterImage starts Secure Thread mode at pc on the main stack: the vector
// table at vector (0 leaves it), lr for the entry to return to.
func (c *Core) EnterImage(pc, sp, vector, lr uint32) {
	if vector != 0 {
		c.scs.vtor[0] = vector &^ 0x7f
	}
	if sp != 0 {
		c.setSP(sp)
	}
	c.R[14] = lr
	c.setLimit(0, 0, 0)
	c.SetPC(pc)
	c.regimeChanged()
	c.fpChanged()
}

// IsFault reports whether t is a fault and not an interrupt or a call.
func (t Trap) IsFault() bool { return t.Exception >= excHardFault && t.Exception <= excSecureFault }

// String says in words what happened: "HardFault: undefined instruction".
func (t Trap) String() string {
	name := exceptionName(t.Exception)
	why := t.cause()
	if why == "" {
		return name
	}
	return name + ": " + why
}

func exceptionName(n uint32) string {
	switch n {
	case excNMI:
		return "NMI"
	case excHardFault:
		return "HardFault"
	case excMemManage:
		return "MemManage fault"
	case excBusFault:
		return "BusFault"
	case excUsageFault:
		return "UsageFault"
	case excSecureFault:
		return "SecureFault"
	case excSVC:
		return "SVCall"
	case excDebugMon:
		return "DebugMonitor"
	case excPendSV:
		return "PendSV"
	case excSysTick:
		return "SysTick"
	}
	return fmt.Sprintf("interrupt %d", int(n)-excIRQ0)
}

// cause names what the status bits of the fault say.
func (t Trap) cause() string {
	for _, f := range causes {
		if t.CFSR&f.cfsr != 0 || t.SFSR&f.sfsr != 0 || t.HFSR&f.hfsr != 0 {
			if t.CFSR&(cfsrMMARVALID|cfsrBFARVALID) != 0 || t.SFSR&sfsrSFARVALID != 0 {
				return fmt.Sprintf("%s at address %#08x", f.text, t.Addr)
			}
			return f.text
		}
	}
	return ""
}

var causes = []struct {
	cfsr, sfsr, hfsr uint32
	text             string
}{
	{cfsr: cfsrIACCVIOL, text: "instruction access violation"},
	{cfsr: cfsrDACCVIOL, text: "data access violation"},
	{cfsr: cfsrMUNSTKERR, text: "memory protection while unstacking"},
	{cfsr: cfsrMSTKERR, text: "memory protection while stacking"},
	{cfsr: cfsrMLSPERR, text: "memory protection while saving floating-point state"},
	{cfsr: cfsrIBUSERR, text: "instruction fetch refused by the bus"},
	{cfsr: cfsrPRECISERR, text: "data access refused by the bus"},
	{cfsr: cfsrUNSTKERR, text: "bus fault while unstacking"},
	{cfsr: cfsrSTKERR, text: "bus fault while stacking"},
	{cfsr: cfsrLSPERR, text: "bus fault while saving floating-point state"},
	{cfsr: cfsrUNDEFINSTR, text: "undefined instruction"},
	{cfsr: cfsrINVSTATE, text: "branch to an even address (not Thumb code)"},
	{cfsr: cfsrINVPC, text: "bad exception return"},
	{cfsr: cfsrNOCP, text: "coprocessor or FPU is off"},
	{cfsr: cfsrSTKOF, text: "stack overflow"},
	{cfsr: cfsrUNALIGNED, text: "unaligned access"},
	{cfsr: cfsrDIVBYZERO, text: "division by zero"},
	{sfsr: sfsrINVEP, text: "entry to Secure code without SG"},
	{sfsr: sfsrINVIS, text: "bad integrity signature"},
	{sfsr: sfsrINVER, text: "bad exception return across security states"},
	{sfsr: sfsrAUVIOL, text: "access to Secure memory from Non-secure state"},
	{sfsr: sfsrINVTRAN, text: "branch to Non-secure code without BXNS"},
	{sfsr: sfsrLSPERR | sfsrLSERR, text: "lazy floating-point state error"},
	{hfsr: hfsrVECTTBL, text: "the vector table cannot be read"},
	{hfsr: hfsrDEBUGEVT, text: "BKPT without a debugger"},
}

// RawAt returns the encoding of the instruction at pc, 16 or 32 bits, and its
// size; ok is false where code cannot be read.
func (c *Core) RawAt(pc uint32) (raw uint32, size uint8, ok bool) {
	h1, ok := c.codeHalf(pc &^ 1)
	if !ok {
		return 0, 0, false
	}
	if h1>>11 < 0b11101 {
		return h1, 2, true
	}
	h2, ok := c.codeHalf(pc&^1 + 2)
	if !ok {
		return h1, 2, false
	}
	return h1<<16 | h2, 4, true
}

func (c *Core) codeHalf(addr uint32) (uint32, bool) {
	if v, ok := c.peekHalf(addr); ok {
		return v, true
	}
	v, ok := c.bus.Fetch(addr)
	return uint32(v), ok
}
