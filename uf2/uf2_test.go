package uf2

import (
	"bytes"
	"crypto/md5"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func open(t *testing.T, name string) *Reader {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "image", "testdata", "cases", name))
	if err != nil {
		t.Fatal(err)
	}
	return NewReader(bytes.NewReader(b))
}

// TestReasons: each block that a board ignores is named with the reason.
func TestReasons(t *testing.T) {
	for _, tt := range []struct {
		file   string
		reason Reason
		blocks string // of those ignored
	}{
		{"u08_truncated_mid_block.uf2", ReasonShort, "11"},
		{"u13_no_family_flag.uf2", ReasonNoFamily, "0 1 2 3 4 5 6 7 8 9 10 11"},
		{"u14_not_main_flash.uf2", ReasonNotMainFlash, "0 1 2 3 4 5 6 7 8 9 10 11"},
		{"u18_bad_end_magic.uf2", ReasonEndMagic, "3"},
		{"u24_with_sha_ext_tags.uf2", ReasonNone, ""},
		{"u25_md5_flag.uf2", ReasonNone, ""},
		{"u30_leading_garbage.uf2", ReasonNotUF2, "0"},
	} {
		r := open(t, tt.file)
		var got []string
		for {
			s, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if s.Reason != ReasonNone {
				got = append(got, itoa(s.Index))
				if s.Reason != tt.reason {
					t.Errorf("%s: block %d: %q, want %q", tt.file, s.Index, s.Reason, tt.reason)
				}
			}
			if s.Offset != int64(s.Index)*BlockSize {
				t.Errorf("%s: block %d at %d", tt.file, s.Index, s.Offset)
			}
		}
		if s := strings.Join(got, " "); s != tt.blocks {
			t.Errorf("%s: ignored %s, want %s", tt.file, s, tt.blocks)
		}
	}
}

func itoa(n int) string {
	if n >= 10 {
		return string(rune('0'+n/10)) + string(rune('0'+n%10))
	}
	return string(rune('0' + n))
}

func TestErratumBlock(t *testing.T) {
	for _, f := range []string{"u09_abs_block_first.uf2", "u10_abs_block_no_ext.uf2"} {
		s, err := open(t, f).Next()
		if err != nil || !s.Block.IsErratumBlock() {
			t.Errorf("%s: not recognised", f)
		}
	}
	// The one written equals the one that tools write.
	s, _ := open(t, "u09_abs_block_first.uf2").Next()
	want := s.Block
	if got := ErratumBlock(ErratumBlockAddr); got != want {
		t.Errorf("got  %x\nwant %x", got.Data[:300], want.Data[:300])
	}
	// A real absolute file of two blocks is not mistaken for it.
	b := Block{Flags: FlagFamily, Size: 256, Total: 2, Family: FamilyAbsolute}
	if b.IsErratumBlock() {
		t.Error("an ordinary block is taken for the erratum block")
	}
}

func TestTags(t *testing.T) {
	b := Block{Flags: FlagFamily, Size: 256}
	tags := []Tag{{TagVersion, []byte("1.2.3")}, {TagPageSize, []byte{0, 16}}, {TagIgnoreBlock, nil}}
	if !b.SetTags(tags...) {
		t.Fatal("no room")
	}
	got := b.Tags()
	if len(got) != 3 || string(got[0].Data) != "1.2.3" || got[2].Type != TagIgnoreBlock || !b.HasIgnoreTag() {
		t.Errorf("%+v", got)
	}
	if s := got[1].Text(); s != "page size 4096" {
		t.Error(s)
	}
	if b.Flags&FlagTags == 0 || binary.LittleEndian.Uint32(b.Data[256+12+8:]) != 0x9957e304 {
		t.Errorf("% x", b.Data[256:290])
	}
	if b.SetTags(Tag{1, make([]byte, 251)}) {
		t.Error("a tag that does not fit is taken")
	}
	// Damaged tags end the list.
	for _, w := range []uint32{0x00000003, 0x000000ff, 0xffffffff} {
		d := Block{Flags: FlagTags, Size: 472}
		binary.LittleEndian.PutUint32(d.Data[472:], w)
		if n := len(d.Tags()); n != 0 {
			t.Errorf("%08x: %d tags", w, n)
		}
	}
	s, _ := open(t, "u24_with_sha_ext_tags.uf2").Next()
	if len(s.Block.Tags()) == 0 {
		t.Error("no tags in the shared case")
	}
}

func TestMD5(t *testing.T) {
	var b Block
	if _, ok := b.MD5(); ok {
		t.Error("a field without the flag")
	}
	b.Flags |= FlagMD5
	sum := md5.Sum([]byte("x"))
	binary.LittleEndian.PutUint32(b.Data[DataSize-24:], 0x10000000)
	binary.LittleEndian.PutUint32(b.Data[DataSize-20:], 4096)
	copy(b.Data[DataSize-16:], sum[:])
	f, ok := b.MD5()
	if !ok || f.Start != 0x10000000 || f.Size != 4096 || f.Digest != sum {
		t.Errorf("%+v", f)
	}
}

func TestWriter(t *testing.T) {
	var out bytes.Buffer
	w := NewWriter(&out, FamilyRP2350RISCV, 2)
	page := bytes.Repeat([]byte{7}, PayloadSize)
	for i := range uint32(2) {
		if err := w.WritePage(0x10000000+i*256, page); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.WritePage(0, page); !errors.Is(err, ErrCount) {
		t.Error("one page too many is taken")
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	r := NewReader(&out)
	for i := range uint32(2) {
		s, err := r.Next()
		if err != nil || s.Block.Number != i || s.Block.Total != 2 || s.Block.Family != FamilyRP2350RISCV || s.Block.Addr != 0x10000000+i*256 || s.Reason != ReasonNone {
			t.Errorf("%+v %v", s, err)
		}
	}
	short := NewWriter(io.Discard, 0, 2)
	if err := short.Flush(); !errors.Is(err, ErrCount) {
		t.Error("missing pages are not noticed")
	}
	if err := short.WritePage(0, page[:100]); err == nil {
		t.Error("a short page is taken")
	}
}

func TestFamilies(t *testing.T) {
	for _, f := range Families() {
		if id, ok := ParseFamily(f.Name); !ok || id != f.ID {
			t.Errorf("%s: %x", f.Name, id)
		}
		if FamilyName(f.ID) != f.Name || FamilyText(f.ID) == "" {
			t.Errorf("%x: %s", f.ID, FamilyName(f.ID))
		}
	}
	for s, want := range map[string]uint32{"RP2350_ARM_S": FamilyRP2350ArmS, "0xe48bff58": FamilyData, "3834380121": 0xe48bff59} {
		if id, ok := ParseFamily(s); !ok || id != want {
			t.Errorf("%s: %x", s, id)
		}
	}
	for _, s := range []string{"", "rp2", "0x1ffffffff", "-1"} {
		if _, ok := ParseFamily(s); ok {
			t.Errorf("%q is taken", s)
		}
	}
	if FamilyName(0xada52840) != "NRF52840" || FamilyName(1) != "0x00000001" {
		t.Error("names of other families")
	}
}
