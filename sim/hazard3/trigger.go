package hazard3

// numTriggers is the number of instruction address triggers (datasheet 3.8.8).
const numTriggers = 4

// Bits of tdata1, type mcontrol.
const (
	mcontrolExecute uint32 = 1 << 2
	mcontrolU       uint32 = 1 << 3
	mcontrolM       uint32 = 1 << 6
	mcontrolAction  uint32 = 1 << 12
	mcontrolDmode   uint32 = 1 << 27
	mcontrolType    uint32 = 2 << 28
)

// triggers is the trigger module (hazard3_triggers.v).
type triggers struct {
	sel       uint32
	tdata1    [numTriggers]uint32 // without the type
	tdata2    [numTriggers]uint32
	mte, mpte bool
}

func (c *Core) readTrigger(n uint16) uint32 {
	t := &c.trig
	switch n {
	case csrTselect:
		return t.sel
	case csrTdata1:
		return t.tdata1[t.sel] | mcontrolType
	case csrTdata2:
		return t.tdata2[t.sel]
	case csrTinfo:
		return 1 << 2
	}
	return boolTo(t.mpte)<<7 | boolTo(t.mte)<<3
}

func (c *Core) writeTrigger(n uint16, v uint32) {
	t := &c.trig
	debug := c.dbg.injecting || c.dbg.external
	switch n {
	case csrTselect:
		t.sel = v & (numTriggers - 1)
	case csrTcontrol:
		t.mpte, t.mte = v>>7&1 != 0, v>>3&1 != 0
	default:
		old := t.tdata1[t.sel]
		if old&mcontrolDmode != 0 && !debug {
			return
		}
		if n == csrTdata2 {
			t.tdata2[t.sel] = v
			break
		}
		mask := mcontrolAction | mcontrolM | mcontrolU | mcontrolExecute
		if debug {
			mask |= mcontrolDmode
		}
		t.tdata1[t.sel] = old&^mask | v&mask
	}
	c.updateChecks()
}

// active reports whether any trigger can fire.
func (t *triggers) active() bool {
	for _, d := range t.tdata1 {
		if d&mcontrolExecute != 0 && d&(mcontrolM|mcontrolU) != 0 {
			return true
		}
	}
	return false
}

// hit looks for a trigger on the instruction at pc: whether it breaks, and
// whether to Debug mode.
func (t *triggers) hit(pc uint32, priv uint32) (breaks, toDebug bool) {
	mode := mcontrolM
	if priv == 0 {
		mode = mcontrolU
	}
	for i, d := range t.tdata1 {
		if d&mcontrolExecute == 0 || d&mode == 0 || t.tdata2[i] != pc {
			continue
		}
		if d&mcontrolAction == 0 {
			breaks = breaks || t.mte
		} else if d&mcontrolDmode != 0 {
			breaks, toDebug = true, true
		}
	}
	return breaks, toDebug
}
