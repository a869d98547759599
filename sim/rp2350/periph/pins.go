package periph

import (
	"fmt"
	"math/bits"
)

// Pins that are not GPIOs have the numbers of SIO's upper word (datasheet 3.1.3).
const (
	PinUSBDP   = 56
	PinUSBDM   = 57
	PinQSPISCK = 58
	PinQSPISS  = 59
	PinQSPISD0 = 60
)

// Function numbers of FUNCSEL (datasheet 9.4).
const (
	FuncHSTX    = 0
	FuncSPI     = 1
	FuncUART    = 2
	FuncI2C     = 3
	FuncPWM     = 4
	FuncSIO     = 5
	FuncPIO0    = 6
	FuncPIO1    = 7
	FuncPIO2    = 8
	FuncClock   = 9
	FuncUSB     = 10
	FuncUARTAlt = 11
	numFuncs    = 12
)

// Drive is what something outside the chip does to a pin.
type Drive uint8

const (
	// DriveNone leaves the pin alone.
	DriveNone Drive = iota
	// DriveLow and DriveHigh force a level.
	DriveLow
	DriveHigh
	// DriveWeakLow and DriveWeakHigh are resistors, stronger than the pad's own.
	DriveWeakLow
	DriveWeakHigh
)

// Pins is the pin matrix: what each function would drive, FUNCSEL and the
// overrides of the IO banks, the pads, and the world outside. All state is in
// words with one bit a pin, so that a change costs the same for one pin or all.
type Pins struct {
	notice func(string)

	// What the functions drive, and the pins that selected them.
	funcOut, funcOE, selected [numFuncs]uint64
	outOver, oeOver, inOver   override

	// The pads' controls.
	iso, od, ie, pue, pde uint64
	// What the pads hold: latched while iso is set (datasheet 9.7).
	padOut, padOE, padUp, padDown uint64

	// leaky are the pads with erratum RP2350-E9, padIE what their input enables
	// were when iso was set.
	leaky, padIE, leaked uint64

	// The world outside.
	extOn, extHigh, extUp, extDown uint64
	// terminal are the receive pins of each UART: a terminal is always plugged
	// in there, and its transmitter idles high.
	terminal [2]uint64

	// nets are pins that are connected with each other outside the chip.
	nets []uint64

	toPadOut, toPadOE uint64 // after the overrides, before the pads
	level             uint64 // at the pins
	fromPad           uint64 // level where the input is enabled
	input             uint64 // after INOVER: what functions and SIO see
	clashed           uint64

	watchers []pinWatcher
	routed   []func()
	// exact are the pins whose every edge somebody needs at its time. Functions
	// that toggle by themselves (lazy) bring the others up to date on demand.
	exact    uint64
	irqPins  [2]uint64
	wakePins uint64 // that POWMAN wakes by
	// sampled are the pins that running PIO programs may look at in any cycle.
	sampled    [3]uint64
	lazy       []lazyFunc
	refreshing bool

	// history holds the latest values of input and when they began, newest at
	// recent, for the input synchronisers. stamp is the cycle of a change made
	// by a function that catches up; clock is used without one.
	history [8]inputChange
	recent  int
	stamp   uint64
	clock   func() uint64
	busy    bool
	again   bool
}

// lazyFunc is a function that catches up on demand while *on.
type lazyFunc struct {
	on *bool
	f  func()
}

type inputChange struct{ cycle, value uint64 }

// override is OUTOVER, OEOVER or INOVER of all pins.
type override struct{ invert, low, high uint64 }

func (o *override) apply(v uint64) uint64 { return (v^o.invert)&^o.low | o.high }

// set puts pin to the two-bit setting v: normal, inverted, low, high.
func (o *override) set(pin int, v uint32) {
	b := uint64(1) << pin
	o.invert, o.low, o.high = o.invert&^b, o.low&^b, o.high&^b
	switch v & 3 {
	case 1:
		o.invert |= b
	case 2:
		o.low |= b
	case 3:
		o.high |= b
	}
}

type pinWatcher struct {
	mask uint64
	f    func(PinChange)
}

// PinChange is one change of the matrix, as watchers see it. Words have one bit
// a pin; the old values are those before the change.
type PinChange struct {
	// Level is at the pins, FromPad behind the input enables, Input behind the
	// input overrides.
	Level, FromPad, Input          uint64
	OldLevel, OldFromPad, OldInput uint64
	// Driven are the pins that the chip drives.
	Driven uint64
}

// NewPins returns a matrix in which nothing is selected and all pads are
// isolated. notice receives remarks about the wiring; it may be nil.
func NewPins(notice func(string)) *Pins {
	p := &Pins{notice: notice}
	if notice == nil {
		p.notice = func(string) {}
	}
	return p
}

// DriveSIO sets what SIO drives.
func (p *Pins) DriveSIO(out, oe uint64) { p.function(FuncSIO, ^uint64(0), out, oe) }

// Inputs are the levels that SIO and the functions read.
func (p *Pins) Inputs() uint64 {
	p.refresh()
	return p.input
}

// Levels are the levels at the pins.
func (p *Pins) Levels() uint64 {
	p.refresh()
	return p.level
}

// refresh brings lazy functions up to date.
func (p *Pins) refresh() {
	if p.busy || p.refreshing {
		return
	}
	for _, l := range p.lazy {
		if *l.on {
			p.refreshing = true
			l.f()
			p.refreshing = false
		}
	}
}

// setLazy installs a function that brings its outputs up to date; it is called
// while *on.
func (p *Pins) setLazy(on *bool, f func()) { p.lazy = append(p.lazy, lazyFunc{on, f}) }

// inputsAt are the inputs as they were at a recent cycle.
func (p *Pins) inputsAt(cycle uint64) uint64 {
	for i := range p.history {
		if h := &p.history[(p.recent-i)&7]; h.cycle <= cycle {
			return h.value
		}
	}
	return p.history[(p.recent+1)&7].value
}

// record notes a change of input.
func (p *Pins) record() {
	at := p.stamp
	if at == 0 && p.clock != nil {
		at = p.clock()
	}
	if h := &p.history[p.recent]; h.cycle != at {
		p.recent = (p.recent + 1) & 7
	}
	p.history[p.recent] = inputChange{at, p.input}
}

// needed are the pins whose edges must come at their time.
func (p *Pins) needed() uint64 {
	return p.demanded() | p.sampled[0] | p.sampled[1] | p.sampled[2]
}

// demanded are those that others than PIO programs need.
func (p *Pins) demanded() uint64 { return p.exact | p.irqPins[0] | p.irqPins[1] | p.wakePins }

// sample says which pins the programs of PIO n look at.
func (p *Pins) sample(n int, mask uint64) {
	if p.sampled[n] != mask {
		p.sampled[n] = mask
		p.rerouted()
	}
}

// needIRQ says on which pins of IO bank n an interrupt is enabled.
func (p *Pins) needIRQ(n int, mask uint64) {
	if p.irqPins[n] != mask {
		p.irqPins[n] = mask
		p.rerouted()
	}
}

// needWake says which pins wake the chip.
func (p *Pins) needWake(mask uint64) {
	if p.wakePins != mask {
		p.wakePins = mask
		p.rerouted()
	}
}

// Driven are the pins that the chip itself drives.
func (p *Pins) Driven() uint64 { return p.padOE }

// function sets what function fn drives on the pins of mask.
func (p *Pins) function(fn int, mask, out, oe uint64) {
	changed := (p.funcOut[fn]^out)&mask | (p.funcOE[fn]^oe)&mask
	if changed == 0 {
		return
	}
	p.refresh()
	p.funcOut[fn] = p.funcOut[fn]&^mask | out&mask
	p.funcOE[fn] = p.funcOE[fn]&^mask | oe&mask
	if changed&p.selected[fn] != 0 {
		p.resolve()
	}
}

// inputOf is the OR of the inputs of the pins of mask that selected fn; none
// says that no pin did.
func (p *Pins) inputOf(fn int, mask uint64) (high, none bool) {
	sel := p.selected[fn] & mask
	return p.input&sel != 0, sel == 0
}

// reaches returns the pins of mask at which function fn is selected and gets
// through the pad as it is.
func (p *Pins) reaches(fn int, mask uint64) uint64 {
	return p.selected[fn] & mask & p.padOE &^ (p.iso | p.outOver.invert | p.outOver.low | p.outOver.high)
}

// receives returns the pins of mask from which fn gets its input.
func (p *Pins) receives(fn int, mask uint64) uint64 {
	return p.selected[fn] & mask & p.ie
}

// configure takes over an IO bank's CTRL register.
func (p *Pins) configure(pin int, ctrl uint32) {
	b := uint64(1) << pin
	for f := range p.selected {
		p.selected[f] &^= b
	}
	if f := ctrl & 31; f < numFuncs {
		p.selected[f] |= b
	}
	p.refresh()
	p.outOver.set(pin, ctrl>>12)
	p.oeOver.set(pin, ctrl>>14)
	p.inOver.set(pin, ctrl>>16)
	p.rerouted()
}

// onRoute calls f whenever a function select or a pad changes, which moves no
// level by itself.
func (p *Pins) onRoute(f func()) { p.routed = append(p.routed, f) }

func (p *Pins) rerouted() {
	p.resolve()
	for _, f := range p.routed {
		f()
	}
}

// The bits of a pad's register (datasheet 9.11.3).
const (
	padPDE = 1 << 2
	padPUE = 1 << 3
	padIE  = 1 << 6
	padOD  = 1 << 7
	padISO = 1 << 8
)

// configurePad takes over a pad's register.
func (p *Pins) configurePad(pin int, reg uint32) {
	b := uint64(1) << pin
	for _, x := range [...]struct {
		word *uint64
		on   bool
	}{{&p.iso, reg&padISO != 0}, {&p.od, reg&padOD != 0}, {&p.ie, reg&padIE != 0},
		{&p.pue, reg&padPUE != 0}, {&p.pde, reg&padPDE != 0}} {
		*x.word &^= b
		if x.on {
			*x.word |= b
		}
	}
	p.rerouted()
}

// Drive connects something outside the chip to a pin, replacing what was there.
func (p *Pins) Drive(pin int, d Drive) {
	p.refresh()
	b := uint64(1) << (pin & 63)
	p.extOn, p.extHigh = p.extOn&^b, p.extHigh&^b
	p.extUp, p.extDown = p.extUp&^b, p.extDown&^b
	switch d {
	case DriveLow:
		p.extOn |= b
	case DriveHigh:
		p.extOn, p.extHigh = p.extOn|b, p.extHigh|b
	case DriveWeakLow:
		p.extDown |= b
	case DriveWeakHigh:
		p.extUp |= b
	}
	p.resolve()
}

// powerUp lets the isolated pads take their reset state: nothing driven, the
// pulls of the pad registers. What is connected outside stays.
func (p *Pins) powerUp() {
	p.padOut, p.padOE = 0, 0
	p.padUp, p.padDown = p.pue, p.pde
	p.clashed, p.padIE, p.leaked = 0, 0, 0
	p.history = [8]inputChange{}
	p.resolve()
}

// plugTerminal says at which pins UART n listens.
func (p *Pins) plugTerminal(n int, mask uint64) {
	if p.terminal[n] != mask {
		p.terminal[n] = mask
		p.resolve()
	}
}

// Connect joins pins by a wire outside the chip.
func (p *Pins) Connect(pins ...int) {
	p.refresh()
	var m uint64
	for _, n := range pins {
		m |= 1 << (n & 63)
	}
	rest := p.nets[:0]
	for _, net := range p.nets {
		if net&m != 0 {
			m |= net
		} else {
			rest = append(rest, net)
		}
	}
	p.nets = append(rest, m)
	p.exact |= m
	p.rerouted()
}

// wired are the pins that are connected with others.
func (p *Pins) wired() (m uint64) {
	for _, n := range p.nets {
		m |= n
	}
	return m
}

// join gives the pins of a net one level: what drives wins over what pulls, and
// low over high.
func (p *Pins) join(net, leak uint64) {
	lows := (p.padOE&^p.padOut | p.extOn&^p.extHigh) & net
	highs := (p.padOE&p.padOut | p.extOn&p.extHigh) & net
	if clash := lows | highs; lows != 0 && highs != 0 && clash&^p.clashed != 0 {
		p.clashed |= clash
		p.notice(fmt.Sprintf("GPIO%d and GPIO%d are connected and driven to different levels",
			bits.TrailingZeros64(lows), bits.TrailingZeros64(highs)))
	}
	up, down := p.padUp|p.terminal[0]|p.terminal[1]|leak, p.extDown&net
	if lows == 0 && (highs != 0 || p.extUp&net != 0 || up&net != 0 && down == 0) {
		p.level |= net
	} else {
		p.level &^= net
	}
}

// Watch calls f after every change on a pin of mask, at the time of the change.
// f may drive pins.
func (p *Pins) Watch(mask uint64, f func(PinChange)) {
	p.exact |= mask
	p.follow(mask, f)
	p.rerouted()
}

// follow is Watch for the chip's own blocks, which need no edges of functions
// that bring themselves up to date.
func (p *Pins) follow(mask uint64, f func(PinChange)) {
	p.watchers = append(p.watchers, pinWatcher{mask, f})
}

// rounds is how often wires and devices outside may answer each other before
// it counts as an oscillation.
const rounds = 256

// resolve computes all levels and tells the watchers.
func (p *Pins) resolve() {
	if p.busy {
		p.again = true
		return
	}
	p.busy = true
	for n := 0; ; n++ {
		p.again = false
		p.settle()
		if !p.again {
			break
		}
		if n == rounds {
			p.notice("the wiring outside the chip oscillates: pins keep changing in one cycle")
			break
		}
	}
	p.busy = false
}

// settle is one evaluation of the matrix.
func (p *Pins) settle() {
	var out, oe uint64
	for f := range p.selected {
		out |= p.funcOut[f] & p.selected[f]
		oe |= p.funcOE[f] & p.selected[f]
	}
	out, oe = p.outOver.apply(out), p.oeOver.apply(oe)
	p.toPadOut, p.toPadOE = out, oe
	live := ^p.iso
	p.padIE = p.padIE&p.iso | p.ie&live
	p.padOut = p.padOut&p.iso | out&live
	p.padOE = p.padOE&p.iso | oe&^p.od&live

	keep := p.pue & p.pde // bus keeper: the last level decides
	up := p.pue&^keep | keep&p.level
	down := p.pde&^keep | keep&^p.level
	p.padUp = p.padUp&p.iso | up&live
	p.padDown = p.padDown&p.iso | down&live

	if clash := p.padOE & p.extOn & (p.padOut ^ p.extHigh) &^ p.clashed; clash != 0 {
		p.clashed |= clash
		p.notice(fmt.Sprintf("GPIO%d: the chip and something outside drive it to different levels", bits.TrailingZeros64(clash)))
	}
	leak := p.leak()
	weak := p.extUp | (p.padUp|p.terminal[0]|p.terminal[1]|leak)&^p.extDown
	c := PinChange{OldLevel: p.level, OldFromPad: p.fromPad, OldInput: p.input, Driven: p.padOE}
	p.level = p.extOn&p.extHigh | ^p.extOn&(p.padOE&p.padOut|^p.padOE&weak)
	for _, net := range p.nets {
		p.join(net, leak)
	}
	p.leakNotice(leak)
	p.fromPad = p.level & p.ie
	p.input = p.inOver.apply(p.fromPad)
	c.Level, c.FromPad, c.Input = p.level, p.fromPad, p.input
	if c.Input != c.OldInput {
		p.record()
	}
	changed := c.Level ^ c.OldLevel | c.FromPad ^ c.OldFromPad | c.Input ^ c.OldInput
	if changed == 0 {
		return
	}
	for i := range p.watchers {
		if w := &p.watchers[i]; changed&w.mask != 0 {
			w.f(c)
		}
	}
}
