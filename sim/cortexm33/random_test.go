package cortexm33

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// Where random.S keeps its tables.
const (
	rndHeader = 0x10008000
	rndCode   = 0x10010000
	rndIn     = 0x10080000
	rndOut    = 0x10100000
	rndData   = 0x38000000
	rndStep   = 1024 // bytes of data for a block
	rndMax    = 1000 // blocks in a batch
)

// batch is a set of random blocks with the states they start from.
type batch struct {
	blocks []randomBlock
	in     []byte
	code   []byte
	data   []byte
	header []byte
}

func newBatch(seed uint64, blocks, insns int) *batch {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 33))}
	b := &batch{in: make([]byte, blocks*256), data: make([]byte, blocks*rndStep), header: make([]byte, 8)}
	le.PutUint32(b.header, uint32(blocks))
	le.PutUint32(b.header[4:], uint32(len(b.data)))
	pools := [2][]*template{pool(false), pool(true)}
	for i := range b.data {
		b.data[i] = byte(g.Uint64())
	}
	for i := range blocks {
		fp := i%3 == 2
		blk := g.block(insns, pools[b2i(fp)])
		b.blocks = append(b.blocks, blk)
		w := func(n int, v uint32) { le.PutUint32(b.in[i*256+4*n:], v) }
		for n := range 16 {
			w(n, g.word())
		}
		base := uint32(rndData + i*rndStep + 512)
		w(6, rndCode+uint32(len(b.code)))
		w(7, uint32(g.IntN(32))<<27&0xf8000000|1<<24|uint32(g.IntN(16))<<16)
		w(8+2, uint32(g.IntN(16))) // r6
		w(8+3, base)
		w(8+4, base-uint32(g.IntN(16))*4)
		w(8+5, base+uint32(g.IntN(16))*4)
		w(16, base+256)
		fpscr := uint32(0)
		if g.IntN(2) == 0 {
			fpscr = uint32(g.IntN(32)) << 22
		}
		w(17, fpscr)
		for n := range 32 {
			w(24+n, g.single())
		}
		for _, h := range blk.code {
			b.code = le.AppendUint16(b.code, h)
		}
		for len(b.code)%4 != 0 {
			b.code = append(b.code, 0, 0xbf)
		}
	}
	return b
}

// run executes the batch on the package's core and returns the output file.
func (b *batch) run(tb testing.TB, plain bool) []byte {
	m := newBare(tb)
	m.core.Plain = plain
	m.load(tb, "testdata/elf/random.elf")
	m.poke(rndHeader, b.header)
	m.poke(rndCode, b.code)
	m.poke(rndIn, b.in)
	m.poke(rndData, b.data)
	r := m.run(1 << 40)
	if !m.exited {
		tb.Fatalf("the batch did not end: reason %d, pc %#x, %+v", r, m.core.PC(), m.core.lastTrap)
	}
	return m.file
}

// state is one record of the output table, in words.
var stateNames = func() (n [56]string) {
	for i, s := range []string{"r0", "r1", "r2", "r3", "r12", "lr", "pc", "xpsr", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11",
		"psp", "fpscr", "cfsr", "hfsr", "ipsr", "control", "", ""} {
		n[i] = s
	}
	for i := range 32 {
		n[24+i] = fmt.Sprintf("s%d", i)
	}
	return n
}()

// compare reports the first blocks in which two outputs differ.
func (b *batch) compare(t *testing.T, got, want []byte, who string) (differences int) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("output of %d bytes, %s has %d", len(got), who, len(want))
		return 1
	}
	for i := range b.blocks {
		var diff string
		for n, name := range stateNames {
			x, y := le.Uint32(got[i*256+4*n:]), le.Uint32(want[i*256+4*n:])
			if x != y && name != "" {
				diff += fmt.Sprintf("  %-5s %08x, %s %08x (was %08x)\n", name, x, who, y, le.Uint32(b.in[i*256+4*n:]))
			}
		}
		off := len(b.blocks)*256 + i*rndStep
		for n := 0; n < rndStep; n += 4 {
			x, y := le.Uint32(got[off+n:]), le.Uint32(want[off+n:])
			if x != y {
				diff += fmt.Sprintf("  [%08x] %08x, %s %08x\n", rndData+i*rndStep+n, x, who, y)
			}
		}
		if diff == "" {
			continue
		}
		differences++
		if differences > 5 {
			continue
		}
		t.Errorf("block %d at %#x differs:\n%s", i, le.Uint32(b.in[i*256+24:]), diff)
		pc := le.Uint32(b.in[i*256+24:])
		for k, s := range b.blocks[i].insns {
			t.Logf("    %08x  %s", pc, s)
			pc += 2
			if b.blocks[i].size(k) == 2 {
				pc += 2
			}
		}
	}
	return differences
}

// size is the number of halfwords of instruction k.
func (b *randomBlock) size(k int) int {
	if len(b.insns[k]) > 8 && b.insns[k][4] != ' ' {
		return 2
	}
	return 1
}

// TestRandomLoops compares the two loops on random code.
func TestRandomLoops(t *testing.T) {
	for seed := range uint64(3) {
		b := newBatch(seed, 300, 16)
		b.compare(t, b.run(t, false), b.run(t, true), "plain loop")
	}
}
