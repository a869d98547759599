// Package virtual is the USB face of a simulated board: what a host sees on its
// cable.
//
// A Device is what answers at one address. The host hands it URBs (USB request
// blocks: one transfer of one endpoint) and hears when they are complete. A
// Gadget is a Device made of descriptors and a Function: it answers the standard
// requests, keeps halts, cuts transfers into packets of the endpoint's size and
// puts them together again. The Function here is BOOTSEL mode: PICOBOOT
// and the drive over the chip's flash, fuses and RAM.
//
// Nothing here is safe for concurrent use, as the chip is not: whoever serves a
// device stops the chip for each access. Time is simulated and only
// counted. The package must never print, sleep, or decide what boots or where a
// UF2 block goes: image/boot does.
//
// Sources: USB 2.0 chapters 8 and 9;
// USB Mass Storage Class, Bulk-Only Transport 1.0; raspberrypi/pico-bootrom-rp2350
// (A2), src/nsboot; raspberrypi/pico-sdk 2.2.0, boot/picoboot.h.
package virtual
