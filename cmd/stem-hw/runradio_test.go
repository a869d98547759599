package main

import (
	"encoding/binary"
	"testing"

	"github.com/stem-hw/stem-hw/image"
)

// binaryInfo makes a program with the name of a board in its binary info
// (pico/binary_info/defs.h and structure.h of pico-sdk).
func binaryInfo(board string) *image.Image {
	p := make([]byte, 0x400)
	put := func(off int, words ...uint32) {
		for i, w := range words {
			binary.LittleEndian.PutUint32(p[off+4*i:], w)
		}
	}
	const (
		base        = 0x10000000
		idAndString = 6 | 'R'<<16 | 'P'<<24
	)
	// Header at 0x40: marks, the list of entries at 0x200.
	put(0x40, 0x7188ebf2, base+0x200, base+0x208, 0, 0xe71aa390)
	put(0x200, base+0x220, base+0x240)
	put(0x220, idAndString, 0x02031c86, base+0x300) // program name
	put(0x240, idAndString, 0xb63cffbb, base+0x320) // board
	copy(p[0x300:], "blink\x00")
	copy(p[0x320:], board+"\x00")
	return &image.Image{Segments: []image.Segment{{Addr: base, Data: p}}}
}

func TestNeedsRadio(t *testing.T) {
	for _, c := range []struct {
		img  *image.Image
		want bool
	}{
		{binaryInfo("pico2_w"), true},
		{binaryInfo("pico2"), false},
		{binaryInfo(""), false},
		{&image.Image{}, false},
		{&image.Image{Segments: []image.Segment{{Addr: 0x10000000, Data: []byte{1, 2, 3}}}}, false},
	} {
		if got := needsRadio(&program{image: c.img}) != ""; got != c.want {
			t.Errorf("%q: %v, want %v", builtFor(c.img), got, c.want)
		}
	}
}
