// Package doctor looks at a machine and says what keeps boards from working, with
// the one command that mends it.
//
// A Check looks at one thing through a Host, which says how files are read and
// how programs are asked for their version, and returns a Finding: fine, a remark,
// or a trouble. Checks change nothing and open no board.
//
// The package must never mend anything by itself, or print.
package doctor
