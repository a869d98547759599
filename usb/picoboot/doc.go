// Package picoboot speaks PICOBOOT, the USB protocol of the RP2350's boot ROM in
// BOOTSEL mode.
//
// A command is a packet of 32 bytes to the interface's OUT endpoint: a magic, a
// token, the command's number (bit 7: data goes to the host), the size of the
// arguments, the length of the data, 16 bytes of arguments. Data follows on the
// IN or OUT endpoint, then an empty packet against the direction of the data (to
// the host where there is none) acknowledges all of it. A command that fails
// halts both endpoints; the control request CMD_STATUS then says why, and after
// the halts are cleared and RESET is requested the ROM takes commands again.
// RESET ends exclusive access too, so it is taken again.
//
// The ROM has one buffer of 256 bytes: it takes a page, acts on it, then takes
// the next one. Flash is read and written from 256-byte boundaries, erased in
// sectors of 4 KiB; a write of part of a page programs what is left in the
// buffer behind it, so Write sends whole pages. On the A2 silicon flash reads as
// zeros until EXIT_XIP was sent once (erratum RP2350-E10); Open sends it.
//
// A command is never left half done on purpose: a context that ends is heeded
// between commands. Timeouts grow with what a command has to do.
//
// The package must never decide what is written or where, and it has no way to
// write OTP. It knows USB as usb.Conn alone.
//
// Sources: RP2350 datasheet 5.6; raspberrypi/pico-sdk 2.2.0,
// boot/picoboot.h and boot/picoboot_constants.h; raspberrypi/pico-bootrom-rp2350
// (A2), src/nsboot/nsboot_usb_client.c and nsboot_async_task.c.
package picoboot
