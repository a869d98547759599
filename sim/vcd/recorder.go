package vcd

import (
	"fmt"
	"io"

	"github.com/stem-hw/stem-hw/sim/rp2350"
	"github.com/stem-hw/stem-hw/sim/rp2350/periph"
)

// Recorder records one chip.
type Recorder struct {
	chip *rp2350.Chip
	w    *writer
	base uint64 // added to the chip's time, which begins anew at a power-up
	last uint64
	// idle says that no transfer is shown.
	idle   bool
	gpio   []*variable
	pio    [3]pioVars
	dma    [16]channelVars
	moving moveVars
}

type pioVars struct {
	flags *variable
	sm    [4]struct{ enabled, stalled, pc, tx, rx *variable }
}

type channelVars struct{ busy, left *variable }

type moveVars struct{ channel, from, to *variable }

// Record begins a dump of what chip does, on w. Close ends it.
func Record(w io.Writer, chip *rp2350.Chip) *Recorder {
	r := &Recorder{chip: chip, w: newWriter(w), idle: true}
	r.declare()
	r.snapshot()
	pins := uint64(1)<<len(r.gpio) - 1
	chip.Pins().Watch(pins, func(periph.PinChange) { r.pins(r.now()) })
	chip.SetProbe(&periph.Probe{
		PIO: func(block int, cycle uint64) { r.block(block, r.cycle(cycle)) },
		DMA: func(n int, cycle uint64, transfer bool, from, to uint32) {
			r.channel(n, r.cycle(cycle), transfer, from, to)
		},
	})
	chip.OnPowerUp(func() { r.base = r.last })
	return r
}

func (r *Recorder) declare() {
	w := r.w
	w.text("$version stem-hw $end\n$timescale 1 ps $end\n")
	w.scope("board")
	w.scope("gpio")
	for n := range r.chip.Peripherals().GPIOs() {
		r.gpio = append(r.gpio, w.declare(fmt.Sprintf("gpio%d", n), 1))
	}
	w.upscope()
	for b := range r.pio {
		w.scope(fmt.Sprintf("pio%d", b))
		p := &r.pio[b]
		p.flags = w.declare("irq", 8)
		for i := range p.sm {
			w.scope(fmt.Sprintf("sm%d", i))
			s := &p.sm[i]
			s.enabled, s.stalled, s.pc = w.declare("enabled", 1), w.declare("stalled", 1), w.declare("pc", 5)
			s.tx, s.rx = w.declare("tx_level", 4), w.declare("rx_level", 4)
			w.upscope()
		}
		w.upscope()
	}
	w.scope("dma")
	r.moving = moveVars{w.declare("channel", 4), w.declare("source", 32), w.declare("target", 32)}
	for n := range r.dma {
		w.scope(fmt.Sprintf("ch%d", n))
		r.dma[n] = channelVars{w.declare("busy", 1), w.declare("left", 28)}
		w.upscope()
	}
	w.upscope()
	w.upscope()
	w.text("$enddefinitions $end\n")
}

// snapshot writes all values.
func (r *Recorder) snapshot() {
	at := r.now()
	r.w.at(at)
	r.w.text("$dumpvars\n")
	r.pins(at)
	for b := range r.pio {
		r.block(b, at)
	}
	for n := range r.dma {
		r.channel(n, at, false, 0, 0)
	}
	for _, v := range []*variable{r.moving.channel, r.moving.from, r.moving.to} {
		v.known = true
		r.w.unset(at, v)
	}
	r.w.text("$end\n")
}

// now is the time of what the chip is doing.
func (r *Recorder) now() uint64 { return r.time(r.chip.Picos()) }

// cycle is the time of a cycle.
func (r *Recorder) cycle(c uint64) uint64 { return r.time(r.chip.PicosOf(c)) }

func (r *Recorder) time(picos uint64) uint64 {
	r.last = max(r.last, r.base+picos)
	return r.last
}

func (r *Recorder) pins(at uint64) {
	level := r.chip.Pins().Now()
	for n, v := range r.gpio {
		r.w.set(at, v, level>>n&1)
	}
}

func (r *Recorder) block(b int, at uint64) {
	p, v := r.chip.Peripherals().PIO[b], &r.pio[b]
	r.w.set(at, v.flags, uint64(p.Flags()))
	for i := range v.sm {
		m, s := p.Machine(i), &v.sm[i]
		r.w.set(at, s.enabled, one(m.Enabled))
		r.w.set(at, s.stalled, one(m.Stalled))
		r.w.set(at, s.pc, uint64(m.PC))
		r.w.set(at, s.tx, uint64(m.TX))
		r.w.set(at, s.rx, uint64(m.RX))
	}
}

func (r *Recorder) channel(n int, at uint64, transfer bool, from, to uint32) {
	c, v := r.chip.Peripherals().DMA.Channel(n), &r.dma[n]
	r.w.set(at, v.busy, one(c.Busy))
	r.w.set(at, v.left, uint64(c.Left))
	if transfer {
		r.idle = false
		r.w.set(at, r.moving.channel, uint64(n))
		r.w.set(at, r.moving.from, uint64(from))
		r.w.set(at, r.moving.to, uint64(to))
		return
	}
	if c.Busy || r.idle {
		return
	}
	for i := range r.dma {
		if r.chip.Peripherals().DMA.Channel(i).Busy {
			return
		}
	}
	r.idle = true
	r.w.unset(at, r.moving.channel)
	r.w.unset(at, r.moving.from)
	r.w.unset(at, r.moving.to)
}

func one(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// Close ends the dump at the chip's present time. The chip must stand still.
func (r *Recorder) Close() error {
	r.chip.SetProbe(nil)
	return r.w.close(r.time(r.chip.PicosOf(r.chip.Now())))
}
