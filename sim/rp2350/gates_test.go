package rp2350

import (
	"testing"

	"github.com/stem-hw/stem-hw/sim/machine"
)

// TestSleepState: both cores sleep until an alarm of TIMER0. With its clock, or
// that of its ticks, gated in SLEEP_EN they sleep for ever, as the chip does.
func TestSleepState(t *testing.T) {
	const (
		sleepEn1Clear = 0x40010000 + 0xb8 + 0x3000
		sleepEn0Clear = 0x40010000 + 0xb4 + 0x3000
		timer         = 0x400b0000
		scratch       = sramBase + 0x1000
	)
	for _, tt := range []struct {
		name     string
		en0, en1 uint32 // gates to close
		wakes    bool
	}{
		{"all clocks", 0, 0, true},
		{"only what wakes", 0xffffffff, ^uint32(1<<19 | 1<<18 | 1<<17), true},
		{"no timer", 0, 1 << 19, false},
		{"no ticks", 0, 1 << 17, false},
		{"another peripheral", 1 << 25, 0, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, Options{})
			p := new(asm)
			// Ticks of TIMER0 from clk_ref, an alarm in 1000 of them.
			p.store(0x40108000+2*12+4, 1).store(0x40108000+2*12, 1)
			p.store(timer+0x40, 1)
			p.store(timer+0x10, 1000)
			p.store(sleepEn0Clear, tt.en0).store(sleepEn1Clear, tt.en1)
			p.store(scratch, 1)
			// meiea, window 0: interrupt 0; mie.MEIE.
			p.li(t0, 1<<16).emit(0xbe0<<20 | t0<<15 | 1<<12 | 0x73)
			p.li(t0, 1<<11).emit(0x304<<20 | t0<<15 | 1<<12 | 0x73)
			p.wfi()
			p.store(scratch, 2)
			p.li(t0, 0).emit(0x304<<20 | t0<<15 | 1<<12 | 0x73)
			p.wfi()
			r.program(p)
			var e machine.Event
			for range 100 {
				if e = r.until(10_000); e.Kind != machine.EventLimit {
					break
				}
			}
			want := uint32(1)
			if tt.wakes {
				want = 2
			}
			if got := r.load32(0, scratch); got != want || e.Kind != machine.EventAsleep {
				t.Errorf("it got to %d, want %d; ended with %+v", got, want, e)
			}
		})
	}
}
