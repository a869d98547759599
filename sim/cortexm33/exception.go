package cortexm33

// Exception entry. The names follow the pseudocode of the Armv8-M ARM
// (ExceptionEntry, PushStack, ExceptionTaken); B3.18 to B3.28 describe it.

// entryCycles and tailCycles are the latencies of a full entry and of a
// tail-chained one, as Arm states them for its M-profile cores of this class.
const (
	entryCycles  = 12
	tailCycles   = 6
	returnCycles = 10
)

// EXC_RETURN bits.
const (
	excES     = 1 << 0
	excSPSEL  = 1 << 2
	excMode   = 1 << 3
	excFType  = 1 << 4
	excDCRS   = 1 << 5
	excS      = 1 << 6
	excPrefix = 0xffffff80
)

// enter takes exception exc of the given bank: stacks the context, whose return
// address is c.pc, and goes to the handler. f is the fault it comes from, nil
// for interrupts.
func (c *Core) enter(exc uint32, bank int, f *fault) {
	retPC := c.pc
	lr := uint32(excPrefix) | excDCRS
	if !c.ns {
		lr |= excS
	}
	s := b2i(c.ns)
	if c.ipsr == 0 {
		lr |= excMode
	}
	if c.control[s]&ctlSPSEL != 0 {
		lr |= excSPSEL
	}
	fpFrame := c.control[0]&ctlFPCA != 0
	if !fpFrame {
		lr |= excFType
	}
	c.Cycle += entryCycles
	derived := c.pushStack(retPC, fpFrame)
	if f == nil {
		f = &fault{}
	}
	c.noteTrap(exc, *f)
	if derived.exc != 0 {
		exc, bank = c.derive(derived, exc, bank)
		if c.lockedUp {
			return
		}
	} else if e2, b2, p := c.pending(); p < c.prioOf(exc, bank) {
		// Late arrival: a more urgent exception came while stacking; this one
		// stays pending.
		c.pend(exc, bank)
		exc, bank = e2, b2
	}
	c.taken(exc, bank, lr, false)
	if c.OnTrap != nil {
		c.OnTrap(c.lastTrap)
	}
}

// derive picks between the exception being entered and a fault of its stacking:
// the more urgent one is taken, the other stays pending.
func (c *Core) derive(d fault, exc uint32, bank int) (uint32, int) {
	bd := c.bankOf(&d)
	orig := c.prioOf(exc, bank)
	de := d.exc
	if de != excHardFault && (!c.sysEnabled(de, bd) || c.prioOf(de, bd) >= c.executionPriority()) {
		d.hfsr |= hfsrFORCED
		de, bd = excHardFault, b2i(c.scs.bfhfnmins() && bd == 1)
	}
	c.record(d)
	switch dp := c.prioOf(de, bd); {
	case de == excHardFault && dp >= c.executionPriority():
		c.noteTrap(de, d)
		c.lockup()
		return de, bd
	case dp < orig:
		c.pend(exc, bank)
		c.noteTrap(de, d)
		return de, bd
	case de == excHardFault && orig < 0 && exc == excHardFault:
		return exc, bank
	}
	c.pend(de, bd)
	return exc, bank
}

// pushStack stores the context below the stack pointer in use and moves it. A
// fault on the way is returned; the stack pointer has moved nevertheless.
func (c *Core) pushStack(retPC uint32, fpFrame bool) (derived fault) {
	size := uint32(0x20)
	if fpFrame {
		size = 0x68
		if c.fp.ts() {
			size = 0xa8
		}
	}
	sp := c.R[13]
	frame := (sp - size) &^ 7
	psr := c.xpsr()&^(1<<9) | sp>>2&1<<9
	if frame < c.spLimit {
		c.R[13] = c.spLimit
		return fault{exc: excUsageFault, cfsr: cfsrSTKOF}
	}
	c.R[13] = frame
	a := c.stackAccess()
	words := [8]uint32{c.R[0], c.R[1], c.R[2], c.R[3], c.R[12], c.R[14], retPC, psr}
	for i, w := range words {
		if !c.stackWrite(&a, frame+uint32(i)*4, w, &derived) {
			return derived
		}
	}
	if fpFrame {
		c.pushFP(&a, frame+0x20, &derived)
	}
	return derived
}

func (c *Core) stackAccess() access {
	return access{now: c.Cycle, priv: c.privileged(), ns: c.ns, begun: true}
}

// stackWrite writes one word of a frame; a failure becomes a derived fault.
func (c *Core) stackWrite(a *access, addr, v uint32, derived *fault) bool {
	if c.write(a, addr, 4, v) {
		return true
	}
	c.abort = abortNone
	*derived = stackFault(c.why, cfsrMSTKERR, cfsrSTKERR)
	return false
}

// stackFault turns a data access fault into one of stacking or unstacking.
func stackFault(f fault, mem, bus uint32) fault {
	switch f.exc {
	case excMemManage:
		f.cfsr = mem
	case excBusFault:
		f.cfsr = bus
	case excSecureFault:
		f.sfsr &^= sfsrSFARVALID
		f.sfsr |= sfsrAUVIOL
	}
	return f
}

func (c *Core) stackRead(a *access, addr uint32, derived *fault) uint32 {
	v, ok := c.read(a, addr, 4)
	if !ok {
		c.abort = abortNone
		if derived.exc == 0 {
			*derived = stackFault(c.why, cfsrMUNSTKERR, cfsrUNSTKERR)
		}
	}
	return v
}

// taken switches to the handler of exc. The context is on the stack.
func (c *Core) taken(exc uint32, bank int, lr uint32, tail bool) {
	toNS := c.targetNS(exc, bank)
	// A Secure context hides its other registers from a Non-secure handler. On a
	// tail chain from one they are on the stack already.
	stacked := tail && lr&excES == 0
	if lr&excS != 0 {
		switch {
		case toNS && !stacked:
			c.pushCallee(lr)
			lr |= excDCRS
		case toNS:
			lr |= excDCRS
		case stacked:
			lr &^= excDCRS
		}
	}
	lr |= excES
	if toNS {
		lr &^= excES
	}
	vtor := c.scs.vtor[b2i(toNS)]
	vec, ok := c.readVector(vtor+exc*4, toNS)
	if toNS && lr&excS != 0 {
		for i := range c.R[:13] {
			c.R[i] = 0
		}
		c.setAPSR(0)
	}
	c.saveSP()
	c.clearPend(exc, bank)
	c.activate(exc, bank)
	c.ns = toNS
	c.ipsr = exc
	c.control[b2i(toNS)] &^= ctlSPSEL
	c.control[0] &^= ctlFPCA | ctlSFPA
	c.control[1] &^= ctlFPCA
	c.loadSP()
	c.R[14] = lr
	c.it = 0
	c.excl.valid = false
	c.event = true
	c.asleep = awake
	c.regimeChanged()
	c.fpChanged()
	c.pc, c.thumb = vec&^1, vec&1 != 0
	if !ok {
		f := fault{exc: excHardFault, hfsr: hfsrVECTTBL}
		if exc == excHardFault || exc == excNMI {
			c.record(f)
			c.lockup()
			return
		}
		c.deliver(f)
	}
	c.attention()
}

func (c *Core) readVector(addr uint32, ns bool) (uint32, bool) {
	a := access{now: c.Cycle, priv: true, ns: ns, begun: true}
	v, ok := c.read(&a, addr, 4)
	if !ok {
		c.abort = abortNone
	}
	return v, ok
}

// pushCallee saves r4 to r11 with the integrity signature on the Secure stack.
func (c *Core) pushCallee(lr uint32) {
	i := 0
	if lr&excMode != 0 && lr&excSPSEL != 0 {
		i = 1
	}
	sp := c.getSP(0, i) - 0x28
	a := access{now: c.Cycle, priv: lr&excMode == 0 || c.control[0]&ctlNPRIV == 0, begun: true}
	sig := uint32(0xfefa125a) | lr>>4&1
	var d fault
	ok := c.stackWrite(&a, sp, sig, &d)
	for k := uint32(0); ok && k < 8; k++ {
		ok = c.stackWrite(&a, sp+8+k*4, c.R[4+k], &d)
	}
	c.putSP(0, i, sp)
	if !ok {
		c.record(d)
		c.pend(excHardFault, 0)
	}
	c.Cycle += 8
}
