// Package regs holds the registers of the RP2350's peripherals as tables:
// offsets, names, reset values, and which bits a write changes, clears or
// triggers. registers.csv is the source (one line a register, bits in
// hexadecimal, reset values of stepping A2); the tables are generated from it and nothing is read at run
// time. The facts are those of the datasheet's lists of registers and of the
// SDK's hardware_regs headers.
//
// The package must never hold behaviour.
package regs
