package cortexm33

import "github.com/stem-hw/stem-hw/sim/bus"

// block is a run of decoded instructions that ends at a branch, at an
// instruction that may change how the next ones decode, or at maxOps.
type block struct {
	ops  []op
	meta []meta
	// regime is the access regime under which the block may run without a
	// further look; regimeDead and regimeCheck never match.
	regime uint64
	// cost is the cycles of the block without wait states when its branch is
	// not taken, n its number of instructions.
	cost uint32
	pc   uint32
	// cycles are the cost when the branch at the end is not taken and when it
	// is, need the cycles that must be left for the block to be run whole: one
	// for a single instruction, which may end late if it begins in time.
	cycles [2]uint64
	need   uint64
	n      uint64
	end    uint32
	it     uint8
	// link caches the blocks that followed: [0] not taken, [1] taken.
	link [2]*block
}

// meta is what is needed of an operation only when the block is left at it.
type meta struct {
	pc uint32
	at uint16 // cycles before it, in this block
	n  uint8  // instructions before it
	it uint8  // ITSTATE
}

const (
	regimeDead  = ^uint64(0)
	regimeCheck = ^uint64(0) - 1

	maxOps    = 96
	cacheBits = 14
	cacheSize = 1 << cacheBits
	// maxBlocks bounds the memory of one cache; at that number it starts anew.
	maxBlocks = 1 << 16
)

// noBlock is what an empty link points to; no pc is odd.
var noBlock = &block{pc: 1, regime: regimeDead}

// codeCache holds decoded code. The cores of one machine may share it.
type codeCache struct {
	table [cacheSize]*block
	// one holds the single-instruction blocks used near a cycle limit.
	one   [cacheSize]*block
	lines map[uint32][]*block
	count int
	users []*Core
	// cuts are the addresses at which blocks must end, because a core has a
	// breakpoint there.
	cuts map[uint32]int
}

func newCodeCache() *codeCache {
	cc := &codeCache{}
	cc.flush()
	return cc
}

func (cc *codeCache) flush() {
	for _, l := range cc.lines {
		for _, b := range l {
			b.regime = regimeDead
		}
	}
	for i := range cc.table {
		cc.table[i] = noBlock
		cc.one[i] = noBlock
	}
	cc.lines = make(map[uint32][]*block)
	cc.count = 0
}

func slot(pc uint32) uint32 { return (pc>>1 ^ pc>>15) & (cacheSize - 1) }

// invalidate drops the blocks that touch [lo, hi) and clears the line flags.
func (cc *codeCache) invalidate(c *Core, lo, hi uint32) {
	if lo >= hi {
		return
	}
	first, last := lo/bus.LineSize, (hi-1)/bus.LineSize
	if last-first > uint32(len(cc.lines)) {
		for l := range cc.lines {
			if l >= first && l <= last {
				cc.drop(c, l)
			}
		}
		return
	}
	for l := first; ; l++ {
		cc.drop(c, l)
		if l == last {
			break
		}
	}
}

func (cc *codeCache) drop(c *Core, line uint32) {
	bs, ok := cc.lines[line]
	if !ok {
		return
	}
	for _, b := range bs {
		b.regime = regimeDead
		if t := &cc.table[slot(b.pc)]; *t == b {
			*t = noBlock
		}
		if t := &cc.one[slot(b.pc)]; *t == b {
			*t = noBlock
		}
	}
	delete(cc.lines, line)
	if w := c.window(line * bus.LineSize); w != nil && w.Flags != nil {
		w.Flags[(line*bus.LineSize-w.Base)/bus.LineSize] &^= bus.LineCode
	}
}

// find returns the block at c.pc, ready to run, or nil after setting c.abort.
func (c *Core) find() *block {
	if !c.thumb {
		if c.checkFetch(c.pc, c.pc+2) {
			if _, ok := c.fetchHalf(c.pc); ok {
				c.fault(fault{exc: excUsageFault, cfsr: cfsrINVSTATE})
			}
		}
		return nil
	}
	if c.pc-c.gate.lo < c.gate.size {
		if !c.breakpointHit(c.pc) {
			c.abort = abortGate
		}
		return nil
	}
	cc := c.code
	tab := &cc.table
	if c.single {
		tab = &cc.one
	}
	b := tab[slot(c.pc)]
	if b.pc != c.pc || b.regime == regimeDead || c.it != 0 || b.it != 0 {
		return c.translate(tab)
	}
	if b.regime != c.regime && !c.admit(b) {
		return nil
	}
	return b
}

// admit checks that b may run under the present regime and at this moment.
func (c *Core) admit(b *block) bool {
	if cut := b.regime == regimeCheck; cut {
		if c.breakpointHit(b.pc) {
			c.abort = abortHalt
			return false
		}
		return c.checkFetch(b.pc, b.end)
	}
	if !c.checkFetch(b.pc, b.end) {
		return false
	}
	b.regime = c.regime
	return true
}

// translate decodes the block at c.pc.
func (c *Core) translate(tab *[cacheSize]*block) *block {
	if c.code.cuts[c.pc] > 0 && c.breakpointHit(c.pc) {
		c.abort = abortHalt
		return nil
	}
	b := &block{}
	cached := c.it == 0
	if !cached {
		b = &c.one
	}
	max := maxOps - 8
	if c.single || !cached {
		max = 1
	}
	if !c.decodeBlock(b, max) {
		return nil
	}
	if !cached {
		c.it = 0
		b.regime = regimeDead
		return b
	}
	cc := c.code
	if cc.count >= maxBlocks {
		cc.flush()
	}
	cc.count++
	s := slot(c.pc)
	if old := tab[s]; old != noBlock {
		old.regime = regimeDead
	}
	tab[s] = b
	for l := b.pc / bus.LineSize; l <= (b.end-1)/bus.LineSize; l++ {
		cc.lines[l] = append(cc.lines[l], b)
		if w := c.window(l * bus.LineSize); w != nil && w.Flags != nil {
			w.Flags[(l*bus.LineSize-w.Base)/bus.LineSize] |= bus.LineCode
		}
	}
	return b
}
