package periph

// lag is how many cycles a block may be behind while nobody can notice.
const lag = 2048

// exact reports whether somebody would notice the block being late.
func (p *PIO) exact() bool {
	if p.probe != nil {
		return true
	}
	if p.get(pioINTE0)|p.get(pioINTE1) != 0 {
		return true
	}
	if p.pins.selected[FuncPIO0+p.n]&p.pins.demanded() != 0 {
		return true
	}
	for i := range 2 * pioMachines {
		if p.requests.Watched(DREQPIO0TX0 + 8*p.n + i) {
			return true
		}
	}
	for _, q := range p.other {
		if q != nil && q != p && q.active {
			return true
		}
	}
	return false
}

// due is the earliest cycle at which a machine has something to do.
func (p *PIO) due() uint64 {
	at := uint64(Never)
	for i := range p.sm {
		at = min(at, p.sm[i].due)
	}
	return at
}

// plan schedules the block's next event.
func (p *PIO) plan() {
	if p.working {
		return
	}
	was := p.active
	p.active = false
	for i := range p.sm {
		p.active = p.active || p.sm[i].enabled || p.sm[i].forced
	}
	if p.active != was {
		var looks uint64
		if p.active {
			looks = ^uint64(0) &^ p.pins.selected[FuncPIO0+p.n]
		}
		p.pins.sample(p.n, looks)
		for _, q := range p.other {
			if q != nil && q != p && q.active {
				q.plan()
			}
		}
	}
	at := p.due()
	if p.gated {
		at = Never
	}
	if at != Never && !p.exact() {
		at = max(at, p.env.Now()+lag)
	}
	schedule(p.env, &p.event, at)
}

// catchUp runs the machines through the present cycle: an access takes effect
// behind it, as it does when the machines have events of their own.
func (p *PIO) catchUp() { p.runTo(p.env.Now()) }

// runTo processes all cycles up to and including the given one in which a
// machine has something to do.
func (p *PIO) runTo(cycle uint64) {
	if p.working || !p.active || p.gated {
		return
	}
	p.working = true
	for {
		c := p.due()
		if c > cycle {
			break
		}
		p.process(c)
	}
	p.working = false
	p.pins.stamp = 0
}

// process is one cycle: the machines read what was true before it, then what
// they did takes effect.
func (p *PIO) process(c uint64) {
	p.cycle = c
	out, oe := p.out, p.oe
	for i := range p.sm {
		m := &p.sm[i]
		if m.due == c {
			m.step(c)
		} else {
			m.wrote = false
		}
	}
	// For each pin the highest-numbered machine wins (datasheet 11.5.6).
	for i := range p.sm {
		m := &p.sm[i]
		if m.wrote || m.sticky() {
			p.out = p.out&^m.outMask | m.outVal&m.outMask
			p.oe = p.oe&^m.oeMask | m.oeVal&m.oeMask
		}
		if m.wrote {
			p.out = p.out&^m.sideMask | m.sideVal&m.sideMask
			p.oe = p.oe&^m.sideOEMask | m.sideOEVal&m.sideOEMask
		}
	}
	if p.out != out || p.oe != oe {
		p.pins.stamp = max(c, 1)
		p.commit()
	}
	if p.setFlags|p.clrFlags != 0 {
		set, clr := p.setFlags, p.clrFlags
		p.setFlags, p.clrFlags = 0, 0
		p.changeFlags(set, clr)
		p.update()
	}
	if p.probe != nil {
		p.probe.PIO(p.n, c)
	}
}

// commit puts the outputs on the pins.
func (p *PIO) commit() {
	p.pins.function(FuncPIO0+p.n, ^uint64(0), uint64(p.out)<<p.base, uint64(p.oe)<<p.base)
}

// inputsChanged wakes the machines that wait for a pin.
func (p *PIO) inputsChanged() {
	if !p.active {
		return
	}
	at := p.pins.stamp
	if at == 0 {
		at = p.env.Now()
	}
	woken := false
	for i := range p.sm {
		if m := &p.sm[i]; m.blocked && m.onPin {
			m.wake(at + 1)
			woken = true
		}
	}
	if woken {
		p.plan()
	}
}

// syncCycles is when a machine sees a change of a pin: the pin changes at the
// end of a cycle and passes two registers (datasheet 11.5.6.3).
const syncCycles = 3

// inputs are the window's pins as the machines see them in the present cycle.
func (p *PIO) inputs() uint32 {
	bypass := p.get(pioBypass)
	var old uint64
	if p.cycle >= syncCycles {
		old = p.pins.inputsAt(p.cycle - syncCycles)
	}
	v := uint32(old >> p.base)
	if bypass != 0 {
		now := uint32(p.pins.inputsAt(p.cycle-1) >> p.base)
		v = v&^bypass | now&bypass
	}
	return v
}

// settled reports whether no change is still in the synchronisers.
func (p *PIO) settled() bool { return p.pins.history[p.pins.recent].cycle+syncCycles <= p.cycle }
