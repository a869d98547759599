package periph

import "github.com/stem-hw/stem-hw/sim/rp2350/periph/regs"

// Registers of SPI (datasheet 12.3.5; Arm PrimeCell PL022).
const (
	spiCR0   = 0x00
	spiCR1   = 0x04
	spiDR    = 0x08
	spiSR    = 0x0c
	spiCPSR  = 0x10
	spiIMSC  = 0x14
	spiRIS   = 0x18
	spiMIS   = 0x1c
	spiICR   = 0x20
	spiDMACR = 0x24

	cr0SPO = 1 << 6
	cr0SPH = 1 << 7
	cr1LBM = 1 << 0
	cr1SSE = 1 << 1
	cr1MS  = 1 << 2
	cr1SOD = 1 << 3

	spiROR = 1 << 0
	spiRT  = 1 << 1
	spiRX  = 1 << 2
	spiTX  = 1 << 3

	spiDepth = 8
	irqSPI0  = 31
)

// SPI is SPI0 or SPI1 (datasheet 12.3) as controller or target. A frame takes
// its bit times; clock and data appear on the pins where somebody watches them,
// otherwise one event does for a frame.
type SPI struct {
	storage
	n        int
	peri     *Clock
	pins     *Pins
	requests *Requests
	// The pins of the four signals.
	rxPins, csPins, sckPins, txPins uint64

	tx, rx  ring
	latched uint32 // ROR and RT
	step    Event
	timeout Event
	busy    bool
	exact   bool // this frame is on the pins, half bit by half bit
	half    int  // the number of the next half bit
	// tail: with SPH 1, the period between the last bit and the end of the
	// select; level is what the data line holds.
	tail, level bool
	start       uint64
	at          uint64
	word        uint32 // what is sent, what is received, in the frame
	in          uint32
	bits        int
	waiting     bool
	due         uint64
	// fresh: the target's word is loaded and nothing of it is sent.
	fresh   bool
	sck, cs bool // the target's view of its inputs
}

func newSPI(n int, env Env, peri *Clock, pins *Pins, requests *Requests) *SPI {
	s := &SPI{storage: newStorage("SPI"+string(rune('0'+n)), env, regs.SPI), n: n, peri: peri, pins: pins, requests: requests}
	for pin := range 48 {
		if pin/8&1 != n {
			continue
		}
		b := uint64(1) << pin
		switch pin & 3 {
		case 0:
			s.rxPins |= b
		case 1:
			s.csPins |= b
		case 2:
			s.sckPins |= b
		case 3:
			s.txPins |= b
		}
	}
	s.step.Fire = func(uint64) { s.next() }
	s.timeout.Fire = func(uint64) { s.timedOut() }
	peri.OnChange(s.replan)
	pins.follow(s.csPins|s.sckPins, func(PinChange) { s.lines() })
	pins.onRoute(s.lines)
	return s
}

// Reset stops a transfer and empties the FIFOs.
func (s *SPI) Reset() {
	s.storage.Reset()
	s.env.Cancel(&s.step)
	s.env.Cancel(&s.timeout)
	s.tx.clear()
	s.rx.clear()
	s.tx.depth, s.rx.depth = spiDepth, spiDepth
	s.latched, s.busy, s.tail, s.level, s.waiting, s.bits, s.fresh = 0, false, false, false, false, 0, false
	s.sck, s.cs = false, true
	s.idle()
	s.update()
}

// size is the number of bits in a frame.
func (s *SPI) size() int { return int(s.get(spiCR0)&15) + 1 }

// halfBit is half a bit in cycles of clk_peri; 0 if the prescaler is not set.
func (s *SPI) halfBit() uint64 {
	return uint64(s.get(spiCPSR)&0xfe) * uint64(s.get(spiCR0)>>8&0xff+1) / 2
}

func (s *SPI) target() bool { return s.get(spiCR1)&cr1MS != 0 }

func (s *SPI) enabled() bool { return s.get(spiCR1)&cr1SSE != 0 }

func (s *SPI) ris() uint32 {
	return s.latched | bit(s.rx.len() >= spiDepth/2, 2) | bit(s.tx.len() <= spiDepth/2, 3)
}

func (s *SPI) update() {
	s.env.SetIRQ(irqSPI0+s.n, s.ris()&s.get(spiIMSC) != 0)
	dma := s.get(spiDMACR)
	s.requests.Set(DREQSPI0TX+2*s.n, dma&2 != 0 && !s.tx.full())
	s.requests.Set(DREQSPI0TX+1+2*s.n, dma&1 != 0 && !s.rx.empty())
}

// Read returns a register.
func (s *SPI) Read(offset uint32, peek bool) uint32 {
	switch offset {
	case spiDR:
		if peek {
			return s.rx.peek()
		}
		v, _ := s.rx.pop()
		s.watchIdle()
		s.update()
		return v
	case spiSR:
		return bit(s.tx.empty(), 0) | bit(!s.tx.full(), 1) | bit(!s.rx.empty(), 2) | bit(s.rx.full(), 3) |
			bit(s.busy || !s.tx.empty(), 4)
	case spiRIS:
		return s.ris()
	case spiMIS:
		return s.ris() & s.get(spiIMSC)
	case spiICR:
		return 0
	}
	return s.storage.Read(offset, peek)
}

// Write writes a register.
func (s *SPI) Write(offset uint32, w Write) {
	switch offset {
	case spiDR:
		if !s.tx.push(w.Raw & (1<<s.size() - 1)) {
			s.env.Notice(s.name + ": a word was written to the full transmit FIFO and is lost")
		}
		s.kick()
	case spiICR:
		s.latched &^= w.Raw & (spiROR | spiRT)
	default:
		s.storage.Write(offset, w)
		switch offset {
		case spiCR0:
			if s.get(spiCR0)>>4&3 != 0 {
				s.unmodelled(offset, "frames have Motorola's format whatever FRF says")
			}
			s.idle()
		case spiCR1:
			s.idle()
			s.lines()
		}
		s.kick()
	}
	s.update()
}

// idle puts the lines to their state between frames.
func (s *SPI) idle() {
	if !s.busy && !s.tail {
		s.drive(true, s.get(spiCR0)&cr0SPO != 0, false)
	}
}

// drive puts levels on the pins: a controller drives all but RX, a target TX
// while it is selected.
func (s *SPI) drive(cs, sck, tx bool) {
	all := s.csPins | s.sckPins | s.txPins
	var out, oe uint64
	if cs {
		out |= s.csPins
	}
	if sck {
		out |= s.sckPins
	}
	if tx {
		out |= s.txPins
	}
	switch {
	case !s.enabled():
	case !s.target():
		oe = all
	case !s.cs && s.get(spiCR1)&cr1SOD == 0:
		oe = s.txPins
	}
	s.pins.function(FuncSPI, all, out, oe)
}

// receive puts a frame into the FIFO.
func (s *SPI) receive(v uint32) {
	if !s.rx.push(v) {
		s.latched |= spiROR
	}
	s.watchIdle()
	s.update()
}

// watchIdle starts the receive timeout anew: data waits and nothing is read for
// 32 bits.
func (s *SPI) watchIdle() {
	s.waiting = !s.rx.empty() && s.halfBit() != 0
	if !s.waiting {
		s.env.Cancel(&s.timeout)
		s.latched &^= spiRT
		return
	}
	s.due = s.peri.Count() + 64*s.halfBit()
	schedule(s.env, &s.timeout, s.peri.When(s.due))
}

func (s *SPI) timedOut() {
	s.waiting = false
	s.latched |= spiRT
	s.update()
}

// replan moves the events to where clk_peri now has them.
func (s *SPI) replan() {
	if (s.busy || s.tail) && !s.target() {
		schedule(s.env, &s.step, s.peri.When(s.at))
	}
	if s.waiting {
		schedule(s.env, &s.timeout, s.peri.When(s.due))
	}
	s.kick()
}
