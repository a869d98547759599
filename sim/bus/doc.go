// Package bus is the contract between a processor core and the machine
// around it.
//
// A core reaches plain memory through Windows: slices it may read and write
// by itself. Everything else (peripherals, exclusives, faults) goes through
// the Bus interface, one call an access, in program order. Each hart has a Bus
// of its own, so that core-local devices know who asks.
//
// Time is counted in cycles of clk_sys since power-up. A core advances its own
// clock and stops at the limit it was given; the machine decides which core
// runs next. A core performs an access that another core could notice (any Bus
// call but Fetch, any atomic) only while it is not ahead of the others: it asks
// Bus.Ready first and gives up its turn, with the instruction not begun, when
// the answer is no. So runs are deterministic and exact at every point where
// cores meet, whatever the quantum.
//
// The package must never import a core or a machine.
package bus
