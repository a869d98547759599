// Package usbtest describes boards as sysfs shows them, for tests: as a folder
// that stands for a machine, or as a text for umockdev.
//
// What it writes has the form that Linux 6.12 shows (Documentation/ABI/stable/
// sysfs-bus-usb and testing/sysfs-bus-usb). Package umockdev has recordings of
// simulated boards in its testdata, which are read in the same way.
//
// The package must never be imported by anything but tests.
package usbtest
