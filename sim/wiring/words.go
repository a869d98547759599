package wiring

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Words are parts as options of the command line name them.
type Words struct {
	// LED: "15", or "15:low" for one that lights while the pin is low.
	LED []string
	// Button: "14@100ms+50ms,2s+50ms", "14:3v3@…".
	Button []string
	// Analog: "26=1.65", or "26=wave.csv".
	Analog []string
	// Wire: "2-3".
	Wire []string
}

// ParseWords makes parts of words; open reads waveforms.
func ParseWords(w Words, open Open) ([]Part, error) {
	p := &parser{name: "options", open: open, used: map[string]bool{}}
	var all []Part
	for i, s := range w.LED {
		pin, how, _ := strings.Cut(s, ":")
		n := p.part("--led", i, "LED "+pin)
		all = append(all, &LED{named: n, Pin: p.pinWord(n, pin), Low: p.choice(n, "active", how, "high", "low")})
	}
	for i, s := range w.Button {
		all = append(all, p.buttonWord(i, s))
	}
	for i, s := range w.Analog {
		pin, what, ok := strings.Cut(s, "=")
		n := p.part("--adc", i, "ADC pin "+pin)
		v := &Voltage{named: n, Pin: p.pinWord(n, pin), Linear: true}
		switch volts, err := strconv.ParseFloat(what, 64); {
		case !ok:
			p.fail(string(n), s, "PIN=VOLTS or PIN=FILE, as in 26=1.65")
		case err != nil:
			v.Points = p.csv(n, what)
		case !usable(volts):
			p.fail(string(n), what, "0 to 3.6 volts")
		default:
			v.Points = []Point{{0, volts}}
		}
		all = append(all, v)
	}
	for i, s := range w.Wire {
		n := p.part("--wire", i, "wire "+s)
		var pins []int
		for _, f := range strings.Split(s, "-") {
			pins = append(pins, p.pinWord(n, f))
		}
		if len(pins) < 2 {
			p.fail(string(n), s, "PIN-PIN, as in 2-3")
		}
		p.apart(n, pins...)
		all = append(all, &Wire{named: n, Pins: pins})
	}
	if p.err != nil {
		return nil, p.err
	}
	return all, nil
}

func (p *parser) pinWord(n named, s string) int {
	v, err := strconv.Atoi(s)
	if err != nil {
		p.fail(string(n), fmt.Sprintf("%q", s), "a number of a GPIO")
		return 0
	}
	return p.pin(n, "pin", &v)
}

func (p *parser) buttonWord(i int, s string) *Button {
	head, script, ok := strings.Cut(s, "@")
	pin, to, _ := strings.Cut(head, ":")
	n := p.part("--button", i, "button "+pin)
	k := &Button{named: n, Pin: p.pinWord(n, pin), High: p.choice(n, "to", to, "ground", "3v3")}
	wanted := "PIN@TIME+TIME, as in 14@100ms+50ms"
	if !ok {
		p.fail(string(n), s, wanted)
		return k
	}
	for _, f := range strings.Split(script, ",") {
		at, span, ok := strings.Cut(f, "+")
		a, err1 := parseTime(at)
		d, err2 := parseTime(span)
		if !ok || err1 != nil || err2 != nil || d < time.Microsecond {
			p.fail(string(n), f, wanted)
			return k
		}
		k.Presses = append(k.Presses, Press{a, d})
	}
	p.ordered(k)
	return k
}
