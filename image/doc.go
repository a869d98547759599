// Package image reads and writes firmware images: ELF32, BIN, Intel HEX and
// UF2, and the RP2350 metadata inside them (picobin block loops, binary info).
//
// Every format becomes one sparse set of segments (Image). The package is pure:
// it takes bytes and gives bytes, it never opens a device. What the boot ROM
// would do with an image is in image/boot, once, for the simulated chip, the
// simulated drive, `uf2 explain` and the check before flashing alike.
//
// It must never guess a format by a file's name alone, hang or grow without
// bound on any input, or know about boards, probes or simulators.
package image
