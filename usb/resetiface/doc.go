// Package resetiface asks firmware that runs on a board to restart: into BOOTSEL
// mode, or from the beginning.
//
// Firmware of the pico-sdk offers two ways. The reset interface is a vendor
// interface (class ff, subclass 00, protocol 01) without endpoints that takes two
// control requests: 1 enters BOOTSEL mode, the value's low bits switch its
// interfaces off; 2 restarts from flash. The 1200-baud touch, an old custom of
// Arduino boards, is a serial port that is set to 1200 baud.
//
// Either way the board may leave the bus before it answers, so an answer that
// does not come is success here; whoever asks has to see it come back (package
// usb, Follow). The package must never choose the board or the port.
//
// Sources: raspberrypi/pico-sdk 2.2.0, src/common/pico_usb_reset_interface_headers
// and src/rp2_common/pico_stdio_usb/reset_interface.c.
package resetiface
