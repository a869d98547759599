package hazard3

// Bits of dcsr (RISC-V debug specification 0.13.2; hazard3_csr.v).
const (
	dcsrPrv      uint32 = 3
	dcsrStep     uint32 = 1 << 2
	dcsrStopTime uint32 = 1 << 9
	dcsrStopCnt  uint32 = 1 << 10
	dcsrEbreakU  uint32 = 1 << 12
	dcsrEbreakM  uint32 = 1 << 15
	dcsrVersion  uint32 = 4 << 28
)

// Causes of Debug mode, as dcsr.cause has them.
const (
	debugEbreak  uint32 = 1
	debugTrigger uint32 = 2
	debugHalt    uint32 = 3
	debugStep    uint32 = 4
)

func (c *Core) resetDebug() {
	mode, points, breaks, watching := c.dbg.mode, c.dbg.points, c.dbg.breaks, c.dbg.watching
	c.dbg = debugState{mode: mode, points: points, breaks: breaks, watching: watching}
}

func (c *Core) readDebugCSR(n uint16) uint32 {
	switch n {
	case csrDcsr:
		return dcsrVersion | dcsrStopCnt | dcsrStopTime |
			c.dbg.dcsr&(dcsrEbreakM|dcsrEbreakU|7<<6|dcsrStep) | c.priv&dcsrPrv
	case csrDpc:
		return c.pc
	}
	return c.dbg.data0
}

func (c *Core) writeDebugCSR(n uint16, v uint32) {
	switch n {
	case csrDcsr:
		c.dbg.dcsr = c.dbg.dcsr&(7<<6) | v&(dcsrEbreakM|dcsrEbreakU|dcsrStep)
		c.dbg.step = v & dcsrStep
		c.priv = 0
		if v&2 != 0 {
			c.priv = 3
		}
		c.permissionsChanged()
	case csrDpc:
		// What the instruction itself adds to pc is taken off again by Inject.
		c.SetPC(v)
	default:
		c.dbg.data0 = v
	}
}

// Data0 is dmdata0: the Debug Module's data0, which injected instructions see
// as a CSR.
func (c *Core) Data0() uint32 { return c.dbg.data0 }

// SetData0 sets it.
func (c *Core) SetData0(v uint32) { c.dbg.data0 = v }

// Injected is how an instruction of the Debug Module ended.
type Injected uint8

const (
	// InjectedOK: it was executed.
	InjectedOK Injected = iota
	// InjectedEbreak: it was an ebreak, the end of a program buffer.
	InjectedEbreak
	// InjectedException: it raised an exception. Nothing else changed.
	InjectedException
	// InjectedWait: an access must wait until the other cores catch up; try
	// again.
	InjectedWait
)

// Inject executes one instruction of the Debug Module while the core is in
// Debug mode: with the rights of M-mode, without traps, counters standing
// still. Branches, jumps and auipc are illegal there (Hazard3's instruction
// injection has no pc of its own).
func (c *Core) Inject(raw uint32) Injected {
	in := decode(raw, c.cfg.Zbc)
	switch in.op {
	case opEbreak:
		return InjectedEbreak
	case opIllegal, opBeq, opBne, opBlt, opBge, opBltu, opBgeu, opJal, opJalr, opAuipc,
		opPopret, opPopretz, opMret, opEcall:
		return InjectedException
	case opWfi, opBlock:
		return InjectedOK
	case opFenceI:
		if !c.cfg.FenceIInDebug {
			return InjectedException
		}
		c.btb = noBranch
		return InjectedOK
	}
	// dcsr, dpc and the registers may change; the clock and the counters stand.
	cycle, instret := c.Cycle, c.instret
	c.dbg.injecting, c.dbg.exception = true, false
	c.permissionsChanged()
	st := c.exec(&in)
	c.dbg.injecting = false
	if st == running && !c.dbg.exception {
		c.pc -= uint32(in.size)
	}
	c.Cycle, c.instret = cycle, instret
	c.loading, c.excl = 0, false
	c.permissionsChanged()
	switch {
	case c.dbg.exception:
		return InjectedException
	case st == notReady:
		return InjectedWait
	}
	return InjectedOK
}
