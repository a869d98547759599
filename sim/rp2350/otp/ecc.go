package otp

import "math/bits"

// The code of an ECC row: bits 15:0 data, 20:16 a Hamming syndrome, 21 the
// parity of the 21 bits below. Bits 23:22 are "bit repair by polarity": both 1
// say that the 22 bits below are stored inverted (datasheet 13.6.1).

// syndromes select the data bits that each syndrome bit covers
// (raspberrypi/picotool main.cpp, the map of the SHF macrocell).
var syndromes = [5]uint32{
	0b1010110101011011,
	0b0011011001101101,
	0b1100011110001110,
	0b0000011111110000,
	0b1111100000000000,
}

const (
	eccBits = 1<<22 - 1
	brpBits = 3 << 22
)

// Encode returns the 22 bits that protect 16 bits of data.
func Encode(v uint16) uint32 {
	x := uint32(v)
	for i, m := range syndromes {
		x |= odd(uint32(v)&m) << (16 + i)
	}
	return x | odd(x)<<21
}

// EncodeOver returns what must be programmed into a row that holds old so that
// it reads as v: plain, or inverted where a fuse is in the way; ok is false if
// neither fits.
func EncodeOver(v uint16, old uint32) (raw uint32, ok bool) {
	raw = Encode(v)
	if old&^raw == 0 {
		return raw, true
	}
	raw = raw&eccBits ^ eccBits | brpBits
	return raw, old&^raw == 0
}

// Decode returns the data of a raw row. One wrong bit is corrected; ok is false
// for two.
func Decode(raw uint32) (v uint16, ok bool) {
	if raw&brpBits == brpBits {
		raw ^= eccBits
	}
	raw &= eccBits
	var s uint32
	for i, m := range syndromes {
		s |= (odd(raw&m) ^ raw>>(16+i)&1) << i
	}
	if s == 0 {
		return uint16(raw), true // at most the parity bit is wrong
	}
	if odd(raw) == 0 {
		return uint16(raw), false // two bits are wrong
	}
	for b := range 16 {
		var col uint32
		for i, m := range syndromes {
			col |= m >> b & 1 << i
		}
		if col == s {
			return uint16(raw ^ 1<<b), true
		}
	}
	if s&(s-1) == 0 {
		return uint16(raw), true // a syndrome bit itself
	}
	return uint16(raw), false
}

func odd(x uint32) uint32 { return uint32(bits.OnesCount32(x) & 1) }
