package cortexm33

// fpb is the breakpoint unit, version 2: comparators that match the address of
// an instruction.
type fpb struct {
	enabled bool
	comp    [16]uint32
}

func (f *fpb) read(c *Core, off uint32) uint32 {
	n := uint32(c.cfg.Breakpoints)
	switch {
	case off == 0:
		return 0x10000000 | n>>4<<12 | n&15<<4 | b2u(f.enabled)
	case off >= 8 && off < 8+4*n:
		return f.comp[(off-8)/4]
	}
	return component(off, 9, 0xd21, 0x47701a03)
}

func (f *fpb) write(c *Core, off, v uint32) {
	n := uint32(c.cfg.Breakpoints)
	switch {
	case off == 0:
		if v&2 == 0 {
			return
		}
		f.enabled = v&1 != 0
	case off >= 8 && off < 8+4*n:
		f.comp[(off-8)/4] = v
	default:
		return
	}
	c.pointsChanged()
}

// hit reports whether a comparator matches pc.
func (f *fpb) hit(pc uint32) bool {
	if !f.enabled {
		return false
	}
	for _, v := range f.comp {
		if v&1 != 0 && v&^1 == pc {
			return true
		}
	}
	return false
}
