package main

import (
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/image/binaryinfo"
)

// needsRadio says in one line that a program is for a Pico 2 W, whose LED hangs
// on the radio chip, which is not simulated; "" if it is not. Such a program
// has the driver's functions, or the board's name in its binary info.
func needsRadio(p *program) string {
	const line = "this program is for a Pico 2 W: its LED and its radio hang on a CYW43 chip, which is not simulated"
	for _, name := range []string{"cyw43_arch_init", "cyw43_driver_init", "cyw43_init"} {
		if s, ok := p.symbols.Lookup(name); ok && s.Func {
			return line
		}
	}
	if builtFor(p.image) == "pico2_w" {
		return line
	}
	return ""
}

// builtFor is the name of the board a program was built for, "" if it says none.
func builtFor(img *image.Image) string {
	if len(img.Segments) == 0 {
		return ""
	}
	const words = 256 // where an RP2350 program has the header
	read := func(p []byte, addr uint32) bool { return img.ReadAt(p, addr) == len(p) }
	info := binaryinfo.Find(read, img.Segments[0].Addr, words)
	if info == nil {
		return ""
	}
	return info.Board
}
