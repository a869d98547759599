// Package riscvdm drives the RISC-V Debug Module of the RP2350 and its two
// Hazard3 harts: stop, step and resume, registers, triggers, memory, reset.
//
// How it works. The module's registers are memory of an APB access port, four
// bytes each. dmcontrol selects a hart and halts, resumes or resets it; with a
// window of harts it does so to both at the same moment. A halted hart executes
// abstract commands: one moves a general register to or from data0, and may then
// run a program buffer of two instructions, in which data0 is a CSR of the hart.
// That is how CSRs are reached. Memory is reached through the system bus port of
// the module, one access of the wires a word, whether the harts run or not, or
// through a halted hart's own loads and stores, for what each core sees
// differently. The wires are slow enough that a command is over before the next
// access; it is looked at all the same.
//
// System bus accesses go through hart 1's port and stall while it sleeps deeply
// (erratum RP2350-E4).
//
// Sources: RISC-V External Debug Support 0.13.2; Wren6991/Hazard3
// hdl/debug/dm/hazard3_dm.v and doc/sections/debug.adoc.
package riscvdm
