package cortexm33

import "math/bits"

// Bits of CCR, SCR and SHCSR.
const (
	ccrUSERSETMPEND = 1 << 1
	ccrUNALIGNTRP   = 1 << 3
	ccrDIV0TRP      = 1 << 4
	ccrBFHFNMIGN    = 1 << 8
	ccrSTKOFHFNMIGN = 1 << 10
	ccrWritable     = 0x51a
	ccrFixed        = 0x201

	scrSLEEPONEXIT = 1 << 1
	scrSLEEPDEEP   = 1 << 2
	scrSEVONPEND   = 1 << 4

	shcsrMEMFAULTENA    = 1 << 16
	shcsrBUSFAULTENA    = 1 << 17
	shcsrUSGFAULTENA    = 1 << 18
	shcsrSECUREFAULTENA = 1 << 19
)

// scs holds the registers of the system control block. Banked ones are indexed
// by security state.
type scs struct {
	vtor, scr, ccr, shcsr, cfsr, mmfar, cpacr, actlr [2]uint32

	prigroup    [2]uint32
	pris, bfns  bool
	resetReqS   bool
	bfsr, hfsr  uint32
	bfar        uint32
	sfsr, sfar  uint32
	dfsr, nsacr uint32
	cppwr       uint32
	sttns       bool
	csselr      uint32
}

func (s *scs) reset(c *Core) {
	dfsr := s.dfsr
	*s = scs{dfsr: dfsr}
	s.vtor = [2]uint32{c.cfg.InitVTOR &^ 0x7f, c.cfg.InitVTORNS &^ 0x7f}
	s.ccr = [2]uint32{ccrFixed, ccrFixed}
}

func (s *scs) bfhfnmins() bool { return s.bfns }

// shcsrLayout maps bits of SHCSR to the exceptions they show.
var shcsrLayout = []struct {
	bit  uint
	exc  uint32
	pend bool
}{
	{0, excMemManage, false}, {1, excBusFault, false}, {2, excHardFault, false}, {3, excUsageFault, false},
	{4, excSecureFault, false}, {5, excNMI, false}, {7, excSVC, false}, {8, excDebugMon, false},
	{10, excPendSV, false}, {11, excSysTick, false}, {12, excUsageFault, true}, {13, excMemManage, true},
	{14, excBusFault, true}, {15, excSVC, true}, {20, excSecureFault, true}, {21, excHardFault, true},
}

// visible reports whether SHCSR of state s may show exception exc.
func (c *Core) visible(exc uint32, s int) bool {
	switch exc {
	case excSecureFault:
		return s == 0
	case excBusFault, excNMI, excHardFault:
		return s == 0 || c.scs.bfns
	}
	return true
}

func (c *Core) readSHCSR(s int) uint32 {
	v := c.scs.shcsr[s]
	if s == 1 {
		v &^= shcsrSECUREFAULTENA | shcsrBUSFAULTENA
		if c.scs.bfns {
			v |= c.scs.shcsr[0] & shcsrBUSFAULTENA
		}
	}
	for _, l := range shcsrLayout {
		if !c.visible(l.exc, s) {
			continue
		}
		b := c.bankIndex(l.exc, s)
		m := c.nvic.actSys[b]
		if l.pend {
			m = c.nvic.pendSys[b]
		}
		v |= m >> l.exc & 1 << l.bit
	}
	return v
}

func (c *Core) writeSHCSR(s int, v uint32) {
	ena := uint32(shcsrMEMFAULTENA | shcsrUSGFAULTENA)
	if s == 0 {
		ena |= shcsrSECUREFAULTENA | shcsrBUSFAULTENA
	}
	c.scs.shcsr[s] = v & ena
	if s == 1 && c.scs.bfns {
		c.scs.shcsr[0] = c.scs.shcsr[0]&^shcsrBUSFAULTENA | v&shcsrBUSFAULTENA
	}
	for _, l := range shcsrLayout {
		if !c.visible(l.exc, s) || l.exc == excNMI && v>>l.bit&1 != 0 {
			continue
		}
		b := c.bankIndex(l.exc, s)
		m := &c.nvic.actSys[b]
		if l.pend {
			m = &c.nvic.pendSys[b]
		}
		*m = *m&^(1<<l.exc) | v>>l.bit&1<<l.exc
	}
	c.regimeChanged()
	c.attention()
}

func (c *Core) readICSR(s int) uint32 {
	v := c.ipsr
	act := c.nvic.act
	n := bits.OnesCount64(act) + bits.OnesCount32(c.nvic.actSys[0]) + bits.OnesCount32(c.nvic.actSys[1])
	if n <= 1 {
		v |= 1 << 11 // RETTOBASE
	}
	if e, b, p := c.pending(); p <= 256 && !(s == 1 && !c.targetNS(e, b)) {
		v |= e << 12
	} else if p <= 256 {
		v |= 1 << 12
	}
	if c.nvic.pend&c.irqMask() != 0 {
		v |= 1 << 22
	}
	v |= c.nvic.pendSys[s] >> excSysTick & 1 << 26
	v |= c.nvic.pendSys[s] >> excPendSV & 1 << 28
	if s == 0 || c.scs.bfns {
		v |= c.nvic.pendSys[0] >> excNMI & 1 << 31
	}
	if s == 0 {
		v |= b2u(c.scs.sttns) << 24
	}
	return v
}

func (c *Core) writeICSR(s int, v uint32) {
	set := func(bit uint, exc uint32, on bool) {
		if v>>bit&1 == 0 {
			return
		}
		if on {
			c.nvic.pendSys[s] |= 1 << exc
			c.pendEvent()
		} else {
			c.nvic.pendSys[s] &^= 1 << exc
		}
	}
	set(27, excPendSV, false)
	set(28, excPendSV, true)
	set(25, excSysTick, false)
	set(26, excSysTick, true)
	if s == 0 || c.scs.bfns {
		if v>>31 != 0 {
			c.nvic.pendSys[0] |= 1 << excNMI
		} else if v>>30&1 != 0 {
			c.nvic.pendSys[0] &^= 1 << excNMI
		}
	}
	if s == 0 {
		c.scs.sttns = v>>24&1 != 0
	}
	c.attention()
}

// pendEvent sets the event register for SCR.SEVONPEND.
func (c *Core) pendEvent() {
	if (c.scs.scr[0]|c.scs.scr[1])&scrSEVONPEND != 0 {
		c.event = true
	}
}

func (c *Core) readAIRCR(s int) uint32 {
	v := 0xfa050000 | c.scs.prigroup[s]<<8
	if s == 0 {
		v |= b2u(c.scs.pris)<<14 | b2u(c.scs.resetReqS)<<3
	}
	return v | b2u(c.scs.bfns)<<13
}

func (c *Core) writeAIRCR(s int, v uint32) {
	if v>>16 != 0x05fa {
		return
	}
	c.scs.prigroup[s] = v >> 8 & 7
	if s == 0 {
		c.scs.pris = v>>14&1 != 0
		c.scs.bfns = v>>13&1 != 0
		c.scs.resetReqS = v>>3&1 != 0
	}
	if v>>1&1 != 0 && c.dbg.halted { // VECTCLRACTIVE
		c.nvic.act, c.nvic.actSys = 0, [2]uint32{}
	}
	if v>>2&1 != 0 && (s == 0 || !c.scs.resetReqS) && c.OnResetRequest != nil {
		c.OnResetRequest()
	}
	c.regimeChanged()
	c.attention()
}

// priority bits that exist, in an 8-bit field.
func (c *Core) prioMask() uint8 { return uint8(0xff << (8 - c.cfg.PrioBits)) }

// shpr returns the bank and mask of the system handler priorities that state s
// may see.
func (c *Core) shprVisible(exc uint32, s int) bool {
	switch exc {
	case excMemManage, excUsageFault, excSVC, excPendSV, excSysTick:
		return true
	case excBusFault:
		return s == 0 || c.scs.bfns
	case excSecureFault:
		return s == 0
	case excDebugMon:
		return s == 0 || c.dbg.demcr&demcrSDME == 0
	}
	return false
}

func (c *Core) readSHPR(s int, off uint32) (v uint32) {
	for k := uint32(0); k < 4; k++ {
		exc := 4 + off + k
		if c.shprVisible(exc, s) {
			v |= uint32(c.nvic.prioSys[c.bankIndex(exc, s)][exc]) << (8 * k)
		}
	}
	return v
}

func (c *Core) writeSHPR(s int, off, v uint32) {
	for k := uint32(0); k < 4; k++ {
		exc := 4 + off + k
		if c.shprVisible(exc, s) {
			c.nvic.prioSys[c.bankIndex(exc, s)][exc] = uint8(v>>(8*k)) & c.prioMask()
		}
	}
	c.regimeChanged()
	c.attention()
}

func (c *Core) readCFSR(s int) uint32 {
	v := c.scs.cfsr[s]
	if s == 0 || c.scs.bfns {
		v |= c.scs.bfsr
	}
	return v
}

func (c *Core) writeCFSR(s int, v uint32) {
	c.scs.cfsr[s] &^= v
	if s == 0 || c.scs.bfns {
		c.scs.bfsr &^= v
	}
}
