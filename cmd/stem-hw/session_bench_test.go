package main

import (
	"testing"
	"time"
)

// BenchmarkSessionStart measures from session start to gdb standing in main on a
// simulated board, the program being built already.
func BenchmarkSessionStart(b *testing.B) {
	d := newSessionDesk(b)
	d.ok("build", "inf", "list", "--profile", "hazard3-sim")
	var total time.Duration
	n := 0
	for b.Loop() {
		start := time.Now()
		d.ok("session", "start", "inf", "list", "--profile", "hazard3-sim")
		total += time.Since(start)
		n++
		b.StopTimer()
		d.ok("session", "rm", "--all")
		b.StartTimer()
	}
	b.ReportMetric(total.Seconds()/float64(n), "s/start")
}
