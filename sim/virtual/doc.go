// Package virtual is the USB face of a simulated board: the devices a host sees
// on its cable, and a USB/IP server that offers them to a real USB stack.
//
// A Device is what answers at one address. The host hands it URBs (USB request
// blocks: one transfer of one endpoint) and hears when they are complete. A
// Gadget is a Device made of descriptors and a Function: it answers the standard
// requests, keeps halts, cuts transfers into packets of the endpoint's size and
// puts them together again. The Functions are BOOTSEL mode (PICOBOOT and the
// drive) and the Debug Probe. Firmware is a Device too: it makes the transactions
// of the chip's own USB controller, so that the program enumerates as itself. A
// Port is the socket they are plugged into, Board the one who plugs them as the
// chip goes from boot ROM to program and back.
//
// USB/IP, as far as it is spoken here: a client connects, asks for the list
// (OP_REQ_DEVLIST) or for one device by its bus id (OP_REQ_IMPORT). After an
// import the connection carries CMD_SUBMIT and CMD_UNLINK with a 48-byte header,
// big-endian, and their answers, in the order in which the device completes
// them. Losing the connection is pulling the plug.
//
// Nothing here but the server is safe for concurrent use, as the chip is not: the
// server wraps each access in a Do function that stops the chip. What USB and
// flash cost on hardware is counted in simulated time (Clock); the chip's clock
// does not wait for it. The package must never print, or decide what boots or
// where a UF2 block goes: image/boot does.
//
// Sources: USB 2.0 chapters 8 and 9; Linux, Documentation/usb/usbip_protocol.rst;
// USB Mass Storage Class, Bulk-Only Transport 1.0; raspberrypi/pico-bootrom-rp2350
// (A2), src/nsboot; raspberrypi/pico-sdk 2.2.0, boot/picoboot.h;
// raspberrypi/debugprobe v2.3.1, src/usb_descriptors.c.
package virtual
