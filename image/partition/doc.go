// Package partition reads descriptions of RP2350 partition tables, the same
// JSON that picotool takes, and turns them into metadata blocks.
//
// A table divides flash into up to 16 partitions with permissions, accepted
// UF2 families, an optional name and ID, and links: a B partition names its A,
// an owned partition its owner. Sizes and places are in units of 4 KiB. What
// the boot ROM does with a table is in image/boot.
//
// The package checks what the boot ROM would refuse or silently misread, and
// does no I/O.
package partition
