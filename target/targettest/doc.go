// Package targettest is the conformance suite of package target: what each
// capability promises, as tests that run on any implementation.
//
// A Case says how to make a target and which capabilities it must have. Run
// loads a tiny program (program.go) that counts in a register, stores the count
// and calls a function, and checks what a debugger would: that a breakpoint
// stops before its instruction, that going on from it makes progress, that a
// refused access names its address, and so on. A check for a capability that
// the target has but was not asked for runs all the same.
//
// The suite must never look behind package target's interfaces.
package targettest
