package cortexm33

// A regime is everything that decides whether an access is allowed: security
// state, privilege, MPU and SAU settings. Blocks and TLB entries are valid for
// one regime. Regime 0 is Secure with SAU and MPU off, where all is allowed.

// regimeChanged recomputes c.regime after a change of any of its parts.
func (c *Core) regimeChanged() {
	if c.dbg.haltReq {
		c.attention() // it may be halted now
	}
	c.useLimit()
	s := b2i(c.ns)
	r := uint64(0)
	if c.ns || c.sau.active || c.cfg.IDAU != nil && c.sau.ctrl != 0 {
		r = 1 | uint64(s)<<1
	}
	if c.mpu[s].ctrl&mpuENABLE != 0 {
		r |= 1 | uint64(s)<<1 | 4
		if c.privileged() {
			r |= 8
		}
		if c.negativePriority() {
			r |= 16
		}
	}
	if r != 0 {
		r |= c.sau.epoch<<8 | uint64(c.hart)<<5
	}
	if r != c.regime {
		c.regime = r
		c.flushTLB()
	}
}

// attribute returns the security attribution of addr for data (fetch false) or
// instructions, seen from security state from: Non-secure or not, Non-secure
// callable, and exempt.
func (c *Core) attribute(addr uint32, fetch, from bool) (ns, nsc, exempt bool) {
	if addr>>20 == 0xe00 || fetch && addr>>29 == 7 {
		return from, false, true
	}
	id := AttrNonSecure
	if c.cfg.IDAU != nil {
		id = c.cfg.IDAU(addr)
		if id == AttrExempt || id == attrExemptData && !fetch {
			return from, false, true
		}
		if id == attrExemptData {
			id = AttrNonSecure
		}
	}
	ns, nsc = c.sau.lookup(addr)
	switch {
	case id == AttrSecure:
		return false, false, false
	case id == AttrNSC && ns:
		return false, true, false
	}
	return ns, nsc, false
}

// checkData checks a data access against SAU and MPU. It returns whether the
// access is Non-secure on the bus.
func (c *Core) checkData(addr uint32, write bool, a *access) (ns, ok bool) {
	if c.regime == 0 && a.ns == c.ns && a.priv == c.privileged() {
		return a.ns, true
	}
	ns, _, exempt := c.attribute(addr, false, a.ns)
	if !exempt && a.ns && !ns {
		c.fault(fault{exc: excSecureFault, sfsr: sfsrAUVIOL | sfsrSFARVALID, addr: addr})
		return false, false
	}
	if addr>>20 != 0xe00 && !c.mpu[b2i(a.ns)].allows(c, addr, write, false, a.priv) {
		c.fault(fault{exc: excMemManage, cfsr: cfsrDACCVIOL | cfsrMMARVALID, addr: addr})
		return false, false
	}
	return ns, true
}

// checkFetch checks that code in [lo, hi) may be executed.
func (c *Core) checkFetch(lo, hi uint32) bool {
	if c.regime == 0 {
		if lo>>29 == 2 || lo>>29 >= 5 {
			return c.executeNever()
		}
		return true
	}
	step := uint32(32)
	for p := lo; p < hi; p = (p + step) &^ (step - 1) {
		if !c.checkFetchAt(p) {
			return false
		}
	}
	return true
}

func (c *Core) executeNever() bool {
	c.fault(fault{exc: excMemManage, cfsr: cfsrIACCVIOL})
	return false
}

func (c *Core) checkFetchAt(p uint32) bool {
	ns, nsc, exempt := c.attribute(p, true, c.ns)
	if !exempt && ns != c.ns {
		if c.ns {
			// Non-secure code reaches Secure memory only through SG in NSC memory.
			if h, ok := c.peekHalf(p); nsc && ok && h == 0xe97f {
				if h2, ok := c.peekHalf(p + 2); ok && h2 == 0xe97f {
					return true
				}
			}
			c.fault(fault{exc: excSecureFault, sfsr: sfsrINVEP})
			return false
		}
		c.fault(fault{exc: excSecureFault, sfsr: sfsrINVTRAN})
		return false
	}
	if !c.mpu[b2i(c.ns)].allows(c, p, false, true, c.privileged()) {
		return c.executeNever()
	}
	return true
}

func (c *Core) peekHalf(addr uint32) (uint32, bool) {
	var b [2]byte
	if c.peekWindow(addr, b[:]) != 2 {
		return 0, false
	}
	return uint32(le.Uint16(b[:])), true
}

// uniform reports whether all addresses of a page share their permissions, so
// that one check serves them all. The caller has just checked one address.
func (c *Core) uniform(base uint32) bool {
	if c.regime == 0 {
		return true
	}
	last := base + pageSize - 1
	if c.cfg.IDAU != nil {
		id := c.cfg.IDAU(base)
		for p := base; p-base < pageSize; p += 256 {
			if c.cfg.IDAU(p) != id {
				return false
			}
		}
	}
	return c.sau.uniform(base, last) && c.mpu[0].uniform(base, last) && c.mpu[1].uniform(base, last)
}
