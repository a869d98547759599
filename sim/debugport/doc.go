// Package debugport is the debug port of the simulated RP2350, from the wires
// inwards: the SWD line with its dormant state, the ADIv6 debug port (DPv3), its
// access ports, and the RISC-V Debug Module; and the servers through which other
// people's debuggers reach it.
//
// How it works, outside in. Line turns clock edges into packets: a request of
// eight bits, an acknowledge of three, and 32 bits of data with parity. DP takes
// packets: four registers of its own, banked, and a window of 16 bytes into the
// space of access ports, chosen by SELECT. In that space lie a ROM table, a
// MEM-AP for the bus of each Cortex-M33, a MEM-AP whose memory is the RISC-V
// Debug Module, and the RP-AP, which works even when nothing else does. A CMSIS-DAP
// probe (Probe) speaks packets, remote_bitbang speaks edges. A JTAG chain exists in
// the simulation alone, for debuggers that reach RISC-V in no other way.
//
// The package reaches the chip through the interface Chip. It must never know
// how the cores work, and never write anything that a debugger did not ask for.
//
// Sources: Arm IHI 0074 (ADIv6), Arm IHI 0031 (SWD), RISC-V Debug Support 0.13.2,
// RP2350 datasheet section 3.5.
package debugport
