package rp2350

import "github.com/stem-hw/stem-hw/sim/rp2350/periph"

// stream is the linear read of flash in the background (datasheet 4.4.3). The
// words are fetched as the FIFO empties; a reader never finds it starved unless
// flash is not accessible.
type stream struct {
	x    *xip
	addr uint32 // next word to fetch, an address of the cached window
	left uint32 // words still to fetch
	fifo []uint32
}

const (
	streamDepth = 2
	statEmpty   = 1 << 1
	statFull    = 1 << 2
)

func (s *stream) reset() {
	s.addr, s.left, s.fifo = 0, 0, s.fifo[:0]
	s.request()
}

// request drives the stream's line to the DMA controller.
func (s *stream) request() {
	if p := s.x.c.parts; p != nil {
		p.Requests.Set(periph.DREQXIPStream, len(s.fifo) > 0)
	}
}

// start begins a transfer of n words; 0 stops the present one and drops what it
// fetched.
func (s *stream) start(n uint32) {
	s.left = n
	if n == 0 {
		s.fifo = s.fifo[:0]
	}
	s.fill()
}

// fill fetches what there is room for; it can do so whenever XIP is attached.
func (s *stream) fill() {
	defer s.request()
	for s.left > 0 && len(s.fifo) < streamDepth {
		v, _, ok := s.x.c.qmi.read(s.addr&xipWindowMask, true)
		if !ok {
			return
		}
		s.fifo = append(s.fifo, v)
		s.addr += 4
		s.left--
	}
}

func (s *stream) stat() uint32 {
	s.fill()
	var v uint32
	if len(s.fifo) == 0 {
		v |= statEmpty
	}
	if len(s.fifo) == streamDepth {
		v |= statFull
	}
	return v
}

// pop takes a word; an empty FIFO gives 0.
func (s *stream) pop(peek bool) uint32 {
	s.fill()
	if len(s.fifo) == 0 {
		return 0
	}
	v := s.fifo[0]
	if !peek {
		copy(s.fifo, s.fifo[1:])
		s.fifo = s.fifo[:len(s.fifo)-1]
		s.fill()
	}
	return v
}

// xipAux is the fast window to the same FIFOs at 0x50500000.
type xipAux struct{ c *Chip }

// Name implements periph.Block.
func (a xipAux) Name() string { return "XIP_AUX" }

// Reset implements periph.Block.
func (a xipAux) Reset() {}

// Read implements periph.Block.
func (a xipAux) Read(off uint32, peek bool) uint32 {
	switch off {
	case 0:
		return a.c.xip.stream.pop(peek)
	case 8:
		return a.c.qmi.Read(regQMIDirectRX, peek)
	}
	return 0
}

// Write implements periph.Block.
func (a xipAux) Write(off uint32, w periph.Write) {
	if off == 4 {
		a.c.qmi.Write(regQMIDirectTX, w)
	}
}
