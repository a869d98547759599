// Package profile counts what a simulated program executes, instruction by
// instruction and core by core, and writes it for other people's tools: as lcov
// trace files for genhtml and editors, and as pprof profiles for `go tool
// pprof`.
//
// Nothing is sampled. The machine calls Step before each instruction; the cycles
// that pass until the next call belong to the instruction before, stalls, wait
// states and sleep included. A shadow stack follows calls and returns: control
// that goes elsewhere with the link register pointing behind the instruction is
// a call; arriving where some caller waits is a return; a trap vector with the
// exception's return address is an interrupt, shown as a call of its handler. A
// jump to another function replaces the function (tail call). When a context
// switch of an RTOS leaves the stack behind, it begins anew.
//
// lcov's format is lines "KEY:value" (geninfo(1)): for each source file SF, for
// each function FN and FNDA, for each line that has code DA:line,count, then
// totals and end_of_record. The count of a line is that of its most executed
// statement.
//
// pprof's format is a gzipped protocol buffer (google/pprof, profile.proto):
// samples with values and a list of locations, innermost first; each location
// has the lines that are inlined there. Every sample has the label "core".
//
// The package must never open a file and never change the machine.
package profile
