package light

import (
	_ "embed" // the program
	"slices"

	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/image/binaryinfo"
)

// Board is what the pico-sdk calls a plain Pico 2 (PICO_BOARD); the Pico 2 W has
// its light behind the radio.
const Board = "pico2"

// Pin is its light.
const Pin = 25

// base is where the program is linked to.
const base = 0x20000000

//go:embed light.bin
var program []byte

// Image is the program.
func Image() *image.Image {
	return &image.Image{Arch: image.ArchARM, Segments: []image.Segment{{Addr: base, Data: slices.Clone(program)}}}
}

// Why says why the light of a board must be left alone; "" if it may blink. info
// is what the program in its flash says about itself, nil without one.
func Why(info *binaryinfo.Info) string {
	switch {
	case info == nil:
		return "nothing in its flash says what board it is"
	case info.Board == "":
		return "the program in its flash does not say what board it is"
	case info.Board != Board:
		return "its program is for the board " + info.Board + ", whose light is somewhere else"
	}
	return ""
}
