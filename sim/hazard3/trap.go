package hazard3

import "fmt"

// The causes of exceptions (RISC-V privileged specification, mcause).
const (
	causeFetchFault uint32 = 1
	causeIllegal    uint32 = 2
	causeBreakpoint uint32 = 3
	causeLoadAlign  uint32 = 4
	causeLoadFault  uint32 = 5
	causeStoreAlign uint32 = 6
	causeStoreFault uint32 = 7
	causeEcallU     uint32 = 8
	causeEcallM     uint32 = 11
)

// noAddr is given for exceptions without a data address.
const noAddr = 0

// Trap is one exception as it was taken.
type Trap struct {
	// Cause is mcause.
	Cause uint32
	// PC is the address of the instruction that raised it.
	PC uint32
	// Instr is its encoding, 0 if it could not be fetched.
	Instr uint32
	// Addr is the data address of an access that failed; HasAddr says whether
	// there is one. The hardware does not tell (mtval is 0).
	Addr    uint32
	HasAddr bool
	// Priv is the privilege mode it came from: 3 for M, 0 for U.
	Priv uint32
	// Cycle is when it was taken.
	Cycle uint64
	// Count is the number of exceptions up to this one since reset.
	Count uint64
	// Returned is true once a trap handler returned after it (mret).
	Returned bool
}

// Name is the cause in words.
func (t Trap) Name() string { return CauseName(t.Cause) }

// CauseName names a value of mcause.
func CauseName(cause uint32) string {
	switch cause {
	case causeFetchFault:
		return "instruction access fault"
	case causeIllegal:
		return "illegal instruction"
	case causeBreakpoint:
		return "breakpoint"
	case causeLoadAlign:
		return "misaligned load"
	case causeLoadFault:
		return "load access fault"
	case causeStoreAlign:
		return "misaligned store"
	case causeStoreFault:
		return "store access fault"
	case causeEcallU:
		return "environment call from U-mode"
	case causeEcallM:
		return "environment call from M-mode"
	case 1<<31 | 3:
		return "software interrupt"
	case 1<<31 | 7:
		return "timer interrupt"
	case 1<<31 | 11:
		return "external interrupt"
	}
	return "unknown cause"
}

// LastTrap is the last exception since reset; Count is 0 if there was none.
func (c *Core) LastTrap() Trap { return c.lastTrap }

// lockup recognises exceptions that repeat for ever: the same exception twice,
// with the same registers and nothing written in between. All that could end
// such a loop is a change from outside.
type lockup struct {
	// activity counts what makes a difference: stores, bus accesses, CSR
	// writes, interrupts, mret.
	activity uint64
	seen     uint64
	instret  uint64
	x        [32]uint32
	pc       uint32
	cause    uint32
	valid    bool
	stuck    bool
}

// except takes an exception at c.pc. addr is the data address or noAddr.
func (c *Core) except(cause, addr uint32) status { return c.exceptCost(cause, addr, 3) }

// busFault is an exception for an access that the bus refused: its two-phase
// error response takes one more cycle.
func (c *Core) busFault(cause, addr uint32) status { return c.exceptCost(cause, addr, 4) }

func (c *Core) exceptCost(cause, addr uint32, cycles uint64) status {
	if c.dbg.injecting {
		c.dbg.exception = true
		return memTrap
	}
	t := Trap{Cause: cause, PC: c.pc, Priv: c.priv, Cycle: c.Cycle, Count: c.lastTrap.Count + 1}
	if cause >= causeLoadAlign && cause <= causeStoreFault {
		t.Addr, t.HasAddr = addr, true
	}
	if cause != causeFetchFault {
		t.Instr, _, _ = c.RawAt(c.pc)
	}
	c.lastTrap = t
	c.checkLockup(cause)
	c.enterTrap(cause)
	c.goTo(c.csr.mtvec&^3, cycles)
	if c.OnTrap != nil {
		c.OnTrap(t)
	}
	return memTrap
}

func (c *Core) checkLockup(cause uint32) {
	l := &c.lock
	// Blocks count their stores in the upper bits of instret; in so few
	// instructions the count cannot come round.
	near := c.instret&instretMask-l.instret&instretMask < 1<<(64-storeShift)
	if l.valid && l.pc == c.pc && l.cause == cause && l.seen == l.activity && l.x == c.X &&
		near && l.instret>>storeShift == c.instret>>storeShift {
		l.stuck = true
	}
	l.valid, l.pc, l.cause, l.seen, l.instret, l.x = true, c.pc, cause, l.activity, c.instret, c.X
}

// trapExit is exec's answer after an exception.
func (c *Core) trapExit() int {
	switch {
	case c.dbg.injecting:
		return halted
	case c.dbg.step != 0:
		c.enterDebug(debugStep)
		return halted
	case c.lock.stuck:
		return locked
	}
	return running
}

func (c *Core) illegal() int {
	c.except(causeIllegal, noAddr)
	return c.trapExit()
}

// enterTrap changes the CSRs for a trap; pc still is what mepc becomes.
func (c *Core) enterTrap(mcause uint32) {
	s := c.csr.mstatus
	n := s &^ (mstatusMIE | mstatusMPIE | mstatusMPP)
	if s&mstatusMIE != 0 {
		n |= mstatusMPIE
	}
	if c.priv == 3 {
		n |= mstatusMPP
	}
	c.csr.mstatus = n
	c.csr.mepc = c.pc
	c.csr.mcause = mcause
	c.priv = 3
	c.reserved = false
	c.btb = noBranch
	c.loading, c.excl = 0, false
	c.irq.enter(mcause == 1<<31|11)
	c.trig.mpte = c.trig.mte
	c.trig.mte = false
	c.permissionsChanged()
	c.updateIRQ()
}

// mret returns from a trap.
func (c *Core) mret() {
	c.lastTrap.Returned = true
	s := c.csr.mstatus
	n := s&^(mstatusMIE|mstatusMPP) | mstatusMPIE
	if s&mstatusMPIE != 0 {
		n |= mstatusMIE
	}
	c.priv = 3
	if s&mstatusMPP == 0 {
		c.priv = 0
		n &^= mstatusMPRV
	}
	c.csr.mstatus = n
	c.reserved = false
	c.btb = noBranch
	c.irq.leave()
	c.trig.mte = c.trig.mpte
	c.lock.activity++
	c.permissionsChanged()
	c.updateIRQ()
	c.jump(c.csr.mepc, 3)
}

// interrupt takes the interrupt with the highest priority.
func (c *Core) interrupt() {
	pending := c.mip() & c.csr.mie
	cause := uint32(7)
	switch {
	case pending&(1<<11) != 0:
		cause = 11
	case pending&(1<<3) != 0:
		cause = 3
	}
	c.lock.activity++
	c.dbg.passBreak, c.dbg.passWatch = false, false
	c.enterTrap(1<<31 | cause)
	target := c.csr.mtvec &^ 3
	if c.csr.mtvec&1 != 0 {
		target |= cause << 2
	}
	c.goTo(target, 2)
}

// Describe says in words what a trap was, with the data address if there is
// one: "load access fault on 0x00000004".
func Describe(t Trap) string {
	if t.HasAddr {
		return fmt.Sprintf("%s on 0x%08x", t.Name(), t.Addr)
	}
	return t.Name()
}
