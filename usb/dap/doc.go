// Package dap carries CMSIS-DAP packets to a debug probe on the USB: version 2
// over bulk endpoints, version 1 over HID reports.
//
// A packet of version 2 is one transfer to the OUT endpoint of the interface
// whose name contains "CMSIS-DAP", and its answer one from the IN endpoint. Of
// version 1 it is a report of 64 bytes, filled up with zeros, through the
// kernel's hidraw. A probe holds several packets: while answers are awaited the
// next packets go out, so a reader of its own takes the answers.
//
// A program that was killed may have left answers in the probe, which would be
// taken for those of the first commands. They are read and forgotten at first.
//
// The package must never look into a packet, and never choose a probe.
//
// Source: Arm CMSIS-DAP 2.1.1, "USB interfaces".
package dap
