package rp2350

import "math/bits"

// interp is one interpolator (datasheet 3.1.10): two lanes that shift, mask and
// add, interp0 with blending, interp1 with clamping.
type interp struct {
	accum [2]uint32
	base  [3]uint32
	ctrl  [2]uint32
}

// Register offsets within an interpolator.
const (
	intAccum0   = 0x00
	intAccum1   = 0x04
	intBase0    = 0x08
	intBase2    = 0x10
	intPop0     = 0x14
	intPop1     = 0x18
	intPopFull  = 0x1c
	intPeek0    = 0x20
	intPeek1    = 0x24
	intPeekFull = 0x28
	intCtrl0    = 0x2c
	intCtrl1    = 0x30
	intAdd0     = 0x34
	intAdd1     = 0x38
	intBase1And = 0x3c
)

// Bits of CTRL_LANEn.
const (
	intSigned      = 1 << 15
	intCrossInput  = 1 << 16
	intCrossResult = 1 << 17
	intAddRaw      = 1 << 18
	intForceShift  = 19
	intBlend       = 1 << 21
	intClamp       = 1 << 22
	intOverf0      = 1 << 23
	intOverf1      = 1 << 24
	intOverf       = 1 << 25
)

// lane is what one lane makes of its input.
type laneValue struct {
	input  uint32 // the accumulator chosen
	masked uint32 // shifted, masked and sign-extended
	over   bool   // bits above the mask were lost
}

func (p *interp) lane(i int) laneValue {
	c := p.ctrl[i]
	in := p.accum[i]
	if c&intCrossInput != 0 {
		in = p.accum[i^1]
	}
	shift, lsb, msb := int(c&31), c>>5&31, c>>10&31
	// The shifter rotates; bits rotated in at the top count as overflow
	// (erratum RP2350-E1).
	x := bits.RotateLeft32(in, -shift)
	var mask uint32
	if msb >= lsb {
		mask = uint32(uint64(1)<<(msb+1)-1) &^ (1<<lsb - 1)
	}
	v := laneValue{input: in, masked: x & mask}
	v.over = x&^uint32(uint64(1)<<(msb+1)-1) != 0
	if c&intSigned != 0 && x&mask>>msb&1 != 0 {
		v.masked |= ^uint32(uint64(1)<<(msb+1) - 1)
	}
	return v
}

// results are PEEK_LANE0, PEEK_LANE1 and PEEK_FULL; force says whether
// FORCE_MSB is applied, which the core sees and write-back does not.
func (p *interp) results() (r [3]uint32) {
	l0, l1 := p.lane(0), p.lane(1)
	v0, v1 := l0.masked, l1.masked
	r[2] = v0 + v1 + p.base[2]
	if p.ctrl[0]&intAddRaw != 0 {
		v0 = l0.input
	}
	if p.ctrl[1]&intAddRaw != 0 {
		v1 = l1.input
	}
	r[0], r[1] = v0+p.base[0], v1+p.base[1]
	switch {
	case p.ctrl[0]&intBlend != 0:
		alpha := l1.masked & 0xff
		r[0] = alpha
		r[1] = p.blend(alpha)
		r[2] = l0.masked + p.base[2]
	case p.ctrl[0]&intClamp != 0:
		r[0] = p.clamp(l0.masked)
	}
	return r
}

func (p *interp) blend(alpha uint32) uint32 {
	if p.ctrl[1]&intSigned != 0 {
		d := int64(int32(p.base[1])) - int64(int32(p.base[0]))
		return p.base[0] + uint32(int64(alpha)*d>>8)
	}
	d := int64(p.base[1]) - int64(p.base[0])
	return p.base[0] + uint32(int64(alpha)*d>>8)
}

func (p *interp) clamp(v uint32) uint32 {
	if p.ctrl[0]&intSigned != 0 {
		return uint32(min(max(int32(v), int32(p.base[0])), int32(p.base[1])))
	}
	return min(max(v, p.base[0]), p.base[1])
}

// forced applies FORCE_MSB of a lane to what the core reads.
func (p *interp) forced(i int, v uint32) uint32 {
	return v | p.ctrl[i]>>intForceShift&3<<28
}

func (p *interp) read(off uint32, peek bool) uint32 {
	switch off {
	case intAccum0, intAccum1:
		return p.accum[off/4]
	case intBase0, intBase0 + 4, intBase2:
		return p.base[(off-intBase0)/4]
	case intPop0, intPop1, intPopFull:
		i := (off - intPop0) / 4
		r := p.results()
		if !peek {
			p.writeBack(r)
		}
		return p.out(int(i), r[i])
	case intPeek0, intPeek1, intPeekFull:
		i := (off - intPeek0) / 4
		return p.out(int(i), p.results()[i])
	case intCtrl0:
		v := p.ctrl[0]
		if p.lane(0).over {
			v |= intOverf0 | intOverf
		}
		if p.lane(1).over {
			v |= intOverf1 | intOverf
		}
		return v
	case intCtrl1:
		return p.ctrl[1]
	case intAdd0, intAdd1:
		return p.lane(int(off-intAdd0) / 4).masked
	}
	return 0
}

func (p *interp) out(i int, v uint32) uint32 {
	if i < 2 {
		return p.forced(i, v)
	}
	return v
}

// writeBack puts the lane results into the accumulators, as POP does.
func (p *interp) writeBack(r [3]uint32) {
	a := r
	if p.ctrl[0]&intBlend != 0 {
		// In blend mode the accumulators take the plain lane results.
		l0, l1 := p.lane(0), p.lane(1)
		a[0], a[1] = l0.masked+p.base[0], l1.masked+p.base[1]
	}
	for i := range 2 {
		if p.ctrl[i]&intCrossResult != 0 {
			p.accum[i] = a[i^1]
		} else {
			p.accum[i] = a[i]
		}
	}
}

func (p *interp) write(which int, off, v uint32) {
	switch off {
	case intAccum0, intAccum1:
		p.accum[off/4] = v
	case intBase0, intBase0 + 4, intBase2:
		p.base[(off-intBase0)/4] = v
	case intCtrl0:
		mode := uint32(intBlend)
		if which == 1 {
			mode = intClamp
		}
		p.ctrl[0] = v & (0x1fffff | mode)
	case intCtrl1:
		p.ctrl[1] = v & 0x1fffff
	case intAdd0, intAdd1:
		p.accum[(off-intAdd0)/4] += v
	case intBase1And:
		p.setBases(v)
	}
}

// setBases writes BASE_1AND0: the low half to BASE0, the high half to BASE1,
// sign-extended as the lanes say; in blend mode lane 1 rules both.
func (p *interp) setBases(v uint32) {
	halves := [2]uint32{v & 0xffff, v >> 16}
	for i, h := range halves {
		rule := p.ctrl[i]
		if p.ctrl[0]&intBlend != 0 {
			rule = p.ctrl[1]
		}
		if rule&intSigned != 0 {
			h = uint32(int32(int16(h)))
		}
		p.base[i] = h
	}
}
