/* A USB serial port (CDC ACM) on the RP2350's USB controller, as small as it can
 * be: no interrupts are taken, the program calls usb_poll. It runs on either
 * architecture; what differs between them, the program gives (usb_restart). */
#ifndef USBCDC_H
#define USBCDC_H

#include <stdbool.h>
#include <stdint.h>

enum { USB_PACKET = 64, USB_IRQ = 14 };

/* Connects to the bus. The serial number is the chip's, in hexadecimal. */
void usb_start(uint64_t chip_id);
/* Does what the controller asks for. */
void usb_poll(void);
/* Whether the controller asks for something: its interrupt is pending. */
bool usb_pending(void);
/* Whether a program on the host has the port open (DTR). */
bool usb_open(void);
/* Takes a packet from the host: its length, or -1 if there is none. */
int usb_receive(uint8_t data[USB_PACKET]);
/* Gives the host a packet; false if two wait there already. */
bool usb_send(const uint8_t *data, unsigned n);

/* The program's: restart, into the boot ROM's BOOTSEL mode (with flags for what
 * it leaves out) or from the beginning. The host asks for it by 1200 baud or by
 * the reset interface. */
void usb_restart(bool bootsel, uint32_t flags);

#endif
