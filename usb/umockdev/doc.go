// Package umockdev makes up a machine for tests with the library of that name:
// C programs and libraries (libudev, libusb) see its devices instead of the real
// ones, and hear of their plugging.
//
// The library is looked for when it is first used, so that building needs none
// of it. A process sees the made-up machine only if it was started with the
// library's preload part: Main starts a test binary anew with it. Go's own system
// calls go past it; they have to be pointed at Root.
//
// The package must never be imported by anything but tests.
package umockdev
