package cortexm33

// DWT_FUNCTION.MATCH values (Armv8-M ARM, D1.2.56).
const (
	matchCycle     = 1
	matchInsn      = 2
	matchInsnLimit = 3
	matchData      = 4
	matchDataW     = 5
	matchDataR     = 6
	matchDataLimit = 7
)

// dwt is the data watchpoint and trace unit: the cycle counter and comparators
// for data and instruction addresses.
type dwt struct {
	ctrl uint32
	// off is added to the core's cycles to give CYCCNT while it counts; held is
	// its value while it does not.
	off, held uint32
	comp, fn  [4]uint32
}

func (d *dwt) reset() { *d = dwt{} }

// counting reports whether CYCCNT runs.
func (d *dwt) counting(c *Core) bool {
	return d.ctrl&1 != 0 && c.dbg.demcr&demcrTRCENA != 0
}

// cyccnt is the cycle counter.
func (d *dwt) cyccnt(c *Core) uint32 {
	if d.counting(c) {
		return uint32(c.Cycle) + d.off
	}
	return d.held
}

// change runs f, which may start or stop the counter, keeping its value.
func (d *dwt) change(c *Core, f func()) {
	v := d.cyccnt(c)
	f()
	d.setCyccnt(c, v)
}

func (d *dwt) setCyccnt(c *Core, v uint32) {
	d.off, d.held = v-uint32(c.Cycle), v
}

// n is the number of comparators.
func (d *dwt) n(c *Core) uint32 { return uint32(min(c.cfg.Watchpoints, len(d.comp))) }

func (d *dwt) read(c *Core, off uint32, peek bool) uint32 {
	switch {
	case off == 0:
		return d.n(c)<<28 | d.ctrl
	case off == 4:
		return d.cyccnt(c)
	case off == 0x1c: // PCSR: no sample while halted
		if c.dbg.halted {
			return 0xffffffff
		}
		return c.pc
	case off >= 0x20 && off < 0x20+16*d.n(c):
		i := (off - 0x20) / 16
		switch off & 15 {
		case 0:
			return d.comp[i]
		case 8:
			v := d.fn[i]
			if !peek {
				d.fn[i] &^= 1 << 24
			}
			return v | d.id(int(i))<<27
		}
		return 0
	}
	return component(off, 9, 0xd21, 0x47701a02)
}

// id is the capability field of a comparator: the first can match cycles, the
// odd ones can end a range.
func (d *dwt) id(i int) uint32 {
	switch {
	case i == 0:
		return 0b01011
	case i&1 != 0:
		return 0b11010
	}
	return 0b01010
}

func (d *dwt) write(c *Core, off, v uint32) {
	switch {
	case off == 0:
		d.change(c, func() { d.ctrl = v & 1 })
	case off == 4:
		d.setCyccnt(c, v)
	case off >= 0x20 && off < 0x20+16*d.n(c):
		i := (off - 0x20) / 16
		switch off & 15 {
		case 0:
			d.comp[i] = v
		case 8:
			d.fn[i] = v & 0xc3f
		}
		c.pointsChanged()
	}
}

// event reports whether comparator i may cause a debug event.
func (d *dwt) event(i int) bool { return d.fn[i]>>4&3 == 1 && d.fn[i]&15 != 0 }

// limited reports whether comparator i is the start of a range that i+1 ends.
func (d *dwt) limited(i int) bool {
	if i+1 >= len(d.fn) {
		return false
	}
	m := d.fn[i+1] & 15
	return m == matchDataLimit || m == matchInsnLimit
}

// insnHit reports whether an instruction address comparator matches pc.
func (d *dwt) insnHit(pc uint32) bool {
	for i := range d.fn {
		if d.event(i) && d.fn[i]&15 == matchInsn {
			hit := pc == d.comp[i]&^1
			if d.limited(i) {
				hit = pc >= d.comp[i] && pc <= d.comp[i+1]
			}
			if hit {
				d.fn[i] |= 1 << 24
				return true
			}
		}
	}
	return false
}

// dataHit reports whether a data comparator matches an access.
func (d *dwt) dataHit(addr, size uint32, write bool) bool {
	for i := range d.fn {
		m := d.fn[i] & 15
		if !d.event(i) || m < matchData || m > matchDataR || m == matchDataW && !write || m == matchDataR && write {
			continue
		}
		lo := d.comp[i]
		hi := lo + 1<<(d.fn[i]>>10&3) - 1
		if d.limited(i) {
			hi = d.comp[i+1]
		}
		if addr <= hi && addr+size-1 >= lo {
			d.fn[i] |= 1 << 24
			return true
		}
	}
	return false
}

// ranges calls f for each range of data addresses that is watched.
func (d *dwt) ranges(f func(lo, hi uint32)) {
	for i := range d.fn {
		if m := d.fn[i] & 15; d.event(i) && m >= matchData && m <= matchDataR {
			hi := d.comp[i] + 1<<(d.fn[i]>>10&3) - 1
			if d.limited(i) {
				hi = d.comp[i+1]
			}
			f(d.comp[i], hi)
		}
	}
}
