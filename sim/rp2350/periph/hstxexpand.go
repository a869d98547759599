package periph

import "math/bits"

// hstxExpander is the command expander (datasheet 12.11.5): it turns commands
// and data from the FIFO into words for the shift register.
type hstxExpander struct {
	active  bool
	op      uint32
	left    uint32 // words to go
	endless bool
	fresh   bool   // nothing was popped for this command yet
	reg     uint32 // the expansion shift register
	shifts  uint32 // until it is refilled
	// disparity is the running disparity of the three TMDS lanes.
	disparity [3]int
}

// next makes one word; ok is false if the FIFO has not got what it takes.
func (e *hstxExpander) next(fifo *ring, shift, tmds uint32) (v uint32, ok bool) {
	for !e.active {
		c, ok := fifo.pop()
		if !ok {
			return 0, false
		}
		e.op, e.left = c>>12&15, c&0xfff
		if e.op == hstxNop {
			continue
		}
		e.endless = e.left == 0
		e.active, e.fresh = true, true
		if e.op == hstxRaw || e.op == hstxRawRepeat {
			e.disparity = [3]int{}
		}
	}
	if e.op != hstxRaw && e.op != hstxRawRepeat {
		shift >>= 16 // the fields for encoded commands
	}
	repeat := e.op == hstxRawRepeat || e.op == hstxTMDSRepeat
	if e.fresh || !repeat && e.shifts == 0 {
		if e.reg, ok = fifo.pop(); !ok {
			return 0, false
		}
		e.fresh, e.shifts = false, field32(shift>>8)
	}
	v = e.reg
	if e.op == hstxTMDSData || e.op == hstxTMDSRepeat {
		v = e.encode(v, tmds)
	}
	e.reg = bits.RotateLeft32(e.reg, -int(shift&31))
	e.shifts--
	if !e.endless {
		if e.left--; e.left == 0 {
			e.active = false
		}
	}
	return v, true
}

// encode makes three TMDS symbols of the fields that EXPAND_TMDS selects.
func (e *hstxExpander) encode(v, tmds uint32) uint32 {
	var out uint32
	for lane := range 3 {
		c := tmds >> (8 * lane)
		b := bits.RotateLeft32(v, -int(c&31)) & 0xff
		b &= 0xff << (7 - c>>5&7)
		out |= tmdsSymbol(uint8(b), &e.disparity[lane]) << (10 * lane)
	}
	return out
}

// tmdsSymbol encodes a byte and keeps the disparity (DVI 1.0, figure 3-5).
func tmdsSymbol(d uint8, disparity *int) uint32 {
	ones := bits.OnesCount8(d)
	xnor := ones > 4 || ones == 4 && d&1 == 0
	q := uint32(d & 1)
	for i := 1; i < 8; i++ {
		b := q>>(i-1)&1 ^ uint32(d>>i&1)
		if xnor {
			b ^= 1
		}
		q |= b << i
	}
	if !xnor {
		q |= 1 << 8
	}
	balance := 2*bits.OnesCount32(q&0xff) - 8 // ones minus zeros
	switch {
	case *disparity == 0 || balance == 0:
		if q>>8 == 0 {
			q = q&0x100 | ^q&0xff | 1<<9
			*disparity -= balance
		} else {
			*disparity += balance
		}
	case *disparity > 0 && balance > 0 || *disparity < 0 && balance < 0:
		*disparity += 2*int(q>>8&1) - balance
		q = q&0x100 | ^q&0xff | 1<<9
	default:
		*disparity += balance - 2*int(q>>8&1^1)
	}
	return q
}
