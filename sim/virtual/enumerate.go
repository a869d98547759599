package virtual

import "encoding/binary"

// maxTries bounds the attempts to enumerate; retryTime lies between them.
const (
	maxTries  = 5
	retryTime = 100e-3
)

// enumerate resets the bus and asks for the descriptors.
func (f *Firmware) enumerate() {
	f.Reset()
	f.describe(descDevice, 8, func(d []byte) {
		if len(d) < 8 {
			return
		}
		if n := int(d[7]); n == 8 || n == 16 || n == 32 {
			f.size0 = n
		}
		f.describe(descDevice, 18, func(d []byte) {
			f.device = d
			f.describe(descConfiguration, 9, func(c []byte) {
				if len(c) < 9 {
					return
				}
				f.describe(descConfiguration, binary.LittleEndian.Uint16(c[2:]), f.described)
			})
		})
	})
}

// described takes the configuration, the last of the descriptors.
func (f *Firmware) described(c []byte) {
	if len(f.device) < 18 || len(c) < 9 {
		return
	}
	f.config, f.parsed = c, parseConfig(c)
	if f.ready != nil {
		f.ready(f)
	}
}

// describe asks for a descriptor.
func (f *Firmware) describe(kind, length uint16, then func([]byte)) {
	f.control = append(f.control, &URB{
		In: true, Length: int(length),
		Setup: Setup{Type: 0x80, Request: reqGetDescriptor, Value: kind << 8, Length: length},
		Done: func(u *URB) {
			switch {
			case u.Status == StatusOK:
				then(u.Data)
			case u.Status != StatusGone && f.tries < maxTries:
				f.tries++
				f.enumerate()
				f.quietTill = f.now() + retryTime
			}
		},
	})
}
