package cortexm33

// Bits of FPCCR.
const (
	fpccrLSPACT   = 1 << 0
	fpccrUSER     = 1 << 1
	fpccrS        = 1 << 2
	fpccrTHREAD   = 1 << 3
	fpccrTS       = 1 << 26
	fpccrCLRONRTS = 1 << 27
	fpccrCLRONRET = 1 << 28
	fpccrLSPENS   = 1 << 29
	fpccrLSPEN    = 1 << 30
	fpccrASPEN    = 1 << 31
	// fpccrBanked are the bits that each security state has for itself.
	fpccrBanked = fpccrLSPACT | fpccrUSER | fpccrTHREAD | 1<<5 | 1<<9 | 1<<10 | fpccrASPEN
	fpccrShared = fpccrS | fpccrTS | fpccrCLRONRTS | fpccrCLRONRET | fpccrLSPENS | fpccrLSPEN | 1<<4 | 1<<6 | 1<<7 | 1<<8

	fpscrMask = 0xf7c0009f
)

// fpContext is the floating-point context control: lazy stacking and defaults.
type fpContext struct {
	bank          [2]uint32 // banked part of FPCCR
	shared        uint32
	fpcar, fpdscr [2]uint32
}

func (f *fpContext) reset() {
	*f = fpContext{bank: [2]uint32{fpccrASPEN, fpccrASPEN}, shared: fpccrLSPEN | fpccrS}
}

// ts reports whether the whole register file is saved for Secure contexts.
func (f *fpContext) ts() bool { return f.shared&fpccrTS != 0 && f.shared&fpccrS != 0 }

func (f *fpContext) readFPCCR(c *Core, s int) uint32 {
	v := f.bank[s] | f.shared
	if s == 1 {
		v &^= fpccrTS | fpccrS | fpccrCLRONRTS | fpccrLSPENS | 1<<7
	}
	return v
}

func (f *fpContext) writeFPCCR(c *Core, s int, v uint32) {
	f.bank[s] = v & fpccrBanked
	w := uint32(fpccrShared)
	if s == 1 {
		w = 0
		if f.shared&fpccrLSPENS == 0 {
			w |= fpccrLSPEN
		}
		if f.shared&fpccrCLRONRTS == 0 {
			w |= fpccrCLRONRET
		}
	}
	f.shared = f.shared&^w | v&w
	c.fpChanged()
}

// fpAllowed reports whether CPACR, CPPWR and NSACR let state s use the FPU.
func (c *Core) fpAllowed(s int, priv bool) bool {
	if s == 1 && c.scs.nsacr>>10&1 == 0 {
		return false
	}
	switch c.scs.cpacr[s] >> 20 & 3 {
	case 3:
		return true
	case 1:
		return priv
	}
	return false
}

// fpChanged recomputes whether floating-point instructions may run without a
// check.
func (c *Core) fpChanged() {
	s := b2i(c.ns)
	f := &c.fp
	c.fpReady = c.fpAllowed(s, c.privileged()) &&
		(f.bank[0]|f.bank[1])&fpccrLSPACT == 0 &&
		f.shared&fpccrS != 0 == !c.ns &&
		(f.bank[s]&fpccrASPEN == 0 || c.control[0]&ctlFPCA != 0 && (c.ns || c.control[0]&ctlSFPA != 0))
}

// fpCheck prepares the FPU for an instruction: permission, lazy state
// preservation, a new context. It returns false with a fault.
func (c *Core) fpCheck() bool {
	if c.fpReady {
		return true
	}
	s := b2i(c.ns)
	if !c.fpAllowed(s, c.privileged()) {
		c.fault(fault{exc: excUsageFault, cfsr: cfsrNOCP, other: s == 1 && c.scs.nsacr>>10&1 == 0})
		return false
	}
	f := &c.fp
	for k := range f.bank {
		if f.bank[k]&fpccrLSPACT != 0 && !c.preserveFP(k) {
			return false
		}
	}
	if f.bank[s]&fpccrASPEN != 0 && (c.control[0]&ctlFPCA == 0 || !c.ns && c.control[0]&ctlSFPA == 0) {
		c.fpscr = f.fpdscr[s] & 0x07c00000
		c.control[0] |= ctlFPCA
		if !c.ns {
			c.control[0] |= ctlSFPA
		}
	}
	f.shared &^= fpccrS
	if !c.ns {
		f.shared |= fpccrS
	}
	c.fpChanged()
	return true
}

// preserveFP writes the context of state k to where FPCAR points.
func (c *Core) preserveFP(k int) bool {
	f := &c.fp
	a := access{now: c.Cycle, priv: f.bank[k]&fpccrUSER == 0, ns: k == 1, begun: true}
	if !c.saveFP(&a, f.fpcar[k]&^7) {
		c.why.other = c.ns != (k == 1)
		switch c.why.exc {
		case excMemManage:
			c.why.cfsr = cfsrMLSPERR
		case excBusFault:
			c.why.cfsr = cfsrLSPERR
		case excSecureFault:
			c.why.sfsr = sfsrLSPERR
		}
		return false
	}
	f.bank[k] &^= fpccrLSPACT
	return true
}

// saveFP writes s0 to s15, FPSCR and, for Secure contexts with TS, the rest.
func (c *Core) saveFP(a *access, addr uint32) bool {
	for i := uint32(0); i < 16; i++ {
		if !c.write(a, addr+4*i, 4, c.S[i]) {
			return false
		}
	}
	if !c.write(a, addr+0x40, 4, c.fpscr) || !c.write(a, addr+0x44, 4, 0) {
		return false
	}
	if c.fp.ts() {
		for i := uint32(16); i < 32; i++ {
			if !c.write(a, addr+8+4*i, 4, c.S[i]) {
				return false
			}
		}
		c.S = [32]uint32{}
		c.fpscr = 0
	}
	return true
}

// pushFP is the floating-point part of exception entry.
func (c *Core) pushFP(a *access, addr uint32, derived *fault) {
	s := b2i(c.ns)
	f := &c.fp
	if f.shared&fpccrLSPEN == 0 {
		if !c.saveFP(a, addr) {
			c.abort = abortNone
			*derived = stackFault(c.why, cfsrMSTKERR, cfsrSTKERR)
		}
		c.Cycle += 16
		return
	}
	f.fpcar[s] = addr
	f.bank[s] |= fpccrLSPACT
	f.bank[s] &^= fpccrUSER | fpccrTHREAD
	if c.ipsr == 0 {
		f.bank[s] |= fpccrTHREAD
		if !c.privileged() {
			f.bank[s] |= fpccrUSER
		}
	}
	f.shared &^= fpccrS
	if !c.ns {
		f.shared |= fpccrS
	}
}

// popFP is the floating-point part of exception return.
func (c *Core) popFP(a *access, addr uint32, toNS bool, d *fault, size *uint32) bool {
	s := b2i(toNS)
	f := &c.fp
	if c.fp.shared&fpccrTS != 0 && !toNS {
		*size = 0xa8
	}
	if f.bank[s]&fpccrLSPACT != 0 {
		f.bank[s] &^= fpccrLSPACT
		return true
	}
	if !c.fpAllowed(s, a.priv) {
		*d = fault{exc: excUsageFault, cfsr: cfsrNOCP}
		return false
	}
	for i := uint32(0); i < 16; i++ {
		c.S[i] = c.stackRead(a, addr+4*i, d)
	}
	c.fpscr = c.stackRead(a, addr+0x40, d) & fpscrMask
	if *size == 0xa8 {
		for i := uint32(16); i < 32; i++ {
			c.S[i] = c.stackRead(a, addr+8+4*i, d)
		}
	}
	c.Cycle += 16
	return d.exc == 0
}
