// Package cable connects the USB face of a simulated board to code in the same
// process, without a kernel: what usb.Open is for real devices.
//
// A Board is a chip, the port it is plugged into, and simulated time, which
// passes while a transfer waits for the device and when Pass is called; so tests
// of a protocol, of restarts and of re-enumeration run in milliseconds and
// always the same way. The package must never model anything: sim/virtual does.
package cable
