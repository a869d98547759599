package report

import (
	"fmt"
	"strings"
)

// Addr is an address. In JSON it is a string in hexadecimal, "0x10000000", as
// everywhere else about chips.
type Addr uint32

// String is the address in hexadecimal.
func (a Addr) String() string { return fmt.Sprintf("0x%08x", uint32(a)) }

// MarshalText writes it for JSON.
func (a Addr) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// size shows a number of bytes for people: in MiB or KiB where that is exact
// or the number is large, else in bytes.
func size(n uint64) string {
	switch {
	case n >= 1<<20 && (n%(1<<20) == 0 || n >= 10<<20):
		return trimZero(fmt.Sprintf("%.1f", float64(n)/(1<<20))) + " MiB"
	case n >= 1024 && (n%1024 == 0 || n >= 10000):
		return trimZero(fmt.Sprintf("%.1f", float64(n)/1024)) + " KiB"
	}
	return fmt.Sprintf("%d B", n)
}

func trimZero(s string) string { return strings.TrimSuffix(s, ".0") }

// bar draws a share of 1 with 24 cells; anything above nothing shows.
func bar(share float64) string {
	const cells = 24
	n := int(share*cells + 0.5)
	if n == 0 && share > 0 {
		n = 1
	}
	n = min(max(n, 0), cells)
	return strings.Repeat("█", n) + strings.Repeat("░", cells-n)
}

func percent(share float64) string {
	switch {
	case share == 0:
		return "0 %"
	case share < 0.001:
		return "<0.1 %"
	}
	return fmt.Sprintf("%.1f %%", share*100)
}
