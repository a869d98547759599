// Package otp is the one-time-programmable memory of the RP2350: 4096 rows of
// 24 bits in 64 pages, with the error correction of its 16-bit rows and the
// locks of its pages.
//
// It owns the fuses and their rules (a bit goes from 0 to 1 and never back, an
// ECC row holds 16 bits of data behind 8 of protection, page locks only grow).
// It must know nothing of registers: the OTP block, the boot ROM's otp_access
// and the BOOTSEL interface all work on one Array.
//
// Facts: RP2350 datasheet chapter 13; pico-sdk
// src/rp2350/hardware_regs/include/hardware/regs/otp_data.h.
package otp
