package usbtest

import (
	"testing"

	"golang.org/x/sys/unix"
)

// CPU reports the processor time of a benchmark beside its wall time, which on a
// busy machine says more about the machine. Call it before the loop and what it
// returns behind it.
func CPU(b *testing.B, who int) (report func()) {
	used := func() float64 {
		var u unix.Rusage
		if err := unix.Getrusage(who, &u); err != nil {
			b.Fatal(err)
		}
		return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e6
	}
	start := used()
	return func() { b.ReportMetric((used()-start)/float64(b.N), "cpu-ms/op") }
}
