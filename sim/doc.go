// Package sim makes a target of a simulated machine: the RP2350, Hazard3's
// testbench, or the riscv-tests platform.
//
// A machine (sim/machine) is single-threaded and knows nothing of the world. A
// Target owns one and a goroutine, its worker, that alone touches it:
//
//   - While the cores run, the worker advances the machine in slices of
//     simulated cycles. Between two slices it serves requests (read memory,
//     set a breakpoint, halt), feeds standard input, hands on what was printed,
//     and, at real speed, waits for the wall clock.
//   - Something that ends the running (breakpoint, exit, crash, all cores
//     asleep) stops every core and becomes one target.Stop, which Wait returns.
//   - Semihosting calls are served on the worker by package semihost. A call
//     that waits for input is abandoned and made again when input arrives, so
//     that the worker never blocks.
//
// Without a debugger, package sim also recognises how firmware for a bare chip
// ends (ends.go): exit of the C library stops in a loop of breakpoints that no
// machine would ever leave, and so does a panic or an unhandled exception.
//
// Run (run.go) is what `stem-hw run`, the tests and the table of outside
// firmware have in common: start, watch the output for texts, and say how it
// ended.
//
// The package must never print, and never choose a file format or decide what
// boots: package image and the machines do.
package sim
