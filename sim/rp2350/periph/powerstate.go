package periph

// Power states (datasheet 6.2): a request in STATE names the domains to switch
// off. Memories go at once; the switched core domain goes when both cores wait,
// and comes back by a wake-up: the level or an edge of a pin, the timer's alarm.
// The chip then boots as after a reset, with POWMAN and the memories that stayed
// on as they were.

const (
	powPWRUP0     = 0x8c
	powCurrentReq = 0x9c
	powLastPwrup  = 0xa0

	stateSRAM1   = 1 << 0
	stateSWCore  = 1 << 3
	stateIgnored = 1 << 8
	stateWhile   = 1 << 9
	stateWaiting = 1 << 12

	pwrupEnable = 1 << 6
	pwrupHigh   = 1 << 7
	pwrupEdge   = 1 << 8

	reasonAlarm    = 1 << 6
	pwrupOnAlarm   = 1 << 5
	pwrupSources   = 4
	stateMemories  = 7
	stateRequested = 4 // bits up in STATE
)

// powerState is the sequencer.
type powerState struct {
	current uint32 // domains that are off
	waiting bool   // for the cores
	while   bool   // PWRUP_WHILE_WAITING
	off     bool   // the switched core domain
	edges   uint32 // latched edges of the wake-up inputs
	last    uint32 // LAST_SWCORE_PWRUP
}

// initPower connects the wake-up inputs.
func (p *Powman) initPower(sys System, pins *Pins) {
	p.sys, p.pins = sys, pins
	pins.follow(1<<48-1, p.pinsChanged)
}

// request takes a request for other domains.
func (p *Powman) request(w Write) {
	s := &p.power
	if w.Ones(stateIgnored) != 0 {
		p.ignored = false
	}
	if w.Ones(stateWhile) != 0 {
		s.while = false
	}
	p.set(powState, p.get(powState)&^0xf0|w.Apply(p.get(powState))&0xf0)
	want := p.get(powState) >> stateRequested & 0xf
	switch {
	case want&stateSWCore == 0:
		s.waiting = false
		p.sys.Memories(MemoryDomain((s.current ^ want) & want & stateMemories))
		s.current = want
	case p.wakeReasons() != 0:
		s.while = true // somebody wants it awake
	default:
		s.waiting = true
		p.sys.PowerDown()
	}
	p.interrupt()
}

// Waiting reports whether the core domain is to go once both cores wait.
func (p *Powman) Waiting() bool { return p.power.waiting }

// SwitchOff switches the core domain off. The memories that go with it are
// forgotten by the chip.
func (p *Powman) SwitchOff() (lost MemoryDomain) {
	s := &p.power
	s.waiting, s.off = false, true
	s.current = p.get(powState) >> stateRequested & 0xf
	s.edges = 0
	// The crystal goes with the core; the timer runs on from the other oscillator.
	p.timer.toLPOSC()
	return MemoryDomain(s.current & stateMemories)
}

// wakeReasons are the wake-up inputs that are active, as in CURRENT_PWRUP_REQ.
func (p *Powman) wakeReasons() uint32 {
	var v uint32
	if p.timer.fired && p.get(powTimer)&pwrupOnAlarm != 0 {
		v |= reasonAlarm
	}
	for i := range uint32(pwrupSources) {
		r := p.get(powPWRUP0 + 4*i)
		if r&pwrupEnable == 0 {
			continue
		}
		active := p.power.edges>>i&1 != 0
		if r&pwrupEdge == 0 {
			active = p.wakePin(r) == (r&pwrupHigh != 0)
		}
		v |= bit(active, uint(i)+1)
	}
	return v
}

// wakePin is the level that a wake-up input sees.
func (p *Powman) wakePin(r uint32) bool {
	n := r & 0x3f
	return n < 48 && p.pins.level>>n&1 != 0
}

// pinsChanged latches edges of the wake-up inputs and wakes by them.
func (p *Powman) pinsChanged(c PinChange) {
	for i := range uint32(pwrupSources) {
		r := p.get(powPWRUP0 + 4*i)
		n := r & 0x3f
		if r&(pwrupEnable|pwrupEdge) != pwrupEnable|pwrupEdge || n >= 48 || (c.Level^c.OldLevel)>>n&1 == 0 {
			continue
		}
		if c.Level>>n&1 != 0 == (r&pwrupHigh != 0) {
			p.power.edges |= 1 << i
		}
	}
	p.maybeWake()
}

// maybeWake switches the core domain on if something asks for it.
func (p *Powman) maybeWake() {
	s := &p.power
	if !s.off && !s.waiting {
		return
	}
	why := p.wakeReasons()
	switch {
	case why == 0:
	case s.off:
		s.off, s.current, s.last = false, 0, why
		p.set(powState, p.get(powState)&^0xf0)
		p.sys.PowerUp()
	default:
		s.waiting, s.while = false, true
		p.interrupt()
	}
}

// readPower reads the registers of the sequencer.
func (p *Powman) readPower(offset uint32) (v uint32, ok bool) {
	s := &p.power
	switch {
	case offset == powState:
		return s.current | p.get(powState)&0xf0 | bit(p.ignored, 8) | bit(s.while, 9) | bit(s.waiting, 12), true
	case offset >= powPWRUP0 && offset < powPWRUP0+4*pwrupSources:
		r := p.get(offset)
		return r&0x1ff | bit(s.edges>>((offset-powPWRUP0)/4)&1 != 0, 9) | bit(p.wakePin(r), 10), true
	case offset == powCurrentReq:
		return p.wakeReasons(), true
	case offset == powLastPwrup:
		return s.last, true
	}
	return 0, false
}

// writePower writes a wake-up input; STATUS is cleared by a one.
func (p *Powman) writePower(offset uint32, w Write) bool {
	if offset < powPWRUP0 || offset >= powPWRUP0+4*pwrupSources {
		return false
	}
	if w.Ones(1<<9) != 0 {
		p.power.edges &^= 1 << ((offset - powPWRUP0) / 4)
	}
	p.storage.Write(offset, w)
	p.needWakePins()
	return true
}

// needWakePins asks for the edges of the inputs at their time.
func (p *Powman) needWakePins() {
	var m uint64
	for i := range uint32(pwrupSources) {
		if r := p.get(powPWRUP0 + 4*i); r&pwrupEnable != 0 && r&0x3f < 48 {
			m |= 1 << (r & 0x3f)
		}
	}
	p.pins.needWake(m)
}
