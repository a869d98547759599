// Package rom finds the functions of the RP2350's boot ROM.
//
// At 0x10 the ROM has its magic and its version, at 0x14 the address of a table:
// for each function a tag of two characters, flags, and a halfword for each flag
// that is set. For a RISC-V function that halfword is a jump in itself, so its
// address is what is called; for an Arm function it is the address. The functions
// are data for somebody else to call: the package calls none, and it does not
// tell the address of the one that writes one-time-programmable memory.
//
// Source: RP2350 datasheet 5.4; raspberrypi/pico-sdk
// src/rp2_common/boot_bootrom_headers/include/boot/bootrom_constants.h.
package rom
