// Package target says what can be done to one chip, or to one program of the
// host, whichever way it is reached: through the boot ROM, a debug probe,
// OpenOCD, or as a simulation.
//
// Every target has the small base (Target). Everything else is a capability, an
// interface that an implementation may have besides: Halter, Memory, Flasher,
// Runner. Callers ask with a type assertion, or with the As... functions, which
// turn a missing capability into a fault. The conformance suite in
// target/targettest runs per declared capability, and each implementation has
// a written list of those it must have.
//
// The package must never know how a target is reached.
package target
