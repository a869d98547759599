package cortexm33

// Bits of SYST_CSR.
const (
	tickENABLE    = 1 << 0
	tickINT       = 1 << 1
	tickCLKSOURCE = 1 << 2
	tickCOUNTFLAG = 1 << 16
	tickMax       = 0xffffff
)

// sysTick is one of the two system timers. Its counter is worked out when
// somebody looks, from the value val that it had at time base.
type sysTick struct {
	csr, rvr, val uint32
	base          uint64 // in ticks of its clock
}

// tickFor returns the timer that state s sees.
func (c *Core) tickFor(s int) *sysTick { return &c.tick[s] }

// external reports whether the timer runs on the reference clock.
func (t *sysTick) external(c *Core) bool {
	return t.csr&tickCLKSOURCE == 0 && c.cfg.RefTicks != nil
}

func (t *sysTick) clock(c *Core, cycle uint64) uint64 {
	if t.external(c) {
		return c.cfg.RefTicks(cycle)
	}
	return cycle
}

// advance brings the counter to cycle and pends the exception for each wrap.
func (t *sysTick) advance(c *Core, s int, cycle uint64) {
	now := t.clock(c, cycle)
	if now <= t.base || t.csr&tickENABLE == 0 {
		t.base = max(t.base, now)
		return
	}
	e := now - t.base
	t.base = now
	if t.val == 0 {
		if t.rvr == 0 {
			return
		}
		t.val = t.rvr
		e--
	}
	if e < uint64(t.val) {
		t.val -= uint32(e)
		return
	}
	e -= uint64(t.val)
	t.val = 0
	if rem := e % (uint64(t.rvr) + 1); rem != 0 {
		t.val = t.rvr + 1 - uint32(rem)
	}
	t.csr |= tickCOUNTFLAG
	if t.csr&tickINT != 0 {
		c.pend(excSysTick, s)
		c.pendEvent()
	}
}

// next is the cycle at which the counter reaches zero; ok is false if it never
// does.
func (t *sysTick) next(c *Core) (cycle uint64, ok bool) {
	if t.csr&tickENABLE == 0 || t.val == 0 && t.rvr == 0 {
		return 0, false
	}
	n := t.base + uint64(t.val)
	if t.val == 0 {
		n = t.base + uint64(t.rvr) + 1
	}
	if t.external(c) {
		if c.cfg.RefCycle == nil {
			return 0, false
		}
		return c.cfg.RefCycle(n), true
	}
	return n, true
}

func (t *sysTick) read(c *Core, off uint32, peek bool) uint32 {
	switch off {
	case 0x10:
		v := t.csr
		if !peek {
			t.csr &^= tickCOUNTFLAG
		}
		if c.cfg.RefTicks == nil {
			v |= tickCLKSOURCE
		}
		return v
	case 0x14:
		return t.rvr
	case 0x18:
		return t.val
	case 0x1c:
		v := c.cfg.CalibS
		if t == &c.tick[1] {
			v = c.cfg.CalibNS
		}
		if c.cfg.RefTicks == nil {
			v |= 1 << 31 // NOREF
		}
		return v
	}
	return 0
}

func (t *sysTick) write(c *Core, off, v uint32) {
	switch off {
	case 0x10:
		old := t.external(c)
		t.csr = t.csr&tickCOUNTFLAG | v&7
		if t.external(c) != old {
			t.base = t.clock(c, c.Cycle)
		}
	case 0x14:
		t.rvr = v & tickMax
	case 0x18:
		t.val = 0
		t.csr &^= tickCOUNTFLAG
	}
	c.attention()
}

// nextTick is the cycle of the next SysTick event, or a far one.
func (c *Core) nextTick() uint64 {
	n := ^uint64(0)
	for s := range c.tick {
		if v, ok := c.tick[s].next(c); ok {
			n = min(n, v)
		}
	}
	return n
}
