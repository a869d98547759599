// Package gdbserver serves the GDB remote protocol for any target that can
// halt its cores and show its memory.
//
// The protocol in half a page. Client and server talk in packets,
// "$data#xx", where xx is the sum of the data bytes modulo 256. Until
// QStartNoAckMode each packet is answered by "+" (taken) or "-" (send again).
// The bytes # $ } * are escaped in data as "}" and the byte XOR 0x20. A lone
// 0x03 outside packets asks for an interrupt. The client asks, the server
// answers: "g"/"G"/"p"/"P" registers, "m"/"M"/"X" memory, "Z"/"z" points,
// "vCont" resume, "?" the last stop. A resume has no answer until something
// stops: then a stop reply, "T05thread:1;...". While the target runs the server
// may send "O" packets with console output. The qSupported exchange tells both
// sides what the other knows; qXfer moves larger objects (target description,
// memory map, thread list) in pieces. gdb's "load" writes flash with
// vFlashErase, vFlashWrite and vFlashDone.
//
// Source: the GDB manual, appendix "GDB Remote Serial Protocol".
//
// Cores are threads 1, 2, ... in all-stop mode. The package must never know
// what kind of target it serves, and never let a client write outside the
// chip: OTP rows and their registers are refused (Options.Protect).
package gdbserver
