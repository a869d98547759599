package symbols

// Call frame instructions (DWARF 5, 7.24).
const (
	cfaAdvance        = 0x40 // high two bits
	cfaOffset         = 0x80
	cfaRestore        = 0xc0
	cfaNop            = 0x00
	cfaSetLoc         = 0x01
	cfaAdvance1       = 0x02
	cfaAdvance2       = 0x03
	cfaAdvance4       = 0x04
	cfaOffsetExt      = 0x05
	cfaRestoreExt     = 0x06
	cfaUndefined      = 0x07
	cfaSameValue      = 0x08
	cfaRegister       = 0x09
	cfaRemember       = 0x0a
	cfaRestoreState   = 0x0b
	cfaDefCfa         = 0x0c
	cfaDefCfaReg      = 0x0d
	cfaDefCfaOffset   = 0x0e
	cfaExpression     = 0x0f
	cfaRegExpression  = 0x10
	cfaOffsetExtSF    = 0x11
	cfaDefCfaSF       = 0x12
	cfaDefCfaOffsetSF = 0x13
	cfaValOffset      = 0x14
	cfaValOffsetSF    = 0x15
	cfaValExpression  = 0x16
	cfaGNUArgsSize    = 0x2e
)

type ruleKind uint8

const (
	ruleSame    ruleKind = iota // not changed by this frame
	ruleOffset                  // saved at CFA + n
	ruleValue                   // the value is CFA + n
	ruleReg                     // in register n
	ruleUnknown                 // lost, or described by an expression
)

type rule struct {
	kind ruleKind
	n    int64
}

// row says for one address where the frame is and where registers are.
type row struct {
	cfaReg    int
	cfaOffset int64
	cfaKnown  bool
	regs      map[int]rule
}

func (r row) clone() row {
	c := r
	c.regs = make(map[int]rule, len(r.regs))
	for k, v := range r.regs {
		c.regs[k] = v
	}
	return c
}

// rowAt runs the programs of e up to addr.
func (e *fde) rowAt(addr uint32) (row, bool) {
	m := cfaMachine{e: e, row: row{regs: map[int]rule{}}, loc: e.lo, addr: addr}
	if !m.run(e.initial, true) {
		return row{}, false
	}
	m.first = m.row.clone()
	if !m.run(e.program, false) {
		return row{}, false
	}
	return m.row, m.row.cfaKnown
}

type cfaMachine struct {
	e     *fde
	row   row
	first row
	stack []row
	loc   uint32
	addr  uint32
}

// run executes one program; it ends early when the location passes addr.
func (m *cfaMachine) run(p []byte, initial bool) bool {
	r := reader{p: p}
	for len(r.p) > 0 {
		op := r.u8()
		var step uint64
		low := int(op & 0x3f)
		switch op & 0xc0 {
		case cfaAdvance:
			step = uint64(low) * m.e.codeAlign
		case cfaOffset:
			m.row.regs[low] = rule{ruleOffset, int64(r.uleb()) * m.e.dataAlign}
		case cfaRestore:
			m.restore(low)
		default:
			var ok bool
			step, ok = m.extended(op, &r)
			if !ok {
				return false
			}
		}
		if r.bad {
			return false
		}
		if step != 0 && !initial {
			if step > uint64(m.addr-m.loc) {
				return true
			}
			m.loc += uint32(step)
		}
	}
	return true
}

func (m *cfaMachine) restore(reg int) {
	if old, ok := m.first.regs[reg]; ok {
		m.row.regs[reg] = old
	} else {
		delete(m.row.regs, reg)
	}
}

// extended executes an instruction without operands in its first byte.
func (m *cfaMachine) extended(op byte, r *reader) (step uint64, ok bool) {
	set := func(k ruleKind, f func() int64) {
		reg := int(r.uleb() & 0xffff)
		m.row.regs[reg] = rule{k, f()}
	}
	switch op {
	case cfaNop:
	case cfaSetLoc:
		loc := r.pointer(m.e.encoding)
		if loc < m.loc {
			return 0, false
		}
		return uint64(loc - m.loc), true
	case cfaAdvance1:
		return uint64(r.u8()) * m.e.codeAlign, true
	case cfaAdvance2:
		return uint64(r.u16()) * m.e.codeAlign, true
	case cfaAdvance4:
		return uint64(r.u32()) * m.e.codeAlign, true
	case cfaOffsetExt:
		set(ruleOffset, func() int64 { return int64(r.uleb()) * m.e.dataAlign })
	case cfaOffsetExtSF:
		set(ruleOffset, func() int64 { return r.sleb() * m.e.dataAlign })
	case cfaValOffset:
		set(ruleValue, func() int64 { return int64(r.uleb()) * m.e.dataAlign })
	case cfaValOffsetSF:
		set(ruleValue, func() int64 { return r.sleb() * m.e.dataAlign })
	case cfaRestoreExt:
		m.restore(int(r.uleb() & 0xffff))
	case cfaUndefined:
		set(ruleUnknown, func() int64 { return 0 })
	case cfaSameValue:
		set(ruleSame, func() int64 { return 0 })
	case cfaRegister:
		set(ruleReg, func() int64 { return int64(r.uleb() & 0xffff) })
	case cfaRemember:
		if len(m.stack) >= 64 {
			return 0, false
		}
		m.stack = append(m.stack, m.row.clone())
	case cfaRestoreState:
		if len(m.stack) == 0 {
			return 0, false
		}
		m.row = m.stack[len(m.stack)-1]
		m.stack = m.stack[:len(m.stack)-1]
	case cfaDefCfa:
		m.row.cfaReg, m.row.cfaOffset, m.row.cfaKnown = int(r.uleb()&0xffff), int64(r.uleb()), true
	case cfaDefCfaSF:
		m.row.cfaReg, m.row.cfaOffset, m.row.cfaKnown = int(r.uleb()&0xffff), r.sleb()*m.e.dataAlign, true
	case cfaDefCfaReg:
		m.row.cfaReg = int(r.uleb() & 0xffff)
	case cfaDefCfaOffset:
		m.row.cfaOffset = int64(r.uleb())
	case cfaDefCfaOffsetSF:
		m.row.cfaOffset = r.sleb() * m.e.dataAlign
	case cfaExpression:
		r.take(r.uleb())
		m.row.cfaKnown = false
	case cfaRegExpression, cfaValExpression:
		set(ruleUnknown, func() int64 { r.take(r.uleb()); return 0 })
	case cfaGNUArgsSize:
		r.uleb()
	default:
		return 0, false
	}
	return 0, true
}
