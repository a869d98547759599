// Package periph holds the peripherals of the simulated RP2350, one file each,
// behind one small interface (Block).
//
// A block knows its registers and nothing of the core, the bus fabric or the
// aliases: the chip calls Read and Write with an offset inside the block and
// tells through which alias a write came. A block reaches the rest of the chip
// through Env alone: time, events, interrupt lines, notices.
package periph
