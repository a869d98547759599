// Package testbench is two small machines around the Hazard3 core: Hazard3's
// own testbench (hazard3-tb), for bare-metal course programs and Hazard3's
// tests, and the platform of riscv-tests.
//
// hazard3-tb has 16 MiB of RAM at 0 and one page of IO registers at 0x80000000:
// print a character or a word, exit, set and clear interrupt lines, mtime and
// mtimecmp, and a switch for the exclusive monitor (Hazard3
// test/sim/tb_cxxrtl/tb.cpp). A program is a flat binary at 0 whose first
// instruction is at 0x40. riscv-tests has RAM at 0x80000000 and ends through
// the word named tohost.
//
// The package owns these platforms and the scheduling of their harts. It must
// never execute instructions itself or know of RP2350.
package testbench
