package wiring

import (
	"fmt"
	"time"

	"github.com/stem-hw/stem-hw/sim/rp2350"
	"github.com/stem-hw/stem-hw/sim/rp2350/periph"
)

// named is the name of a part.
type named string

// Name implements Part.
func (n named) Name() string { return string(n) }

// Wire joins pins.
type Wire struct {
	named
	Pins []int
}

// Plug implements Part.
func (w *Wire) Plug(b *Board) error {
	if err := b.has(w, w.Pins...); err != nil {
		return err
	}
	b.Connect(w.Pins...)
	return nil
}

// Pull is a resistor to ground or to the supply.
type Pull struct {
	named
	Pin int
	Up  bool
}

// Plug implements Part.
func (p *Pull) Plug(b *Board) error {
	if err := b.has(p, p.Pin); err != nil {
		return err
	}
	l := b.Line(p.Pin)
	if p.Up {
		l.Drive(periph.DriveWeakHigh)
	} else {
		l.Drive(periph.DriveWeakLow)
	}
	return nil
}

// Press is one press of a button.
type Press struct {
	At, For time.Duration
}

// Button connects a pin to ground, or to the supply, while it is pressed.
type Button struct {
	named
	Pin     int
	High    bool // to the supply
	Presses []Press
	// Bounce is how long the contact bounces when it closes or opens.
	Bounce time.Duration

	b     *Board
	line  *Line
	alarm rp2350.Alarm
	edges []edge
	next  int
}

// edge is one change of the contact.
type edge struct {
	picos  uint64
	closed bool
	say    string
}

// bounceStep is the time between two changes of a bouncing contact.
const bounceStep = 100 * time.Microsecond

// Plug implements Part.
func (k *Button) Plug(b *Board) error {
	if err := b.has(k, k.Pin); err != nil {
		return err
	}
	k.b, k.line = b, b.Line(k.Pin)
	for _, p := range k.Presses {
		k.add(p.At, true, "pressed")
		k.add(p.At+p.For, false, "released")
	}
	k.alarm.Fire = k.step
	b.OnPowerUp(func() {
		k.next = 0
		k.line.Drive(periph.DriveNone)
		k.plan()
	})
	return nil
}

// add plans a change with its bounces.
func (k *Button) add(at time.Duration, closed bool, say string) {
	k.edges = append(k.edges, edge{uint64(at) * picosPerNano, closed, say})
	state := closed
	for t := bounceStep; t < k.Bounce; t += bounceStep {
		state = !state
		k.edges = append(k.edges, edge{uint64(at+t) * picosPerNano, state, ""})
	}
	if state != closed {
		k.edges = append(k.edges, edge{uint64(at+k.Bounce) * picosPerNano, closed, ""})
	}
}

func (k *Button) plan() {
	if k.next < len(k.edges) {
		k.b.At(&k.alarm, k.edges[k.next].picos)
	}
}

func (k *Button) step() {
	e := k.edges[k.next]
	k.next++
	switch {
	case !e.closed:
		k.line.Drive(periph.DriveNone)
	case k.High:
		k.line.Drive(periph.DriveHigh)
	default:
		k.line.Drive(periph.DriveLow)
	}
	if e.say != "" {
		k.b.Say(k, "%s", e.say)
	}
	k.plan()
}

// LED lights while its pin is at one level. It reports brightness as an eye sees
// it: the mean over a fiftieth of a second, in tenths.
type LED struct {
	named
	Pin int
	Low bool // lights while the pin is low

	b        *Board
	alarm    rp2350.Alarm
	on       bool
	since    uint64 // of the present level
	lit      uint64 // time lit in this window
	begin    uint64 // of the window
	reported int
}

// ledWindow is how long an eye takes, in picoseconds.
const ledWindow = 20_000_000_000

// Plug implements Part.
func (l *LED) Plug(b *Board) error {
	if err := b.has(l, l.Pin); err != nil {
		return err
	}
	l.b = b
	l.alarm.Fire = l.window
	b.Watch(l.change, l.Pin)
	b.OnPowerUp(func() {
		l.on, l.lit, l.since, l.begin = l.lights(), 0, 0, 0
		l.reported = 0
		if l.on {
			b.At(&l.alarm, ledWindow)
		}
	})
	return nil
}

func (l *LED) lights() bool { return l.b.High(l.Pin) != l.Low }

func (l *LED) change() {
	on := l.lights()
	if on == l.on {
		return
	}
	now := l.b.Picos()
	if !l.alarm.Set() {
		l.begin, l.lit = now, 0
		l.b.At(&l.alarm, now+ledWindow)
	} else if l.on {
		l.lit += now - l.since
	}
	l.on, l.since = on, now
}

// window ends a window in which something changed.
func (l *LED) window() {
	now := l.b.Picos()
	steady := l.since == l.begin
	if l.on {
		l.lit += now - max(l.since, l.begin)
	}
	tenths := int((l.lit*10 + (now-l.begin)/2) / max(now-l.begin, 1))
	began := l.begin
	l.begin, l.lit = now, 0
	if tenths != l.reported {
		l.reported = tenths
		switch tenths {
		case 0:
			l.b.sayAt(l, began, "off")
		case 10:
			l.b.sayAt(l, began, "on")
		default:
			l.b.sayAt(l, began, "on at %d %%", tenths*10)
		}
	}
	if !steady {
		// It changed within the window: look again, until it is quiet.
		l.since = now
		l.b.At(&l.alarm, now+ledWindow)
	}
}

// Loopback sends back what a UART sends: a wire from TX to RX.
type Loopback struct {
	named
	TX, RX int
}

// Plug implements Part.
func (u *Loopback) Plug(b *Board) error {
	if err := b.has(u, u.TX, u.RX); err != nil {
		return err
	}
	if !transmits(u.TX) || !receives(u.RX) {
		return bad(u.Name(), fmt.Sprintf("tx GPIO%d, rx GPIO%d", u.TX, u.RX),
			"pins where a UART transmits (0, 4, 8, 12 … or 2, 6, 10 …) and receives (1, 5, 9 … or 3, 7, 11 …)")
	}
	b.Connect(u.TX, u.RX)
	return nil
}

// transmits and receives say where UARTs may be (datasheet 9.4: function 2, and
// the alternative function 11).
func transmits(pin int) bool { return pin%2 == 0 }
func receives(pin int) bool  { return pin%2 == 1 }
