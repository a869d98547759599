package cortexm33

import "math/bits"

// dsp executes the DSP extension, bit-field and long multiply operations that
// touch registers and flags only.
func (c *Core) dsp(o *op) {
	r := &c.R
	switch o.code {
	case opMull:
		c.longMultiply(o)
	case opSmulx:
		c.halfMultiply(o)
	case opDsp:
		switch o.ra {
		case 8:
			c.saturatingAdd(o)
		case 9:
			r[o.rd&15] = c.selectBytes(r[o.rn&15], r[o.rm&15])
		default:
			r[o.rd&15] = c.parallel(o, r[o.rn&15], r[o.rm&15])
		}
	case opExtend:
		c.extend(o)
	case opSat:
		c.saturate(o)
	case opPkh:
		n, m := r[o.rn&15], r[o.rm&15]
		if o.ra == 0 {
			r[o.rd&15] = n&0xffff | m<<o.x&0xffff0000
		} else {
			r[o.rd&15] = n&0xffff0000 | uint32(int32(m)>>o.x)&0xffff
		}
	case opUsad:
		var sum uint32
		for k := 0; k < 32; k += 8 {
			d := int32(r[o.rn&15]>>k&0xff) - int32(r[o.rm&15]>>k&0xff)
			if d < 0 {
				d = -d
			}
			sum += uint32(d)
		}
		if o.ra != 15 {
			sum += r[o.ra&15]
		}
		r[o.rd&15] = sum
	default:
		panic("cortexm33: operation without an implementation")
	}
}

// satS and satU saturate v to n bits, signed or unsigned.
func satS(v int64, n uint) (int64, bool) {
	hi := int64(1)<<(n-1) - 1
	switch {
	case v > hi:
		return hi, true
	case v < -hi-1:
		return -hi - 1, true
	}
	return v, false
}

func satU(v int64, n uint) (int64, bool) {
	hi := int64(1)<<n - 1
	switch {
	case v > hi:
		return hi, true
	case v < 0:
		return 0, true
	}
	return v, false
}

// q sets Q if on.
func (c *Core) q(on bool) {
	if on {
		c.qf = true
	}
}

// saturate is SSAT, USAT, SSAT16 and USAT16.
func (c *Core) saturate(o *op) {
	v := c.R[o.rn&15]
	sat := satS
	if o.ra&4 != 0 {
		sat = satU
	}
	n := uint(o.imm)
	if o.ra&3 == 2 {
		lo, q1 := sat(int64(int16(v)), n)
		hi, q2 := sat(int64(int16(v>>16)), n)
		c.q(q1 || q2)
		c.R[o.rd&15] = uint32(lo)&0xffff | uint32(hi)<<16
		return
	}
	s := int64(int32(v << (o.x & 31)))
	if o.ra&3 == 1 {
		s = int64(int32(v) >> o.x)
	}
	w, q := sat(s, n)
	c.q(q)
	c.R[o.rd&15] = uint32(w)
}

// extend is the sign and zero extensions with rotation and addition.
func (c *Core) extend(o *op) {
	v := bits.RotateLeft32(c.R[o.rm&15], -int(o.x))
	var n uint32
	if o.rn != 15 {
		n = c.R[o.rn&15]
	}
	pair := func(lo, hi uint32) uint32 { return (n+lo)&0xffff | (n>>16+hi)<<16 }
	switch o.ra {
	case 0:
		v = n + uint32(int32(int16(v)))
	case 1:
		v = n + v&0xffff
	case 2:
		v = pair(uint32(int32(int8(v))), uint32(int32(int8(v>>16))))
	case 3:
		v = pair(v&0xff, v>>16&0xff)
	case 4:
		v = n + uint32(int32(int8(v)))
	case 5:
		v = n + v&0xff
	}
	c.R[o.rd&15] = v
}

// saturatingAdd is QADD, QDADD, QSUB and QDSUB.
func (c *Core) saturatingAdd(o *op) {
	n, m := int64(int32(c.R[o.rn&15])), int64(int32(c.R[o.rm&15]))
	if o.x&1 != 0 {
		d, q := satS(2*n, 32)
		c.q(q)
		n = d
	}
	if o.x&2 != 0 {
		n = -n
	}
	v, q := satS(m+n, 32)
	c.q(q)
	c.R[o.rd&15] = uint32(v)
}

func (c *Core) selectBytes(n, m uint32) (v uint32) {
	for k := 0; k < 4; k++ {
		src := m
		if c.ge>>k&1 != 0 {
			src = n
		}
		v |= src & (0xff << (8 * k))
	}
	return v
}

// parallel is the parallel additions and subtractions. ra is the operation
// (0 ADD8, 1 ADD16, 2 ASX, 4 SUB8, 5 SUB16, 6 SAX); x bit 2 means unsigned, bits
// 1:0 plain (sets GE), saturating or halving.
func (c *Core) parallel(o *op, n, m uint32) uint32 {
	unsigned, kind := o.x&4 != 0, o.x&3
	lanes, width := 2, uint(16)
	if o.ra&3 == 0 {
		lanes, width = 4, 8
	}
	get := func(v uint32, k int) int64 {
		v >>= uint(k) * width
		switch {
		case unsigned:
			return int64(v & (1<<width - 1))
		case width == 8:
			return int64(int8(v))
		}
		return int64(int16(v))
	}
	var out, ge uint32
	for k := 0; k < lanes; k++ {
		a, b := get(n, k), int64(0)
		sub := o.ra >= 4
		switch o.ra {
		case 2: // ASX: low subtracts the high half, high adds the low one
			b, sub = get(m, 1-k), k == 0
		case 6: // SAX
			b, sub = get(m, 1-k), k == 1
		default:
			b = get(m, k)
		}
		v := a + b
		if sub {
			v = a - b
		}
		switch kind {
		case 0:
			set := v >= 0
			if unsigned && !sub {
				set = v >= 1<<width
			}
			if set {
				ge |= (1<<(width/8) - 1) << (uint(k) * width / 8)
			}
		case 1:
			if unsigned {
				v, _ = satU(v, width)
			} else {
				v, _ = satS(v, width)
			}
		case 2:
			v >>= 1
		}
		out |= uint32(v) & (1<<width - 1) << (uint(k) * width)
	}
	if kind == 0 {
		c.ge = ge
	}
	return out
}

// half returns the top (t 1) or bottom half of v, sign-extended.
func half(v uint32, t uint16) int64 { return int64(int16(v >> (16 * (t & 1)))) }

// halfMultiply is the multiplies of halves and the most significant word ones:
// x is op1<<4|op2.
func (c *Core) halfMultiply(o *op) {
	r := &c.R
	n, m := r[o.rn&15], r[o.rm&15]
	var acc int64
	if o.ra != 15 {
		acc = int64(int32(r[o.ra&15]))
	}
	op2 := o.x & 15
	var v int64
	switch o.x >> 4 {
	case 1: // SMLAxy, SMULxy
		v = half(n, op2>>1)*half(m, op2) + acc
	case 2, 4: // SMLAD, SMLSD
		if op2&1 != 0 {
			m = bits.RotateLeft32(m, 16)
		}
		p1, p2 := half(n, 0)*half(m, 0), half(n, 1)*half(m, 1)
		if o.x>>4 == 4 {
			p2 = -p2
		}
		v = p1 + p2 + acc
	case 3: // SMLAWy, SMULWy
		v = int64(int32(n))*half(m, op2)>>16 + acc
	case 5, 6: // SMMLA, SMMUL, SMMLS
		p := int64(int32(n)) * int64(int32(m))
		a := acc << 32
		if o.x>>4 == 6 {
			p = -p
		}
		p += a
		if op2&1 != 0 {
			p += 1 << 31
		}
		r[o.rd&15] = uint32(p >> 32)
		return
	}
	r[o.rd&15] = uint32(v)
	c.q(v != int64(int32(v)))
}

// longMultiply is the multiplies with a 64-bit accumulator.
func (c *Core) longMultiply(o *op) {
	r := &c.R
	n, m := r[o.rn&15], r[o.rm&15]
	acc := uint64(r[o.ra&15])<<32 | uint64(r[o.rd&15])
	op2 := o.x & 15
	switch {
	case o.x == 0x40: // SMLAL
		acc += uint64(int64(int32(n)) * int64(int32(m)))
	case o.x == 0x66: // UMAAL
		acc = uint64(n)*uint64(m) + acc>>32 + acc&0xffffffff
	case o.x>>4 == 4 && op2 >= 8 && op2 < 12: // SMLALxy
		acc += uint64(half(n, op2>>1) * half(m, op2))
	default: // SMLALD, SMLSLD
		if op2&1 != 0 {
			m = bits.RotateLeft32(m, 16)
		}
		p1, p2 := half(n, 0)*half(m, 0), half(n, 1)*half(m, 1)
		if o.x>>4 == 5 {
			p2 = -p2
		}
		acc += uint64(p1 + p2)
	}
	r[o.rd&15], r[o.ra&15] = uint32(acc), uint32(acc>>32)
}
