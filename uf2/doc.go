// Package uf2 owns the UF2 file format: blocks, flags, families, extension
// tags and MD5 fields, read and written as a stream.
//
// A UF2 file is a row of 512-byte blocks. Each block carries up to 476 bytes
// of data together with the address they belong to, its own number, the count
// of all blocks and a family, which names the chip (and on an RP2350 the CPU)
// it is for. A boot loader that shows itself as a USB drive can therefore act
// on each 512-byte sector the computer writes, in any order, without knowing
// the file system above it.
//
//	offset  field                     offset  field
//	0       magic "UF2\n"             20      block number, from 0
//	4       magic 0x9E5D5157          24      number of blocks
//	8       flags                     28      family (flag 0x2000) or file size
//	12      target address            32      476 bytes: payload, then tags, MD5
//	16      payload size              508     magic 0x0AB16F30
//
// A loader that does not know a block's family ignores the whole block, its
// number and count too, so files for several chips may simply be joined.
//
// The package knows nothing of memories, partitions or boot ROM state: what a
// chip does with a block is decided in image/boot. It must never read a whole
// file into memory, and it opens no files.
package uf2
