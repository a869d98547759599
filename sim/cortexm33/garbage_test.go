package cortexm33

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// garbage makes code of random halfwords, random 32-bit encodings and random
// valid instructions, 200 bytes.
func (g *generator) garbage(pools [2][]*template) []byte {
	var code []byte
	for len(code) < 200 {
		switch g.IntN(4) {
		case 0:
			code = le.AppendUint16(code, uint16(g.Uint32()))
		case 1:
			code = le.AppendUint32(code, g.Uint32()|0xe800)
		default:
			p := pools[b2i(g.IntN(3) == 0)]
			w, n := g.make(p[g.IntN(len(p))])
			if n == 2 {
				code = le.AppendUint16(code, uint16(w>>16))
			}
			code = le.AppendUint16(code, uint16(w))
		}
	}
	return code
}

// TestGarbage runs code that is mostly nonsense, with pointers to itself, to
// system registers and to nowhere in the registers, and whose fault handlers
// are the code itself: the two loops agree to the cycle.
func TestGarbage(t *testing.T) {
	g := &generator{Rand: rand.New(rand.NewPCG(99, 1))}
	pools := [2][]*template{pool(false), pool(true)}
	machines := [2]*bare{newBare(t), newBare(t)}
	machines[1].core.Plain = true
	n := 1500
	if testing.Short() {
		n = 200
	}
	for i := range n {
		code := g.garbage(pools)
		extra := g.Uint32()
		var end [2]string
		for k, m := range machines {
			c := m.core
			c.Semihost = nil
			for w := range 2 {
				clear(m.windows[w].Mem[:8192])
			}
			c.InvalidateCode(0x10000000, 0x10002000)
			table := le.AppendUint32(nil, 0x38001000)
			for range 79 {
				table = le.AppendUint32(table, 0x10000201)
			}
			m.poke(0x10000000, table)
			m.poke(0x10000200, code)
			c.Cycle, c.instret, m.resv = 0, 0, 1
			c.dbg.demcr, c.fpb = 0, fpb{}
			c.Reset()
			c.WritePPB(0xe000ed88, 4, 0xf0ffff, false)
			copy(c.R[:], []uint32{0x38000100, 0x10000200, 0xe000ed00, 0x80000000, 3, 0xfffffff9, 6,
				0x38000200, 0x38000300, 0x38000400, extra, 0x10001f00, 0xe000e100})
			reason := c.Run(3000)
			end[k] = stateText(c, uint8(reason)) + fmt.Sprint(c.lastTrap)
		}
		if end[0] != end[1] {
			t.Fatalf("program %d, %x\nfast  %s\nplain %s", i, code, end[0], end[1])
		}
	}
}
