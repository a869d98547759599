package periph

// kick begins a frame if there is something to send.
func (s *SPI) kick() {
	if s.busy || !s.enabled() || s.target() || s.tx.empty() {
		return
	}
	if s.halfBit() == 0 {
		s.env.Notice(s.name + ": nothing is sent, the prescaler (SSPCPSR) is 0")
		return
	}
	if !s.peri.Running() {
		s.env.Notice(s.name + ": nothing is sent, clk_peri does not run (CLOCKS.CLK_PERI_CTRL, or a gate in WAKE_EN)")
		return
	}
	s.tail = false
	s.begin(s.peri.Count())
}

// begin starts a frame at a count of clk_peri.
func (s *SPI) begin(start uint64) {
	s.word, _ = s.tx.pop()
	s.in, s.bits = 0, 0
	s.busy, s.half, s.start = true, 0, start
	lines := s.pins.selected[FuncSPI] & (s.csPins | s.sckPins | s.txPins | s.rxPins)
	s.exact = lines&s.pins.needed() != 0 && s.get(spiCR1)&cr1LBM == 0
	s.update()
	if s.exact {
		s.next()
		return
	}
	s.half = s.last()
	s.planHalf()
}

// last is the half bit in which a frame ends: with SPH 0 the select goes high
// between frames, with SPH 1 they follow each other (PL022 TRM 2.3.9).
func (s *SPI) last() int {
	if s.get(spiCR0)&cr0SPH != 0 {
		return 2 * s.size()
	}
	return 2*s.size() + 3
}

func (s *SPI) planHalf() {
	s.at = s.start + uint64(s.half)*s.halfBit()
	schedule(s.env, &s.step, s.peri.When(s.at))
}

// sendBit is the level of bit i of the frame, the most significant one first.
func (s *SPI) sendBit(i int) bool { return s.word>>(s.size()-1-min(i, s.size()-1))&1 != 0 }

// next is half bit s.half of the frame.
func (s *SPI) next() {
	if s.tail {
		s.afterTail()
		return
	}
	if s.half == s.last() {
		if !s.exact {
			s.in = s.constant()
		} else if s.get(spiCR0)&cr0SPH != 0 {
			s.edge()
		}
		s.end()
		return
	}
	s.edge()
	s.half++
	s.planHalf()
}

// edge does what half bit s.half shows on the pins. Half bit 0 selects; odd ones
// are leading clock edges, even ones trailing.
func (s *SPI) edge() {
	cr0 := s.get(spiCR0)
	idle := cr0&cr0SPO != 0
	h, n := s.half, s.size()
	leading := h&1 != 0
	switch {
	case h > 2*n:
		s.drive(true, idle, false)
		return
	case cr0&cr0SPH == 0:
		if leading {
			s.sample()
		}
		s.drive(false, leading != idle, s.sendBit(h/2))
	default:
		// Data changes on leading edges and stays over the trailing ones, the
		// last one of the frame before included.
		if leading {
			s.level = s.sendBit((h - 1) / 2)
		} else if h > 0 {
			s.sample()
		}
		s.drive(false, leading != idle, s.level)
	}
}

// sample takes a bit from the RX pin.
func (s *SPI) sample() {
	high, _ := s.pins.inputOf(FuncSPI, s.rxPins)
	s.in = s.in<<1 | bit(high, 0)
}

// constant is what is received when nothing on the RX pin moves, or in loopback.
func (s *SPI) constant() uint32 {
	if s.get(spiCR1)&cr1LBM != 0 {
		return s.word
	}
	if high, _ := s.pins.inputOf(FuncSPI, s.rxPins); high {
		return 1<<s.size() - 1
	}
	return 0
}

// end finishes a frame and begins the next one.
func (s *SPI) end() {
	s.busy = false
	s.receive(s.in)
	if !s.tx.empty() && s.enabled() && !s.target() {
		s.begin(s.at)
		return
	}
	if s.get(spiCR0)&cr0SPH != 0 && s.enabled() && !s.target() {
		// The select stays low for one period behind the last bit.
		s.tail = true
		s.at += 2 * s.halfBit()
		schedule(s.env, &s.step, s.peri.When(s.at))
		s.update()
		return
	}
	s.idle()
	s.update()
}

// afterTail ends the select.
func (s *SPI) afterTail() {
	s.tail, s.level = false, false
	s.idle()
	s.update()
}

// lines follows the select and the clock as a target.
func (s *SPI) lines() {
	sck, _ := s.pins.inputOf(FuncSPI, s.sckPins)
	cs, none := s.pins.inputOf(FuncSPI, s.csPins)
	cs = cs || none
	if !s.target() || !s.enabled() {
		s.sck, s.cs = sck, cs
		return
	}
	cr0 := s.get(spiCR0)
	if cs != s.cs {
		s.cs = cs
		s.bits, s.in, s.busy = 0, 0, false
		if !cs {
			s.sck = sck
			if !s.fresh {
				s.load()
			}
			s.busy = true
		}
		s.drive(false, false, s.sendBit(0))
		s.update()
		return
	}
	if sck == s.sck || cs {
		s.sck = sck
		return
	}
	s.sck = sck
	leading := sck != (cr0&cr0SPO != 0)
	if leading == (cr0&cr0SPH == 0) {
		s.sample()
		s.fresh = false
		if s.bits++; s.bits == s.size() {
			s.busy = false
			s.receive(s.in & (1<<s.size() - 1))
			s.bits, s.in = 0, 0
			s.load()
			if cr0&cr0SPH != 0 {
				return
			}
		}
		return
	}
	s.drive(false, false, s.sendBit(s.bits))
}

// load takes the next word for a target to send; an empty FIFO sends zeros.
func (s *SPI) load() {
	s.word, s.busy, s.fresh = 0, true, true
	if v, ok := s.tx.pop(); ok {
		s.word = v
	}
	s.update()
}
