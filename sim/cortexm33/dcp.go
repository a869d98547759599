package cortexm33

import "math/bits"

// dcp is one instance of the double-precision coprocessor of the RP2350
// (datasheet 3.6.2). Firmware drives it by fixed sequences of instructions
// (pico-sdk hardware_dcp, dcp_canned.inc.S); the fixed-point formats that those
// sequences imply are the ones used here. Denormals count as zero, rounding is
// to nearest even. The layout of the saved status words is ours.
type dcp struct {
	xm, ym uint64 // Q62: 1.0 is 1<<62
	xe, ye int    // biased by 1023
	xf, yf uint32
	shift  uint32 // alignment for add and subtract
	order  uint32 // magnitude of X: 0 less, 1 equal, 2 greater than Y
	// engaged: a sequence is under way.
	engaged bool
}

// Flags of a register, in the order of NZCV.
const (
	dcpNaN  = 1
	dcpInf  = 2
	dcpZero = 4
	dcpNeg  = 8

	dcpVersion = 1
	dcpBias    = 1023
)

// NewDCP returns the two instances of a core's coprocessor, as ports 4 and 5:
// port 4 is the instance of the present security state, port 5 the Non-secure
// one, for Secure code alone.
func NewDCP() (p4, p5 Coprocessor) {
	s, n := &dcp{}, &dcp{}
	return &dcpPort{[2]*dcp{s, n}, false}, &dcpPort{[2]*dcp{n, n}, true}
}

type dcpPort struct {
	by         [2]*dcp // by security state
	secureOnly bool
}

// Reset implements Coprocessor.
func (p *dcpPort) Reset() {
	*p.by[0] = dcp{}
	*p.by[1] = dcp{}
}

func (p *dcpPort) pick(x Insn) *dcp {
	if p.secureOnly && x.NonSecure {
		return nil
	}
	return p.by[b2i(x.NonSecure)]
}

// CDP implements Coprocessor.
func (p *dcpPort) CDP(x Insn) Result {
	d := p.pick(x)
	if d == nil {
		return CoprocFault
	}
	switch x.Opc1<<8 | x.CRm<<4 | x.Opc2 {
	case 0x000: // INIT
		*d = dcp{}
		return CoprocDone
	case 0x010: // ADD0
		d.compare()
	case 0x110: // ADD1
		d.sum(false)
	case 0x111: // SUB1
		d.sum(true)
	case 0x210: // SQR0
		d.halve()
	case 0x820: // NORM
		d.normalise()
	case 0x821: // NRDF
		d.round(39)
	case 0x801: // NRDD
		d.round(10)
	case 0x802: // NTDC
		d.toInt(false)
	case 0x803: // NRDC
		d.toInt(true)
	default:
		return CoprocUndefined
	}
	d.engaged = true
	return CoprocDone
}

// unpackD takes a double apart.
func unpackD(lo, hi uint32) (m uint64, e int, f uint32) {
	v := uint64(hi)<<32 | uint64(lo)
	e = int(hi >> 20 & 0x7ff)
	if hi>>31 != 0 {
		f = dcpNeg
	}
	switch {
	case e == 0:
		return 0, 0, f | dcpZero
	case e == 0x7ff && v<<12 == 0:
		f |= dcpInf
	case e == 0x7ff:
		f |= dcpNaN
	}
	return 1<<62 | v<<12>>2, e, f
}

// unpackF takes a single apart, with the exponent of a double.
func unpackF(v uint32) (m uint64, e int, f uint32) {
	e = int(v >> 23 & 0xff)
	if v>>31 != 0 {
		f = dcpNeg
	}
	switch {
	case e == 0:
		return 0, 0, f | dcpZero
	case e == 0xff && v<<9 == 0:
		return 1 << 62, 0x7ff, f | dcpInf
	case e == 0xff:
		return 1<<62 | uint64(v<<9)<<30, 0x7ff, f | dcpNaN
	}
	return 1<<62 | uint64(v<<9)<<30, e - 127 + dcpBias, f
}

// intBase is 2^52 + 2^32, by which conversions keep integers positive.
const intBase = 1<<52 + 1<<32

func (d *dcp) setBase() { d.ym, d.ye, d.yf = intBase<<10, dcpBias+52, 0 }

// MCRR implements Coprocessor.
func (p *dcpPort) MCRR(x Insn, lo, hi uint32) Result {
	d := p.pick(x)
	if d == nil {
		return CoprocFault
	}
	w := uint64(hi)<<32 | uint64(lo)
	d.engaged = true
	switch x.Opc1<<4 | x.CRm {
	case 0x00: // WXMD
		d.xm = w
	case 0x01: // WYMD
		d.ym = w
	case 0x02: // WEFD
		d.setStatus(lo, hi)
	case 0x10: // WXUP
		d.xm, d.xe, d.xf = unpackD(lo, hi)
	case 0x11: // WYUP
		d.ym, d.ye, d.yf = unpackD(lo, hi)
	case 0x12: // WXYU
		d.xm, d.xe, d.xf = unpackF(lo)
		d.ym, d.ye, d.yf = unpackF(hi)
	case 0x20: // WXMS
		d.xm = d.xm&^1 | uint64(b2u(w != 0))
	case 0x30: // WXMO: a product in Q60
		d.product(w|d.xm&1, 2)
	case 0x40: // WXDD: a quotient in Q57
		d.quotient(w, 5)
	case 0x50: // WXDQ: a root in Q60
		d.root(w, 2)
	case 0x60: // WXUC
		d.xm, d.xe, d.xf = (intBase+uint64(lo))<<10, dcpBias+52, 0
		d.setBase()
	case 0x70: // WXIC
		d.xm, d.xe, d.xf = uint64(intBase+int64(int32(lo)))<<10, dcpBias+52, 0
		d.setBase()
	case 0x80: // WXDC
		d.xm, d.xe, d.xf = unpackD(lo, hi)
		d.setBase()
	case 0x92: // WXFC
		d.xm, d.xe, d.xf = unpackF(lo)
		d.setBase()
	case 0xa0: // WXFM: a product in Q60
		d.product(w, 2)
	case 0xb0: // WXFD: a quotient in Q61
		d.quotient(w, 1)
	case 0xc0: // WXFQ: a root in Q61
		d.root(w, 1)
	default:
		return CoprocUndefined
	}
	return CoprocDone
}

// MCR implements Coprocessor: there is none.
func (p *dcpPort) MCR(Insn, uint32) Result { return CoprocUndefined }

// MRC implements Coprocessor.
func (p *dcpPort) MRC(x Insn) (v uint32, r Result) {
	d := p.pick(x)
	if d == nil {
		return 0, CoprocFault
	}
	switch x.Opc1<<8 | x.CRm<<4 | x.Opc2 {
	case 0x000: // RXVD
		v = d.xf<<28 | dcpVersion
	case 0x001: // RCMP
		v = d.flags()
	case 0x020, 0x021, 0x022, 0x023, 0x024, 0x025: // RDFA, S, M, D, Q, G
		v = d.packF()
	case 0x030: // RDIC
		v = uint32(min(max(int64(d.xm), -1<<31), 1<<31-1))
	case 0x031: // RDUC
		v = uint32(min(max(int64(d.xm), 0), 1<<32-1))
	default:
		return 0, CoprocUndefined
	}
	d.engaged = d.engaged && x.Two
	return v, CoprocDone
}

// MRRC implements Coprocessor.
func (p *dcpPort) MRRC(x Insn) (lo, hi uint32, r Result) {
	d := p.pick(x)
	if d == nil {
		return 0, 0, CoprocFault
	}
	var w uint64
	keep := x.Two
	switch {
	case x.CRm == 8 && x.Opc1 == 0: // RXMD
		w, keep = d.xm, true
	case x.CRm == 9 && x.Opc1 == 0: // RYMD
		w = d.ym
	case x.CRm == 10 && x.Opc1 == 0: // REFD
		w = d.status()
	case x.CRm == 4: // RXMS
		w, keep = d.xm>>x.Opc1, true
	case x.CRm == 5: // RYMS
		w, keep = d.ym>>x.Opc1, true
	case x.CRm == 1 && x.Opc1 == 1: // RXYH
		w, keep = d.ym>>32<<32|d.xm>>32, true
	case x.CRm == 1 && x.Opc1 == 2: // RYMR
		w, keep = d.ym>>31<<32|reciprocal(d.ym), true
	case x.CRm == 1 && x.Opc1 == 4: // RXMQ
		w, keep = d.xm>>32<<32|reciprocalRoot(d.xm), true
	case x.CRm == 0 && x.Opc1&1 != 0 && x.Opc1 < 12: // RDDA, S, M, D, Q, G
		w = d.packD()
	default:
		return 0, 0, CoprocUndefined
	}
	d.engaged = d.engaged && keep
	return uint32(w), uint32(w >> 32), CoprocDone
}

// status packs exponents, flags and the status register.
func (d *dcp) status() uint64 {
	lo := uint32(d.xe)&0x3fff | d.xf<<14
	hi := uint32(d.ye)&0x3fff | d.yf<<14 | d.shift<<18 | d.order<<24 | b2u(d.engaged)<<26
	return uint64(hi)<<32 | uint64(lo)
}

func (d *dcp) setStatus(lo, hi uint32) {
	ext := func(v uint32) int { return int(int32(v<<18) >> 18) }
	d.xe, d.xf = ext(lo), lo>>14&15
	d.ye, d.yf = ext(hi), hi>>14&15
	d.shift, d.order, d.engaged = hi>>18&63, hi>>24&3, hi>>26&1 != 0
}

// reciprocal approximates 1/y in Q31 to about twelve bits.
func reciprocal(y uint64) uint64 {
	n := y >> 50 // Q12, from 4096
	if n == 0 {
		return 0x7fffffff
	}
	return min(1<<43/n, 0x7fffffff)
}

// reciprocalRoot approximates 1/sqrt(x) in Q31 for x from 1 to 4.
func reciprocalRoot(x uint64) uint64 {
	n := x >> 50
	if n == 0 {
		return 0x7fffffff
	}
	// 2^31/sqrt(n/2^12) = sqrt(2^74/n), taken as sqrt(2^62/n) * 2^6.
	return min(isqrt(1<<62/n)<<6, 0x7fffffff)
}

// compare is ADD0: which magnitude is greater, and the alignment.
func (d *dcp) compare() {
	x, y := d.xe, d.ye
	switch {
	case x == y && d.xm == d.ym:
		d.order = 1
	case x > y || x == y && d.xm > d.ym:
		d.order = 2
	default:
		d.order = 0
	}
	diff := x - y
	if diff < 0 {
		diff = -diff
	}
	d.shift = uint32(min(diff, 63))
}

// flags is the result of a comparison as NZCV, N standing for "engaged".
func (d *dcp) flags() uint32 {
	v := b2u(d.engaged) << 31
	if (d.xf|d.yf)&dcpNaN != 0 {
		return v | 1<<28
	}
	xn, yn := d.xf&dcpNeg != 0, d.yf&dcpNeg != 0
	switch {
	case d.xf&d.yf&dcpZero != 0:
		return v | 3<<29
	case xn != yn:
		return v | b2u(yn)<<29
	case d.order == 1:
		return v | 3<<29
	}
	return v | b2u((d.order == 2) != xn)<<29
}

// sum is ADD1 and SUB1.
func (d *dcp) sum(sub bool) {
	xf, yf := d.xf, d.yf
	if sub {
		yf ^= dcpNeg
	}
	same := (xf^yf)&dcpNeg == 0
	f := xf & dcpNeg
	big, small := d.xm, d.ym
	if d.order == 0 {
		big, small = d.ym, d.xm
		f = yf & dcpNeg
		d.xe = d.ye
	}
	small = jam(small, int(d.shift))
	switch {
	case (xf|yf)&dcpNaN != 0 || xf&yf&dcpInf != 0 && !same:
		f = dcpNaN
	case xf&dcpInf != 0:
		f = dcpInf | xf&dcpNeg
	case yf&dcpInf != 0:
		f = dcpInf | yf&dcpNeg
	case same:
		d.xm = big + small
		if xf&yf&dcpZero != 0 {
			f |= dcpZero
		}
	default:
		d.xm = big - small
		if d.xm == 0 {
			f = dcpZero
		}
	}
	d.yf = d.xf
	d.xf = f
}

// product takes over a mantissa product, adjusted by adj binary places.
func (d *dcp) product(m uint64, adj int) {
	f := (d.xf ^ d.yf) & dcpNeg
	either := d.xf | d.yf
	switch {
	case either&dcpNaN != 0 || either&dcpInf != 0 && either&dcpZero != 0:
		f = dcpNaN
	case either&dcpInf != 0:
		f |= dcpInf
	case either&dcpZero != 0:
		f |= dcpZero
	}
	d.xm, d.xe, d.xf = m, d.xe+d.ye-dcpBias+adj, f
}

// quotient takes over a mantissa quotient.
func (d *dcp) quotient(m uint64, adj int) {
	f := (d.xf ^ d.yf) & dcpNeg
	switch {
	case (d.xf|d.yf)&dcpNaN != 0 || d.xf&d.yf&(dcpInf|dcpZero) != 0:
		f = dcpNaN
	case d.xf&dcpInf != 0 || d.yf&dcpZero != 0:
		f |= dcpInf
	case d.xf&dcpZero != 0 || d.yf&dcpInf != 0:
		f |= dcpZero
	}
	d.xm, d.xe, d.xf = m, d.xe-d.ye+dcpBias+adj, f
}

// halve is SQR0: an even exponent, halved.
func (d *dcp) halve() {
	e := d.xe - dcpBias
	if e&1 != 0 {
		d.xm <<= 1
	}
	d.xe = e>>1 + dcpBias
}

// root takes over a square root.
func (d *dcp) root(m uint64, adj int) {
	d.xm = m
	d.xe += adj
	if d.xf&dcpNeg != 0 && d.xf&dcpZero == 0 {
		d.xf = dcpNaN
	}
}

// normalise moves the leading one to bit 62.
func (d *dcp) normalise() {
	if d.xm == 0 {
		return
	}
	if n := bits.LeadingZeros64(d.xm) - 1; n >= 0 {
		d.xm <<= n
		d.xe -= n
	} else {
		d.xm = jam(d.xm, 1)
		d.xe++
	}
}

// round normalises and rounds to nearest even, dropping n bits.
func (d *dcp) round(n int) {
	if d.xm == 0 && d.xf&(dcpInf|dcpNaN) == 0 {
		d.xf |= dcpZero
		return
	}
	d.normalise()
	rest := d.xm & (1<<n - 1)
	d.xm &^= 1<<n - 1
	if half := uint64(1) << (n - 1); rest > half || rest == half && d.xm>>n&1 != 0 {
		d.xm += 1 << n
		if d.xm>>63 != 0 {
			d.xm >>= 1
			d.xe++
		}
	}
}

// toInt ends a conversion: xm becomes the integer, beyond the range of 32 bits
// any value of the right sign.
func (d *dcp) toInt(nearest bool) {
	neg := d.yf&dcpNeg != 0
	big := int64(1) << 40
	if neg {
		big = -big
	}
	switch {
	case d.xf&dcpNaN != 0:
		d.xm = 0
		return
	case d.xf&dcpInf != 0:
		d.xm = uint64(big)
		return
	}
	d.normalise()
	if d.xe != dcpBias+52 || d.xf&dcpNeg != 0 {
		d.xm = uint64(big)
		return
	}
	n, rest := int64(d.xm>>10), d.xm&0x3ff
	switch {
	case nearest && (rest > 0x200 || rest == 0x200 && n&1 != 0), !nearest && neg && rest != 0:
		n++
	}
	d.xm = uint64(n - intBase)
}

// packD and packF make the result.
func (d *dcp) packD() uint64 {
	s := uint64(d.xf>>3) << 63
	switch {
	case d.xf&dcpNaN != 0:
		return 0x7ff8 << 48
	case d.xf&dcpZero != 0 || d.xf&dcpInf == 0 && d.xe <= 0:
		return s
	case d.xf&dcpInf != 0 || d.xe >= 0x7ff:
		return s | 0x7ff0<<48
	}
	return s | uint64(d.xe)<<52 | d.xm<<2>>12
}

func (d *dcp) packF() uint32 {
	s := d.xf >> 3 << 31
	e := d.xe - dcpBias + 127
	switch {
	case d.xf&dcpNaN != 0:
		return defaultNaN
	case d.xf&dcpZero != 0 || d.xf&dcpInf == 0 && e <= 0:
		return s
	case d.xf&dcpInf != 0 || e >= 0xff:
		return s | infinity
	}
	return s | uint32(e)<<23 | uint32(d.xm>>39)&0x7fffff
}
