package periph

import (
	"math/bits"

	"github.com/stem-hw/stem-hw/sim/rp2350/periph/regs"
)

// Registers of HSTX_CTRL and HSTX_FIFO (datasheet 12.11.7, 12.11.8).
const (
	hstxCSR   = 0x00
	hstxBit0  = 0x04
	hstxShift = 0x24
	hstxTMDS  = 0x28

	hstxStat = 0x00
	hstxFIFO = 0x04

	hstxEN      = 1 << 0
	hstxExpand  = 1 << 1
	hstxCoupled = 1 << 4
	hstxPinINV  = 1 << 16
	hstxPinCLK  = 1 << 17
	hstxOver    = 1 << 10
	hstxDepth   = 8
	hstxFirst   = 12 // GPIO of BIT0

	hstxRaw        = 0
	hstxRawRepeat  = 1
	hstxTMDSData   = 2
	hstxTMDSRepeat = 3
	hstxNop        = 15
)

// HSTX is the high-speed serial transmitter (datasheet 12.11): a FIFO, the
// command expander with its TMDS encoder, the output shift register and the bit
// crossbar. Words leave at the pace of clk_hstx; half cycles appear on the pins
// where somebody watches them.
type HSTX struct {
	storage
	clock    *Clock
	pins     *Pins
	requests *Requests
	fifo     ring
	over     bool

	step Event
	busy bool
	// out is the shift register; half the half cycle it is in, of halves.
	out          uint32
	half, halves int
	start, at    uint64
	exact        bool
	clk          int // the clock generator, in half cycles
	exp          hstxExpander
}

func newHSTX(env Env, clock *Clock, pins *Pins, requests *Requests) *HSTX {
	h := &HSTX{storage: newStorage("HSTX_CTRL", env, regs.HSTXCTRL), clock: clock, pins: pins, requests: requests}
	h.step.Fire = func(uint64) { h.next() }
	h.fifo.depth = hstxDepth
	clock.OnChange(func() {
		if h.busy {
			schedule(h.env, &h.step, h.clock.When(h.at))
		}
	})
	return h
}

// Reset stops the output and empties the FIFO.
func (h *HSTX) Reset() {
	h.storage.Reset()
	h.fifo.clear()
	h.over = false
	h.stop()
	h.update()
}

// stop is EN = 0: everything but the FIFO is flushed.
func (h *HSTX) stop() {
	h.env.Cancel(&h.step)
	h.busy, h.out = false, 0
	h.exp = hstxExpander{}
	h.clk = int(h.get(hstxCSR) >> 24 & 15)
	h.drive(false)
}

func (h *HSTX) update() { h.requests.Set(DREQHSTX, !h.fifo.full()) }

// field32 is a count of which 0 stands for 32.
func field32(v uint32) uint32 {
	if v &= 31; v == 0 {
		return 32
	}
	return v
}

// kick begins to shift if there is something to shift.
func (h *HSTX) kick() {
	if h.busy || h.get(hstxCSR)&hstxEN == 0 {
		return
	}
	if !h.clock.Running() {
		h.env.Notice("HSTX: nothing is sent, clk_hstx does not run (CLOCKS.CLK_HSTX_CTRL, or a gate in WAKE_EN)")
		return
	}
	h.begin(h.clock.Count())
}

// begin loads the shift register at a count of clk_hstx.
func (h *HSTX) begin(start uint64) {
	v, ok := h.word()
	h.update()
	h.busy = ok
	if !ok {
		return
	}
	h.out, h.start, h.half = v, start, 0
	h.halves = 2 * int(field32(h.get(hstxCSR)>>16))
	h.exact = h.pins.selected[FuncHSTX]&h.pins.needed()&(0xff<<hstxFirst) != 0
	if h.exact {
		h.drive(true)
	}
	h.plan()
}

// word is the next word for the shift register.
func (h *HSTX) word() (uint32, bool) {
	if h.get(hstxCSR)&hstxExpand == 0 {
		return h.fifo.pop()
	}
	return h.exp.next(&h.fifo, h.get(hstxShift), h.get(hstxTMDS))
}

func (h *HSTX) plan() {
	// Half cycles are rounded down to cycles of clk_hstx, and from there to
	// clk_sys; a word begins exactly.
	if !h.exact {
		h.half = h.halves
	} else {
		h.half++
	}
	h.at = h.start + uint64(h.half)/2
	schedule(h.env, &h.step, h.clock.When(h.at))
}

// next is the beginning of half cycle h.half, or the end of the word.
func (h *HSTX) next() {
	if h.half < h.halves {
		h.advance(1)
		h.drive(h.half&1 == 0)
		h.plan()
		return
	}
	if h.exact {
		h.advance(1)
	} else {
		h.advance(h.halves)
		h.drive(true)
	}
	h.begin(h.at)
}

// advance moves the clock generator on by half cycles, and the shift register
// once for each two that are complete.
func (h *HSTX) advance(n int) {
	csr := h.get(hstxCSR)
	period := 2 * int(csr>>28)
	if period == 0 {
		period = 32
	}
	h.clk = (h.clk + n) % period
	shifts := n / 2
	if n == 1 && h.half&1 == 0 {
		shifts = 1
	}
	h.out = bits.RotateLeft32(h.out, -shifts*int(csr>>8&31))
}

// drive puts a half cycle on the pins.
func (h *HSTX) drive(first bool) {
	csr := h.get(hstxCSR)
	period := int(csr >> 28)
	if period == 0 {
		period = 16
	}
	var out uint64
	for i := range 8 {
		c := h.get(hstxBit0 + 4*uint32(i))
		sel := c >> 8 & 31
		if first {
			sel = c & 31
		}
		high := h.out>>sel&1 != 0
		if c&hstxPinCLK != 0 {
			high = h.clk >= period
		}
		if high != (c&hstxPinINV != 0) {
			out |= 1 << (hstxFirst + i)
		}
	}
	h.pins.function(FuncHSTX, 0xff<<hstxFirst, out, 0xff<<hstxFirst)
}

// Write writes a register.
func (h *HSTX) Write(offset uint32, w Write) {
	was := h.get(hstxCSR)
	h.storage.Write(offset, w)
	csr := h.get(hstxCSR)
	if csr&hstxCoupled != 0 {
		h.unmodelled(hstxCSR, "pins coupled to PIO")
	}
	switch {
	case csr&hstxEN == 0:
		h.stop()
	case was&hstxEN == 0:
		h.clk = int(csr >> 24 & 15)
		h.kick()
	}
}

// hstxPort is the HSTX_FIFO block.
type hstxPort struct {
	storage
	h *HSTX
}

func newHSTXPort(env Env, h *HSTX) *hstxPort {
	return &hstxPort{newStorage("HSTX_FIFO", env, regs.HSTXFIFO), h}
}

// Reset has nothing of its own: HSTX_CTRL shares the reset.
func (p *hstxPort) Reset() {}

// Read returns a register.
func (p *hstxPort) Read(offset uint32, peek bool) uint32 {
	if offset != hstxStat {
		return 0
	}
	f := &p.h.fifo
	return uint32(f.len()) | bit(f.full(), 8) | bit(f.empty(), 9) | bit(p.h.over, 10)
}

// Write writes a register.
func (p *hstxPort) Write(offset uint32, w Write) {
	switch offset {
	case hstxStat:
		if w.Ones(hstxOver) != 0 {
			p.h.over = false
		}
	case hstxFIFO:
		if !p.h.fifo.push(w.Apply(0)) {
			p.h.over = true
		}
		p.h.kick()
		p.h.update()
	}
}
