// Package periph holds the peripherals of the simulated RP2350, one file each,
// behind one small interface (Block).
//
// A block knows its registers and nothing of the core, the bus fabric or the
// aliases: the chip calls Read and Write with an offset inside the block and
// tells through which alias a write came. A block reaches the rest of the chip
// through Env (time, events, interrupt lines, notices), through System (clk_sys,
// resets) if it rules the chip, and through the things that blocks share: Clocks
// (every clock counts its own cycles exactly), Pins (function select, pads and
// the world outside) and Requests (the lines to DMA).
//
// A chip calls NewAll, attaches what Attachments lists, and calls PowerUp; then
// Reset for each reset that a block asked System for, and DebugHalt when a core
// stops for a debugger. Nothing here works per cycle: a block computes its
// counters from the clock when it is read, and schedules an Event where it would
// do something by itself.
//
// Register names, reset values and writable bits come from the tables in package
// regs; storage is the register file built on them. A register whose effect is
// not modelled says so by name, once, when it is used.
//
// Facts are from the RP2350 datasheet (sections named in each file), from
// pico-sdk src/rp2350/hardware_regs, and for the UARTs from Arm's PL011 manual
// (DDI 0183).
package periph
