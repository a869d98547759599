// Command stem-hw is the command line: one file per verb, each of which turns
// flags into calls of the packages below and hands one result to package ui.
//
// This is the only package that knows cobra, and main.go the only file that
// ends the process. A verb is a function that returns a *cobra.Command; it is
// listed in verbs (root.go) and shown in the help only then. Verbs return
// errors (faults where a person can do something) and never print.
package main
