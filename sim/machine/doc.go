// Package machine is the contract between a simulated machine (the RP2350,
// Hazard3's testbench, the riscv-tests platform) and package sim, which makes a
// target.Target of it.
//
// A Machine is single-threaded: package sim calls it from one goroutine. It is
// advanced with Run up to a cycle, and reports at most one Event for each call.
// It must never print, sleep, or look at the wall clock.
package machine
