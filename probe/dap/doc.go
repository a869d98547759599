// Package dap speaks CMSIS-DAP to a debug probe, whatever carries the packets.
//
// The protocol in half a page. The host sends a packet, at most as long as the
// probe says (64 bytes at full speed): a command byte and its parameters. The
// probe answers with a packet that begins with the same byte. DAP_Info tells
// what the probe is, how long a packet may be and how many it can hold;
// DAP_SWJ_Sequence drives raw bits; DAP_Transfer performs a list of accesses to
// the debug port and its access ports, DAP_TransferBlock many accesses to one
// register. An access is acknowledged with OK, WAIT (after the probe has tried
// as often as it was told), FAULT, or by nobody; the answer says how many
// accesses were done and how the last one was acknowledged. The probe fetches
// posted reads itself.
//
// A probe that holds several packets works while the next ones travel: Run keeps
// as many outstanding as the probe allows. After an error the packets under way
// are still executed; errors of the debug port are sticky, so that these fail
// too, and their answers are read and forgotten.
//
// Nothing a probe answers is trusted: lengths, counts and identifiers are
// checked, and an answer that does not fit is an error. The package must never
// know what chip is at the end of the wires.
//
// Sources: Arm CMSIS-DAP 2.1.1 (DAP commands); openocd-org/openocd
// src/jtag/drivers/cmsis_dap_tcp.c for the framing over TCP.
package dap
