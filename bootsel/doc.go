// Package bootsel is the target behind a board's boot ROM: the RP2350 in BOOTSEL
// mode, reached by PICOBOOT or by the drive.
//
// Open takes a board that was found, alone, and brings it into BOOTSEL mode if
// its program offers a way there and that was asked for. The board leaves the bus
// then and comes back as another device at the same port; the lease moves with
// it, and nothing is done before the new node is held too. What is opened is
// compared with the chip that was pinned before anything is written.
//
// A Target reads and writes memory, erases and programs flash, and starts a
// program from flash or RAM. It has no debugger: cores cannot be halted. Board
// with a partition table keep programs in partitions; where a family goes is
// asked of the ROM, and addresses of an image are moved there.
//
// The drive is the other way: an image becomes UF2 blocks, which the ROM programs
// as they come. It says nothing back and restarts the board after the last one; if
// the board stays, GET_INFO is asked why.
//
// The package must never choose a board, and never write OTP.
//
// Sources: RP2350 datasheet 5.4 to 5.6; raspberrypi/pico-bootrom-rp2350 (A2),
// src/nsboot; raspberrypi/pico-sdk 2.2.0, boot/picoboot.h.
package bootsel
