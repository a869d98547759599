// Package vhci plugs simulated USB devices into the kernel of this machine: the
// virtual host controller of Linux (module vhci-hcd), through its files in sysfs.
//
// The controller has ports. A free one is given a connected socket, on whose
// other end somebody answers USB/IP's CMD_SUBMIT and CMD_UNLINK: writing
// "PORT FD DEVID SPEED" to the file attach hands it over. The kernel wants a
// stream socket and no more, so one half of a socket pair does, without the
// network and without usbip's tools. Closing the socket pulls the plug.
//
// The file status lists the ports, those of further controllers status.1 and so
// on: hub (hs, ss), number, state (4 is free), speed, device, socket, bus id. A
// full-speed device wants a port of hs. Port n of a controller is the device
// BUS-(n+1), wherefrom udev makes its path: a chosen port is a chosen name.
//
// All of it needs root. The package must never load modules or print.
//
// Source: Linux 6.12, drivers/usb/usbip/vhci_sysfs.c and
// tools/usb/usbip/libsrc/vhci_driver.c.
package vhci
