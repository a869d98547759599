package cortexm33

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// exact rounds an exact value to single as IEEE 754 says, with math/big, in one
// of the four modes. zero is the sign of an exact zero.
func exact(v *big.Float, mode int, zero uint32) (bits uint32, inexact, overflow, tiny bool) {
	if v.Sign() == 0 {
		return zero, false, false, false
	}
	modes := [4]big.RoundingMode{big.ToNearestEven, big.ToPositiveInf, big.ToNegativeInf, big.ToZero}
	prec := 24
	// big.Float has no subnormals: the precision shrinks with the exponent.
	if e := v.MantExp(nil); e < -125 { // v < 2^-126
		tiny = true
		prec = 24 - (-125 - e)
	}
	if prec < 1 {
		// Below the smallest subnormal: the mode decides between it and zero.
		neg := v.Sign() < 0
		half := big.NewFloat(math.Ldexp(1, -150))
		abs := new(big.Float).Abs(v)
		up := mode == fpRP && !neg || mode == fpRM && neg || mode == fpRN && abs.Cmp(half) > 0
		return sign(neg) | b2u(up), true, false, true
	}
	r := new(big.Float).SetMode(modes[mode]).SetPrec(uint(prec)).Set(v)
	inexact = r.Cmp(v) != 0
	limit := new(big.Float).SetMantExp(big.NewFloat(1), 128)
	if new(big.Float).Abs(r).Cmp(limit) >= 0 {
		neg := v.Sign() < 0
		if mode == fpRZ || mode == fpRP && neg || mode == fpRM && !neg {
			return sign(neg) | maxFinite, true, true, false
		}
		return sign(neg) | infinity, true, true, false
	}
	f, _ := r.Float32()
	return math.Float32bits(f), inexact, false, tiny
}

func bigOf(v uint32) *big.Float {
	return new(big.Float).SetPrec(600).SetFloat64(float64(math.Float32frombits(v)))
}

func isNumber(v uint32) bool { return v>>23&255 != 255 }

// TestExactArithmetic compares add, multiply, fused multiply-add, divide and
// square root with exact arithmetic, results and flags, in all rounding modes.
func TestExactArithmetic(t *testing.T) {
	g := &generator{Rand: rand.New(rand.NewPCG(7, 7))}
	n := 20000
	if testing.Short() {
		n = 2000
	}
	for i := range n {
		a, b, c := g.single(), g.single(), g.single()
		if !isNumber(a) || !isNumber(b) || !isNumber(c) {
			continue
		}
		mode := i & 3
		x, y, z := bigOf(a), bigOf(b), bigOf(c)
		prec := func() *big.Float { return new(big.Float).SetPrec(600) }
		prod := prec().Mul(x, y)
		prodZero := sign(a>>31 != b>>31)
		sumZero := func(p, q uint32) uint32 { // the sign of a zero sum
			if p>>31 == q>>31 && p<<1 == 0 && q<<1 == 0 {
				return p & signBit
			}
			return sign(mode == fpRM)
		}
		check := func(op string, got uint32, f fenv, want *big.Float, zero uint32, more bool) {
			w, inexact, over, tiny := exact(want, mode, zero)
			inexact = inexact || more
			flags := b2u(inexact)*fpIXC | b2u(over)*fpOFC | b2u(inexact && tiny)*fpUFC
			if got != w || uint32(f)&0xff != flags {
				t.Fatalf("%s %08x %08x %08x mode %d: %08x flags %02x, want %08x %02x", op, a, b, c, mode, got, uint32(f)&0xff, w, flags)
			}
		}
		f := fenv(mode << 22)
		r := f.add(a, b)
		check("add", r, f, prec().Add(x, y), sumZero(a, b), false)
		f = fenv(mode << 22)
		r = f.mul(a, b)
		check("mul", r, f, prod, prodZero, false)
		f = fenv(mode << 22)
		r = f.fma(c, a, b)
		pz := prodZero
		if prod.Sign() != 0 {
			pz = 1 // not a zero
		}
		check("fma", r, f, prec().Add(prod, z), sumZero(pz, c), false)
		if b<<1 != 0 {
			f = fenv(mode << 22)
			r = f.div(a, b)
			check("div", r, f, prec().Quo(x, y), prodZero, false)
		}
		if a>>31 == 0 {
			f = fenv(mode << 22)
			r = f.sqrt(a)
			check("sqrt", r, f, prec().Sqrt(x), 0, false)
		}
	}
}

// TestFastPaths compares the fast paths with the full arithmetic, and with the
// host's.
func TestFastPaths(t *testing.T) {
	g := &generator{Rand: rand.New(rand.NewPCG(8, 8))}
	used := 0
	for range 300000 {
		a, b, c := g.single(), g.single(), g.single()
		for k, fn := range []struct {
			fast func(*fenv) (uint32, bool)
			full func(*fenv) uint32
			host float32
		}{
			{func(f *fenv) (uint32, bool) { return f.fastAdd(a, b) }, func(f *fenv) uint32 { return f.add(a, b) },
				math.Float32frombits(a) + math.Float32frombits(b)},
			{func(f *fenv) (uint32, bool) { return f.fastMul(a, b) }, func(f *fenv) uint32 { return f.mul(a, b) },
				math.Float32frombits(a) * math.Float32frombits(b)},
			{func(f *fenv) (uint32, bool) { return f.fastFMA(c, a, b) }, func(f *fenv) uint32 { return f.fma(c, a, b) }, 0},
		} {
			var f1, f2 fenv
			r1, ok := fn.fast(&f1)
			r2 := fn.full(&f2)
			if ok {
				used++
				if r1 != r2 || f1 != f2 {
					t.Fatalf("function %d of %08x %08x %08x: fast %08x flags %x, full %08x %x", k, a, b, c, r1, f1, r2, f2)
				}
			}
			if k < 2 && fn.host == fn.host && r2 != math.Float32bits(fn.host) {
				t.Fatalf("function %d of %08x %08x: %08x, the host says %08x", k, a, b, r2, math.Float32bits(fn.host))
			}
		}
	}
	if used < 100000 {
		t.Errorf("the fast paths served only %d operations", used)
	}
}

// TestConversions compares conversions with exact arithmetic.
func TestConversions(t *testing.T) {
	g := &generator{Rand: rand.New(rand.NewPCG(9, 9))}
	for range 100000 {
		v := g.single()
		x := float64(math.Float32frombits(v))
		for _, mode := range []int{fpRN, fpRP, fpRM, fpRZ, fpRA} {
			var f fenv
			got := f.toInt(v, 0, true, 32, mode)
			var want float64
			switch mode {
			case fpRN:
				want = math.RoundToEven(x)
			case fpRP:
				want = math.Ceil(x)
			case fpRM:
				want = math.Floor(x)
			case fpRZ:
				want = math.Trunc(x)
			case fpRA:
				want = math.Round(x)
			}
			flags := fenv(0)
			switch {
			case x != x:
				want, flags = 0, fpIOC
			case want > math.MaxInt32:
				want, flags = math.MaxInt32, fpIOC
			case want < math.MinInt32:
				want, flags = math.MinInt32, fpIOC
			case want != x:
				flags = fpIXC
			}
			if int32(got) != int32(want) || f != flags {
				t.Fatalf("toInt(%08x, mode %d): %d flags %x, want %v %x", v, mode, int32(got), f, want, flags)
			}
		}
		var f fenv
		n := g.word()
		if got, want := f.fromInt(n, 0, true, 32, fpRN), math.Float32bits(float32(int32(n))); got != want {
			t.Fatalf("fromInt(%d): %08x, want %08x", int32(n), got, want)
		}
		if got, want := f.fromInt(n, 0, false, 32, fpRN), math.Float32bits(float32(n)); got != want {
			t.Fatalf("fromInt(%d): %08x, want %08x", n, got, want)
		}
	}
	// Every half value survives the way to single and back.
	for h := range uint32(1 << 16) {
		var f fenv
		s := f.fromHalf(h)
		if back := f.toHalf(s); back != h && !(h&0x7c00 == 0x7c00 && h&0x3ff != 0 && back == h|0x200) {
			t.Fatalf("half %04x becomes %08x and back %04x", h, s, back)
		}
	}
}
