package periph

// Clock gates (datasheet 6.5.1, 8.1.7). Each endpoint of a clock has a bit in
// WAKE_EN, and one in SLEEP_EN for the time in which both cores sleep and DMA is
// idle. A block whose clock is gated keeps its state and goes on where it was.
// Blocks with a clock of their own get a copy of it that stops; the others, which
// count clk_sys, are told.

// The bits of WAKE_EN1 (from 32 on) and WAKE_EN0.
const (
	gateADC       = 1<<3 | 1<<2 // clk_sys_adc, clk_adc
	gateDMA       = 1 << 7
	gateHSTX      = 1<<10 | 1<<9
	gateI2C0      = 1 << 11
	gateIO        = 1 << 13
	gatePIO0      = 1 << 18
	gatePWM       = 1 << 25
	gateSHA256    = 1 << 30
	gateSPI0      = 3 << 32 // clk_sys_spi0, clk_peri_spi0
	gateTicks     = 3 << 49 // clk_sys_ticks, clk_ref_ticks
	gateTimer0    = 1 << 51
	gateTRNG      = 1 << 53
	gateUART0     = 3 << 54
	gateUSB       = 3 << 58
	gateWatchdog  = 1 << 60
	gateUnmovable = 0x3ff<<36 | 1<<61 | gateUSB | 1<<31 | 1<<29 | 1<<27 | 1<<26 | 1<<24 | 1<<23 | 1<<6 | 1<<4 | 1<<1 | 1
)

// gatedClock is a clock behind gates.
type gatedClock struct {
	Clock
	parent *Clock
	mask   uint64
}

// gatedBlock is a block that is told of its gates.
type gatedBlock struct {
	mask  uint64
	block interface{ gate(running bool) }
}

// behind returns a copy of a clock that runs while all gates of mask are open.
func (c *Clocks) behind(parent *Clock, mask uint64) *Clock {
	g := &gatedClock{Clock: Clock{name: parent.name, env: c.env}, parent: parent, mask: mask}
	c.gatedClocks = append(c.gatedClocks, g)
	return &g.Clock
}

// tell lets a block know when one of the gates of mask closes and when all are
// open again.
func (c *Clocks) tell(mask uint64, b interface{ gate(running bool) }) {
	c.gatedBlocks = append(c.gatedBlocks, gatedBlock{mask, b})
}

// enables is a pair of enable registers as one word.
func (c *Clocks) enables(offset uint32) uint64 {
	return uint64(c.get(offset+4))<<32 | uint64(c.get(offset))
}

// Gates are the gates that are open, those of WAKE_EN1 from bit 32 on.
func (c *Clocks) Gates() uint64 { return c.gates }

// SleepMatters reports whether it makes a difference that the cores sleep.
func (c *Clocks) SleepMatters() bool { return c.sleepMatters || c.sleeping }

// Sleep says whether the chip is in the SLEEP state (datasheet 6.5.2).
func (c *Clocks) Sleep(on bool) {
	if c.sleeping != on {
		c.sleeping = on
		c.regate()
	}
}

// regate takes over the gates.
func (c *Clocks) regate() {
	wake, sleep := c.enables(clkWakeEn0), c.enables(clkSleepEn0)
	c.sleepMatters = wake != sleep
	was := c.gates
	c.gates = wake
	if c.sleeping {
		c.gates = sleep
	}
	if c.gates == was {
		return
	}
	if !c.sleeping && was&^c.gates&gateUnmovable != 0 {
		c.unmodelled(clkWakeEn0, "memories, the bus fabric, USB and what belongs to the cores go on without their clocks")
	}
	// Blocks stop before their clocks do, and go on after them.
	for _, b := range c.gatedBlocks {
		if was&b.mask == b.mask && c.gates&b.mask != b.mask {
			b.block.gate(false)
		}
	}
	c.Update()
	for _, b := range c.gatedBlocks {
		if was&b.mask != b.mask && c.gates&b.mask == b.mask {
			b.block.gate(true)
		}
	}
}

// pausedEvent keeps an event for the time in which its clock is gated.
type pausedEvent struct {
	waits bool
	left  uint64
}

// gate takes the event out of the queue, or puts it back.
func (p *pausedEvent) gate(env Env, e *Event, running bool) {
	switch {
	case running && p.waits:
		env.Schedule(e, env.Now()+p.left)
		p.waits = false
	case !running && e.Index != 0:
		p.waits, p.left = true, e.When-env.Now()
		env.Cancel(e)
	}
}

// gateAll connects the blocks with their gates.
func (s *Peripherals) gateAll() {
	c := s.Clocks
	c.tell(gatePWM, s.PWM)
	c.tell(gateSHA256, s.SHA256)
	c.tell(gateTRNG, s.TRNG)
	c.tell(gateIO, s.IOBank0)
	c.tell(gateIO, s.IOQSPI)
	c.tell(gateWatchdog, s.Watchdog)
	for i := range s.PIO {
		c.tell(gatePIO0<<i, s.PIO[i])
	}
	for i := range 2 {
		c.tell(gateI2C0<<i, s.I2C[i])
		c.tell(gateTimer0<<i, s.Timer[i])
	}
	if s.DMA != nil {
		c.tell(gateDMA, s.DMA)
	}
}

func (p *PWM) gate(running bool) {
	for n := range p.slice {
		p.slice[n].sync()
	}
	p.gated = !running
	p.planAll()
}

func (s *SHA256) gate(running bool) { s.paused.gate(s.env, &s.done, running) }

func (t *TRNG) gate(running bool) { t.paused.gate(t.env, &t.done, running) }

func (t *Timer) gate(running bool) {
	t.time = t.Now()
	t.since = t.from.Count()
	t.gated = !running
	t.update()
}

func (d *Watchdog) gate(running bool) {
	d.value = d.left()
	d.since = d.ticks.Count()
	d.gated = !running
	d.update()
}

// gate stops the sampling of pins; an edge in between is seen behind it.
func (b *IOBank) gate(running bool) {
	if !running {
		b.gated, b.sampled = true, b.pins.fromPad
		return
	}
	b.gated = false
	b.changed(PinChange{FromPad: b.pins.fromPad, OldFromPad: b.sampled})
}

func (p *PIO) gate(running bool) {
	now := p.env.Now()
	if !running {
		p.catchUp()
		p.gated, p.gatedAt = true, now
		for i := range p.sm {
			p.sm[i].kept = p.sm[i].due
		}
		p.plan()
		return
	}
	p.gated = false
	d := now - p.gatedAt
	for i := range p.sm {
		m := &p.sm[i]
		woken := m.due != m.kept // by a pin or a flag
		m.phase += d << 8
		m.tick += d << 8
		m.fed += d
		switch {
		case woken && m.due != Never:
			m.due = m.nextTick(now + 1)
		case m.due != Never:
			m.due += d
		}
	}
	p.plan()
}

func (d *DMA) gate(running bool) {
	now := d.env.Now()
	if !running {
		d.catchUp()
		d.gated, d.gatedAt, d.requests.deaf = true, now, true
		d.plan()
		return
	}
	d.gated, d.requests.deaf = false, false
	for i := range d.timers {
		d.timers[i].since += now - d.gatedAt
	}
	d.free = max(d.free, now+1)
	d.plan()
}

// Idle reports whether no channel has a transfer to make.
func (d *DMA) Idle() bool {
	for n := range d.ch {
		if d.ch[n].busy {
			return false
		}
	}
	return true
}

func (c *I2C) gate(running bool) {
	c.line.paused.gate(c.env, &c.line.event, running)
	c.line.gated = !running
	if running {
		c.line.changed()
	}
}
