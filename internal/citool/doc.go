// Command citool runs one suite of Go tests and says what a person wants to
// know of it: a line for each package, the output of what failed, every skip
// with its reason, the minutes, and the counts in one closing line.
//
//	go run ./internal/citool [-report FILE] [-v] SUITE -- go test -json ./...
//
// The command after -- must print the event stream of test2json. citool fails
// if the command fails, if a test fails, or if no test was run at all: a suite
// that silently became empty is a failure. With -report (or $STEM_HW_CI_REPORT)
// it appends one row to FILE: suite, passed, failed, skipped, seconds.
//
// It must never decide what is run: that is the Makefile's business.
package main
