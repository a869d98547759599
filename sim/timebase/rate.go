package timebase

import "math/bits"

// Rate is a frequency in hertz as a fraction, so that dividers lose nothing. A
// Rate with Num 0 is a stopped clock.
type Rate struct {
	Num, Den uint64
}

// Hertz returns a whole frequency.
func Hertz(hz uint64) Rate { return Rate{hz, 1} }

// Stopped reports whether the clock stands still.
func (r Rate) Stopped() bool { return r.Num == 0 || r.Den == 0 }

// Scale returns r·num/den in lowest terms; a zero den stops the clock.
func (r Rate) Scale(num, den uint64) Rate {
	if r.Stopped() || num == 0 || den == 0 {
		return Rate{0, 1}
	}
	a, b := reduce(r.Num, den)
	c, d := reduce(num, r.Den)
	return fit(a, c, d, b)
}

// Over returns the fraction r/s: how many cycles of r pass in one of s.
func (r Rate) Over(s Rate) (num, den uint64) {
	if r.Stopped() || s.Stopped() {
		return 0, 1
	}
	q := r.Scale(s.Den, s.Num)
	return q.Num, q.Den
}

// Float returns the frequency for display.
func (r Rate) Float() float64 {
	if r.Den == 0 {
		return 0
	}
	return float64(r.Num) / float64(r.Den)
}

// fit returns a·c / (d·b), halving both sides in the hopeless case that the
// product needs more than 64 bits.
func fit(a, c, d, b uint64) Rate {
	nh, nl := bits.Mul64(a, c)
	dh, dl := bits.Mul64(d, b)
	for nh != 0 || dh != 0 {
		nl, nh = nl>>1|nh<<63, nh>>1
		dl, dh = dl>>1|dh<<63, dh>>1
	}
	if dl == 0 {
		dl = 1
	}
	n, m := reduce(nl, dl)
	return Rate{n, m}
}

func reduce(a, b uint64) (uint64, uint64) {
	x, y := a, b
	for y != 0 {
		x, y = y, x%y
	}
	if x == 0 {
		return a, b
	}
	return a / x, b / x
}
