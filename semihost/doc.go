// Package semihost serves semihosting calls: a program on a chip asks the host
// that debugs or simulates it to print, read, open a file or end.
//
// How a call is made is the business of the core: on RISC-V it is the sequence
// slli x0,x0,0x1f; ebreak; srai x0,x0,7, on Arm bkpt 0xab (T32). At that point
// the first argument register holds the operation and the second its parameter,
// usually the address of a block of words. The result goes into the first
// argument register and the program goes on behind the breakpoint. (Semihosting
// for AArch32 and AArch64, release 2025Q1; RISC-V semihosting specification
// 1.0, which takes it over.)
//
// What a program may touch: the console it was given, and regular files below
// one folder if there is one. A name with "..", an absolute name, a link
// anywhere on the way, a device or a pipe is refused; so is more data than the
// quota. A command is never executed. Files is the same folder for others who
// offer files under the same rules, such as gdb's File-I/O.
//
// The package knows no architecture and no simulator, and must never open
// anything outside the folder.
package semihost
