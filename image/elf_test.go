package image

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stem-hw/stem-hw/faults"
)

// TestELFOrder: order of segments, segments without length, and bytes that
// two segments share make no difference.
func TestELFOrder(t *testing.T) {
	at := uint32(elfHeaderSize + 4*elfPhdrSize)
	a := [6]uint32{1, at, 0x10000000, 0x10000000, 16, 16}
	b := [6]uint32{1, at + 16, 0x20000000, 0x10000010, 16, 0x100}
	empty := [6]uint32{1, at, 0x10004000, 0x10004000, 0, 0}
	note := [6]uint32{4, at, 0, 0, 8, 8}
	same := [6]uint32{1, at + 8, 0x10000008, 0x10000008, 16, 16}
	want := smallBlock()
	for name, ph := range map[string][][6]uint32{
		"in order": {a, b, empty, note}, "reversed": {note, empty, b, a}, "with an equal overlap": {same, a, b, note},
	} {
		im, err := Parse("x.elf", smallELF(EMachineRISCV, 0x10000000, ph...), Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := make([]byte, 32)
		if n := im.ReadAt(got, 0x10000000); n != 32 || !bytes.Equal(got, want) {
			t.Errorf("%s: % x", name, got)
		}
		if len(im.Zones) != 1 || im.Zones[0].Addr != 0x20000010 || im.Zones[0].Size != 0xf0 {
			t.Errorf("%s: zones %+v", name, im.Zones)
		}
	}
}

func TestELFEntry(t *testing.T) {
	at := uint32(elfHeaderSize + elfPhdrSize)
	for _, tt := range []struct {
		entry, phys uint32
		ok          bool
	}{{0x20000000, 0x10000100, true}, {0x2000001f, 0x1000011f, true}, {0x20000020, 0, false}, {0, 0, false}} {
		im, err := Parse("x.elf", smallELF(EMachineRISCV, tt.entry, [6]uint32{1, at, 0x20000000, 0x10000100, 32, 64}), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if p, ok := im.PhysicalEntry(); ok != tt.ok || p != tt.phys {
			t.Errorf("entry %08x: %08x %v", tt.entry, p, ok)
		}
	}
}

func TestELFErrors(t *testing.T) {
	good := smallELF(EMachineARM, 0x10000001, [6]uint32{1, 84, 0x10000000, 0x10000000, 32, 32})
	change := func(off int, b ...byte) []byte {
		e := append([]byte(nil), good...)
		copy(e[off:], b)
		return e
	}
	for _, tt := range []struct {
		name string
		data []byte
		code faults.Code
		want string
	}{
		{"header cut off", good[:40], faults.CodeBadImage, "cut off in its header"},
		{"x86-64", change(4, 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 62, 0), faults.CodeWrongMachine, "64-bit little-endian x86-64"},
		{"version", change(6, 2), faults.CodeBadImage, "ELF version"},
		{"object file", change(16, 1), faults.CodeBadImage, "not linked yet"},
		{"header size", change(40, 64), faults.CodeBadImage, "header size"},
		{"phentsize", change(42, 56), faults.CodeBadImage, "program header size"},
		{"no headers", change(44, 0), faults.CodeBadImage, "no program headers"},
		{"phoff", change(28, 0xff, 0xff, 0xff, 0xff), faults.CodeBadImage, "beyond the end of the file"},
		{"offset", change(52+4, 0xff, 0xff, 0xff, 0xff), faults.CodeBadImage, "cut off"},
		{"nothing to load", change(52, 4), faults.CodeBadImage, "nothing to load"},
		{"not an ELF file", []byte("hello"), faults.CodeBadImage, "this is not an ELF file: found a file that begins with 68 65 6c 6c 6f"},
		{"a library", []byte("!<arch>\nxyz"), faults.CodeBadImage, "a library (ar archive)"},
	} {
		_, err := Parse("x.elf", tt.data, Options{})
		if !faults.Is(err, tt.code) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

// TestDetect: contents decide, the name only tells a damaged file from a BIN.
func TestDetect(t *testing.T) {
	elf := smallELF(EMachineRISCV, 0x10000000, [6]uint32{1, 84, 0x10000000, 0x10000000, 32, 32})
	hex := []byte(record(4, 0, 0x10, 0x00) + record(0, 0, 1) + eof)
	for _, tt := range []struct {
		name string
		data []byte
		want Format // "" for an error
	}{
		{"a.bin", elf, FormatELF}, {"a.hex", elf, FormatELF}, {"a", hex, FormatHEX}, {"a.elf", hex, FormatHEX},
		{"a.uf2", smallUF2(0xe48bff5a, 0x10000000), FormatUF2}, {"a.txt", smallUF2(0xe48bff5a, 0x10000000), FormatUF2},
		{"a", []byte("abc"), FormatBIN}, {"a.img", []byte(":not hex"), FormatBIN},
		{"a.elf", []byte("abc"), ""}, {"a.uf2", []byte("abc"), ""}, {"a.hex", []byte("abc"), ""}, {"a.bin", nil, ""},
	} {
		im, err := Parse(tt.name, tt.data, Options{})
		switch {
		case tt.want == "" && !faults.Is(err, faults.CodeBadImage):
			t.Errorf("%s: %v", tt.name, err)
		case tt.want != "" && (err != nil || im.Format != tt.want):
			t.Errorf("%s: %v %v", tt.name, im, err)
		}
	}
}

func TestUF2Duplicates(t *testing.T) {
	one := smallUF2(0xe48bff5a, 0x10000000, 0x10000100)
	// The same blocks again, and in reversed order.
	if _, err := Parse("x.uf2", append(append([]byte(nil), one...), one...), Options{}); err != nil {
		t.Errorf("equal duplicates: %v", err)
	}
	if _, err := Parse("x.uf2", append(append([]byte(nil), one[512:]...), one[:512]...), Options{}); err != nil {
		t.Errorf("reversed: %v", err)
	}
	bad := append(append([]byte(nil), one...), one[:512]...)
	bad[1024+40] ^= 1
	if _, err := Parse("x.uf2", bad, Options{}); !faults.Is(err, faults.CodeBadImage) || !strings.Contains(err.Error(), "blocks 0 and 2 are both number 0") {
		t.Errorf("different duplicates: %v", err)
	}
	other := append(append([]byte(nil), one...), smallUF2(0xe48bff5a, 0x10001000)...)
	if _, err := Parse("x.uf2", other, Options{}); err == nil || !strings.Contains(err.Error(), "several transfers for one family") {
		t.Errorf("two counts: %v", err)
	}
}
