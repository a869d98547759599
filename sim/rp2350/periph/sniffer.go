package periph

import "math/bits"

// The calculations of SNIFF_CTRL.CALC (datasheet 12.6.8.2).
const (
	sniffCRC32  = 0
	sniffCRC32R = 1
	sniffCRC16  = 2
	sniffCRC16R = 3
	sniffEven   = 14
	sniffSum    = 15
)

// sniffer computes a checksum over the data of one DMA channel.
type sniffer struct{ value uint32 }

// feed takes the datum that channel n moved.
func (s *sniffer) feed(ctrl uint32, n int, v uint32, size uint8) {
	if ctrl&1 == 0 || int(ctrl>>1&15) != n {
		return
	}
	if ctrl&(1<<9) != 0 { // BSWAP
		switch size {
		case 2:
			v = uint32(bits.ReverseBytes16(uint16(v)))
		case 4:
			v = bits.ReverseBytes32(v)
		}
	}
	switch calc := ctrl >> 5 & 15; calc {
	case sniffCRC32, sniffCRC32R, sniffCRC16, sniffCRC16R:
		for i := range uint32(size) {
			if calc&1 != 0 {
				s.crc(calc, uint32(bits.Reverse8(uint8(v>>(8*i)))))
			} else {
				s.crc(calc, v>>(8*(uint32(size)-1-i))&0xff)
			}
		}
	case sniffEven:
		s.value ^= uint32(bits.OnesCount32(v) & 1)
	case sniffSum:
		s.value += v
	}
}

// crc shifts a byte in, most significant bit first.
func (s *sniffer) crc(calc, b uint32) {
	if calc >= sniffCRC16 {
		c := s.value&0xffff ^ b<<8
		for range 8 {
			c <<= 1
			if c&0x10000 != 0 {
				c ^= 0x11021
			}
		}
		s.value = c
		return
	}
	c := s.value ^ b<<24
	for range 8 {
		if c&(1<<31) != 0 {
			c = c<<1 ^ 0x04c11db7
		} else {
			c <<= 1
		}
	}
	s.value = c
}

// result is SNIFF_DATA as it is read.
func (s *sniffer) result(ctrl uint32) uint32 {
	v := s.value
	if ctrl&(1<<10) != 0 {
		v = bits.Reverse32(v)
	}
	if ctrl&(1<<11) != 0 {
		v = ^v
	}
	return v
}
