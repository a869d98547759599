// Package hazard3 is the Hazard3 RISC-V core in software, as RP2350 has it
// twice and as Hazard3's own testbench has it.
//
// It owns the instruction set, CSRs, traps, interrupts (Xh3irq), PMP, triggers
// and Debug state, and the cycle count of each instruction. It must never know
// what is at an address: memory is given to it as windows and a bus (sim/bus).
//
// # How it executes
//
// Code is decoded once, into a cache that cores may share (ShareCode). There
// are two loops. The plain one executes an instruction at a time and is the
// reference: exec in exec.go. The fast one executes blocks: straight runs of
// decoded code, made into micro-operations with common pairs joined and linked
// to their successors, with cycles and instructions counted once a block
// (block.go, blockrun.go). Whatever a block cannot do (registers of the machine,
// exceptions, CSRs) it leaves to exec, in the state that exec would have found.
// Tests run random programs through both and compare them to the cycle.
//
// Stores into code are noticed by the flags of sim/bus at a grain of 16 bytes
// and take effect with the next instruction, without fence.i: firmware patches
// its RAM code with no more than a data fence.
//
// # Time
//
// Cycle counts follow the RTL with memory without wait states: load-use
// stalls, the one-entry branch predictor, the second fetch of a 32-bit target
// across words, divisions by their operands' signs. On CoreMark, Dhrystone and
// the workload in sim/testbench they agree with the RTL to a few cycles in
// millions. Left out are: that hardware may be interrupted within cm.push and
// cm.pop (here they are one step), wake-up latencies of a few cycles, and bus
// contention.
//
// # Where it differs from the documentation
//
// Where Hazard3's documentation and its RTL disagree, the core does as the RTL:
// c.addi4spn with a zero immediate executes unless the whole halfword is zero;
// pmpaddr8 to pmpaddr10 of RP2350 can be written until the next write of
// pmpcfg2; a 16-bit instruction in front of a lower-numbered PMP region is
// judged by that region; unsigned divisions take 19 cycles, not 18; cm.popretz
// of ra alone takes 4.
package hazard3
