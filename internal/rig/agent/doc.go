//go:build linux

// Command agent is the host's hand in the virtual machine: it runs the programs
// that the runner asks for, plugs the devices of the boards on the host into the
// guest's kernel, and passes on what tests have to say to those boards. It is
// the last program that the machine's init starts; with it the machine ends.
//
// It must never know what a test or a board is.
package main
