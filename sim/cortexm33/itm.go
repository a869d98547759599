package cortexm33

// itm is the instrumentation trace macrocell: 32 stimulus ports whose writes
// reach Core.OnITM when enabled. The FIFO is never full.
type itm struct {
	ter, tpr, tcr uint32
}

func (t *itm) reset() { *t = itm{} }

// unprivileged reports whether unprivileged code may access addr: stimulus
// ports that TPR opens, and no other part of the PPB.
func (t *itm) unprivileged(addr uint32) bool {
	return addr < 0xe0000080 && addr>>20 == 0xe00 && t.tpr>>(addr>>5&3)&1 == 0
}

func (t *itm) stimulus(c *Core, port int, v uint32, size uint8) {
	if t.tcr&1 != 0 && t.ter>>port&1 != 0 && c.dbg.demcr&demcrTRCENA != 0 && c.OnITM != nil {
		c.OnITM(port, v, size)
	}
}

func (t *itm) read(off uint32) uint32 {
	switch {
	case off < 0x80:
		return 1 // FIFOREADY
	case off == 0xe00:
		return t.ter
	case off == 0xe40:
		return t.tpr
	case off == 0xe80:
		return t.tcr
	}
	return component(off, 9, 0xd21, 0x47701a01)
}

func (t *itm) write(c *Core, off, v uint32) {
	switch {
	case off < 0x80:
		t.stimulus(c, int(off/4), v, 4)
	case off == 0xe00:
		t.ter = v
	case off == 0xe40:
		t.tpr = v & 15
	case off == 0xe80:
		t.tcr = v & 0x7f0f1f
	}
}
