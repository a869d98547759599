package report

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/stem-hw/stem-hw/image/binaryinfo"
	"github.com/stem-hw/stem-hw/ui"
)

// header is one of the 40 pins of a Pico 2's edge. GPIO is -1 for power,
// ground and control. Source: Raspberry Pi Pico 2 data sheet, section 2.1,
// "Pico 2 pinout".
type header struct {
	pin  int
	gpio int
	name string
}

// edge returns the pins of the left side, from the USB connector down, then
// those of the right side.
func edge() (left, right []header) {
	names := []string{
		"GP0", "GP1", "GND", "GP2", "GP3", "GP4", "GP5", "GND", "GP6", "GP7",
		"GP8", "GP9", "GND", "GP10", "GP11", "GP12", "GP13", "GND", "GP14", "GP15",
		"GP16", "GP17", "GND", "GP18", "GP19", "GP20", "GP21", "GND", "GP22", "RUN",
		"GP26", "GP27", "GND", "GP28", "ADC_VREF", "3V3", "3V3_EN", "GND", "VSYS", "VBUS",
	}
	all := make([]header, 40)
	for i, n := range names {
		h := header{i + 1, -1, n}
		if rest, ok := strings.CutPrefix(n, "GP"); ok {
			_, _ = fmt.Sscan(rest, &h.gpio)
		}
		all[i] = h
	}
	left = all[:20]
	for i := 39; i >= 20; i-- {
		right = append(right, all[i])
	}
	return left, right
}

// inside are the GPIOs that the board uses itself.
var inside = []struct {
	gpio int
	use  string
}{{23, "power supply mode"}, {24, "VBUS present"}, {25, "LED"}, {29, "VSYS / 3 (ADC)"}}

// pinsOf maps GPIO numbers to what the program does with them.
func pinsOf(p *binaryinfo.Info) map[int]string {
	m := map[int]string{}
	if p == nil {
		return m
	}
	for _, x := range p.Pins {
		m[x.GPIO] = strings.Join(x.Names, ", ")
	}
	return m
}

// offBoard lists GPIOs that a Pico 2 does not have at its edge.
func offBoard(uses map[int]string) []string {
	var out []string
	for _, x := range inside {
		if u := uses[x.gpio]; u != "" {
			out = append(out, fmt.Sprintf("GP%d (%s on the board): %s", x.gpio, x.use, u))
		}
	}
	for n := 30; n < 48; n++ {
		if u := uses[n]; u != "" {
			out = append(out, fmt.Sprintf("GP%d (not on a Pico 2): %s", n, u))
		}
	}
	return out
}

// drawPins draws the board from above, USB up, with what the program does at
// each pin.
func drawPins(t *ui.Text, uses map[int]string) {
	left, right := edge()
	width := 0
	for _, h := range left {
		width = max(width, utf8.RuneCountInString(uses[h.gpio]))
	}
	width = min(max(width, 4), 40)
	pad := strings.Repeat(" ", width)
	t.Linef("  %s          ┌─────┤USB├─────┐", pad)
	for i := range left {
		l, r := left[i], right[i]
		row := fmt.Sprintf("%5s %2d %s%s %-2d %-8s %s", l.name, l.pin, dot(l, uses), dotRight(r, uses), r.pin, r.name, uses[r.gpio])
		t.Linef("  %s %s", fit(uses[l.gpio], width), strings.TrimRight(row, " "))
	}
	t.Linef("  %s          └───────────────┘", pad)
	off := offBoard(uses)
	if len(uses) == 0 {
		t.Linef("  the program does not say which pins it uses")
	}
	for _, s := range off {
		t.Linef("  %s", s)
	}
}

// fit right-aligns a text in a width.
func fit(s string, width int) string {
	if n := utf8.RuneCountInString(s); n > width {
		return string([]rune(s)[:width-1]) + "…"
	}
	return strings.Repeat(" ", width-utf8.RuneCountInString(s)) + s
}

func dot(h header, uses map[int]string) string { return "│" + mark(h, uses) + "       " }

func dotRight(h header, uses map[int]string) string { return "      " + mark(h, uses) + "│" }

func mark(h header, uses map[int]string) string {
	switch {
	case h.gpio >= 0 && uses[h.gpio] != "":
		return "●"
	case h.gpio >= 0:
		return "○"
	}
	return "·"
}
