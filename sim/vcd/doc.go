// Package vcd writes what the pins, the PIO blocks and the DMA controller of a
// simulated RP2350 do as a value change dump (IEEE 1364-2005, 18.2), which
// GTKWave, PulseView and Surfer open.
//
// A dump begins with declarations: each variable has a kind, a width, a short
// identifier and a name, inside scopes. Then come times ("#" and a number of
// the time scale, here picoseconds since power-up) and behind each time the
// values that changed: "1!" sets the one-bit variable "!", "b101 #" a vector.
//
// Time is that of the chip, so the file is a function of the image and the
// input: the same run twice gives the same bytes.
//
// Scopes: gpio has a wire for each pin; pio0 to pio2 their IRQ flags and, for
// each state machine, enabled, stalled, pc and the levels of the FIFOs; dma a
// busy bit and the remaining transfers of each channel, and for each transfer
// the channel and both addresses.
//
// The package must never open a file and never change the chip, except that PIO
// and DMA run exactly while it listens.
package vcd
