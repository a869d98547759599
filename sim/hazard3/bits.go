package hazard3

import "math/bits"

// orcB sets each byte that is not zero to 0xff.
func orcB(v uint32) uint32 {
	v |= v>>1&0x7f7f7f7f | v<<1&0xfefefefe
	v |= v>>2&0x3f3f3f3f | v<<2&0xfcfcfcfc
	v |= v>>4&0x0f0f0f0f | v<<4&0xf0f0f0f0
	return v
}

// brev8 reverses the bits of each byte.
func brev8(v uint32) uint32 { return bits.ReverseBytes32(bits.Reverse32(v)) }

// zip interleaves: the low half goes to the even bits, the high half to the
// odd ones.
func zip(v uint32) uint32 { return spread(v&0xffff) | spread(v>>16)<<1 }

// unzip undoes zip.
func unzip(v uint32) uint32 { return gather(v) | gather(v>>1)<<16 }

func spread(v uint32) uint32 {
	v = (v | v<<8) & 0x00ff00ff
	v = (v | v<<4) & 0x0f0f0f0f
	v = (v | v<<2) & 0x33333333
	return (v | v<<1) & 0x55555555
}

func gather(v uint32) uint32 {
	v &= 0x55555555
	v = (v | v>>1) & 0x33333333
	v = (v | v>>2) & 0x0f0f0f0f
	v = (v | v>>4) & 0x00ff00ff
	return (v | v>>8) & 0xffff
}

// clmul64 is the whole carry-less product.
func clmul64(a, b uint32) uint64 {
	var r uint64
	for x := uint64(a); b != 0; b &= b - 1 {
		r ^= x << uint(bits.TrailingZeros32(b))
	}
	return r
}

func mulh(a, b uint32) uint32 { return uint32(uint64(int64(int32(a))*int64(int32(b))) >> 32) }

func mulhsu(a, b uint32) uint32 { return uint32(uint64(int64(int32(a))*int64(uint64(b))) >> 32) }

func mulhu(a, b uint32) uint32 { return uint32(uint64(a) * uint64(b) >> 32) }

func div(a, b uint32) uint32 {
	switch {
	case b == 0:
		return 0xffffffff
	case a == 0x80000000 && b == 0xffffffff:
		return a
	}
	return uint32(int32(a) / int32(b))
}

func divu(a, b uint32) uint32 {
	if b == 0 {
		return 0xffffffff
	}
	return a / b
}

func rem(a, b uint32) uint32 {
	switch {
	case b == 0:
		return a
	case a == 0x80000000 && b == 0xffffffff:
		return 0
	}
	return uint32(int32(a) % int32(b))
}

func remu(a, b uint32) uint32 {
	if b == 0 {
		return a
	}
	return a % b
}

// divuCycles is the time of an unsigned division: two cycles to begin, 16
// iterations of two bits, and one for the result (hazard3_muldiv_seq.v).
const divuCycles = 19

// divCycles is the time of a signed division of a. A negative dividend takes a
// cycle more, to put the signs of the results right. So does a negative divisor
// with a positive dividend, but then the cycle that negates the divisor, as the
// iterations need it, is saved.
func divCycles(a uint32) uint64 {
	if int32(a) < 0 {
		return 20
	}
	return divuCycles
}

func boolTo(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}
