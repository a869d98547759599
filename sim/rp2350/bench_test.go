//go:build unix

package rp2350

import (
	"syscall"
	"testing"
	"time"
)

// cpuTime is the processor time of this process, which a busy machine does not
// disturb.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// work is a loop of twelve instructions over SRAM.
func work() *asm {
	p := (&asm{}).li(t0, sramBase+0x1000).li(t1, 0)
	start := len(p.words)
	p.lw(t2, t0, 0)
	for range 8 {
		p.emit(1<<20 | t1<<15 | t1<<7 | 0x13) // addi t1, t1, 1
	}
	p.emit(t1<<20 | t2<<15 | t2<<7 | 0x33) // add t2, t2, t1
	p.sw(t2, t0, 0)
	return p.back(len(p.words) - start)
}

// BenchmarkBothCores reports million instructions per second of processor time
// with both cores busy, and how that compares with the chip's 150 MHz.
func BenchmarkBothCores(b *testing.B) {
	for name, both := range map[string]bool{"one": false, "two": true} {
		b.Run(name, func(b *testing.B) {
			r := newRig(&testing.T{}, Options{})
			r.program(work())
			r.Run(50)
			if both {
				r.nodes[1].rom = romNone
				r.nodes[1].cpu.Enter(sramBase, 0, 0)
			}
			before := cpuTime()
			i0 := r.Cores()[0].Instret() + r.Cores()[1].Instret()
			c0 := r.Now()
			b.ResetTimer()
			for range b.N {
				r.Run(r.Now() + 10_000_000)
			}
			d := (cpuTime() - before).Seconds()
			n := r.Cores()[0].Instret() + r.Cores()[1].Instret() - i0
			b.ReportMetric(float64(n)/1e6/d, "MIPS")
			b.ReportMetric(float64(r.Now()-c0)/150e6/d, "x-real-time")
		})
	}
}
