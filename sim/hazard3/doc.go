// Package hazard3 is the Hazard3 RISC-V core in software, as RP2350 has it
// twice and as Hazard3's own testbench has it.
//
// It owns the instruction set, CSRs, traps, interrupts (Xh3irq), PMP, triggers
// and Debug state, and the cycle count of each instruction. It must never know
// what is at an address: memory is given to it as windows and a bus (sim/bus).
package hazard3
