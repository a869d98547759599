// Package bench is a workbench with simulated Picos on it: some boards, each one
// with a Debug Probe if wanted, their USB plugs in ports, and their faults.
//
// A Unit is a board: its target runs by itself, and everything else of it (chip,
// ports, probe) may be touched within Do only. Bench.Run lets the plugs follow the
// chips. What a host sees of it is for a virtual.Server, to which Bench.Server has
// added every port: boards in order, each one's probe behind it, on the ports
// "1-1", "1-2", and so on.
//
// The package must never listen, print, or know who is at the other end of the
// cables.
package bench
