// Package nor is a serial NOR flash chip of the W25Q…JV class, as boards with
// an RP2350 carry it.
//
// It owns the array and its rules: erasing sets whole sectors to ones,
// programming only clears bits and wraps within a 256-byte page, both need the
// write enable latch and leave the chip busy for a while in which it answers
// nothing but status reads. It speaks SPI a byte at a time (Select, Transfer);
// how many wires carried the byte is not its business. Time is simulated time
// in picoseconds, asked of its owner.
//
// It must never know of the chip it hangs on.
//
// Facts: Winbond W25Q32JV data sheet; typical times as in the project's flash
// timing model.
package nor
