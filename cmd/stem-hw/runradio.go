package main

import (
	"bytes"
	"strings"

	"github.com/stem-hw/stem-hw/image"
)

// needsRadio says in one line that a program is for a Pico 2 W, whose LED hangs
// on the radio chip, which is not simulated; "" if it is not. Such a program
// has the driver's functions, or the board's name in its binary info
// (pico_board, see pico/binary_info/structure.h of pico-sdk).
func needsRadio(p *program) string {
	const line = "this program is for a Pico 2 W: its LED and its radio hang on a CYW43 chip, which is not simulated"
	for _, name := range []string{"cyw43_arch_init", "cyw43_driver_init", "cyw43_init"} {
		if s, ok := p.symbols.Lookup(name); ok && s.Func {
			return line
		}
	}
	if board(p.image) == "pico2_w" {
		return line
	}
	return ""
}

// Marks around the header of binary info, and the tag of the board's name.
const (
	binaryInfoStart  = 0x7188ebf2
	binaryInfoEnd    = 0xe71aa390
	binaryInfoHeader = 512 // the header is in the first bytes of the program
	typeIDAndString  = 6
	tagRaspberryPi   = 'R' | 'P'<<8
	idPicoBoard      = 0xb63cffbb
)

// board is the name of the board a program was built for, "" if it says none.
func board(img *image.Image) string {
	word := func(addr uint32) (uint32, bool) {
		b := bytesAt(img, addr, 4)
		if len(b) < 4 {
			return 0, false
		}
		return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24, true
	}
	if len(img.Segments) == 0 {
		return ""
	}
	base := img.Segments[0].Addr
	for off := uint32(0); off < binaryInfoHeader; off += 4 {
		if v, _ := word(base + off); v != binaryInfoStart {
			continue
		}
		if v, _ := word(base + off + 16); v != binaryInfoEnd {
			continue
		}
		lo, _ := word(base + off + 4)
		hi, _ := word(base + off + 8)
		for p := lo; p < hi && p-lo < 4096; p += 4 {
			entry, ok := word(p)
			if !ok {
				break
			}
			head, _ := word(entry)
			id, _ := word(entry + 4)
			str, _ := word(entry + 8)
			if head == typeIDAndString|tagRaspberryPi<<16 && id == idPicoBoard {
				text, _, _ := bytes.Cut(bytesAt(img, str, 64), []byte{0})
				return strings.TrimSpace(string(text))
			}
		}
	}
	return ""
}

// bytesAt returns up to n bytes of the image at addr.
func bytesAt(img *image.Image, addr uint32, n int) []byte {
	for _, s := range img.Segments {
		if off := addr - s.Addr; addr >= s.Addr && uint64(off) < uint64(len(s.Data)) {
			return s.Data[off:min(uint64(len(s.Data)), uint64(off)+uint64(n))]
		}
	}
	return nil
}
