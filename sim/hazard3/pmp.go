package hazard3

// Permissions as checked; pmpcfg's bit order differs (erratum RP2350-E6).
const (
	pmpR = 1 << iota
	pmpW
	pmpX
)

// pmpState is the physical memory protection, with Hazard3's extension
// Xh3pmpm (hazard3_pmp.v).
type pmpState struct {
	cfg  [16]uint8 // as written: L 7, A 4:3, permissions 2:0
	addr [16]uint32
	m    uint32

	// What follows, kept by permissionsChanged: the regions as mask and match
	// (mask 0 with match 1 for an inactive one), and whether data accesses and
	// fetches have to be checked at all.
	mask, match             [16]uint32
	perm                    [16]uint8
	dataActive, fetchActive bool
}

const (
	pmpA     = 3 << 3
	pmpTOR   = 1 << 3
	pmpNA4   = 2 << 3
	pmpNAPOT = 3 << 3
	pmpL     = 1 << 7
)

// The hardwired regions of RP2350 (datasheet 3.8.8): U-mode may use ROM,
// peripherals and SIO.
var pmpHardAddr = [3]uint32{0x01ffffff, 0x13ffffff, 0x35ffffff}

const (
	pmpHardFirst = 8
	pmpHardCfg   = pmpNAPOT | 7
)

func (c *Core) pmpHard(i int) bool {
	return c.cfg.PMPHardwired && i >= pmpHardFirst && i < pmpHardFirst+len(pmpHardAddr)
}

// pmpLow are the address bits below the grain.
func (c *Core) pmpLow() uint32 {
	if c.cfg.PMPGrain > 1 {
		return 1<<(c.cfg.PMPGrain-1) - 1
	}
	return 0
}

func (c *Core) resetPMP() {
	c.pmp = pmpState{}
	for i := range c.cfg.PMPRegions {
		c.pmp.addr[i] = c.pmpLow()
		if c.pmpHard(i) {
			c.pmp.cfg[i] = pmpHardCfg
			c.pmp.addr[i] = pmpHardAddr[i-pmpHardFirst]
		}
	}
	c.pmpDecode()
}

func (c *Core) readPMP(n uint16) uint32 {
	p := &c.pmp
	if n < csrPmpaddr0 {
		i := int(n-csrPmpcfg0) * 4
		return uint32(p.cfg[i]) | uint32(p.cfg[i+1])<<8 | uint32(p.cfg[i+2])<<16 | uint32(p.cfg[i+3])<<24
	}
	i := int(n - csrPmpaddr0)
	v := p.addr[i]
	if p.cfg[i]&pmpA != 0 && !c.pmpHard(i) {
		v &^= c.pmpLow()
	}
	return v
}

func (c *Core) writePMP(n uint16, v uint32) {
	p := &c.pmp
	switch {
	case n == csrPmpcfgm0:
		p.m = v & (1<<uint(c.cfg.PMPRegions) - 1)
		for i := range c.cfg.PMPRegions {
			if c.pmpHard(i) {
				p.m &^= 1 << i
			}
		}
	case n < csrPmpaddr0:
		for k := range 4 {
			i := int(n-csrPmpcfg0)*4 + k
			if i >= c.cfg.PMPRegions || p.cfg[i]&pmpL != 0 {
				continue
			}
			if c.pmpHard(i) {
				p.addr[i] = pmpHardAddr[i-pmpHardFirst]
				continue
			}
			b := uint8(v>>(8*k)) & (pmpL | pmpA | 7)
			if a := b & pmpA; a == pmpTOR || a == pmpNA4 && c.cfg.PMPGrain > 0 {
				b &^= pmpA
			}
			p.cfg[i] = b
		}
	default:
		// The address of a hardwired region can be written, until the next
		// write of its pmpcfg restores it.
		i := int(n - csrPmpaddr0)
		if i < c.cfg.PMPRegions && p.cfg[i]&pmpL == 0 {
			p.addr[i] = v&0x3fffffff | c.pmpLow()
		}
	}
	c.pmpDecode()
	c.permissionsChanged()
}

// pmpDecode computes masks and permissions from the registers.
func (c *Core) pmpDecode() {
	p := &c.pmp
	for i := range p.cfg {
		p.mask[i], p.match[i] = 0, 1
		b := p.cfg[i]
		if b&pmpA == 0 {
			continue
		}
		p.mask[i] = 0xfffffffc
		if b&pmpA == pmpNAPOT {
			// All bits up to the lowest zero bit of the address are free.
			a := p.addr[i]
			p.mask[i] = ^((a^(a+1))<<2 | 3)
		}
		p.match[i] = p.addr[i] << 2 & p.mask[i]
		p.perm[i] = b & pmpW
		r, x := b&1 != 0, b&4 != 0
		if c.cfg.PMPSwapRX {
			r, x = x, r
		}
		if r {
			p.perm[i] |= pmpR
		}
		if x {
			p.perm[i] |= pmpX
		}
	}
}

// permissionsChanged is called after a change of privilege, mstatus.MPRV or
// MPP, or the PMP: it decides what must be checked.
func (c *Core) permissionsChanged() {
	p := &c.pmp
	ls := c.priv
	if c.csr.mstatus&mstatusMPRV != 0 {
		ls = c.csr.mstatus & mstatusMPP >> 11
	}
	if ls == 3 || c.dbg.injecting {
		ls = 3
		c.lsAccess = accessM
	} else {
		c.lsAccess = accessU
	}
	applies, used := false, false
	for i := range c.cfg.PMPRegions {
		if p.cfg[i]&pmpA != 0 {
			used = used || !c.pmpHard(i)
			applies = applies || p.cfg[i]&pmpL != 0 || p.m>>i&1 != 0
		}
	}
	none := c.cfg.PMPRegions == 0
	p.dataActive = !none && (ls == 0 || applies)
	// A fetch that straddles a boundary fails even in M-mode.
	p.fetchActive = !none && (c.priv == 0 || used)
	c.updateChecks()
}

// pmpAllows checks a data access at the effective privilege. Only the first
// byte counts: accesses are aligned.
func (c *Core) pmpAllows(addr uint32, need uint8) bool {
	p := &c.pmp
	user := c.lsAccess == accessU
	for i := range c.cfg.PMPRegions {
		if addr&p.mask[i] == p.match[i] {
			return p.perm[i]&need != 0 || !user && p.cfg[i]&pmpL == 0 && p.m>>i&1 == 0
		}
	}
	return !user
}

// pmpFetch checks the fetch of an instruction of size bytes at pc. The lowest
// region that matches any part decides, and a part is not enough.
func (c *Core) pmpFetch(pc uint32, size uint8) bool {
	p := &c.pmp
	for i := range c.cfg.PMPRegions {
		// The halfword behind a 16-bit instruction is looked at too: a region
		// that begins there decides, though it can be no partial match.
		lo := pc&p.mask[i] == p.match[i]
		hi := (pc+2)&p.mask[i] == p.match[i]
		if !lo && !hi {
			continue
		}
		if lo != hi && size == 4 {
			return false
		}
		return p.perm[i]&pmpX != 0 || c.priv == 3 && p.cfg[i]&pmpL == 0 && p.m>>i&1 == 0
	}
	return c.priv == 3
}
