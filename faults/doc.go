// Package faults is the vocabulary of every error a user can meet.
//
// A Fault carries a stable code (for scripts), the exit status (for shells),
// what was seen, what was wanted, and one command to try. Packages return
// faults where a caller or a user branches; everything else is wrapped with
// fmt.Errorf and becomes an internal fault at the edge.
//
// The package owns the codes and the exit statuses of the command-line
// contract. It must never print, exit, or import another package of stem-hw.
package faults
