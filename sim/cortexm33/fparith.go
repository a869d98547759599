package cortexm33

import "math/bits"

// Single-precision arithmetic in software, bit for bit as the Armv8-M ARM's
// FPAdd, FPMul, FPMulAdd, FPDiv and FPSqrt define it (E1.3).

// FPSCR bits.
const (
	fpIOC = 1 << 0
	fpDZC = 1 << 1
	fpOFC = 1 << 2
	fpUFC = 1 << 3
	fpIXC = 1 << 4
	fpIDC = 1 << 7
	fpFZ  = 1 << 24
	fpDN  = 1 << 25
	fpAHP = 1 << 26
)

// Rounding modes: the four of FPSCR.RMode, and ties away from zero.
const (
	fpRN = iota
	fpRP
	fpRM
	fpRZ
	fpRA
)

const (
	defaultNaN = 0x7fc00000
	infinity   = 0x7f800000
	maxFinite  = 0x7f7fffff
	signBit    = 1 << 31
)

// fenv is FPSCR while one instruction executes.
type fenv uint32

func (f fenv) mode() int { return int(f >> 22 & 3) }

// number is an operand taken apart: sig * 2^exp, or one of the special kinds.
type number struct {
	kind kind
	neg  bool
	exp  int
	sig  uint64
}

type kind uint8

const (
	isFinite kind = iota
	isZero
	isInf
	isQNaN
	isSNaN
)

// unpack takes v apart and flushes a denormal operand if FZ says so.
func (f *fenv) unpack(v uint32) number {
	n := number{neg: v>>31 != 0}
	e, m := int(v>>23&255), v&0x7fffff
	switch {
	case e == 255 && m == 0:
		n.kind = isInf
	case e == 255 && m>>22 != 0:
		n.kind = isQNaN
	case e == 255:
		n.kind = isSNaN
	case e == 0 && m == 0:
		n.kind = isZero
	case e == 0 && *f&fpFZ != 0:
		*f |= fpIDC
		n.kind = isZero
	case e == 0:
		// Normalised, so that the significand has 24 bits.
		s := bits.LeadingZeros32(m) - 8
		n.sig, n.exp = uint64(m)<<s, -149-s
	default:
		n.sig, n.exp = uint64(m|1<<23), e-150
	}
	return n
}

func sign(neg bool) uint32 { return b2u(neg) << 31 }

// quiet is FPProcessNaN for the operand v.
func (f *fenv) quiet(v uint32, k kind) uint32 {
	if k == isSNaN {
		*f |= fpIOC
		v |= 1 << 22
	}
	if *f&fpDN != 0 {
		return defaultNaN
	}
	return v
}

// nan2 is FPProcessNaNs: the result if an operand is a NaN.
func (f *fenv) nan2(a, b uint32, x, y kind) (uint32, bool) {
	switch {
	case x == isSNaN:
		return f.quiet(a, x), true
	case y == isSNaN:
		return f.quiet(b, y), true
	case x == isQNaN:
		return f.quiet(a, x), true
	case y == isQNaN:
		return f.quiet(b, y), true
	}
	return 0, false
}

func (f *fenv) invalid() uint32 {
	*f |= fpIOC
	return defaultNaN
}

// round packs sig * 2^exp, whose lowest bit may stand for lost ones. sig is not
// zero.
func (f *fenv) round(neg bool, exp int, sig uint64, mode int) uint32 {
	lz := bits.LeadingZeros64(sig)
	sig <<= lz
	biased := exp - lz + 63 + 127
	shift := 40
	tiny := biased < 1
	if tiny {
		if *f&fpFZ != 0 {
			*f |= fpUFC
			return sign(neg)
		}
		shift += 1 - biased
		biased = 1
	}
	var q, rest uint64 // rest is the remainder, scaled to 64 bits
	switch {
	case shift < 64:
		q, rest = sig>>shift, sig<<(64-shift)
	case shift == 64:
		rest = sig
	default:
		rest = 1
	}
	if increments(neg, q, rest, mode) {
		q++
	}
	r := uint32(biased-1)<<23 + uint32(q)
	if r >= infinity {
		*f |= fpOFC | fpIXC
		if mode == fpRZ || mode == fpRP && neg || mode == fpRM && !neg {
			return sign(neg) | maxFinite
		}
		return sign(neg) | infinity
	}
	if rest != 0 {
		*f |= fpIXC
		if tiny {
			*f |= fpUFC
		}
	}
	return sign(neg) | r
}

// increments decides rounding: q is the truncated magnitude, rest what follows
// it as a fraction of 2^64.
func increments(neg bool, q, rest uint64, mode int) bool {
	const half = 1 << 63
	switch mode {
	case fpRN:
		return rest > half || rest == half && q&1 != 0
	case fpRP:
		return rest != 0 && !neg
	case fpRM:
		return rest != 0 && neg
	case fpRA:
		return rest >= half
	}
	return false
}

// jam shifts v right by n and keeps a trace of what is lost in the lowest bit.
func jam(v uint64, n int) uint64 {
	switch {
	case n <= 0:
		return v
	case n > 63:
		return uint64(b2u(v != 0))
	}
	return v>>n | uint64(b2u(v<<(64-n) != 0))
}

// sum adds two finite non-zero numbers whose significands have 62 bits at most.
func (f *fenv) sum(x, y number, mode int) uint32 {
	if x.exp < y.exp {
		x, y = y, x
	}
	y.sig = jam(y.sig, x.exp-y.exp)
	if x.neg == y.neg {
		return f.round(x.neg, x.exp, x.sig+y.sig, mode)
	}
	switch {
	case x.sig == y.sig:
		return sign(mode == fpRM)
	case x.sig > y.sig:
		return f.round(x.neg, x.exp, x.sig-y.sig, mode)
	}
	return f.round(y.neg, x.exp, y.sig-x.sig, mode)
}

// widen moves the significand up so that alignment loses nothing that matters.
func (n number) widen(by int) number {
	n.sig <<= by
	n.exp -= by
	return n
}

func (f *fenv) add(a, b uint32) uint32 {
	x, y := f.unpack(a), f.unpack(b)
	if r, ok := f.nan2(a, b, x.kind, y.kind); ok {
		return r
	}
	mode := f.mode()
	switch {
	case x.kind == isInf && y.kind == isInf && x.neg != y.neg:
		return f.invalid()
	case x.kind == isInf:
		return sign(x.neg) | infinity
	case y.kind == isInf:
		return sign(y.neg) | infinity
	case x.kind == isZero && y.kind == isZero:
		if x.neg == y.neg {
			return sign(x.neg)
		}
		return sign(mode == fpRM)
	case x.kind == isZero:
		return f.round(y.neg, y.exp, y.sig, mode)
	case y.kind == isZero:
		return f.round(x.neg, x.exp, x.sig, mode)
	}
	return f.sum(x.widen(38), y.widen(38), mode)
}

func (f *fenv) mul(a, b uint32) uint32 {
	x, y := f.unpack(a), f.unpack(b)
	if r, ok := f.nan2(a, b, x.kind, y.kind); ok {
		return r
	}
	neg := x.neg != y.neg
	switch {
	case x.kind == isInf && y.kind == isZero, x.kind == isZero && y.kind == isInf:
		return f.invalid()
	case x.kind == isInf || y.kind == isInf:
		return sign(neg) | infinity
	case x.kind == isZero || y.kind == isZero:
		return sign(neg)
	}
	return f.round(neg, x.exp+y.exp, x.sig*y.sig, f.mode())
}

// fma is a*b + c with one rounding. c is the first operand in the order in
// which NaNs are considered.
func (f *fenv) fma(c, a, b uint32) uint32 {
	z, x, y := f.unpack(c), f.unpack(a), f.unpack(b)
	infZero := x.kind == isInf && y.kind == isZero || x.kind == isZero && y.kind == isInf
	switch {
	case z.kind == isSNaN:
		return f.quiet(c, isSNaN)
	case x.kind == isSNaN:
		return f.quiet(a, isSNaN)
	case y.kind == isSNaN:
		return f.quiet(b, isSNaN)
	case infZero:
		return f.invalid()
	case z.kind == isQNaN:
		return f.quiet(c, isQNaN)
	case x.kind == isQNaN:
		return f.quiet(a, isQNaN)
	case y.kind == isQNaN:
		return f.quiet(b, isQNaN)
	}
	neg := x.neg != y.neg
	mode := f.mode()
	prodInf := x.kind == isInf || y.kind == isInf
	switch {
	case z.kind == isInf && prodInf && z.neg != neg:
		return f.invalid()
	case z.kind == isInf:
		return sign(z.neg) | infinity
	case prodInf:
		return sign(neg) | infinity
	}
	prodZero := x.kind == isZero || y.kind == isZero
	switch {
	case prodZero && z.kind == isZero:
		if neg == z.neg {
			return sign(neg)
		}
		return sign(mode == fpRM)
	case prodZero:
		return f.round(z.neg, z.exp, z.sig, mode)
	}
	p := number{neg: neg, exp: x.exp + y.exp, sig: x.sig * y.sig}
	if z.kind == isZero {
		return f.round(p.neg, p.exp, p.sig, mode)
	}
	return f.sum(p.widen(14), z.widen(38), mode)
}

func (f *fenv) div(a, b uint32) uint32 {
	x, y := f.unpack(a), f.unpack(b)
	if r, ok := f.nan2(a, b, x.kind, y.kind); ok {
		return r
	}
	neg := x.neg != y.neg
	switch {
	case x.kind == isInf && y.kind == isInf, x.kind == isZero && y.kind == isZero:
		return f.invalid()
	case x.kind == isInf:
		return sign(neg) | infinity
	case y.kind == isZero:
		*f |= fpDZC
		return sign(neg) | infinity
	case x.kind == isZero || y.kind == isInf:
		return sign(neg)
	}
	n := x.sig << 38
	q := n / y.sig
	q |= uint64(b2u(q*y.sig != n))
	return f.round(neg, x.exp-38-y.exp, q, f.mode())
}

func (f *fenv) sqrt(a uint32) uint32 {
	x := f.unpack(a)
	switch {
	case x.kind == isSNaN || x.kind == isQNaN:
		return f.quiet(a, x.kind)
	case x.kind == isZero:
		return sign(x.neg)
	case x.neg:
		return f.invalid()
	case x.kind == isInf:
		return infinity
	}
	x = x.widen(38)
	if x.exp&1 != 0 {
		x = x.widen(1)
	}
	r := isqrt(x.sig)
	s := r << 1
	if r*r != x.sig {
		s |= 1
	}
	return f.round(false, x.exp/2-1, s, f.mode())
}

// isqrt is the integer square root.
func isqrt(v uint64) uint64 {
	var r uint64
	for b := uint64(1) << 31; b != 0; b >>= 1 {
		if t := r | b; t*t <= v {
			r = t
		}
	}
	return r
}

// maxNum and minNum are FPMaxNum and FPMinNum.
func (f *fenv) maxNum(a, b uint32) uint32 { return f.pickNum(a, b, true) }

func (f *fenv) minNum(a, b uint32) uint32 { return f.pickNum(a, b, false) }

func (f *fenv) pickNum(a, b uint32, greatest bool) uint32 {
	x, y := f.unpack(a), f.unpack(b)
	switch {
	case x.kind == isSNaN || y.kind == isSNaN || x.kind == isQNaN && y.kind == isQNaN:
		r, _ := f.nan2(a, b, x.kind, y.kind)
		return r
	case x.kind == isQNaN:
		a, x = b, y
	case y.kind == isQNaN:
		b, y = a, x
	}
	if x.kind == isZero {
		a = sign(x.neg)
	}
	if y.kind == isZero {
		b = sign(y.neg)
	}
	if orderKey(a) > orderKey(b) == greatest {
		return a
	}
	return b
}

// orderKey maps numbers to integers of the same order; -0 is below +0.
func orderKey(v uint32) int64 {
	if v>>31 != 0 {
		return -int64(v&^signBit) - 1
	}
	return int64(v)
}

// compare returns the NZCV value of FPCompare in bits 31:28.
func (f *fenv) compare(a, b uint32, signalling bool) uint32 {
	x, y := f.unpack(a), f.unpack(b)
	if x.kind >= isQNaN || y.kind >= isQNaN {
		if signalling || x.kind == isSNaN || y.kind == isSNaN {
			*f |= fpIOC
		}
		return 3 << 28
	}
	if x.kind == isZero && y.kind == isZero {
		return 6 << 28
	}
	if x.kind == isZero {
		a = 0
	}
	if y.kind == isZero {
		b = 0
	}
	switch ka, kb := orderKey(a), orderKey(b); {
	case ka == kb:
		return 6 << 28
	case ka < kb:
		return 8 << 28
	}
	return 2 << 28
}
