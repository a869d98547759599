package cortexm33

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"
)

// seq drives one coprocessor as the canned sequences do, with Go's integers in
// place of the registers.
type seq struct {
	p Coprocessor
	t *testing.T
}

func (s seq) w(op, crm uint32, v uint64) {
	if r := s.p.MCRR(Insn{Opc1: op, CRm: crm}, uint32(v), uint32(v>>32)); r != CoprocDone {
		s.t.Fatalf("mcrr #%d, c%d: %d", op, crm, r)
	}
}

func (s seq) cdp(op, crm, op2 uint32) {
	if r := s.p.CDP(Insn{Opc1: op, CRm: crm, Opc2: op2}); r != CoprocDone {
		s.t.Fatalf("cdp #%d, c%d, #%d: %d", op, crm, op2, r)
	}
}

func (s seq) rr(op, crm uint32) (lo, hi uint32) {
	lo, hi, r := s.p.MRRC(Insn{Opc1: op, CRm: crm})
	if r != CoprocDone {
		s.t.Fatalf("mrrc #%d, c%d: %d", op, crm, r)
	}
	return lo, hi
}

func (s seq) r(crm, op2 uint32) uint32 {
	v, r := s.p.MRC(Insn{CRm: crm, Opc2: op2})
	if r != CoprocDone {
		s.t.Fatalf("mrc c%d, #%d: %d", crm, op2, r)
	}
	return v
}

func (s seq) result(op uint32) float64 {
	lo, hi := s.rr(op, 0)
	return math.Float64frombits(uint64(hi)<<32 | uint64(lo))
}

func (s seq) two(x, y float64) {
	s.w(1, 0, math.Float64bits(x))
	s.w(1, 1, math.Float64bits(y))
}

func (s seq) add(x, y float64, sub uint32) float64 {
	s.two(x, y)
	s.cdp(0, 1, 0)
	s.cdp(1, 1, sub)
	s.cdp(8, 0, 1)
	return s.result(1 + 2*sub)
}

func (s seq) mul(x, y float64) float64 {
	s.two(x, y)
	a, b := s.rr(0, 4)
	c, d := s.rr(0, 5)
	low := uint64(a) * uint64(c)
	mid, carry := bits.Add64(uint64(a)*uint64(d), uint64(b)*uint64(c), 0)
	mid, k := bits.Add64(mid, low>>32, 0)
	s.w(2, 0, mid<<32|low&0xffffffff)
	s.w(3, 0, uint64(b)*uint64(d)+mid>>32+(carry+k)<<32)
	s.cdp(8, 0, 1)
	return s.result(5)
}

func smmlar(n, m, a uint32) uint32 {
	return uint32((int64(a)<<32 + int64(int32(n))*int64(int32(m)) + 1<<31) >> 32)
}

func smmulr(n, m uint32) uint32 { return smmlar(n, m, 0) }

func smmlsr(n, m, a uint32) uint32 {
	return uint32((int64(a)<<32 - int64(int32(n))*int64(int32(m)) + 1<<31) >> 32)
}

func umull(a, b uint32) (lo, hi uint32) {
	v := uint64(a) * uint64(b)
	return uint32(v), uint32(v >> 32)
}

// div is the correctly rounded division.
func (s seq) div(x, y float64) float64 {
	s.two(x, y)
	a, b := s.rr(2, 1)
	_, c := umull(a, b)
	c = ^(c << 2)
	a = smmlar(c, a, a)
	c = smmulr(c, c)
	a = smmlar(c, a, a)
	e := a - a>>31
	_, d := s.rr(0, 4)
	b = smmulr(e, d)
	c, d = s.rr(1, 5)
	_, a = umull(b, c)
	a += b * d
	c, _ = s.rr(4, 4)
	a = c - a
	c = smmulr(a, e)
	v := uint64(b)<<28 + uint64(int64(int32(c)))
	a, b = uint32(v), uint32(v>>32)
	a |= b >> 21
	a &^= b >> 22
	a &^= 7
	c, _ = s.rr(7, 5)
	_, e = umull(a, c)
	c, d = s.rr(7, 5)
	e += a * d
	e += b * c
	c, _ = s.rr(0, 4)
	e -= c << 18
	a |= e >> 29
	a--
	s.w(4, 0, uint64(b)<<32|uint64(a))
	s.cdp(8, 0, 1)
	return s.result(7)
}

// sqrt is the correctly rounded square root.
func (s seq) sqrt(x float64) float64 {
	s.w(1, 0, math.Float64bits(x))
	s.cdp(2, 1, 0)
	c, d := s.rr(4, 1)
	_, b := umull(c, c)
	_, b = umull(b, d)
	b = b<<3 - 1<<31
	c = smmlsr(c, b, c)
	_, b = umull(c, c)
	a, b := umull(b, d)
	b = b<<4 + a>>28 + a>>27&1
	a = smmulr(b, c)
	c -= uint32(int32(a) >> 1)
	_, b = umull(c, d)
	b >>= 1
	d, _ = umull(b, b)
	a, _ = s.rr(6, 4)
	d = a - d
	d = smmulr(d, c)
	b += uint32(int32(d) >> 28)
	d <<= 4
	d = d&^255 | 128
	_, c = umull(d, d)
	e := b * b
	acc := uint64(e)<<32 | uint64(c)
	acc += uint64(b) * uint64(d)
	acc += uint64(b) * uint64(d)
	e = uint32(acc>>32) - a
	d |= e >> 24
	d -= 11
	s.w(5, 0, uint64(b)<<32|uint64(d))
	s.cdp(8, 0, 1)
	return s.result(9)
}

// flush takes denormals for zero, as the coprocessor does.
func flush(v float64) float64 {
	if math.Float64bits(v)>>52&0x7ff == 0 {
		return math.Copysign(0, v)
	}
	return v
}

func same(a, b float64) bool {
	return math.Float64bits(a) == math.Float64bits(b) || a != a && b != b
}

func TestDCPSequences(t *testing.T) {
	p4, _ := NewDCP()
	s := seq{p4, t}
	rng := rand.New(rand.NewPCG(1, 2))
	special := []float64{0, math.Copysign(0, -1), 1, -1, math.Inf(1), math.Inf(-1), math.NaN(), 2, 0.5, 1 << 52, 5e-324,
		math.MaxFloat64, math.Float64frombits(1 << 52), 3, 1.0000000000000002, 0.9999999999999999}
	pick := func() float64 {
		switch rng.IntN(5) {
		case 0:
			return special[rng.IntN(len(special))]
		case 1:
			return float64(int32(rng.Uint32())) / 16
		case 2:
			return math.Float64frombits(rng.Uint64()&(1<<52-1) | uint64(1013+rng.IntN(20))<<52 | rng.Uint64()&(1<<63))
		}
		return math.Float64frombits(rng.Uint64())
	}
	for range 40000 {
		x, y := flush(pick()), flush(pick())
		check := func(op string, got, want float64) {
			t.Helper()
			// What rounds up to the smallest normal number only thanks to a
			// denormal's precision is flushed.
			edge := got == 0 && math.Abs(want) == 0x1p-1022
			if !same(got, flush(want)) && !edge {
				t.Fatalf("%s(%x %v, %x %v) = %x %v, want %x %v", op, math.Float64bits(x), x, math.Float64bits(y), y,
					math.Float64bits(got), got, math.Float64bits(flush(want)), want)
			}
		}
		check("add", s.add(x, y, 0), x+y)
		check("sub", s.add(x, y, 1), x-y)
		check("mul", s.mul(x, y), x*y)
		check("div", s.div(x, y), x/y)
		check("sqrt", s.sqrt(x), math.Sqrt(x))

		s.two(x, y)
		s.cdp(0, 1, 0)
		got := s.r(0, 1) >> 28 & 7
		want := uint32(0)
		switch {
		case x != x || y != y:
			want = 1
		case x == y:
			want = 6
		case x > y:
			want = 2
		}
		if got != want {
			t.Fatalf("compare(%v, %v): %x, want %x", x, y, got, want)
		}
	}
}

func TestDCPConversions(t *testing.T) {
	p4, _ := NewDCP()
	s := seq{p4, t}
	rng := rand.New(rand.NewPCG(3, 4))
	clamp := func(v, lo, hi float64) float64 { return math.Min(math.Max(v, lo), hi) }
	for range 20000 {
		n := rng.Uint32()
		s.w(7, 0, uint64(n)) // WXIC
		s.cdp(0, 1, 0)
		s.cdp(1, 1, 1)
		s.cdp(8, 0, 1)
		if got := s.result(3); got != float64(int32(n)) {
			t.Fatalf("from int %d: %v", int32(n), got)
		}
		s.w(6, 0, uint64(n)) // WXUC
		s.cdp(0, 1, 0)
		s.cdp(1, 1, 1)
		s.cdp(8, 0, 1)
		if got := s.result(3); got != float64(n) {
			t.Fatalf("from unsigned %d: %v", n, got)
		}
		x := (rng.Float64() - 0.5) * math.Ldexp(1, rng.IntN(70)-20)
		if rng.IntN(8) == 0 {
			x = math.Inf(1 - 2*rng.IntN(2))
		}
		for _, nearest := range []uint32{0, 1} {
			want := math.Trunc(x)
			if nearest == 1 {
				want = math.RoundToEven(x)
			}
			s.w(8, 0, math.Float64bits(x)) // WXDC
			s.cdp(0, 1, 0)
			s.cdp(1, 1, 0)
			s.cdp(8, 0, 2+nearest)
			if got := int32(s.r(3, 0)); float64(got) != clamp(want, math.MinInt32, math.MaxInt32) {
				t.Fatalf("to int of %v (%d): %d", x, nearest, got)
			}
			s.w(8, 0, math.Float64bits(x))
			s.cdp(0, 1, 0)
			s.cdp(1, 1, 0)
			s.cdp(8, 0, 2+nearest)
			if got := s.r(3, 1); float64(got) != clamp(want, 0, math.MaxUint32) {
				t.Fatalf("to unsigned of %v (%d): %d", x, nearest, got)
			}
		}
		s.w(1, 0, math.Float64bits(x)) // double to single
		s.cdp(8, 2, 1)
		if got, want := s.r(2, 5), math.Float32bits(float32(x)); got != want && want>>23&255 != 0 {
			t.Fatalf("single of %v: %08x, want %08x", x, got, want)
		}
		f := float32(x)
		s.w(1, 2, uint64(math.Float32bits(f))) // WXYU
		s.cdp(8, 0, 1)
		if got := s.result(11); got != float64(f) && math.Float32bits(f)>>23&255 != 0 {
			t.Fatalf("double of %v: %v", f, got)
		}
	}
}

// TestDCPState saves and restores a sequence under way.
func TestDCPState(t *testing.T) {
	p4, _ := NewDCP()
	s := seq{p4, t}
	engaged := func() bool {
		v, _ := p4.MRC(Insn{Opc2: 1, Two: true})
		return v>>31 != 0
	}
	if engaged() {
		t.Error("engaged at rest")
	}
	s.two(1.5, 2.25)
	s.cdp(0, 1, 0)
	if !engaged() {
		t.Error("not engaged in a sequence")
	}
	var saved [6]uint32
	saved[0], saved[1], _ = p4.MRRC(Insn{CRm: 8, Two: true})
	saved[2], saved[3], _ = p4.MRRC(Insn{CRm: 9, Two: true})
	saved[4], saved[5], _ = p4.MRRC(Insn{CRm: 10})
	if engaged() {
		t.Error("engaged after the state was read")
	}
	if got := s.div(7, 2); got != 3.5 {
		t.Errorf("a nested division gives %v", got)
	}
	for i := range uint32(3) {
		p4.MCRR(Insn{CRm: i}, saved[2*i], saved[2*i+1])
	}
	if !engaged() {
		t.Error("not engaged after the state was restored")
	}
	s.cdp(1, 1, 0)
	s.cdp(8, 0, 1)
	if got := s.result(1); got != 3.75 {
		t.Errorf("the interrupted addition gives %v", got)
	}
}
