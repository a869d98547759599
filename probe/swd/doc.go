// Package swd is a debug port reached over SWD: waking it, powering it up,
// accesses to its registers and to its access ports, and what to do when one of
// them fails.
//
// The port in half a page. After power-up an RP2350's port is dormant: it hears
// nothing but a selection alert of 128 bits and an activation code. Then a line
// reset, fifty ones, and a read of DPIDR open it. CTRL/STAT requests power for
// the debug domain, and SELECT chooses sixteen bytes of a space of 2^20 in which
// the access ports have their registers (ADIv6); four of them at a time are seen
// through the AP accesses of SWD. A refused access sets a sticky error, after
// which every access of an AP is answered with FAULT until ABORT clears it. An
// access that takes its time is answered with WAIT, spoilt data shows in the
// parity.
//
// What may go away by itself (parity, WAIT, silence) is tried again by Retry,
// with the line woken again where it fell silent, and with a slower clock where
// that does not help. The package must never decide what a chip is.
//
// Sources: Arm IHI 0031 (SWD), Arm IHI 0074 (ADIv6); RP2350 datasheet 3.5.
package swd
