package periph

import "github.com/stem-hw/stem-hw/sim/rp2350/periph/regs"

// Registers of PWM (datasheet 12.5.3); those of a slice repeat every pwmStride.
const (
	pwmCSR    = 0x00
	pwmDIV    = 0x04
	pwmCTR    = 0x08
	pwmCC     = 0x0c
	pwmTOP    = 0x10
	pwmStride = 0x14

	pwmEN    = 0xf0
	pwmINTR  = 0xf4
	pwmINTE0 = 0xf8
	pwmINTF0 = 0xfc
	pwmINTS0 = 0x100
	pwmINTE1 = 0x104
	pwmINTF1 = 0x108
	pwmINTS1 = 0x10c

	csrEN      = 1 << 0
	csrPhase   = 1 << 1 // PH_CORRECT
	csrAInv    = 1 << 2
	csrBInv    = 1 << 3
	csrDivMode = 3 << 4
	csrRetard  = 1 << 6
	csrAdvance = 1 << 7

	pwmSlices = 12
	irqPWM    = 8
)

// Modes of CSR.DIVMODE.
const (
	divFree = iota
	divHigh
	divRise
	divFall
)

// PWM is the PWM block (datasheet 12.5). Slices count by arithmetic when they
// are looked at; events are made only for edges that somebody needs at their
// time, for enabled interrupts and for DMA.
type PWM struct {
	storage
	pins     *Pins
	requests *Requests
	slice    [pwmSlices]pwmSlice
	intr     uint32
	syncing  bool
	active   bool // a slice runs on a pin
	gated    bool
}

func newPWM(env Env, pins *Pins, requests *Requests) *PWM {
	p := &PWM{storage: newStorage("PWM", env, regs.PWM), pins: pins, requests: requests}
	var inputs uint64
	for n := range p.slice {
		s := &p.slice[n]
		s.p, s.n = p, n
		s.event.Fire = func(uint64) { s.sync(); s.plan() }
		for pin := range 48 {
			if pwmSliceOf(pin) == n {
				s.pins[pin&1] |= 1 << pin
			}
		}
		inputs |= s.pins[1]
		requests.onWatch(DREQPWMWrap0+n, s.plan)
	}
	pins.follow(inputs, func(c PinChange) {
		if d := c.Input ^ c.OldInput; d&inputs != 0 {
			p.inputsChanged()
		}
	})
	pins.onRoute(func() {
		p.inputsChanged()
		p.planAll()
	})
	pins.setLazy(&p.active, p.sync)
	return p
}

// pwmSliceOf is the slice of a GPIO (datasheet table 1130).
func pwmSliceOf(pin int) int {
	if pin < 32 {
		return pin >> 1 & 7
	}
	return 8 + pin>>1&3
}

// Reset stops all slices.
func (p *PWM) Reset() {
	p.storage.Reset()
	p.intr = 0
	for n := range p.slice {
		p.slice[n].reset()
	}
	p.active = false
	p.interrupt()
}

// sync brings every running slice up to now.
func (p *PWM) sync() {
	if p.syncing {
		return
	}
	p.syncing = true
	for n := range p.slice {
		if s := &p.slice[n]; s.running() && s.pins[0]|s.pins[1] != 0 && s.routed() != 0 {
			s.sync()
		}
	}
	p.syncing = false
}

// inputsChanged looks at the B inputs of slices that count by them.
func (p *PWM) inputsChanged() {
	for n := range p.slice {
		if s := &p.slice[n]; s.mode() != divFree {
			s.inputChanged()
		}
	}
}

// wrapped notes that slice n began a new period.
func (p *PWM) wrapped(n int) {
	p.intr |= 1 << n
	p.requests.Pulse(DREQPWMWrap0 + n)
}

func (p *PWM) pending(line uint32) uint32 {
	return (p.intr | p.get(pwmINTF0+line*12)) & p.get(pwmINTE0+line*12)
}

func (p *PWM) interrupt() {
	p.env.SetIRQ(irqPWM, p.pending(0) != 0)
	p.env.SetIRQ(irqPWM+1, p.pending(1) != 0)
}

// Read returns a register.
func (p *PWM) Read(offset uint32, peek bool) uint32 {
	if n := offset / pwmStride; n < pwmSlices {
		s := &p.slice[n]
		if offset%pwmStride == pwmCTR {
			s.sync()
			return s.count()
		}
		return p.get(offset)
	}
	switch offset {
	case pwmEN:
		var v uint32
		for n := range p.slice {
			v |= p.get(uint32(n)*pwmStride) & csrEN << n
		}
		return v
	case pwmINTR, pwmINTS0, pwmINTS1:
		for n := range p.slice {
			p.slice[n].sync()
		}
		if offset == pwmINTR {
			return p.intr
		}
		return p.pending((offset - pwmINTS0) / 12)
	}
	return p.storage.Read(offset, peek)
}

// Write writes a register.
func (p *PWM) Write(offset uint32, w Write) {
	if n := offset / pwmStride; n < pwmSlices {
		p.slice[n].write(offset%pwmStride, w)
		p.planAll()
		return
	}
	for n := range p.slice {
		p.slice[n].sync()
	}
	switch offset {
	case pwmEN:
		v := w.Apply(p.Read(pwmEN, true))
		for n := range p.slice {
			off := uint32(n) * pwmStride
			p.set(off, p.get(off)&^csrEN|v>>n&1)
		}
	case pwmINTR:
		p.intr &^= w.Ones(1<<pwmSlices - 1)
	default:
		p.storage.Write(offset, w)
	}
	p.interrupt()
	for n := range p.slice {
		p.slice[n].sync()
	}
	p.planAll()
}

// planAll schedules every slice anew.
func (p *PWM) planAll() {
	p.active = false
	for n := range p.slice {
		s := &p.slice[n]
		p.active = p.active || s.running() && s.routed() != 0
		s.plan()
	}
}
