package hazard3

// CSR numbers (RISC-V privileged specification; Hazard3 hdl/hazard3_csr_addr.vh
// for those of its own).
const (
	csrMstatus       = 0x300
	csrMisa          = 0x301
	csrMie           = 0x304
	csrMtvec         = 0x305
	csrMcounteren    = 0x306
	csrMenvcfg       = 0x30a
	csrMstatush      = 0x310
	csrMenvcfgh      = 0x31a
	csrMcountinhibit = 0x320
	csrMhpmevent3    = 0x323
	csrMhpmevent31   = 0x33f
	csrMscratch      = 0x340
	csrMepc          = 0x341
	csrMcause        = 0x342
	csrMtval         = 0x343
	csrMip           = 0x344
	csrPmpcfg0       = 0x3a0
	csrPmpaddr0      = 0x3b0
	csrTselect       = 0x7a0
	csrTdata1        = 0x7a1
	csrTdata2        = 0x7a2
	csrTinfo         = 0x7a4
	csrTcontrol      = 0x7a5
	csrDcsr          = 0x7b0
	csrDpc           = 0x7b1
	csrMcycle        = 0xb00
	csrMinstret      = 0xb02
	csrMhpmcounter3  = 0xb03
	csrMhpmcounter31 = 0xb1f
	csrMcycleh       = 0xb80
	csrMinstreth     = 0xb82
	csrMhpm3h        = 0xb83
	csrMhpm31h       = 0xb9f
	csrPmpcfgm0      = 0xbd0
	csrMeiea         = 0xbe0
	csrMeipa         = 0xbe1
	csrMeifa         = 0xbe2
	csrMeipra        = 0xbe3
	csrMeinext       = 0xbe4
	csrMeicontext    = 0xbe5
	csrMsleep        = 0xbf0
	csrDmdata0       = 0xbff
	csrCycle         = 0xc00
	csrInstret       = 0xc02
	csrCycleh        = 0xc80
	csrInstreth      = 0xc82
	csrMvendorid     = 0xf11
	csrMarchid       = 0xf12
	csrMimpid        = 0xf13
	csrMhartid       = 0xf14
	csrMconfigptr    = 0xf15
)

// Bits of mstatus.
const (
	mstatusMIE  uint32 = 1 << 3
	mstatusMPIE uint32 = 1 << 7
	mstatusMPP  uint32 = 3 << 11
	mstatusMPRV uint32 = 1 << 17
	mstatusTW   uint32 = 1 << 21
)

// Bits of mcountinhibit and mcounteren.
const (
	counterCY uint32 = 1 << 0
	counterTM uint32 = 1 << 1
	counterIR uint32 = 1 << 2
)

// csrs are the registers that are plain storage.
type csrs struct {
	mstatus, mie, mtvec, mscratch, mepc, mcause uint32
	mcounteren, mcountinhibit, msleep           uint32
	// A counter that runs is kept as its difference to Cycle or instret, one
	// that is inhibited as its value.
	mcycle, minstret uint64
}

func (c *Core) resetCSRs() {
	c.csr = csrs{
		mstatus:       mstatusMPP,
		mtvec:         c.cfg.ResetMtvec &^ 2,
		mcountinhibit: counterCY | counterIR,
	}
}

// mcycle and minstret as an instruction at the present cycle reads them.
func (c *Core) mcycle() uint64 {
	if c.csr.mcountinhibit&counterCY != 0 {
		return c.csr.mcycle
	}
	return c.csr.mcycle + c.Cycle
}

func (c *Core) minstret() uint64 {
	if c.csr.mcountinhibit&counterIR != 0 {
		return c.csr.minstret
	}
	return c.csr.minstret + c.Instret()
}

// setMcycle and setMinstret make the next instruction read v: a write wins over
// the increment of its own cycle and its own retirement.
func (c *Core) setMcycle(v uint64) {
	if c.csr.mcountinhibit&counterCY == 0 {
		v -= c.Cycle + c.own()
	}
	c.csr.mcycle = v
}

func (c *Core) setMinstret(v uint64) {
	if c.csr.mcountinhibit&counterIR == 0 {
		v -= c.Instret() + c.own()
	}
	c.csr.minstret = v
}

// own is the cycle and the retirement of the CSR instruction itself, which
// Cycle and instret do not hold yet: 0 for accesses by a debugger.
func (c *Core) own() uint64 {
	if c.dbg.injecting || c.dbg.external {
		return 0
	}
	return 1
}

// setCountInhibit starts and stops the counters; the instruction that does so
// still counts as before.
func (c *Core) setCountInhibit(v uint32) {
	cycle, instret := c.mcycle(), c.minstret()
	old := c.csr.mcountinhibit
	if old&counterCY == 0 {
		cycle += c.own()
	}
	if old&counterIR == 0 {
		instret += c.own()
	}
	c.csr.mcountinhibit = v & (counterCY | counterIR)
	c.setMcycle(cycle)
	c.setMinstret(instret)
}

// execCSR executes a CSR instruction; a is the value of rs1.
func (c *Core) execCSR(in *inst, a uint32) int {
	n := uint16(in.imm & 0xfff)
	typ := in.imm & csrType
	operand := a
	if in.imm&csrImm != 0 {
		operand = uint32(in.rs1)
	}
	ren := typ != csrWrite || in.rd != 0
	wen := typ == csrWrite || in.rs1 != 0
	old, ok := c.readCSR(n, operand, typ, wen)
	if !ok {
		return c.illegal()
	}
	if wen {
		v := operand
		switch typ {
		case csrSet:
			v = old | operand
		case csrClear:
			v = old &^ operand
		}
		c.writeCSR(n, operand, v, typ)
		c.lock.activity++
	}
	if ren && n == csrMeinext {
		c.sampleNext()
	}
	c.X[in.rd&31] = old
	c.X[0] = 0
	c.retire(in, 1)
	if n >= csrMeiea && n <= csrMeicontext {
		c.irq.update()
	}
	c.updateIRQ()
	return running
}

// readCSR returns the value of a CSR as an instruction reads it, or false if
// the access is illegal. wen says whether the instruction writes too.
func (c *Core) readCSR(n uint16, operand, typ uint32, wen bool) (uint32, bool) {
	debug := c.dbg.injecting || c.dbg.external
	machine := c.priv == 3 || debug
	switch n {
	case csrCycle, csrCycleh:
		if wen || !machine && c.csr.mcounteren&counterCY == 0 {
			return 0, false
		}
		return half(c.mcycle(), n == csrCycleh), true
	case csrInstret, csrInstreth:
		if wen || !machine && c.csr.mcounteren&counterIR == 0 {
			return 0, false
		}
		return half(c.minstret(), n == csrInstreth), true
	}
	if !machine {
		return 0, false
	}
	switch n {
	case csrMstatus:
		return c.csr.mstatus, true
	case csrMisa:
		return c.cfg.Misa, true
	case csrMie:
		return c.csr.mie, true
	case csrMtvec:
		return c.csr.mtvec, true
	case csrMcounteren:
		return c.csr.mcounteren, true
	case csrMenvcfg, csrMstatush, csrMenvcfgh, csrMtval:
		return 0, true
	case csrMcountinhibit:
		return c.csr.mcountinhibit, true
	case csrMscratch:
		return c.csr.mscratch, true
	case csrMepc:
		return c.csr.mepc, true
	case csrMcause:
		return c.csr.mcause, true
	case csrMip:
		return c.mip(), true
	case csrTselect, csrTdata1, csrTdata2, csrTinfo, csrTcontrol:
		return c.readTrigger(n), true
	case csrDcsr, csrDpc, csrDmdata0:
		return c.readDebugCSR(n), debug
	case csrMcycle, csrMcycleh:
		return half(c.mcycle(), n == csrMcycleh), true
	case csrMinstret, csrMinstreth:
		return half(c.minstret(), n == csrMinstreth), true
	case csrPmpcfgm0:
		return c.pmp.m, true
	case csrMeiea, csrMeipa, csrMeifa, csrMeipra, csrMeinext, csrMeicontext:
		return c.readIRQ(n, operand, typ, wen), true
	case csrMsleep:
		return c.csr.msleep, true
	}
	switch {
	case n >= csrMhpmevent3 && n <= csrMhpmevent31,
		n >= csrMhpmcounter3 && n <= csrMhpmcounter31,
		n >= csrMhpm3h && n <= csrMhpm31h:
		return 0, true
	case n >= csrPmpcfg0 && n < csrPmpcfg0+4, n >= csrPmpaddr0 && n < csrPmpaddr0+16:
		return c.readPMP(n), true
	case n >= csrMvendorid && n <= csrMconfigptr:
		if wen {
			return 0, false
		}
		return c.idCSR(n), true
	}
	return 0, false
}

func (c *Core) idCSR(n uint16) uint32 {
	switch n {
	case csrMvendorid:
		return c.cfg.Mvendorid
	case csrMarchid:
		return 27
	case csrMimpid:
		return c.cfg.Mimpid
	case csrMhartid:
		return uint32(c.hart)
	}
	return c.cfg.Mconfigptr
}

func half(v uint64, high bool) uint32 {
	if high {
		return uint32(v >> 32)
	}
	return uint32(v)
}

// withHalf replaces one half of old.
func withHalf(old uint64, v uint32, high bool) uint64 {
	if high {
		return old&0xffffffff | uint64(v)<<32
	}
	return old&^0xffffffff | uint64(v)
}

// counting adds to a counter what it counts in the cycle of the write that
// changes its other half.
func counting(v uint64, inhibited bool, own uint64) uint64 {
	if inhibited {
		return v
	}
	return v + own
}

// writeCSR stores v, the result of the read-modify-write, in a CSR that readCSR
// let through. operand is the raw write operand.
func (c *Core) writeCSR(n uint16, operand, v, typ uint32) {
	switch n {
	case csrMstatus:
		s := v & (mstatusMIE | mstatusMPIE | mstatusMPRV | mstatusTW)
		if v&(1<<12) != 0 {
			s |= mstatusMPP
		}
		c.csr.mstatus = s
		c.permissionsChanged()
	case csrMie:
		c.csr.mie = v & 0x888
	case csrMtvec:
		c.csr.mtvec = v &^ 2
	case csrMcounteren:
		c.csr.mcounteren = v & (counterCY | counterTM | counterIR)
	case csrMcountinhibit:
		c.setCountInhibit(v)
	case csrMscratch:
		c.csr.mscratch = v
	case csrMepc:
		c.csr.mepc = v &^ 1
	case csrMcause:
		c.csr.mcause = v & (1<<31 | 15)
	case csrTselect, csrTdata1, csrTdata2, csrTcontrol:
		c.writeTrigger(n, v)
	case csrDcsr, csrDpc, csrDmdata0:
		c.writeDebugCSR(n, v)
	case csrMcycle, csrMcycleh:
		now := counting(c.mcycle(), c.csr.mcountinhibit&counterCY != 0, c.own())
		c.setMcycle(withHalf(now, v, n == csrMcycleh))
	case csrMinstret, csrMinstreth:
		now := counting(c.minstret(), c.csr.mcountinhibit&counterIR != 0, c.own())
		c.setMinstret(withHalf(now, v, n == csrMinstreth))
	case csrPmpcfgm0:
		c.writePMP(n, v)
	case csrMeiea, csrMeipa, csrMeifa, csrMeipra, csrMeinext, csrMeicontext:
		c.writeIRQ(n, operand, v, typ)
	case csrMsleep:
		c.csr.msleep = v & 7
	default:
		if n >= csrPmpcfg0 && n < csrPmpaddr0+16 {
			c.writePMP(n, v)
		}
	}
}

// CSR reads a control register as a debugger does; ok is false if there is no
// such register. It has no side effects.
func (c *Core) CSR(n uint16) (v uint32, ok bool) {
	c.dbg.external = true
	v, ok = c.readCSR(n, 0, csrSet, false)
	c.dbg.external = false
	return v, ok
}

// SetCSR writes a control register as a debugger does; ok is false if it does
// not exist or cannot be written.
func (c *Core) SetCSR(n uint16, v uint32) (ok bool) {
	c.dbg.external = true
	if _, ok = c.readCSR(n, v, csrWrite, true); ok {
		c.writeCSR(n, v, v, csrWrite)
		c.irq.update()
		c.updateIRQ()
	}
	c.dbg.external = false
	return ok
}
