package cortexm33

import "math/bits"

const maxIRQs = 64

// nvic is the state of all exceptions. System exceptions are kept by bank (0
// Secure, 1 Non-secure), those that are not banked in bank 0.
type nvic struct {
	level, pend, en, act, ns uint64
	prio                     [maxIRQs]uint8

	pendSys, actSys [2]uint32
	prioSys         [2][16]uint8
}

func (n *nvic) reset(c *Core) {
	level := n.level
	*n = nvic{level: level, pend: level}
}

// setLevels takes the levels of the interrupt lines; a rising one pends.
func (n *nvic) setLevels(l uint64) {
	n.pend |= l &^ n.level
	n.level = l
}

// irqMask has a bit for each interrupt that exists.
func (c *Core) irqMask() uint64 {
	if c.cfg.NumIRQs >= 64 {
		return ^uint64(0)
	}
	return 1<<c.cfg.NumIRQs - 1
}

// banked reports whether system exception exc exists once per security state.
func banked(exc uint32) bool {
	switch exc {
	case excHardFault, excMemManage, excUsageFault, excSVC, excPendSV, excSysTick:
		return true
	}
	return false
}

// targetNS reports whether exc of bank runs in Non-secure state.
func (c *Core) targetNS(exc uint32, bank int) bool {
	switch {
	case exc >= excIRQ0:
		return c.nvic.ns>>(exc-excIRQ0)&1 != 0
	case banked(exc):
		return bank == 1
	case exc == excNMI, exc == excBusFault:
		return c.scs.bfhfnmins()
	case exc == excDebugMon:
		return c.dbg.demcr&demcrSDME == 0
	}
	return false
}

// groupMask has the bits of a priority that decide preemption.
func (c *Core) groupMask(ns int) uint8 {
	return uint8(0xff << (c.scs.prigroup[ns] + 1))
}

// adjusted turns a stored priority into the group priority that counts.
func (c *Core) adjusted(p uint8, ns bool) int {
	g := int(p & c.groupMask(b2i(ns)))
	if ns && c.scs.pris {
		g = g>>1 + 0x80
	}
	return g
}

// prioOf is the group priority of an exception.
func (c *Core) prioOf(exc uint32, bank int) int {
	switch exc {
	case excNMI:
		return -2
	case excHardFault:
		if bank == 0 && c.scs.bfhfnmins() {
			return -3
		}
		return -1
	}
	ns := c.targetNS(exc, bank)
	if exc >= excIRQ0 {
		return c.adjusted(c.nvic.prio[exc-excIRQ0], ns)
	}
	return c.adjusted(c.nvic.prioSys[bank][exc&15], ns)
}

// rawPriority is the priority of the active exceptions alone.
func (c *Core) rawPriority() int {
	p := 256
	for bank := 0; bank < 2; bank++ {
		for m := c.nvic.actSys[bank]; m != 0; m &= m - 1 {
			p = min(p, c.prioOf(uint32(bits.TrailingZeros32(m)), bank))
		}
	}
	for m := c.nvic.act; m != 0; m &= m - 1 {
		p = min(p, c.prioOf(excIRQ0+uint32(bits.TrailingZeros64(m)), 0))
	}
	return p
}

// executionPriority is the current priority with the mask registers applied.
func (c *Core) executionPriority() int {
	p := c.rawPriority()
	for s := 0; s < 2; s++ {
		ns := s == 1
		if c.basepri[s] != 0 {
			p = min(p, c.adjusted(uint8(c.basepri[s]), ns))
		}
		if c.primask[s] {
			v := 0
			if ns && c.scs.pris {
				v = 0x80
			}
			p = min(p, v)
		}
		if c.faultmask[s] {
			v := -1
			switch {
			case !ns && c.scs.bfhfnmins():
				v = -3
			case ns && !c.scs.bfhfnmins():
				v = 0
				if c.scs.pris {
					v = 0x80
				}
			}
			p = min(p, v)
		}
	}
	return p
}

// negativePriority reports whether MPU checks are off for want of HFNMIENA.
func (c *Core) negativePriority() bool { return c.executionPriority() < 0 }

// pending returns the most urgent exception that is pending and enabled, and
// its group priority; 257 if there is none.
func (c *Core) pending() (exc uint32, bank, prio int) {
	best, sub := 257, 0
	try := func(e uint32, b int, raw uint8) {
		p := c.prioOf(e, b)
		if p < best || p == best && int(raw) < sub {
			best, sub, exc, bank = p, int(raw), e, b
		}
	}
	for b := 0; b < 2; b++ {
		for m := c.nvic.pendSys[b]; m != 0; m &= m - 1 {
			e := uint32(bits.TrailingZeros32(m))
			if c.sysEnabled(e, b) {
				try(e, b, c.nvic.prioSys[b][e])
			}
		}
	}
	for m := c.nvic.pend & c.nvic.en; m != 0; m &= m - 1 {
		n := uint32(bits.TrailingZeros64(m))
		try(excIRQ0+n, 0, c.nvic.prio[n])
	}
	return exc, bank, best
}

// sysEnabled reports whether a system exception may be taken as itself.
func (c *Core) sysEnabled(exc uint32, bank int) bool {
	switch exc {
	case excMemManage:
		return c.scs.shcsr[bank]&shcsrMEMFAULTENA != 0
	case excBusFault:
		return c.scs.shcsr[0]&shcsrBUSFAULTENA != 0
	case excUsageFault:
		return c.scs.shcsr[bank]&shcsrUSGFAULTENA != 0
	case excSecureFault:
		return c.scs.shcsr[0]&shcsrSECUREFAULTENA != 0
	case excDebugMon:
		return c.dbg.demcr&demcrMONEN != 0
	}
	return true
}

func (c *Core) pend(exc uint32, bank int) {
	if exc >= excIRQ0 {
		c.nvic.pend |= 1 << (exc - excIRQ0)
	} else {
		c.nvic.pendSys[bank] |= 1 << exc
	}
	c.attention()
}

func (c *Core) clearPend(exc uint32, bank int) {
	if exc >= excIRQ0 {
		c.nvic.pend &^= 1 << (exc - excIRQ0)
	} else {
		c.nvic.pendSys[bank] &^= 1 << exc
	}
}

func (c *Core) activate(exc uint32, bank int) {
	if exc >= excIRQ0 {
		c.nvic.act |= 1 << (exc - excIRQ0)
	} else {
		c.nvic.actSys[bank] |= 1 << exc
	}
}

func (c *Core) bankIndex(exc uint32, bank int) int {
	if banked(exc) {
		return bank
	}
	return 0
}

func (c *Core) isActive(exc uint32, bank int) bool {
	if exc >= excIRQ0 {
		return c.nvic.act>>(exc-excIRQ0)&1 != 0
	}
	return c.nvic.actSys[c.bankIndex(exc, bank)]>>exc&1 != 0
}

// deactivate ends an exception. A line that is still asserted pends again.
func (c *Core) deactivate(exc uint32, bank int) {
	if exc >= excIRQ0 {
		bit := uint64(1) << (exc - excIRQ0)
		c.nvic.act &^= bit
		c.nvic.pend |= bit & c.nvic.level
	} else {
		c.nvic.actSys[c.bankIndex(exc, bank)] &^= 1 << exc
	}
	c.attention()
}

func (n *nvic) noneActive() bool { return n.act|uint64(n.actSys[0]|n.actSys[1]) == 0 }

// takeInterrupt takes the most urgent pending exception if its priority allows.
func (c *Core) takeInterrupt() bool {
	if c.nvic.pend&c.nvic.en == 0 && c.nvic.pendSys[0]|c.nvic.pendSys[1] == 0 {
		return false
	}
	exc, bank, p := c.pending()
	if p > 256 || p >= c.executionPriority() {
		return false
	}
	if c.dbg.maskInts && exc != excNMI {
		return false
	}
	if c.vectorCatch(exc, bank, nil) {
		return false
	}
	c.enter(exc, bank, nil)
	return true
}

// wakesWFI reports whether something pending ends a WFI: it would preempt if
// PRIMASK were clear.
func (c *Core) wakesWFI() bool {
	exc, _, p := c.pending()
	if exc == 0 || p > 256 {
		return false
	}
	saved := c.primask
	c.primask = [2]bool{}
	e := c.executionPriority()
	c.primask = saved
	return p < e
}
