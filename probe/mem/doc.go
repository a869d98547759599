// Package mem reaches memory through a MEM-AP of version 2 (ADIv6): the bus of a
// Cortex-M33, or the registers of a debug module.
//
// How it works. CSW says how wide an access is, whether the address advances by
// itself, and with which attributes it goes onto the bus; it is always written
// before the first access, since what it holds after power-up differs between
// chips. TAR is the address, DRW the data. Blocks are words with an address that
// advances, in chunks of 1 KiB, within which the advance is promised; the next
// chunk's address travels in the same stream, so that a block of any size is one
// run with as many packets outstanding as the probe holds. Bytes at the edges are
// accessed as bytes and halfwords; longer runs of them packed, four bytes an
// access, where the port can. A set of registers within sixteen bytes is reached
// through the banked data registers without touching TAR (Batch.Window).
//
// A write is posted: it has failed when a later packet says FAULT, and TAR then
// names the address.
//
// The package must never know what lies at an address.
//
// Source: Arm IHI 0074, part C.
package mem
