package outline

import (
	"fmt"
	"strings"

	"github.com/stem-hw/stem-hw/sim/rp2350"
	"github.com/stem-hw/stem-hw/sim/rp2350/periph"
)

// Pins is what is at the pins at one moment.
type Pins struct {
	// Levels and Driven have one bit a GPIO: its level, and whether the chip
	// drives it.
	Levels, Driven uint64
	// Functions are the names of the selected functions, "" for none.
	Functions [48]string
	// Seconds is the simulated time.
	Seconds float64
	// Parts are lines about what is connected.
	Parts []string
}

// Look reads the pins of a chip that stands still.
func Look(c *rp2350.Chip) Pins {
	p := Pins{Levels: c.Pins().Levels(), Driven: c.Pins().Driven(), Seconds: c.Seconds()}
	for i := range c.Peripherals().GPIOs() {
		p.Functions[i] = function(i, c.Pins().Function(i))
	}
	return p
}

// function names what a pin is connected to (datasheet 9.4).
func function(pin, f int) string {
	pick := func(names ...string) string { return names[pin%len(names)] }
	switch f {
	case periph.FuncHSTX:
		return "HSTX"
	case periph.FuncSPI:
		return fmt.Sprintf("SPI%d %s", pin>>3&1, pick("RX", "CSn", "SCK", "TX"))
	case periph.FuncUART:
		return fmt.Sprintf("UART%d %s", (pin+4)>>3&1, pick("TX", "RX", "CTS", "RTS"))
	case periph.FuncI2C:
		return fmt.Sprintf("I2C%d %s", pin>>1&1, pick("SDA", "SCL"))
	case periph.FuncPWM:
		slice := pin >> 1 & 7
		if pin >= 32 {
			slice = 8 + pin>>1&3
		}
		return fmt.Sprintf("PWM%d %s", slice, pick("A", "B"))
	case periph.FuncSIO:
		return "SIO"
	case periph.FuncPIO0, periph.FuncPIO1, periph.FuncPIO2:
		return fmt.Sprintf("PIO%d", f-periph.FuncPIO0)
	case periph.FuncClock:
		return "CLOCK"
	case periph.FuncUSB:
		return "USB"
	case periph.FuncUARTAlt:
		return fmt.Sprintf("UART%d %s", (pin+4)>>3&1, pick("CTS", "RTS", "TX", "RX"))
	}
	return ""
}

// left and right are the pins of the two edges from the top, by name; a number
// is a GPIO (Pico 2 datasheet, figure 4).
var (
	left  = [20]any{0, 1, "GND", 2, 3, 4, 5, "GND", 6, 7, 8, 9, "GND", 10, 11, 12, 13, "GND", 14, 15}
	right = [20]any{"VBUS", "VSYS", "GND", "3V3_EN", "3V3", "ADC_VREF", 28, "AGND", 27, 26,
		"RUN", 22, "GND", 21, 20, 19, 18, "GND", 17, 16}
)

// Height is the number of lines that Board returns at least.
const Height = 22

// Board draws the whole board.
func (p Pins) Board() []string {
	out := []string{fmt.Sprintf("%21s +------[ USB ]------+   %.6f s", "", p.Seconds)}
	for i := range 20 {
		l := fmt.Sprintf("%12s %6s %s", p.what(left[i]), name(left[i]), p.mark(left[i], true))
		r := fmt.Sprintf("%s %-8s %s", p.mark(right[i], false), name(right[i]), p.what(right[i]))
		middle := "               "
		if i == 1 {
			middle = "  LED GP25 " + p.level(25) + "   "
		}
		out = append(out, strings.TrimRight(fmt.Sprintf("%s |%2d%s%2d| %s", l, i+1, middle, 40-i, r), " "))
	}
	out = append(out, fmt.Sprintf("%21s +-------------------+", ""))
	for i, s := range p.Parts {
		if i < len(out)-1 {
			out[i+1] = fmt.Sprintf("%-66s %s", out[i+1], s)
		} else {
			out = append(out, s)
		}
	}
	return out
}

// Strip is the short form: the levels of all GPIOs in two lines.
func (p Pins) Strip() []string {
	var head, low strings.Builder
	for i := range 30 {
		fmt.Fprintf(&head, "%2d ", i)
		fmt.Fprintf(&low, "%2s ", p.mark(i, true)[1:])
	}
	return []string{
		fmt.Sprintf("GPIO %s %.3f s", head.String(), p.Seconds),
		"     " + strings.TrimRight(low.String(), " "),
	}
}

func name(pin any) string {
	if n, ok := pin.(int); ok {
		return fmt.Sprintf("GP%d", n)
	}
	return pin.(string)
}

func (p Pins) level(n int) string {
	if p.Levels>>n&1 != 0 {
		return "1"
	}
	return "0"
}

// mark shows a level with its direction: ">" leaves the chip, "<" enters it.
func (p Pins) mark(pin any, leftEdge bool) string {
	n, ok := pin.(int)
	if !ok {
		return "  "
	}
	out := p.Driven>>n&1 != 0
	switch {
	case !out && p.Functions[n] == "":
		if leftEdge {
			return "." + p.level(n)
		}
		return p.level(n) + "."
	case leftEdge && out:
		return "<" + p.level(n)
	case leftEdge:
		return ">" + p.level(n)
	case out:
		return p.level(n) + ">"
	}
	return p.level(n) + "<"
}

func (p Pins) what(pin any) string {
	if n, ok := pin.(int); ok {
		return p.Functions[n]
	}
	return ""
}
