// Package rp2350 is the simulated RP2350: two cores, the bus fabric around
// them, memories, flash behind XIP and QMI, the core-local SIO, and the boot
// ROM by emulation of its functions. Peripherals that hang off the APB and AHB
// are in periph, one file each.
//
// # Time
//
// The chip has one clock, cycles of clk_sys since power-up. Each core has its
// own Cycle and the scheduler (schedule.go) always runs the core that is
// behind, core 0 on a tie, up to the nearest of: the caller's limit, the next
// event, and the other core's cycle plus Quantum. An access that the other core
// could notice waits until its core is not ahead (bus.Bus.Ready), so cores meet
// exactly at peripherals, SIO and atomics; only plain loads and stores to SRAM
// can be seen up to Quantum cycles early or late, and an interrupt or event
// that one core raises on the other is taken up to Quantum cycles late.
// Events (queue.go) fire in order of cycle, then of scheduling. Everything is a
// function of the image and the input: a run repeats to the cycle.
//
// # Boot ROM
//
// No byte of the real ROM is in the project. The ROM that firmware reads has
// the documented header and a function table of our own; a core whose pc is in
// the ROM is served by a gate (hazard3.Gate) that performs the function in Go
// and lets the core's clock jump over the time it takes (rom*.go).
//
// The package must never print, sleep or look at the wall clock, and must never
// decide by itself which image boots: image/boot does.
//
// Facts: RP2350 datasheet chapters 2, 3, 4, 5, 10, 12.14; pico-sdk 2.2.0;
// pico-bootrom-rp2350 (A2).
package rp2350
