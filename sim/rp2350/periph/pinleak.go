package periph

import (
	"fmt"
	"math/bits"
)

// Erratum RP2350-E9 of the A2 silicon: while its input is enabled and its output
// is not, a pad between the two logic levels sources more current than its
// pull-down sinks, and stays at some 2.2 V. A pin that was high and is let go
// therefore goes on to read 1, until something outside pulls it low (8.2 kΩ or
// less) or the input is disabled.

// SetLeaky says which pads have the erratum.
func (p *Pins) SetLeaky(mask uint64) {
	p.leaky = mask
	p.resolve()
}

// leak are the pads that hold themselves high.
func (p *Pins) leak() uint64 { return p.leaky & p.padIE & p.level &^ p.padOE }

// leakNotice tells once of each pin that is high although its pull-down is on.
func (p *Pins) leakNotice(leak uint64) {
	stuck := leak & p.level & p.padDown &^ (p.padUp | p.extOn | p.extUp | p.terminal[0] | p.terminal[1]) &^ p.leaked
	for stuck != 0 {
		n := bits.TrailingZeros64(stuck)
		stuck &= stuck - 1
		p.leaked |= 1 << n
		if p.wired()>>n&1 == 0 {
			p.notice(fmt.Sprintf("GPIO%d stays high, nothing but its own pull-down holds it: erratum RP2350-E9 of this silicon; "+
				"it takes a resistor of 8.2 kΩ to ground, or the input disabled while it is not read", n))
		}
	}
}
