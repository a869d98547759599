// Package seal adds a hash and a version to an RP2350 image.
//
// A sealed image has one more metadata block, behind its last byte. It repeats
// the image definition, lists in a load map which bytes are covered, and ends
// with the SHA-256 of those bytes and of its own first words. The block is
// hung into the block loop behind the last one, and because the boot ROM uses
// the last image definition of a loop, the sealed one counts: a byte changed
// afterwards keeps the image from being started.
//
// An ELF file keeps everything it had, symbols and sections included; the new
// block becomes a segment of its own. Files without section headers are fine.
package seal
