// Package loader is a small program for the chip's RAM that calls functions of
// the boot ROM for the host and sums flash sectors, and the host's side of it.
//
// How it works. The program is assembled from arm.S and riscv.S and is placed in
// RAM with a control block behind it. The host writes calls into a ring (a
// function's address and four arguments) and then how many it has asked for; the
// program executes them one after the other and counts those that are done. Both
// sides only ever write their own count, so the ring needs no lock: the host
// fills the next buffers over the debug port while the core programs the ones
// before. Function 0 ends the program at a breakpoint, function 1 sums sectors of
// 4 KiB with two polynomials (CRC-32 and CRC-32C), so that sectors are compared
// on the chip with eight bytes each on the wires.
//
// On Arm the program first gives the redundancy coprocessor a salt if it has
// none, without which the boot ROM's functions end in a fault for good.
//
// The package must never know how memory is reached, and never call the ROM's
// function for one-time-programmable memory.
//
// Sources: RP2350 datasheet 5.4 (boot ROM functions), 3.6.3 (redundancy
// coprocessor).
package loader
