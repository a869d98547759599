// Package board says what a board is and which one a person means.
//
// A board's identity is its serial number, the USB port it is plugged into and
// its role; a bus address or the number of a tty is never part of it. A person
// names a board by a selector:
//
//	desk                 a nickname
//	e660                 the beginning of a serial number, in any case
//	usb:3-1.2            a USB port path
//	2e8a:000c:E660B440…  vendor, product and the whole serial number
//	sim, sim:NAME        a simulated board
//	native               a program of the host
//
// Match finds the board among those there are. It never guesses: nothing and
// several are faults, and the second one lists all that match.
//
// The package is pure: it must never look for boards, read files or talk to
// devices. Package board/state keeps pins and nicknames.
package board
