package periph

// pwmSlice is one slice: where it was at cycle since, and the latched copies of
// CC and TOP that are in force.
type pwmSlice struct {
	p     *PWM
	n     int
	event Event
	pins  [2]uint64 // of channel A and B

	since uint64 // cycle of the state below
	acc   uint64 // divider phase, sixteenths of input pulses
	// pos is the place in the period: the count when counting up, and with
	// PH_CORRECT past TOP the way down.
	pos    uint64
	top    uint64
	cc     [2]uint64
	high   bool // level of B when it is an input
	levels [2]bool
}

func (s *pwmSlice) reg(offset uint32) uint32 { return s.p.get(uint32(s.n)*pwmStride + offset) }

func (s *pwmSlice) running() bool { return s.reg(pwmCSR)&csrEN != 0 && !s.p.gated }

func (s *pwmSlice) mode() uint32 { return s.reg(pwmCSR) & csrDivMode >> 4 }

// divisor is the clock divider in sixteenths.
func (s *pwmSlice) divisor() uint64 {
	d := uint64(s.reg(pwmDIV) & 0xfff)
	if d>>4 == 0 {
		d += 256 << 4
	}
	return d
}

func (s *pwmSlice) reset() {
	s.p.env.Cancel(&s.event)
	s.since, s.acc, s.pos = s.p.env.Now(), 0, 0
	s.latch()
	s.drive(true)
}

// latch takes over what software wrote to CC and TOP.
func (s *pwmSlice) latch() {
	cc := s.reg(pwmCC)
	s.cc = [2]uint64{uint64(cc & 0xffff), uint64(cc >> 16)}
	s.top = uint64(s.reg(pwmTOP) & 0xffff)
}

// period is the number of counts between wraps from a position on.
func (s *pwmSlice) period() uint64 {
	if s.reg(pwmCSR)&csrPhase != 0 {
		return 2 * (s.top + 1)
	}
	if s.pos > s.top { // TOP was passed: the counter runs through its whole range
		return 0x10000
	}
	return s.top + 1
}

// count is the value of CTR.
func (s *pwmSlice) count() uint32 {
	if s.reg(pwmCSR)&csrPhase != 0 && s.pos > s.top {
		return uint32(2*s.top + 1 - s.pos)
	}
	return uint32(s.pos)
}

// sync advances to now.
func (s *pwmSlice) sync() {
	now := s.p.env.Now()
	pulses := now - s.since
	s.since = now
	if !s.running() {
		return
	}
	switch m := s.mode(); {
	case m == divFree, m == divHigh && s.high:
		s.feed(pulses)
	}
}

// feed gives the divider input pulses.
func (s *pwmSlice) feed(pulses uint64) {
	s.acc += pulses * 16
	d := s.divisor()
	if n := s.acc / d; n != 0 {
		s.acc %= d
		s.advance(n)
	}
}

// advance counts n times.
func (s *pwmSlice) advance(n uint64) {
	left := s.period() - s.pos // counts to the next wrap
	if n < left {
		s.pos += n
		s.drive(false)
		return
	}
	// What happened in between shows in the pins as one pulse: whoever needs
	// every edge has an event at each.
	n -= left
	s.pos = 0
	s.latch()
	s.p.wrapped(s.n)
	if p := s.period(); n >= p {
		s.blink()
		n %= p
	}
	s.pos = n
	s.drive(false)
	s.p.interrupt()
}

// outputs are the levels of A and B.
func (s *pwmSlice) outputs() [2]bool {
	c, csr := uint64(s.count()), s.reg(pwmCSR)
	return [2]bool{(c < s.cc[0]) != (csr&csrAInv != 0), (c < s.cc[1]) != (csr&csrBInv != 0)}
}

// drive puts the outputs on the pins.
func (s *pwmSlice) drive(force bool) {
	now := s.outputs()
	if now == s.levels && !force {
		return
	}
	s.levels = now
	s.put(now)
}

func (s *pwmSlice) put(levels [2]bool) {
	var out uint64
	for ch, high := range levels {
		if high {
			out |= s.pins[ch]
		}
	}
	oe := s.pins[0]
	if s.mode() == divFree {
		oe |= s.pins[1]
	}
	s.p.pins.function(FuncPWM, s.pins[0]|s.pins[1], out, oe)
}

// blink shows both levels of an output that toggled unseen, so that edges are
// latched where only that is asked for.
func (s *pwmSlice) blink() {
	if s.routed() == 0 {
		return
	}
	var toggles [2]bool
	for ch := range toggles {
		toggles[ch] = s.cc[ch] != 0 && s.cc[ch] <= s.top
	}
	if toggles == ([2]bool{}) {
		return
	}
	s.put([2]bool{s.levels[0] != toggles[0], s.levels[1] != toggles[1]})
	s.put(s.levels)
}

// routed are the pins that selected the slice.
func (s *pwmSlice) routed() uint64 {
	return s.p.pins.selected[FuncPWM] & (s.pins[0] | s.pins[1])
}

// plan schedules the next thing that somebody must see at its time.
func (s *pwmSlice) plan() {
	exact := s.routed()&s.p.pins.needed() != 0
	irq := s.p.intr>>s.n&1 == 0 && (s.p.get(pwmINTE0)|s.p.get(pwmINTE1))>>s.n&1 != 0
	irq = irq || s.p.requests.Watched(DREQPWMWrap0+s.n)
	counts := s.running() && (s.mode() == divFree || s.mode() == divHigh && s.high)
	if !counts || !exact && !irq {
		s.p.env.Cancel(&s.event)
		return
	}
	s.sync()
	n := s.period() - s.pos
	if exact {
		for _, cc := range s.cc {
			// The way up passes CC, the way down CC-1.
			at := [2]uint64{cc, 2*(s.top+1) - cc}
			for i, p := range at {
				if i == 1 && s.reg(pwmCSR)&csrPhase == 0 {
					continue
				}
				if p > s.pos {
					n = min(n, p-s.pos)
				}
			}
		}
	}
	d := s.divisor()
	cycles := (n*d - s.acc + 15) / 16
	s.p.env.Schedule(&s.event, s.since+cycles)
}

// inputChanged follows a change of pin B.
func (s *pwmSlice) inputChanged() {
	high, _ := s.p.pins.inputOf(FuncPWM, s.pins[1])
	if high == s.high {
		return
	}
	s.sync()
	s.high = high
	if m := s.mode(); s.running() && (m == divRise && high || m == divFall && !high) {
		s.feed(1)
	}
	s.plan()
}

// write writes a register of the slice.
func (s *pwmSlice) write(offset uint32, w Write) {
	s.sync()
	s.p.storage.Write(uint32(s.n)*pwmStride+offset, w)
	switch offset {
	case pwmCSR:
		if s.running() && w.Ones(csrAdvance) != 0 {
			s.advance(1)
		}
		if s.running() && w.Ones(csrRetard) != 0 {
			// One pulse is left out: the divider waits for one more.
			s.retard()
		}
		if s.mode() != divFree {
			s.high, _ = s.p.pins.inputOf(FuncPWM, s.pins[1])
		}
	case pwmCTR:
		s.pos = uint64(s.reg(pwmCTR) & 0xffff)
	}
	if !s.running() {
		s.latch()
	}
	s.drive(true)
	s.plan()
}

// retard holds the counter back by one count.
func (s *pwmSlice) retard() {
	if s.pos > 0 {
		s.pos--
		return
	}
	s.pos = s.period() - 1
}
