// Package probe is an RP2350 behind a CMSIS-DAP probe, as a target: halted and
// stepped, its memory read and written, its flash programmed, its console shown,
// whichever architecture its cores execute.
//
// How it works, outside in. Package dap speaks to the probe, swd to the debug
// port, mem to memory through an access port. The root table of the access ports
// says which architecture each core has; cortexm and riscvdm are the two kinds of
// cores, and an engine makes them alike for this package. The flash is programmed
// by the boot ROM's own functions, which a small program in RAM calls (loader,
// rom), with both cores reset first: XIP faults for everybody meanwhile, and the
// redundancy coprocessor wants its salt exactly once.
//
// Open attaches to whatever is running and does not disturb it: cores are halted
// by Halt, Load, Reset, or the first breakpoint on RISC-V. Close takes every
// breakpoint back and lets the cores run.
//
// What fails is explained by its layer: probe, wires, power, chip, lock, core
// (explain.go). The package must never write where one-time-programmable memory
// is controlled (0x40120000 to 0x4013ffff) for anybody else, and of its own only
// the selection of the architecture; it never calls the boot ROM's function that
// writes fuses.
package probe
