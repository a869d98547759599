// Package light shows a person which board is meant: it lets the light of a Pico
// 2 in BOOTSEL mode blink.
//
// The boot ROM can light a pin while it is busy, but the RP2350 A2 restarts on
// the wrong cores when it is asked to, so a small program is put into RAM, which
// blinks GPIO 25 four times and goes back into BOOTSEL mode. Whatever hangs at
// that pin of another board is not to be touched: the program in flash has to
// say by its binary info that the board is a plain Pico 2.
//
// light.bin is built from light.S by build.sh. The package must never write to
// flash.
package light
