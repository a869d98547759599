package cortexm33

// Bits of CONTROL.
const (
	ctlNPRIV = 1 << 0
	ctlSPSEL = 1 << 1
	ctlFPCA  = 1 << 2
	ctlSFPA  = 1 << 3
)

// flagN and its kin read the condition flags.
func (c *Core) flagN() bool { return c.nz>>31 != 0 }
func (c *Core) flagZ() bool { return uint32(c.nz) == 0 }
func (c *Core) flagC() bool { return c.fc != 0 }
func (c *Core) flagV() bool { return c.fv>>31 != 0 }

// setNZ sets N and Z from a result.
func (c *Core) setNZ(v uint32) { c.nz = uint64(v) }

// addFlags sets the flags of a+b+carry and returns the sum.
func (c *Core) addFlags(a, b, carry uint32) uint32 {
	s := uint64(a) + uint64(b) + uint64(carry)
	r := uint32(s)
	c.nz = uint64(r)
	c.fc = uint32(s >> 32)
	c.fv = (a ^ r) & (b ^ r)
	return r
}

// apsr returns N, Z, C, V, Q and GE in their places.
func (c *Core) apsr() uint32 {
	return b2u(c.flagN())<<31 | b2u(c.flagZ())<<30 | c.fc<<29 | c.fv>>31<<28 | b2u(c.qf)<<27 | c.ge<<16
}

// setNZCV sets the four condition flags from bits 31:28.
func (c *Core) setNZCV(v uint32) {
	switch v >> 30 {
	case 0:
		c.nz = 1
	case 1:
		c.nz = 0
	case 2:
		c.nz = 1 << 31
	default:
		c.nz = 1 << 32
	}
	c.fc = v >> 29 & 1
	c.fv = v << 3
}

// setAPSR sets all of APSR.
func (c *Core) setAPSR(v uint32) {
	c.setNZCV(v)
	c.qf = v>>27&1 != 0
	c.ge = v >> 16 & 15
}

// xpsr returns the program status register.
func (c *Core) xpsr() uint32 {
	return c.apsr() | c.ipsr | b2u(c.thumb)<<24 | uint32(c.it&3)<<25 | uint32(c.it>>2)<<10
}

// setXPSR sets the program status register, as a debugger or an exception
// return does.
func (c *Core) setXPSR(v uint32) {
	c.setAPSR(v)
	c.thumb = v>>24&1 != 0
	c.it = uint8(v>>25&3 | v>>10&0x3f<<2)
}

// condition tells whether cond holds.
func (c *Core) condition(cond uint8) bool {
	var r bool
	switch cond >> 1 {
	case 0:
		r = c.flagZ()
	case 1:
		r = c.flagC()
	case 2:
		r = c.flagN()
	case 3:
		r = c.flagV()
	case 4:
		r = c.flagC() && !c.flagZ()
	case 5:
		r = c.flagN() == c.flagV()
	case 6:
		r = c.flagN() == c.flagV() && !c.flagZ()
	default:
		return true
	}
	return r != (cond&1 != 0)
}

// privileged reports whether execution is privileged.
func (c *Core) privileged() bool {
	return c.ipsr != 0 || c.control[b2i(c.ns)]&ctlNPRIV == 0
}

// spIndex tells which stack pointer of state s is in use: 0 main, 1 process.
func (c *Core) spIndex(s int) int {
	if c.ipsr == 0 && c.control[s]&ctlSPSEL != 0 {
		return 1
	}
	return 0
}

// setSP sets the stack pointer in use.
func (c *Core) setSP(v uint32) { c.R[13] = v &^ 3 }

// saveSP stores R[13] into its bank, and loadSP fetches it. They frame every
// change of security state, mode or CONTROL.SPSEL.
func (c *Core) saveSP() {
	s := b2i(c.ns)
	c.sp[s][c.spIndex(s)] = c.R[13]
}

func (c *Core) loadSP() {
	s := b2i(c.ns)
	i := c.spIndex(s)
	c.R[13] = c.sp[s][i]
	c.useLimit()
}

// useLimit puts the limit of the stack pointer in use into force.
// CCR.STKOFHFNMIGN lifts it at a negative priority.
func (c *Core) useLimit() {
	s := b2i(c.ns)
	c.spLimit = c.splim[s][c.spIndex(s)]
	if c.scs.ccr[s]&ccrSTKOFHFNMIGN != 0 && c.negativePriority() {
		c.spLimit = 0
	}
}

// getSP and putSP access any banked stack pointer.
func (c *Core) getSP(s, i int) uint32 {
	if s == b2i(c.ns) && i == c.spIndex(s) {
		return c.R[13]
	}
	return c.sp[s][i]
}

func (c *Core) putSP(s, i int, v uint32) {
	c.sp[s][i] = v &^ 3
	if s == b2i(c.ns) && i == c.spIndex(s) {
		c.R[13] = v &^ 3
	}
}
