// Package openocd reaches a chip through OpenOCD, so that nobody needs to know
// how to configure, start, watch and end one.
//
// Find looks for every OpenOCD on the machine, Ask starts each without hardware
// to learn what it can do (the access ports of an RP2350 differ from version to
// version), Choose picks one for an architecture and says why not another.
// Configuration is generated (Config), for a probe by its exact serial number.
//
// A Process is one OpenOCD under package child's supervisor. It listens nowhere:
// its Tcl port executes commands for whoever reaches it, so that port is its
// standard input and output (tcl_port pipe), two pipes that nobody else can
// open, and the gdb and telnet ports are off. When the pipes close OpenOCD ends,
// and the supervisor ends it besides. Nothing of it is on disk.
//
// Tcl RPC: a request and an answer end with a byte 0x1a, an answer has no status,
// and notifications come in between. So each command is wrapped in catch and a
// list whose first word is a number of ours: what does not begin with it is a
// notification, or the answer to a command that nobody waits for any more.
// Releases add line feeds to some results. What went wrong is often only in the
// log, which is OpenOCD's standard error: after a failure a mark is echoed into
// it, and what came before the mark belongs to the command (Explain).
// OpenOCD goes on after a failed examination; a chip counts as reached only when
// its targets say that they were examined.
//
// Way presents the cores to package probe as a probe.Way: probe.OpenWay makes a
// target of it, with everything that stands on cores (flashing through the boot
// ROM, RTT, semihosting, breakpoints beyond the comparators). OpenOCD's polling
// is off meanwhile; the cores are looked at when somebody asks.
//
// A stock OpenOCD cannot reach Hazard3 through SWD. DTM presents the chip's Debug
// Module, which package probe reaches, as a RISC-V JTAG transport to OpenOCD's
// remote_bitbang driver, on a socket in a folder of mode 0700.
//
// The package must never let OpenOCD listen on a network or on a name that
// another account can open, and never execute text from outside as Tcl.
package openocd
