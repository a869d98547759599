package cortexm33

import "math/bits"

// integral is VRINT: v rounded to an integral value.
func (f *fenv) integral(v uint32, mode int, exact bool) uint32 {
	x := f.unpack(v)
	switch x.kind {
	case isSNaN, isQNaN:
		return f.quiet(v, x.kind)
	case isInf:
		return v
	case isZero:
		return sign(x.neg)
	}
	if x.exp >= 0 {
		return v
	}
	q, rest := fraction(x)
	if increments(x.neg, q, rest, mode) {
		q++
	}
	if rest != 0 && exact {
		*f |= fpIXC
	}
	if q == 0 {
		return sign(x.neg)
	}
	var quiet fenv
	return quiet.round(x.neg, 0, q, fpRN)
}

// fraction splits a number with a negative exponent into its integer part and
// its fraction in units of 2^-64, the lowest bit of which is sticky.
func fraction(x number) (q, rest uint64) {
	n := -x.exp
	switch {
	case n < 64:
		return x.sig >> n, x.sig << (64 - n)
	case n == 64:
		return 0, x.sig
	}
	return 0, jam(x.sig, n-64)
}

// toInt converts v * 2^frac to an integer of size bits, saturating.
func (f *fenv) toInt(v uint32, frac uint, signed bool, size uint, mode int) uint32 {
	x := f.unpack(v)
	lo, hi := int64(0), int64(1)<<size-1
	if signed {
		lo, hi = -1<<(size-1), 1<<(size-1)-1
	}
	saturate := func(neg bool) uint32 {
		*f |= fpIOC
		if neg {
			return uint32(lo)
		}
		return uint32(hi)
	}
	switch x.kind {
	case isSNaN, isQNaN:
		*f |= fpIOC
		return 0
	case isInf:
		return saturate(x.neg)
	case isZero:
		return 0
	}
	x.exp += int(frac)
	if x.exp > 20 {
		return saturate(x.neg)
	}
	q, rest := x.sig, uint64(0)
	if x.exp >= 0 {
		q <<= x.exp
	} else {
		q, rest = fraction(x)
		if increments(x.neg, q, rest, mode) {
			q++
		}
	}
	n := int64(q)
	if x.neg {
		n = -n
	}
	if n < lo || n > hi {
		return saturate(x.neg)
	}
	if rest != 0 {
		*f |= fpIXC
	}
	return uint32(n)
}

// fromInt converts an integer divided by 2^frac.
func (f *fenv) fromInt(v uint32, frac uint, signed bool, size uint, mode int) uint32 {
	n := int64(v)
	switch {
	case size == 16 && signed:
		n = int64(int16(v))
	case size == 16:
		n = int64(uint16(v))
	case signed:
		n = int64(int32(v))
	}
	if n == 0 {
		return 0
	}
	neg := n < 0
	if neg {
		n = -n
	}
	return f.round(neg, -int(frac), uint64(n), mode)
}

// toHalf converts single to half precision.
func (f *fenv) toHalf(v uint32) uint32 {
	x := f.unpack(v)
	s := sign(x.neg) >> 16
	alt := *f&fpAHP != 0
	switch x.kind {
	case isSNaN, isQNaN:
		switch {
		case alt:
			*f |= fpIOC
			return s
		case x.kind == isSNaN:
			*f |= fpIOC
		}
		if *f&fpDN != 0 {
			return 0x7e00
		}
		return s | 0x7e00 | v>>13&0x1ff
	case isInf:
		if alt {
			*f |= fpIOC
			return s | 0x7fff
		}
		return s | 0x7c00
	case isZero:
		return s
	}
	// 11 bits of significand; the exponent of the lowest is at least -24.
	sig := x.sig << 40
	biased := x.exp - 40 + 63 + 15
	shift, tiny := 53, biased < 1
	if tiny {
		shift += 1 - biased
		biased = 1
	}
	var q, rest uint64
	switch {
	case shift < 64:
		q, rest = sig>>shift, sig<<(64-shift)
	case shift == 64:
		rest = sig
	default:
		rest = 1
	}
	mode := f.mode()
	if increments(x.neg, q, rest, mode) {
		q++
	}
	r := uint32(biased-1)<<10 + uint32(q)
	switch {
	case alt && r >= 0x8000:
		*f |= fpIOC
		return s | 0x7fff
	case !alt && r >= 0x7c00:
		*f |= fpOFC | fpIXC
		if mode == fpRZ || mode == fpRP && x.neg || mode == fpRM && !x.neg {
			return s | 0x7bff
		}
		return s | 0x7c00
	}
	if rest != 0 {
		*f |= fpIXC
		if tiny {
			*f |= fpUFC
		}
	}
	return s | r
}

// fromHalf converts half to single precision.
func (f *fenv) fromHalf(h uint32) uint32 {
	s := h >> 15 & 1 << 31
	e, m := h>>10&31, h&0x3ff
	switch {
	case e == 31 && *f&fpAHP == 0 && m == 0:
		return s | infinity
	case e == 31 && *f&fpAHP == 0:
		if m>>9 == 0 {
			*f |= fpIOC
		}
		if *f&fpDN != 0 {
			return defaultNaN
		}
		return s | defaultNaN | m<<13
	case e == 0 && m == 0:
		return s
	case e == 0:
		n := uint32(bits.LeadingZeros32(m)) - 21
		return s | (113-n)<<23 | m<<n&0x3ff<<13
	}
	return s | (e+112)<<23 | m<<13
}
