package periph

import (
	"math/bits"

	"github.com/stem-hw/stem-hw/sim/rp2350/periph/regs"
)

// The places that a GPIO event can interrupt.
const (
	toProc0 = iota
	toProc1
	toDormantWake
	numDests
)

// IOBank is IO_BANK0 or IO_QSPI (datasheet 9.4, 9.5): function select, the
// overrides, and the GPIO interrupts.
type IOBank struct {
	storage
	pins  *Pins
	bank  int
	first int // the pin of the first register
	count int
	irq   int // Secure interrupt; irq+1 is the Non-secure one
	// summary, intr and dest are where those registers begin; words is how many
	// registers hold one bit of four for each pin.
	summary, intr, dest uint32
	words               uint32
	// edgeLow and edgeHigh are the latched edges, bit 0 being the first pin.
	edgeLow, edgeHigh uint64
	nsMask            func() uint64
	irqOver           override
	gated             bool
	sampled           uint64 // of the pads, when the clock was gated
}

func newIOBank0(env Env, pins *Pins, nsMask func() uint64) *IOBank {
	return newIOBank("IO_BANK0", env, pins, regs.IOBANK0, 0, 48, 21, 0x230, nsMask)
}

func newIOQSPI(env Env, pins *Pins, nsMask func() uint64) *IOBank {
	return newIOBank("IO_QSPI", env, pins, regs.IOQSPI, PinUSBDP, 8, 23, 0x218, nsMask)
}

func newIOBank(name string, env Env, pins *Pins, table regs.Table, first, count, irq int, intr uint32, nsMask func() uint64) *IOBank {
	b := &IOBank{storage: newStorage(name, env, table), pins: pins, first: first, count: count, irq: irq,
		summary: 0x200, intr: intr, words: uint32(count+7) / 8, nsMask: nsMask}
	b.dest = intr + 4*b.words
	if first != 0 {
		b.bank = 1
	}
	pins.follow(b.mask()<<first, b.changed)
	return b
}

// mask has a bit for each pin of the bank.
func (b *IOBank) mask() uint64 { return 1<<b.count - 1 }

// Reset deselects every function.
func (b *IOBank) Reset() {
	b.storage.Reset()
	b.edgeLow, b.edgeHigh = 0, 0
	b.irqOver = override{}
	for i := range b.count {
		b.pins.configure(b.first+i, b.get(8*uint32(i)+4))
	}
	b.edgeLow, b.edgeHigh = 0, 0
	b.needPins()
	b.interrupt()
}

// changed latches edges.
func (b *IOBank) changed(c PinChange) {
	diff := (c.FromPad ^ c.OldFromPad) >> b.first & b.mask()
	if diff == 0 || b.gated {
		return
	}
	now := c.FromPad >> b.first
	b.edgeHigh |= diff & now
	b.edgeLow |= diff &^ now
	b.interrupt()
}

// raw returns the four event bits of eight pins from 8*word on.
func (b *IOBank) raw(word uint32) uint32 {
	level := b.pins.fromPad >> b.first
	var v uint32
	for i := range uint32(8) {
		n := word*8 + i
		if n >= uint32(b.count) {
			break
		}
		e := uint32(1) << (level >> n & 1) // LEVEL_LOW or LEVEL_HIGH
		e |= uint32(b.edgeLow>>n&1)<<2 | uint32(b.edgeHigh>>n&1)<<3
		v |= e << (4 * i)
	}
	return v
}

// inte and intf return the enable and force register of a destination.
func (b *IOBank) inte(dest int, word uint32) uint32 {
	return b.get(b.dest + uint32(dest)*3*4*b.words + 4*word)
}

func (b *IOBank) intf(dest int, word uint32) uint32 {
	return b.get(b.dest + uint32(dest)*3*4*b.words + 4*b.words + 4*word)
}

// ints is what interrupts a destination.
func (b *IOBank) ints(dest int, word uint32) uint32 {
	return (b.raw(word) | b.intf(dest, word)) & b.inte(dest, word)
}

// pendingPins has a bit for each pin with an event for the destination.
func (b *IOBank) pendingPins(dest int) uint64 {
	var v uint64
	for word := range b.words {
		if b.inte(dest, word) == 0 {
			continue
		}
		s := b.ints(dest, word)
		for s != 0 {
			n := uint32(bits.TrailingZeros32(s)) / 4
			v |= 1 << (word*8 + n)
			s &^= 0xf << (4 * n)
		}
	}
	return b.irqOver.apply(v) & b.mask()
}

// interrupt drives the lines of both cores: pins given to Non-secure code raise
// the Non-secure interrupt, all others the Secure one.
func (b *IOBank) interrupt() {
	ns := b.nsMask() >> b.first
	for core := range 2 {
		p := b.pendingPins(core)
		b.env.SetCoreIRQ(core, b.irq, p&^ns != 0)
		b.env.SetCoreIRQ(core, b.irq+1, p&ns != 0)
	}
}

// DormantWake reports whether an event enabled for dormant wake is pending.
func (b *IOBank) DormantWake() bool { return b.pendingPins(toDormantWake) != 0 }

// Read returns a register.
func (b *IOBank) Read(offset uint32, peek bool) uint32 {
	b.pins.refresh()
	if n := offset / 8; n < uint32(b.count) && offset%8 == 0 {
		pin := uint64(1) << (uint32(b.first) + n)
		irq := (b.pendingPins(toProc0) | b.pendingPins(toProc1)) >> n & 1
		return bit(b.pins.toPadOut&pin != 0, 9) | bit(b.pins.toPadOE&pin != 0, 13) |
			bit(b.pins.level&b.pins.ie&pin != 0, 17) | uint32(irq)<<26
	}
	switch {
	case offset >= b.summary && offset < b.intr:
		// Per destination: the Secure words, then the Non-secure ones.
		per := (b.words*8 + 31) / 32
		i := (offset - b.summary) / 4
		dest, word := int(i/(2*per)), i%(2*per)
		p := b.pendingPins(dest)
		if ns := b.nsMask() >> b.first; word >= per {
			p, word = p&ns, word-per
		} else {
			p &^= ns
		}
		return uint32(p >> (32 * word))
	case offset >= b.intr && offset < b.dest:
		return b.raw((offset - b.intr) / 4)
	case offset >= b.dest:
		i := (offset - b.dest) / 4
		if dest, kind := int(i/(3*b.words)), i/b.words%3; dest < numDests && kind == 2 {
			return b.ints(dest, i%b.words)
		}
	}
	return b.storage.Read(offset, peek)
}

// Write writes a register.
func (b *IOBank) Write(offset uint32, w Write) {
	if n := offset / 8; n < uint32(b.count) {
		if offset%8 != 4 {
			return
		}
		b.storage.Write(offset, w)
		ctrl := b.get(offset)
		b.irqOver.set(int(n), ctrl>>28)
		b.pins.configure(b.first+int(n), ctrl)
		b.interrupt()
		return
	}
	if offset >= b.intr && offset < b.dest {
		base := (offset - b.intr) / 4 * 8
		for i := range uint32(8) {
			n := base + i
			b.edgeLow &^= uint64(w.Ones(4<<(4*i))>>(4*i+2)) << n
			b.edgeHigh &^= uint64(w.Ones(8<<(4*i))>>(4*i+3)) << n
		}
		b.interrupt()
		return
	}
	b.storage.Write(offset, w)
	if offset >= b.dest {
		b.needPins()
	}
	b.interrupt()
}

// needPins tells the pins on which an edge can interrupt.
func (b *IOBank) needPins() {
	var v uint64
	for dest := range numDests {
		for word := range b.words {
			e := b.inte(dest, word)
			for n := range uint32(8) {
				if e>>(4*n)&15 != 0 {
					v |= 1 << (word*8 + n)
				}
			}
		}
	}
	b.pins.needIRQ(b.bank, v<<b.first)
}
