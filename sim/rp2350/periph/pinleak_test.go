package periph

import (
	"strings"
	"testing"
)

// TestErratumE9: on A2 a pin that was high and is let go stays high against its
// own pull-down, until something outside pulls it low or its input is disabled.
func TestErratumE9(t *testing.T) {
	const pin = 14
	for _, tt := range []struct {
		name  string
		pad   uint32
		leaky bool
		end   func(p *Pins)
		stays bool // high after it is let go
		told  bool
		last  bool // high after end
	}{
		{name: "pull-down on A2", pad: padIE | padPDE, leaky: true, stays: true, told: true, last: true},
		{name: "pull-down on A3", pad: padIE | padPDE},
		{name: "nothing pulls", pad: padIE, leaky: true, stays: true, last: true},
		{name: "input disabled all the time", pad: padPDE, leaky: true},
		{name: "input disabled later", pad: padIE | padPDE, leaky: true, stays: true, told: true,
			end: func(p *Pins) { p.configurePad(pin, padPDE); p.configurePad(pin, padIE|padPDE) }},
		{name: "resistor to ground", pad: padIE | padPDE, leaky: true, stays: true, told: true,
			end: func(p *Pins) { p.Drive(pin, DriveWeakLow); p.Drive(pin, DriveNone) }},
		{name: "driven low by the chip", pad: padIE | padPDE, leaky: true, stays: true, told: true,
			end: func(p *Pins) { p.DriveSIO(0, 1<<pin); p.DriveSIO(0, 0) }},
		{name: "isolated in this state", pad: padIE | padPDE, leaky: true, stays: true, told: true, last: true,
			end: func(p *Pins) { p.configurePad(pin, padISO|padPDE); p.configurePad(pin, padISO|padPDE) }},
		{name: "pull-up", pad: padIE | padPUE, leaky: true, stays: true, last: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var told []string
			p := NewPins(func(s string) { told = append(told, s) })
			if tt.leaky {
				p.SetLeaky(1<<48 - 1)
			}
			p.configure(pin, FuncSIO)
			p.configurePad(pin, tt.pad)
			if p.Levels()>>pin&1 != 0 && tt.pad&padPUE == 0 {
				t.Error("high before anything drove it")
			}
			p.Drive(pin, DriveHigh)
			p.Drive(pin, DriveNone)
			if got := p.Levels()>>pin&1 != 0; got != tt.stays {
				t.Errorf("let go: high is %v", got)
			}
			if got := len(told) == 1 && strings.Contains(told[0], "GPIO14 stays high") && strings.Contains(told[0], "E9"); got != tt.told {
				t.Errorf("told: %q", told)
			}
			if tt.end != nil {
				tt.end(p)
			}
			if got := p.Levels()>>pin&1 != 0; got != tt.last {
				t.Errorf("in the end: high is %v", got)
			}
		})
	}
}
