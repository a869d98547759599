package picobin

import (
	"errors"
	"testing"
)

func TestBuildAndParse(t *testing.T) {
	var b Builder
	b.Item(ItemImageType, 0).Raw() // an empty Raw changes nothing
	if _, err := (&Builder{}).Words(0); err == nil {
		t.Error("a block without items is built")
	}
	b = Builder{}
	b.Raw(0x11010142).Item(ItemEntryPoint, 0, 0x10000036, 0x20082000)
	w, err := b.Words(0x100)
	if err != nil {
		t.Fatal(err)
	}
	want := []uint32{MarkerStart, 0x11010142, 0x344, 0x10000036, 0x20082000, 0x4ff, 0x100, MarkerEnd}
	for i := range want {
		if w[i] != want[i] {
			t.Fatalf("%08x, want %08x", w, want)
		}
	}
	p, err := Parse(append(w, 1, 2, 3))
	if err != nil || len(p.Items) != 2 || p.Link != 0x100 || p.LastIndex() != 5 || p.Size() != 32 {
		t.Fatalf("%+v %v", p, err)
	}
	if e := p.Find(ItemEntryPoint); e == nil || e.Words[1] != 0x10000036 || e.Index != 2 {
		t.Errorf("%+v", e)
	}
	if p.Find(ItemSalt) != nil {
		t.Error("an item that is not there is found")
	}
}

func TestParseErrors(t *testing.T) {
	good := []uint32{MarkerStart, 0x11010142, 0x1ff, 0, MarkerEnd}
	for _, tt := range []struct {
		name  string
		words []uint32
		err   error
	}{
		{"empty", nil, ErrStart},
		{"no start", good[1:], ErrStart},
		{"cut", good[:4], ErrCut},
		{"no end", []uint32{MarkerStart, 0x11010142, 0x1ff, 0, 0}, ErrEnd},
		{"size", []uint32{MarkerStart, 0x11010142, 0x2ff, 0, MarkerEnd}, ErrSize},
		{"zero item", []uint32{MarkerStart, 0x11010042, 0x1ff, 0, MarkerEnd}, ErrZeroSize},
		{"item beyond", []uint32{MarkerStart, 0x0000ff42, 0x1ff, 0, MarkerEnd}, ErrCut},
	} {
		if _, err := Parse(tt.words); !errors.Is(err, tt.err) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.err)
		}
	}
	var b Builder
	b.Item(ItemIgnored, 0, make([]uint32, 170)...)
	if _, err := b.Words(0); err == nil {
		t.Error("a block that is too large is built")
	}
}

func TestItemWords(t *testing.T) {
	for h, want := range map[uint32]int{0x142: 1, 0x03000a0a: 10, 0x0001237e: 0x23, 0x000123fe: 0x123} {
		if got := ItemWords(h); got != want {
			t.Errorf("%08x: %d, want %d", h, got, want)
		}
	}
}

func TestImageType(t *testing.T) {
	for v, want := range map[ImageType][4]string{
		0x1021: {"executable", "secure", "ARM", "RP2350"},
		0x1101: {"executable", "unspecified", "RISC-V", "RP2350"},
		0x1011: {"executable", "non-secure", "ARM", "RP2350"},
		0x0002: {"data", "unspecified", "ARM", "RP2040"},
		0x7731: {"executable", "unknown", "unknown", "unknown"},
	} {
		if got := [4]string{v.KindText(), v.SecurityText(), v.CPUText(), v.ChipText()}; got != want {
			t.Errorf("%04x: %v", uint16(v), got)
		}
	}
	if v := ImageType(0x8821); !v.TBYB() || !v.ExtraSecurity() {
		t.Error("flags")
	}
}
