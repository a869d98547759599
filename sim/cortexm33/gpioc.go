package cortexm33

// GPIOPort is what the GPIO coprocessor reaches: SIO's GPIO registers of one
// core.
type GPIOPort interface {
	// Begin announces an access at cycle now. It returns false while another
	// core must catch up first; then nothing may be accessed.
	Begin(now uint64) bool
	// ReadGPIO returns a pair of registers, low word first: group 0 is OUT, 1 OE,
	// 2 IN.
	ReadGPIO(group int, nonSecure bool) (lo, hi uint32)
	// WriteGPIO changes one word (hi or not) of group 0 or 1: op is 0 to write, 1
	// to toggle, 2 to set, 3 to clear.
	WriteGPIO(group int, hi bool, op uint32, v uint32, nonSecure bool)
}

// NewGPIOC returns the GPIO coprocessor of the RP2350 (datasheet 3.6.1), port 0
// of a core.
func NewGPIOC(p GPIOPort) Coprocessor { return &gpioc{p} }

type gpioc struct{ p GPIOPort }

func (g *gpioc) Reset() {}

// CDP implements Coprocessor: there is none.
func (g *gpioc) CDP(Insn) Result { return CoprocUndefined }

// MRC implements Coprocessor.
func (g *gpioc) MRC(x Insn) (uint32, Result) {
	if x.Opc1 != 0 || x.CRm >= 12 || x.CRm&2 != 0 || x.Opc2 != 0 {
		return 0, CoprocUndefined
	}
	if !g.p.Begin(x.Now) {
		return 0, CoprocNotReady
	}
	lo, hi := g.p.ReadGPIO(int(x.CRm>>2), x.NonSecure)
	if x.CRm&1 != 0 {
		return hi, CoprocDone
	}
	return lo, CoprocDone
}

// MRRC implements Coprocessor.
func (g *gpioc) MRRC(x Insn) (lo, hi uint32, r Result) {
	if x.Opc1 != 0 || x.CRm >= 12 || x.CRm&3 != 0 {
		return 0, 0, CoprocUndefined
	}
	if !g.p.Begin(x.Now) {
		return 0, 0, CoprocNotReady
	}
	lo, hi = g.p.ReadGPIO(int(x.CRm>>2), x.NonSecure)
	return lo, hi, CoprocDone
}

// MCR implements Coprocessor.
func (g *gpioc) MCR(x Insn, v uint32) Result {
	group := int(x.CRm >> 2)
	if group > 1 || x.CRm&2 != 0 || x.Opc2 != 0 || x.Opc1 >= 4 && (x.CRm&3 != 0 || x.Opc1 == 4) {
		return CoprocUndefined
	}
	if !g.p.Begin(x.Now) {
		return CoprocNotReady
	}
	if x.Opc1 < 4 {
		g.p.WriteGPIO(group, x.CRm&1 != 0, x.Opc1, v, x.NonSecure)
	} else {
		g.bit(group, x.Opc1&3, v, x.NonSecure)
	}
	return CoprocDone
}

// bit changes the single pin v.
func (g *gpioc) bit(group int, op, v uint32, ns bool) {
	g.p.WriteGPIO(group, v>>5&1 != 0, op, 1<<(v&31), ns)
}

// MCRR implements Coprocessor.
func (g *gpioc) MCRR(x Insn, a, b uint32) Result {
	group := int(x.CRm >> 2)
	if group > 1 || x.CRm&3 != 0 || x.Opc1 >= 12 {
		return CoprocUndefined
	}
	if !g.p.Begin(x.Now) {
		return CoprocNotReady
	}
	op := x.Opc1 & 3
	switch x.Opc1 >> 2 {
	case 0: // both words
		g.p.WriteGPIO(group, false, op, a, x.NonSecure)
		g.p.WriteGPIO(group, true, op, b, x.NonSecure)
	case 1: // one pin, on a condition
		switch {
		case op == 0 && b&1 != 0:
			g.bit(group, 2, a, x.NonSecure)
		case op == 0:
			g.bit(group, 3, a, x.NonSecure)
		case b&1 != 0:
			g.bit(group, op, a, x.NonSecure)
		}
	case 2: // one word, by index
		if b < 2 {
			g.p.WriteGPIO(group, b == 1, op, a, x.NonSecure)
		}
	}
	return CoprocDone
}
