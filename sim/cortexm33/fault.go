package cortexm33

// Exception numbers.
const (
	excNMI         = 2
	excHardFault   = 3
	excMemManage   = 4
	excBusFault    = 5
	excUsageFault  = 6
	excSecureFault = 7
	excSVC         = 11
	excDebugMon    = 12
	excPendSV      = 14
	excSysTick     = 15
	excIRQ0        = 16
)

// Bits of CFSR (Armv8-M ARM, D1.2.11).
const (
	cfsrIACCVIOL   = 1 << 0
	cfsrDACCVIOL   = 1 << 1
	cfsrMUNSTKERR  = 1 << 3
	cfsrMSTKERR    = 1 << 4
	cfsrMLSPERR    = 1 << 5
	cfsrMMARVALID  = 1 << 7
	cfsrIBUSERR    = 1 << 8
	cfsrPRECISERR  = 1 << 9
	cfsrUNSTKERR   = 1 << 11
	cfsrSTKERR     = 1 << 12
	cfsrLSPERR     = 1 << 13
	cfsrBFARVALID  = 1 << 15
	cfsrUNDEFINSTR = 1 << 16
	cfsrINVSTATE   = 1 << 17
	cfsrINVPC      = 1 << 18
	cfsrNOCP       = 1 << 19
	cfsrSTKOF      = 1 << 20
	cfsrUNALIGNED  = 1 << 24
	cfsrDIVBYZERO  = 1 << 25
	cfsrMMFSR      = 0x000000ff
	cfsrBFSR       = 0x0000ff00
	hfsrVECTTBL    = 1 << 1
	hfsrFORCED     = 1 << 30
	hfsrDEBUGEVT   = 1 << 31
	sfsrINVEP      = 1 << 0
	sfsrINVIS      = 1 << 1
	sfsrINVER      = 1 << 2
	sfsrAUVIOL     = 1 << 3
	sfsrINVTRAN    = 1 << 4
	sfsrLSPERR     = 1 << 5
	sfsrSFARVALID  = 1 << 6
	sfsrLSERR      = 1 << 7
	dfsrHALTED     = 1 << 0
	dfsrBKPT       = 1 << 1
	dfsrDWTTRAP    = 1 << 2
	dfsrVCATCH     = 1 << 3
	dfsrEXTERNAL   = 1 << 4
)

// fault is a synchronous exception in the making.
type fault struct {
	exc  uint32
	cfsr uint32
	sfsr uint32
	hfsr uint32
	addr uint32
	// other: MemManage and UsageFault go to the other security state than the
	// present one.
	other bool
}

// record writes the status and address registers of f.
func (c *Core) record(f fault) {
	s := b2i(c.ns != f.other)
	c.scs.cfsr[s] |= f.cfsr &^ cfsrBFSR
	c.scs.bfsr |= f.cfsr & cfsrBFSR
	c.scs.sfsr |= f.sfsr
	c.scs.hfsr |= f.hfsr
	if f.cfsr&cfsrMMARVALID != 0 {
		c.scs.mmfar[s] = f.addr
	}
	if f.cfsr&cfsrBFARVALID != 0 {
		c.scs.bfar = f.addr
	}
	if f.sfsr&sfsrSFARVALID != 0 {
		c.scs.sfar = f.addr
	}
}

// bankOf is the security state, 0 Secure or 1 Non-secure, that fault f belongs
// to.
func (c *Core) bankOf(f *fault) int {
	switch f.exc {
	case excMemManage, excUsageFault, excSVC:
		return b2i(c.ns != f.other)
	case excBusFault, excHardFault:
		return b2i(c.scs.bfhfnmins())
	}
	return 0
}

// escalate decides which exception f becomes: itself, HardFault, or lockup
// (ok false).
func (c *Core) escalate(f *fault) (exc uint32, bank int, ok bool) {
	bank = c.bankOf(f)
	prio := c.executionPriority()
	if f.exc != excHardFault {
		if c.sysEnabled(f.exc, bank) && c.prioOf(f.exc, bank) < prio {
			return f.exc, bank, true
		}
		f.hfsr |= hfsrFORCED
	}
	// HardFault belongs to Secure state unless AIRCR.BFHFNMINS gives
	// Non-secure faults to Non-secure state.
	hb := 0
	if c.scs.bfhfnmins() && (bank == 1 || f.exc == excHardFault && c.ns) {
		hb = 1
	}
	if c.prioOf(excHardFault, hb) >= prio {
		return excHardFault, hb, false
	}
	return excHardFault, hb, true
}

// deliver takes the fault f; c.pc is the return address.
func (c *Core) deliver(f fault) {
	exc, bank, ok := c.escalate(&f)
	c.record(f)
	if !ok {
		c.noteTrap(exc, f)
		c.lockup()
		return
	}
	if c.vectorCatch(exc, bank, &f) {
		c.nvic.pendSys[bank] |= 1 << exc
		return
	}
	c.enter(exc, bank, &f)
}

// lockup stops the core for good.
func (c *Core) lockup() {
	c.lockedUp = true
	c.attention()
}

// noteTrap remembers a trap for LastTrap.
func (c *Core) noteTrap(exc uint32, f fault) {
	c.lastTrap = Trap{Exception: exc, PC: c.pc, CFSR: f.cfsr, HFSR: f.hfsr, SFSR: f.sfsr, Addr: f.addr, Cycle: c.Cycle}
}
