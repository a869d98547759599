// Package probed is a simulated board behind a simulated debug probe in one
// process, for tests of what reaches a chip through a probe.
//
// The chip runs on its own; a packet of the probe stops it for as long as the
// packet takes. A Rig's probe is reached by Wire, without any cable, or by Listen,
// over TCP. The package must never be imported by anything but tests.
package probed
