package cortexm33

// Bits of MPU_CTRL.
const (
	mpuENABLE     = 1 << 0
	mpuHFNMIENA   = 1 << 1
	mpuPRIVDEFENA = 1 << 2
)

// mpu is one of the two memory protection units (Armv8-M PMSA).
type mpu struct {
	ctrl, rnr uint32
	rbar      [16]uint32
	rlar      [16]uint32
	mair      [2]uint32
	n         int
}

func (m *mpu) reset() { *m = mpu{n: m.n} }

// allows reports whether an access is permitted.
func (m *mpu) allows(c *Core, addr uint32, write, fetch, priv bool) bool {
	if m.ctrl&mpuENABLE == 0 || m.ctrl&mpuHFNMIENA == 0 && c.negativePriority() {
		return !fetch || !defaultXN(addr)
	}
	if fetch && defaultXN(addr) {
		return false
	}
	hit := -1
	for i := 0; i < c.cfg.MPURegions; i++ {
		if m.rlar[i]&1 != 0 && addr >= m.rbar[i]&^31 && addr <= m.rlar[i]|31 {
			if hit >= 0 {
				return false // overlapping regions fault (R_JLJJ)
			}
			hit = i
		}
	}
	if hit < 0 {
		return m.ctrl&mpuPRIVDEFENA != 0 && priv
	}
	ap := m.rbar[hit] >> 1 & 3
	if !priv && ap&1 == 0 || write && ap&2 != 0 {
		return false
	}
	return !fetch || m.rbar[hit]&1 == 0
}

// defaultXN reports whether the default memory map forbids execution.
func defaultXN(addr uint32) bool { return addr>>29 == 2 || addr>>29 >= 5 }

// region returns the only enabled region that holds addr.
func (m *mpu) region(c *Core, addr uint32) (n uint32, ok bool) {
	if m.ctrl&mpuENABLE == 0 {
		return 0, false
	}
	for i := 0; i < c.cfg.MPURegions; i++ {
		if m.rlar[i]&1 != 0 && addr >= m.rbar[i]&^31 && addr <= m.rlar[i]|31 {
			if ok {
				return 0, false
			}
			n, ok = uint32(i), true
		}
	}
	return n, ok
}

// uniform reports whether no region begins or ends inside [lo, hi].
func (m *mpu) uniform(lo, hi uint32) bool {
	if m.ctrl&mpuENABLE == 0 {
		return true
	}
	for i := range m.rbar {
		if m.rlar[i]&1 == 0 {
			continue
		}
		b, l := m.rbar[i]&^31, m.rlar[i]|31
		if b > lo && b <= hi || l >= lo && l < hi {
			return false
		}
	}
	return true
}

// read and write access the registers at 0xe000ed90 + off.
func (m *mpu) read(c *Core, off uint32) uint32 {
	switch off {
	case 0x0:
		return uint32(c.cfg.MPURegions) << 8
	case 0x4:
		return m.ctrl
	case 0x8:
		return m.rnr
	case 0xc, 0x14, 0x1c, 0x24:
		return m.rbar[m.alias(off)]
	case 0x10, 0x18, 0x20, 0x28:
		return m.rlar[m.alias(off)]
	case 0x30, 0x34:
		return m.mair[off>>2&1]
	}
	return 0
}

// alias is the region that RBAR, RLAR and their aliases at off mean.
func (m *mpu) alias(off uint32) uint32 {
	k := (off - 0xc) / 8
	if k == 0 {
		return m.rnr & 15
	}
	return m.rnr&12 + k
}

func (m *mpu) write(c *Core, off, v uint32) {
	switch off {
	case 0x4:
		m.ctrl = v & 7
	case 0x8:
		m.rnr = v & uint32(c.cfg.MPURegions-1)
	case 0xc, 0x14, 0x1c, 0x24:
		m.rbar[m.alias(off)] = v
	case 0x10, 0x18, 0x20, 0x28:
		m.rlar[m.alias(off)] = v &^ 0x10
	case 0x30, 0x34:
		m.mair[off>>2&1] = v
	}
	c.sau.epoch++
	c.regimeChanged()
	c.attention()
}
