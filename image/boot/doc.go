// Package boot holds the decisions of the RP2350's boot ROM, once, as pure
// functions: which image it finds and starts, which partition it uses, which
// UF2 blocks its drive accepts and where they go. The simulated chip, the
// simulated drive, `stem-hw uf2 explain` and the check before flashing share
// it.
//
// How the chip boots from flash: it looks for the start marker of a block
// (see picobin) in the first 4 KiB of flash, slot 0, and follows the links
// until it is back at the first block. A loop that is broken anywhere counts
// as none. From a sound loop it keeps the last acceptable image definition
// and the last partition table. A second 4 KiB slot may hold another loop, and
// the higher version wins. With a partition table and no image definition in
// its loop, the partitions are searched in order, pairs A and B by version.
// The chosen image is checked against its hash (on secured chips its
// signature), its load map is carried out, flash is rolled so that the image
// runs at 0x10000000, and the chip jumps to the entry point: the one of the
// image definition, on Arm else the one of the vector table. If the image is
// for the other CPU, the chip restarts itself with that one.
//
// The source of each rule is the A2 boot ROM (raspberrypi/pico-bootrom-rp2350,
// src/main/arm/varm_blocks.c, varm_flash_boot.c, varm_launch_image.c,
// varm_nsboot.c, src/nsboot/usb_virtual_disk.c), its quirks included. Later
// revisions are told apart where their published errata say so.
//
// The package reads memory through an io.ReaderAt addressed by bus address
// and gives back what it decided, with the reasons in words. It must never
// write memory, do I/O, or know about files. Every loop in it is bounded.
package boot
