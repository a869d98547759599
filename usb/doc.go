// Package usb finds boards and probes on the USB and opens one interface of one
// of them.
//
// Finding never opens a device. What there is comes from sysfs, through an
// fs.FS, and plugging and unplugging from udev's netlink messages, so a board
// that may not be opened is listed all the same, with what stands in the way. A
// device is followed by its port path ("3-1.2": bus and ports from the root
// hub), because a board that restarts is another device to the kernel: it has a
// new number, other interfaces and maybe another serial number.
//
// Open claims one interface and leaves the others to their kernel drivers (the
// BOOTSEL drive stays mounted, the probe's serial port stays open). PICOBOOT and
// CMSIS-DAP speak over a Conn in packages of their own below this one.
//
// This package and those below it are the only ones with cgo. Built without
// cgo, everything that needs the USB returns one fault that says so.
//
// The package must never write to a device by itself, decide which board a
// person means (package board), or know a verb.
package usb
