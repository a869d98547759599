package binaryinfo

import (
	"fmt"
	"strings"
)

const maxGPIO = 48

// pinsFunc reads a pin encoding: kind in bits 0-2, function, then pins of
// bits each from bit first on, at most limit of them.
func (r *reader) pinsFunc(enc uint64, bits, funcBits, first, limit int) {
	fn := int(enc >> 3 & (1<<funcBits - 1))
	pin := func(i int) int { return int(enc >> (first + i*bits) & (1<<bits - 1)) }
	switch enc & 7 {
	case 1: // range
		for n := pin(0); n <= pin(1) && n < maxGPIO; n++ {
			r.pin(n, Function(n, fn))
		}
	case 2: // single pins; a repeated one ends the list
		last := -1
		for i := range limit {
			n := pin(i)
			if n == last {
				break
			}
			r.pin(n, Function(n, fn))
			last = n
		}
	}
}

// pinNames gives names, separated by "|", to the pins of a mask; the last
// name goes on for pins that are left.
func (r *reader) pinNames(mask uint64, names string) {
	for n := range 64 {
		if mask&(1<<n) == 0 {
			continue
		}
		name, rest, more := strings.Cut(names, "|")
		if name == "" {
			continue
		}
		r.pin(n, name)
		if more {
			names = rest
		}
	}
}

func (r *reader) pin(n int, name string) {
	if n >= maxGPIO || len(r.pins[n]) >= 16 {
		return
	}
	r.pins[n] = append(r.pins[n], name)
}

// Function names what a pin does under a function number, on an RP2350.
// Source: RP2350 data sheet, table of GPIO functions (bank 0).
func Function(n, fn int) string {
	unknown := fmt.Sprintf("Unknown pin function %d", fn)
	switch fn {
	case 0:
		switch {
		case n < 4:
			return "JTAG " + []string{"TCK", "TMS", "TDI", "TDO"}[n]
		case n >= 12 && n < 20:
			return fmt.Sprintf("HSTX%d", n-12)
		}
	case 1:
		return fmt.Sprintf("SPI%d %s", n/8%2, []string{"RX", "CSn", "SCK", "TX"}[n%4])
	case 2:
		return fmt.Sprintf("UART%d %s", uartOf(n), []string{"TX", "RX", "CTS", "RTS"}[n%4])
	case 3:
		return fmt.Sprintf("I2C%d %s", n/2%2, []string{"SDA", "SCL"}[n%2])
	case 4:
		slice := n / 2 % 8
		if n >= 32 {
			slice = 8 + n/2%4
		}
		return fmt.Sprintf("PWM%d %s", slice, []string{"A", "B"}[n%2])
	case 5:
		return "SIO"
	case 6, 7, 8:
		return fmt.Sprintf("PIO%d", fn-6)
	case 9:
		if s := function9[n]; s != "" {
			return s
		}
	case 10:
		return "USB " + []string{"OVCUR DET", "VBUS DET", "VBUS EN"}[n%3]
	case 11:
		if n%4 >= 2 {
			return fmt.Sprintf("UART%d %s", uartOf(n), []string{"TX", "RX"}[n%2])
		}
	}
	return unknown
}

func uartOf(n int) int { return []int{0, 1, 1, 0}[n/4%4] }

var function9 = map[int]string{
	0: "XIP CS1", 1: "CORESIGHT TRACECLK", 2: "CORESIGHT TRACEDATA0", 3: "CORESIGHT TDATA1",
	4: "CORESIGHT TDATA2", 5: "CORESIGHT TDATA3", 8: "XIP CS1",
	12: "CLK GPIN", 13: "CLK GPOUT", 14: "CLK GPIN", 15: "CLK GPOUT", 19: "XIP CS1",
	20: "CLK GPIN", 21: "CLK GPOUT", 22: "CLK GPIN", 23: "CLK GPOUT", 24: "CLK GPOUT", 25: "CLK GPOUT",
	47: "XIP CS1",
}
