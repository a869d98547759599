package cortexm33

import "testing"

// FuzzExecute runs arbitrary halfwords as code, in both loops: nothing may
// panic, and the loops agree on where it led.
func FuzzExecute(f *testing.F) {
	f.Add([]byte{0x00, 0xbf, 0xfe, 0xe7})
	f.Add([]byte{0x4f, 0xf0, 0x00, 0x00, 0xbf, 0xf3, 0x6f, 0x8f, 0x00, 0xdf})
	f.Add([]byte{0x08, 0xbf, 0x20, 0xed, 0x00, 0x0a, 0x10, 0xee, 0x10, 0x07, 0x7f, 0xe9, 0x7f, 0xe9})
	f.Add([]byte{0x62, 0xb6, 0x30, 0xbf, 0x20, 0xbf, 0x40, 0xbf, 0xab, 0xbe, 0x00, 0xbe})
	f.Add([]byte{0xef, 0xf3, 0x14, 0x80, 0x80, 0xf3, 0x14, 0x88, 0x04, 0x47, 0x84, 0x47, 0x9f, 0xec, 0x20, 0x0a})
	f.Fuzz(func(t *testing.T, code []byte) {
		if len(code) > 4096 {
			code = code[:4096]
		}
		var end [2]string
		for i, plain := range []bool{false, true} {
			m := newBare(t)
			m.core.Semihost = nil
			m.core.Plain = plain
			// A vector table whose handlers are the code itself.
			for n := uint32(0); n < 80; n++ {
				v := uint32(0x10000201)
				if n == 0 {
					v = 0x38010000
				}
				m.poke(0x10000000+4*n, []byte{byte(v), byte(v >> 8), byte(v >> 16), byte(v >> 24)})
			}
			m.poke(0x10000200, code)
			m.core.Reset()
			m.core.WritePPB(0xe000ed88, 4, 0xf0ffff, false)
			for r := range 8 {
				m.core.R[r] = []uint32{0x38000100, 0x10000200, 0xe000ed00, 0x80000000, 3, 0xfffffff9, 0x3f800000, 0x38000200}[r]
			}
			r := m.core.Run(3000)
			end[i] = stateText(m.core, uint8(r))
		}
		if end[0] != end[1] {
			t.Fatalf("fast  %s\nplain %s", end[0], end[1])
		}
	})
}

func stateText(c *Core, reason uint8) string {
	s := ""
	for _, v := range c.R[:15] {
		s += hex(v) + " "
	}
	return s + "pc " + hex(c.pc) + " xpsr " + hex(c.xpsr()) + " cycles " + hex(uint32(c.Cycle)) + " n " + hex(uint32(c.instret)) +
		" reason " + hex(uint32(reason)) + " fpscr " + hex(c.fpscr) + " control " + hex(c.control[0])
}

func hex(v uint32) string {
	const digits = "0123456789abcdef"
	var b [8]byte
	for i := range b {
		b[i] = digits[v>>(28-4*i)&15]
	}
	return string(b[:])
}
