package hazard3

import "github.com/stem-hw/stem-hw/sim/bus"

// The code cache holds decoded instructions by address, in pages of pageSize
// bytes of code made when they are first executed. Stores into code are
// noticed by bus.LineCode flags, at a grain of bus.LineSize bytes.
const (
	pageShift = 10
	pageSize  = 1 << pageShift
	pageInsts = pageSize / 2
	// dirShift splits an address into a directory index and a page index.
	dirShift = 20
	dirPages = 1 << (dirShift - pageShift)
)

// codePage is the decoded code of one page, and the blocks that begin there.
type codePage struct {
	insts  [pageInsts]inst
	blocks [pageInsts]*block
	list   []*block
}

type codeDir [dirPages]*codePage

// codeCache is the decoded code of one address space. Cores that see the same
// windows share one, so that code is decoded once and a store by either is
// noticed for both.
type codeCache struct {
	dirs [1 << (32 - dirShift)]*codeDir
	// epoch counts what made code invalid.
	epoch uint64
	// stops counts the cores with a breakpoint at an address: no block goes
	// over one.
	stops map[uint32]int
}

// stop adds n to the breakpoints at addr.
func (cc *codeCache) stop(addr uint32, n int) {
	if cc.stops == nil {
		cc.stops = make(map[uint32]int)
	}
	if cc.stops[addr] += n; cc.stops[addr] <= 0 {
		delete(cc.stops, addr)
	}
	cc.invalidate(addr, addr+1)
}

// page returns the page of addr, or nil if nothing of it is decoded.
func (cc *codeCache) page(addr uint32) *codePage {
	d := cc.dirs[addr>>dirShift]
	if d == nil {
		return nil
	}
	return d[addr>>pageShift&(dirPages-1)]
}

// makePage returns the page of addr and makes it if necessary.
func (cc *codeCache) makePage(addr uint32) *codePage {
	d := cc.dirs[addr>>dirShift]
	if d == nil {
		d = new(codeDir)
		cc.dirs[addr>>dirShift] = d
	}
	p := d[addr>>pageShift&(dirPages-1)]
	if p == nil {
		p = new(codePage)
		d[addr>>pageShift&(dirPages-1)] = p
	}
	return p
}

// drop forgets everything.
func (cc *codeCache) drop() {
	clear(cc.dirs[:])
	cc.epoch++
}

// dropBlocks forgets the page's blocks that overlap [lo, hi].
func (p *codePage) dropBlocks(lo, hi uint32) {
	keep := p.list[:0]
	for _, b := range p.list {
		if b.pc <= hi && b.endPC-1 >= lo {
			p.blocks[b.pc>>1&(pageInsts-1)] = nil
			b.pc |= 1
			continue
		}
		keep = append(keep, b)
	}
	clear(p.list[len(keep):])
	p.list = keep
}

// invalidate forgets the instructions that overlap [lo, hi]; hi is inclusive.
func (cc *codeCache) invalidate(lo, hi uint32) {
	// A 32-bit instruction that begins one halfword before lo overlaps too.
	cc.epoch++
	a := lo &^ 1
	if a >= 2 {
		a -= 2
	}
	for {
		p := cc.page(a)
		if p == nil {
			next := a&^(pageSize-1) + pageSize
			if cc.dirs[a>>dirShift] == nil {
				next = a&^(1<<dirShift-1) + 1<<dirShift
			}
			if next-1 >= hi || next == 0 {
				return
			}
			a = next
			continue
		}
		end := min(a|(pageSize-1), hi)
		p.dropBlocks(lo, hi)
		for {
			p.insts[a>>1&(pageInsts-1)] = inst{}
			if end-a < 2 {
				break
			}
			a += 2
		}
		if end == hi {
			return
		}
		a = end + 1
	}
}

// fetch returns the decoded instruction at pc, or nil if the bus refuses it.
// What it returns is valid until the next call.
func (c *Core) fetch(pc uint32) *inst {
	if p := c.code.page(pc); p != nil {
		if in := &p.insts[pc>>1&(pageInsts-1)]; in.size != 0 {
			return in
		}
	}
	return c.fetchNew(pc)
}

// fetchNew decodes the instruction at pc and puts it into the cache if all of
// it lies in windows.
func (c *Core) fetchNew(pc uint32) *inst {
	lo, w0, ok := c.fetchHalf(pc)
	if !ok {
		return nil
	}
	raw := uint32(lo)
	w1 := w0
	if raw&3 == 3 {
		var hi uint16
		hi, w1, ok = c.fetchHalf(pc + 2)
		if !ok {
			return nil
		}
		raw |= uint32(hi) << 16
	}
	in := decode(raw, c.cfg.Zbc)
	if w0 == nil || w1 == nil {
		c.uncached = in
		return &c.uncached
	}
	markCode(w0, pc)
	markCode(w1, pc+uint32(in.size)-2)
	slot := &c.code.makePage(pc).insts[pc>>1&(pageInsts-1)]
	*slot = in
	return slot
}

func markCode(w *bus.Window, addr uint32) {
	if w.Flags != nil {
		w.Flags[(addr-w.Base)/bus.LineSize] |= bus.LineCode
	}
}

// fetchHalf reads 16 bits of code; the window is nil for code from the bus.
func (c *Core) fetchHalf(pc uint32) (uint16, *bus.Window, bool) {
	for i := range c.windows {
		w := &c.windows[i]
		if w.Contains(pc, 2) {
			if !w.Executable {
				return 0, nil, false
			}
			off := pc - w.Base
			return uint16(w.Mem[off]) | uint16(w.Mem[off+1])<<8, w, true
		}
	}
	v, ok := c.bus.Fetch(pc)
	return v, nil, ok
}

// RawAt returns the encoding of the instruction at pc, 16 or 32 bits, and its
// size; ok is false where code cannot be fetched.
func (c *Core) RawAt(pc uint32) (raw uint32, size uint8, ok bool) {
	lo, _, ok := c.fetchHalf(pc &^ 1)
	if !ok {
		return 0, 0, false
	}
	if lo&3 != 3 {
		return uint32(lo), 2, true
	}
	hi, _, ok := c.fetchHalf(pc&^1 + 2)
	if !ok {
		return uint32(lo), 2, false
	}
	return uint32(hi)<<16 | uint32(lo), 4, true
}
