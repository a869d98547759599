// Package examples holds firmware for the Raspberry Pi Pico 2 that shows one
// thing each, with the ELF files made from it, and the tests that run every one
// of them on the simulated board.
//
// The package has no code to import. `make examples` builds the firmware.
package examples
