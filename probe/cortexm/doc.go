// Package cortexm is halting debug of a Cortex-M33 through its own access port:
// stop, step and resume, registers, the breakpoint and watchpoint units, vector
// catch and reset.
//
// How it works. All of it is memory of the core's private peripheral bus. DHCSR
// halts and steps and says how the core is, DFSR why it stopped. A register is
// read by writing its number into DCRSR and taking the value from DCRDR; the
// three registers and DEMCR lie in sixteen bytes, so that many registers are read
// in one run. The FPB stops the core before the instruction at an address, also
// at the one it is resumed at, so a core that stands on a breakpoint is stepped
// with the unit off. The DWT watches data and stops the core behind the access.
// A step masks interrupts, so that it ends at the next instruction of the
// program and not in a handler.
//
// The package must never know of a second core.
//
// Sources: Armv8-M architecture reference manual, part D1 (debug registers) and
// C1 (halting debug).
package cortexm
