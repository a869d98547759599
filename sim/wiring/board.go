package wiring

import (
	"fmt"
	"time"

	"github.com/stem-hw/stem-hw/sim/rp2350"
	"github.com/stem-hw/stem-hw/sim/rp2350/periph"
)

// Part is one thing that is connected to the board.
type Part interface {
	// Name is what reports call it.
	Name() string
	// Plug connects it. Its state begins in the function it gives to
	// Board.OnPowerUp.
	Plug(b *Board) error
}

// Board is the simulated board as a part sees it.
type Board struct {
	chip   *rp2350.Chip
	report func(Report)
	pins   int
	lines  [48][]*Line
	analog [9]string // who is at an ADC input
	parts  []Part
}

// Report is what a part has to say, at simulated time At.
type Report struct {
	Part string
	At   time.Duration
	Text string
}

// Plug connects parts to a chip. report hears of what they do; it may be nil.
func Plug(chip *rp2350.Chip, parts []Part, report func(Report)) (*Board, error) {
	if report == nil {
		report = func(Report) {}
	}
	b := &Board{chip: chip, report: report, pins: chip.Peripherals().GPIOs()}
	for _, p := range parts {
		if err := p.Plug(b); err != nil {
			return nil, err
		}
		b.parts = append(b.parts, p)
	}
	return b, nil
}

// Parts are the parts that are plugged in.
func (b *Board) Parts() []Part { return b.parts }

// Picos is the simulated time in picoseconds since power-up.
func (b *Board) Picos() uint64 { return b.chip.Picos() }

const picosPerNano = 1000

// At sets an alarm at a time since power-up.
func (b *Board) At(a *rp2350.Alarm, picos uint64) { b.chip.At(a, picos) }

// OnPowerUp calls f now and whenever time begins anew.
func (b *Board) OnPowerUp(f func()) { b.chip.OnPowerUp(f) }

// Say reports what a part did.
func (b *Board) Say(p Part, format string, args ...any) { b.sayAt(p, b.Picos(), format, args...) }

// sayAt reports something that happened at a time.
func (b *Board) sayAt(p Part, picos uint64, format string, args ...any) {
	b.report(Report{
		Part: p.Name(), Text: fmt.Sprintf(format, args...),
		At: time.Duration(picos / picosPerNano),
	})
}

// High reports the level at a pin.
func (b *Board) High(pin int) bool { return b.chip.Pins().Levels()>>pin&1 != 0 }

// Watch calls f after every change of a level at the pins.
func (b *Board) Watch(f func(), pins ...int) {
	var mask uint64
	for _, p := range pins {
		mask |= 1 << p
	}
	b.chip.Pins().Watch(mask, func(c periph.PinChange) {
		if (c.Level^c.OldLevel)&mask != 0 {
			f()
		}
	})
}

// Connect joins pins by a wire.
func (b *Board) Connect(pins ...int) { b.chip.Pins().Connect(pins...) }

// Line is one part's connection to a pin. Several parts may be at one pin.
type Line struct {
	b     *Board
	pin   int
	drive periph.Drive
}

// Line connects something to a pin; it drives nothing yet.
func (b *Board) Line(pin int) *Line {
	l := &Line{b: b, pin: pin}
	b.lines[pin] = append(b.lines[pin], l)
	return l
}

// strength orders what parts at one pin do to it: the first one wins.
var strength = [...]periph.Drive{periph.DriveLow, periph.DriveHigh, periph.DriveWeakLow, periph.DriveWeakHigh}

// Drive changes what the part does to the pin.
func (l *Line) Drive(d periph.Drive) {
	if l.drive == d {
		return
	}
	l.drive = d
	for _, s := range strength {
		for _, o := range l.b.lines[l.pin] {
			if o.drive == s {
				l.b.chip.Pins().Drive(l.pin, s)
				return
			}
		}
	}
	l.b.chip.Pins().Drive(l.pin, periph.DriveNone)
}

// Analog connects a source of volts to the ADC input of a pin.
func (b *Board) Analog(p Part, pin int, volts func() float64) error {
	n, first := b.chip.Peripherals().ADC.Inputs()
	in := pin - first
	if in < 0 || in >= n {
		return bad(p.Name(), fmt.Sprintf("GPIO%d has no ADC input", pin), fmt.Sprintf("GPIO%d to GPIO%d", first, first+n-1))
	}
	if b.analog[in] != "" {
		return bad(p.Name(), fmt.Sprintf("%s is at GPIO%d already", b.analog[in], pin), "one source at an ADC input")
	}
	b.analog[in] = p.Name()
	b.chip.Peripherals().ADC.SetInput(in, func() uint16 { return code(volts()) })
	return nil
}

// reference is the ADC's reference voltage on a Pico 2, its supply.
const reference = 3.3

// code is the ADC's code for a voltage, as an ideal converter has it.
func code(volts float64) uint16 {
	c := volts / reference * 4096
	switch {
	case !(c > 0):
		return 0
	case c >= 4095:
		return 4095
	}
	return uint16(c)
}

// has checks that the package has the pins.
func (b *Board) has(p Part, pins ...int) error {
	for _, n := range pins {
		if n >= b.pins {
			return bad(p.Name(), fmt.Sprintf("GPIO%d", n), fmt.Sprintf("a pin of this board: GPIO0 to GPIO%d", b.pins-1))
		}
	}
	return nil
}
