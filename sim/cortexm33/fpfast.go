package cortexm33

import "math"

// The fast paths do what compiled code does most: round to nearest, default
// settings, numbers in the normal range. They use the host's arithmetic, which
// is exact enough: a float64 holds any product of two singles, and rounding a
// float64 sum, product or quotient of singles to single is innocuous (Figueroa,
// "When is double rounding innocuous?", 1995). What they do not cover, the
// arithmetic of fparith.go does; a test compares both.

// special has the FPSCR bits that need the full arithmetic: FZ, DN, RMode.
const special = fpFZ | fpDN | 3<<22

// inRange reports whether v is a single of moderate size, so that no operation
// on two of them overflows, underflows or meets a special value.
func inRange(v uint32) bool {
	e := v >> 23 & 255
	return e-67 < 120
}

// settle rounds an exact or correctly rounded float64 to single.
func (f *fenv) settle(s float64, exact bool) (uint32, bool) {
	r := float32(s)
	v := math.Float32bits(r)
	if e := v >> 23 & 255; e-1 > 252 {
		return 0, false
	}
	if !exact || float64(r) != s {
		*f |= fpIXC
	}
	return v, true
}

func (f *fenv) fastAdd(a, b uint32) (uint32, bool) {
	if *f&special != 0 || !inRange(a) || !inRange(b) {
		return 0, false
	}
	x, y := float64(math.Float32frombits(a)), float64(math.Float32frombits(b))
	s := x + y
	// The rounding error of the sum is exact in float64 (two-sum).
	t := s - x
	return f.settle(s, (x-(s-t))+(y-t) == 0)
}

func (f *fenv) fastMul(a, b uint32) (uint32, bool) {
	if *f&special != 0 || !inRange(a) || !inRange(b) {
		return 0, false
	}
	return f.settle(float64(math.Float32frombits(a))*float64(math.Float32frombits(b)), true)
}

// fastFMA works only where the sum is exact in float64; elsewhere rounding
// twice could differ.
func (f *fenv) fastFMA(c, a, b uint32) (uint32, bool) {
	if *f&special != 0 || !inRange(a) || !inRange(b) || !inRange(c) {
		return 0, false
	}
	p := float64(float64(math.Float32frombits(a)) * float64(math.Float32frombits(b)))
	z := float64(math.Float32frombits(c))
	s := p + z
	t := s - p
	if (p-(s-t))+(z-t) != 0 {
		return 0, false
	}
	return f.settle(s, true)
}

// sub is add with the second operand's sign changed, except that a NaN operand
// keeps its sign.
func (f *fenv) sub(a, b uint32) uint32 {
	if b&0x7fffffff > infinity {
		x, y := f.unpack(a), f.unpack(b)
		r, _ := f.nan2(a, b, x.kind, y.kind)
		return r
	}
	return f.add(a, b^signBit)
}
