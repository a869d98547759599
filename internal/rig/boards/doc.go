// Package boards keeps the simulated boards that tests in the virtual machine
// play with. They run on the host, where the simulation is fast, and their USB
// devices are plugged into the guest's kernel through an Attacher.
//
// A Board has plugs, as the thing on the table has: its own USB socket, and that
// of a Debug Probe wired to it. The board's own plug gives it power: plugging it
// in is power-up, pulling it out is power-off, and flash and fuses stay. While a
// plug sits in a port, whatever device is behind it is attached there, so that
// restarts of the chip are re-enumerations on the same port. A Set are the boards
// of one test process; it serves that process's requests and ends with it.
//
// The package must never know how the guest is reached.
package boards
