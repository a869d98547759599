package rp2350

import (
	"strings"
	"testing"

	"github.com/stem-hw/stem-hw/sim/machine"
)

// TestExplanations: each access that faults or does nothing is told of once for
// each instruction, with the instruction's address.
func TestExplanations(t *testing.T) {
	for _, tt := range []struct {
		name string
		addr uint32
		want string
	}{
		{"null pointer", 0x00000004, "boot ROM cannot be written"},
		{"behind the ROM", 0x00010000, "boot ROM ends"},
		{"flash", 0x10001000, "read-only through XIP"},
		{"behind RAM", 0x20090000, "RAM ends"},
		{"no peripheral", 0x400c8000 + 0x100000, "no peripheral is there"},
		{"in reset", 0x40078030, "UART1 is held in reset"},
		{"no register", 0x40018800, "PSM has no register"},
		{"SIO", 0xd0040000, "no register of SIO"},
		{"Arm's own", 0xe000e100, "belongs to Arm cores"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, Options{})
			p := new(asm)
			// Twice by the same instruction: a loop of two rounds.
			p.li(t0, tt.addr).li(t1, 1).sw(t1, t0, 0).wfi()
			r.program(p)
			for range 50 {
				if e := r.until(100_000); e.Kind != machine.EventLimit {
					break
				}
			}
			var found []machine.Notice
			for _, n := range r.notices {
				if strings.Contains(n.Text, tt.want) {
					found = append(found, n)
				}
			}
			if len(found) != 1 {
				t.Fatalf("%d notices with %q in %+v", len(found), tt.want, r.notices)
			}
			if pc := found[0].PC; pc != sramBase+16 {
				t.Errorf("the notice names %#x, the store is at %#x", pc, sramBase+16)
			}
		})
	}
}
