package symbols

import "encoding/binary"

// reader takes values off the front of p; bad is set once there were too few
// bytes.
type reader struct {
	p    []byte
	base uint32 // address of p[0] as it was made
	used uint32
	bad  bool
}

func (r *reader) take(n uint64) []byte {
	if n > uint64(len(r.p)) {
		r.bad = true
		n = uint64(len(r.p))
	}
	out := r.p[:n]
	r.p = r.p[n:]
	r.used += uint32(n)
	return out
}

func (r *reader) u8() byte {
	if b := r.take(1); len(b) == 1 {
		return b[0]
	}
	return 0
}

func (r *reader) u16() uint16 {
	if b := r.take(2); len(b) == 2 {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

func (r *reader) u32() uint32 {
	if b := r.take(4); len(b) == 4 {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (r *reader) cstring() string {
	for i, b := range r.p {
		if b == 0 {
			s := string(r.p[:i])
			r.take(uint64(i) + 1)
			return s
		}
	}
	r.bad = true
	return ""
}

func (r *reader) uleb() uint64 {
	var v uint64
	for shift := 0; ; shift += 7 {
		b := r.u8()
		if shift < 64 {
			v |= uint64(b&0x7f) << shift
		}
		if b&0x80 == 0 || r.bad {
			return v
		}
	}
}

func (r *reader) sleb() int64 {
	var v int64
	for shift := 0; ; shift += 7 {
		b := r.u8()
		if shift < 64 {
			v |= int64(b&0x7f) << shift
		}
		if b&0x80 == 0 || r.bad {
			if b&0x40 != 0 && shift+7 < 64 {
				v |= -1 << (shift + 7)
			}
			return v
		}
	}
}

// pointer reads a pointer in one of .eh_frame's encodings.
func (r *reader) pointer(enc byte) uint32 {
	if enc == encOmit {
		return 0
	}
	at := r.base + r.used
	var v uint32
	switch enc & 0x0f {
	case encAbs, encData4, encSData4:
		v = r.u32()
	case encULEB:
		v = uint32(r.uleb())
	case encSLEB:
		v = uint32(r.sleb())
	case encData2:
		v = uint32(r.u16())
	case encSData2:
		v = uint32(int32(int16(r.u16())))
	default:
		r.bad = true
	}
	switch enc & 0x70 {
	case 0:
	case encPCRel:
		v += at
	default:
		r.bad = true
	}
	return v
}
