package cortexm33

// attrExemptData: exempt for loads and stores, Non-secure for instruction
// fetch. Only RP2350's boot ROM has it.
const attrExemptData Attribution = 4

// RP2350IDAU is the fixed attribution of the RP2350 (datasheet 10.2.2).
func RP2350IDAU(addr uint32) Attribution {
	switch addr >> 28 {
	case 0:
		switch {
		case addr < 0x4300:
			return AttrExempt
		case addr < 0x7e00:
			return attrExemptData
		case addr < 0x8000:
			return AttrNSC
		}
		return AttrSecure
	case 1, 2:
		return AttrNonSecure
	case 4, 5, 0xd:
		return AttrExempt
	}
	return AttrSecure
}

// Bits of SAU_CTRL.
const (
	sauENABLE = 1 << 0
	sauALLNS  = 1 << 1
)

// sau is the security attribution unit.
type sau struct {
	ctrl, rnr uint32
	rbar      [16]uint32
	rlar      [16]uint32
	// active: it attributes anything at all as Non-secure.
	active bool
	// epoch counts changes of SAU and MPU settings.
	epoch uint64
}

func (s *sau) reset() { *s = sau{epoch: s.epoch + 1} }

// lookup returns the attribution that the unit gives addr.
func (s *sau) lookup(addr uint32) (ns, nsc bool) {
	if s.ctrl&sauENABLE == 0 {
		return s.ctrl&sauALLNS != 0, false
	}
	hits := 0
	for i := range s.rbar {
		if s.rlar[i]&1 != 0 && addr >= s.rbar[i]&^31 && addr <= s.rlar[i]|31 {
			hits++
			nsc = s.rlar[i]&2 != 0
			ns = !nsc
		}
	}
	if hits != 1 {
		return false, false // none, or overlapping: Secure
	}
	return ns, nsc
}

// region returns the only enabled region that holds addr.
func (s *sau) region(addr uint32) (n uint32, ok bool) {
	if s.ctrl&sauENABLE == 0 {
		return 0, false
	}
	for i := range s.rbar {
		if s.rlar[i]&1 != 0 && addr >= s.rbar[i]&^31 && addr <= s.rlar[i]|31 {
			if ok {
				return 0, false
			}
			n, ok = uint32(i), true
		}
	}
	return n, ok
}

func (s *sau) uniform(lo, hi uint32) bool {
	if s.ctrl&sauENABLE == 0 {
		return true
	}
	for i := range s.rbar {
		if s.rlar[i]&1 == 0 {
			continue
		}
		b, l := s.rbar[i]&^31, s.rlar[i]|31
		if b > lo && b <= hi || l >= lo && l < hi {
			return false
		}
	}
	return true
}

// read and write access the registers at 0xe000edd0 + off.
func (s *sau) read(c *Core, off uint32) uint32 {
	switch off {
	case 0x0:
		return s.ctrl
	case 0x4:
		return uint32(c.cfg.SAURegions)
	case 0x8:
		return s.rnr
	case 0xc:
		return s.rbar[s.rnr&15]
	case 0x10:
		return s.rlar[s.rnr&15]
	case 0x14:
		return c.scs.sfsr
	case 0x18:
		return c.scs.sfar
	}
	return 0
}

func (s *sau) write(c *Core, off, v uint32) {
	switch off {
	case 0x0:
		s.ctrl = v & 3
	case 0x8:
		s.rnr = v & uint32(c.cfg.SAURegions-1)
	case 0xc:
		s.rbar[s.rnr&15] = v &^ 31
	case 0x10:
		s.rlar[s.rnr&15] = v &^ 0x1c
	case 0x14:
		c.scs.sfsr &^= v
		return
	case 0x18:
		c.scs.sfar = v
		return
	}
	s.active = s.ctrl != 0
	s.epoch++
	c.regimeChanged()
	c.attention()
}

// SetSAU sets up region n for [base, limit] and enables the unit, as a boot ROM
// does. nsc makes it Secure, Non-secure callable.
func (c *Core) SetSAU(n int, base, limit uint32, nsc bool) {
	s := &c.sau
	s.rbar[n&15] = base &^ 31
	s.rlar[n&15] = limit&^31 | b2u(nsc)<<1 | 1
	s.ctrl, s.active = sauENABLE, true
	s.epoch++
	c.regimeChanged()
}
