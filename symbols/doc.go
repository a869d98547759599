// Package symbols turns addresses into names: functions and objects from an
// ELF file's symbol table, source lines and inlined calls from its DWARF, and
// chains of callers from its call frame information.
//
// A Table is made from the bytes of an ELF file. The symbol table is read at
// once, DWARF only when a question needs it, so that a table costs little.
//
// A caller is found through .debug_frame or .eh_frame (DWARF 5, section 6.4):
// for a range of code they say where the canonical frame address is and where
// each register was saved relative to it. Where code has none (assembly,
// stripped libraries), RISC-V prologues are read instead: from the start of
// the function to pc, what was subtracted from sp and where ra was stored.
//
// The input is untrusted: every loop is bounded, and what cannot be read is
// left out rather than guessed. The package must never open a file or know who
// asks.
package symbols
