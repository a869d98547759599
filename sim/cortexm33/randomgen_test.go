package cortexm33

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// template is an instruction with random fields. In the pattern, 0 and 1 are
// fixed and x is random; the letters stand for registers:
//
//	d n m a e  r0 to r5 and r10 to r12 (three bits wide: r0 to r5)
//	B          a pointer to the block's data, r8 or r9 (three bits: r7)
//	i          the index register, r6
//	D          another destination than the one chosen for d
//	S          sp as a plain operand (four bits)
type template struct {
	name, pattern string
	// fp: for blocks of floating-point instructions.
	fp bool
	// noIT: not inside an IT block. weight is how often, 1 by default.
	noIT   bool
	weight int
}

// generator makes random instructions.
type generator struct {
	*rand.Rand
	itLeft int
}

var generalRegs = []uint32{0, 1, 2, 3, 4, 5, 10, 11, 12}

// make fills the fields of t.
func (g *generator) make(t *template) (w uint32, n int) {
	p := strings.ReplaceAll(t.pattern, " ", "")
	fields := map[byte]uint32{}
	counts := map[byte]int{}
	for i := range len(p) {
		counts[p[i]]++
	}
	value := func(b byte) uint32 {
		narrow := counts[b] == 3
		switch b {
		case 'd', 'n', 'm', 'a', 'e':
			if narrow {
				return uint32(g.IntN(6))
			}
			return generalRegs[g.IntN(len(generalRegs))]
		case 'D':
			for {
				if r := generalRegs[g.IntN(len(generalRegs))]; r != fields['d'] {
					return r
				}
			}
		case 'B':
			if narrow {
				return 7
			}
			return 8 + uint32(g.IntN(2))
		case 'i':
			return 6
		case 'S':
			return 13
		}
		return uint32(g.Uint64())
	}
	for _, b := range []byte("dnmaeBiSD") {
		if counts[b] > 0 {
			fields[b] = value(b)
		}
	}
	left := map[byte]int{}
	for k, v := range counts {
		left[k] = v
	}
	for i := range len(p) {
		w <<= 1
		switch b := p[i]; b {
		case '0':
		case '1':
			w |= 1
		case 'x':
			w |= uint32(g.IntN(2))
		default:
			left[b]--
			width := 4
			if counts[b] == 3 {
				width = 3
			}
			w |= fields[b] >> (left[b] % width) & 1
		}
	}
	if len(p) != 16 && len(p) != 32 {
		panic(fmt.Sprintf("%s: %d bits", t.name, len(p)))
	}
	return w, len(p) / 16
}

// block is one random block.
type randomBlock struct {
	code  []uint16
	names []string // by instruction
	insns []string
}

// block makes a block of n instructions that ends in nop, nop, nop, nop, svc.
func (g *generator) block(n int, pool []*template) (b randomBlock) {
	g.itLeft = 0
	emit := func(name string, w uint32, size int) {
		b.names = append(b.names, name)
		if size == 2 {
			b.code = append(b.code, uint16(w>>16))
		}
		b.code = append(b.code, uint16(w))
		b.insns = append(b.insns, fmt.Sprintf("%0*x %s", size*4, w, name))
	}
	for len(b.names) < n {
		switch k := g.IntN(40); {
		case k == 0 && g.itLeft == 0: // IT
			cond := uint32(g.IntN(14))
			mask := 1 + uint32(g.IntN(15))
			emit("it", 0xbf00|cond<<4|mask, 1)
			g.itLeft = 4
			for m := mask; m&1 == 0; m >>= 1 {
				g.itLeft--
			}
			continue
		case k == 1 && g.itLeft == 0: // branch over the next one
			t := pool[g.IntN(len(pool))]
			w, size := g.make(t)
			emit("b<c>", 0xd000|uint32(g.IntN(14))<<8|uint32(size-1), 1)
			emit(t.name, w, size)
			continue
		}
		t := pool[g.IntN(len(pool))]
		if t.noIT && g.itLeft > 0 {
			continue
		}
		w, size := g.make(t)
		emit(t.name, w, size)
		if g.itLeft > 0 {
			g.itLeft--
		}
	}
	for range 4 {
		emit("nop", 0xbf00, 1)
	}
	emit("svc", 0xdf00, 1)
	return b
}

// pool expands weights.
func pool(fp bool) (ts []*template) {
	for i := range templates {
		t := &templates[i]
		if t.fp != fp && !(fp && strings.HasPrefix(t.name, "mov")) {
			continue
		}
		for range max(t.weight, 1) {
			ts = append(ts, t)
		}
	}
	return ts
}

// interesting are the values that random state is mixed from.
var interesting = []uint32{0, 1, 2, 3, 0x7f, 0x80, 0xff, 0x100, 0x7fff, 0x8000, 0xffff, 0x10000, 0x7fffffff, 0x80000000,
	0x80000001, 0xfffffffe, 0xffffffff, 0x80008000, 0x7fff7fff, 0x00ff00ff, 31, 32, 33}

var interestingFP = []uint32{0, 1 << 31, 1, 0x80000001, 0x007fffff, 0x00800000, 0x80800000, 0x3f800000, 0xbf800000,
	0x3f800001, 0x3f7fffff, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc12345, 0x7f800001,
	0xff876543, 0x4b000000, 0x4b000001, 0x4effffff, 0x4f000000, 0xcf000000, 0x4f800000, 0x3f000000, 0xbf000000,
	0x3fc00000, 0x40200000, 0x33800000, 0x38800000, 0x387fc000, 0x477fe000, 0x47800000, 0x00000400}

func (g *generator) word() uint32 {
	if g.IntN(3) == 0 {
		return interesting[g.IntN(len(interesting))]
	}
	return uint32(g.Uint64())
}

func (g *generator) single() uint32 {
	switch g.IntN(4) {
	case 0:
		return interestingFP[g.IntN(len(interestingFP))]
	case 1: // moderate exponents, so that operations meet
		return uint32(g.Uint64())&0x807fffff | uint32(118+g.IntN(20))<<23
	case 2:
		return uint32(g.IntN(2000)-1000) << uint(g.IntN(22))
	}
	return uint32(g.Uint64())
}
