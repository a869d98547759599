// Package picobin owns the blocks of RP2350 image metadata: their words and
// items, decoded and built. What the boot ROM makes of a row of blocks is in
// image/boot; a picture of one for people is in image/report.
//
// A block is a list of 32-bit little-endian words inside the program:
//
//	0xffffded3                    start
//	items                         header word, then content
//	0xff | words<<8               last item: how many item words came before it
//	link                          signed bytes from this start to the next one
//	0xab123579                    end
//
// An item header holds the type in byte 0 and the number of words, the header
// included, in byte 1, or in bytes 1 and 2 when bit 7 of the type is set. The
// first item says what the block is: an image definition (0x42) or a partition
// table (0x0a). The links of all blocks form a loop, which ends where it
// began. The SDK puts one block near the start of a program and a second one
// at its very end, so that a program of which only a part was written has no
// whole loop and is not started.
//
// The package never trusts a size it reads: everything is checked against the
// words at hand. It does no I/O.
package picobin
