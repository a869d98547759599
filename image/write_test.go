package image

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/uf2"
)

// TestRoundTrip converts every readable case through each format and back.
func TestRoundTrip(t *testing.T) {
	files, _ := filepath.Glob("testdata/cases/*")
	n := 0
	for _, f := range files {
		im, err := Open(f)
		if err != nil {
			continue
		}
		if _, err := im.Place(&RP2350); err != nil {
			continue
		}
		n++
		check := func(format string, got *Image, err error) {
			t.Helper()
			if err != nil {
				t.Errorf("%s through %s: %v", f, format, err)
				return
			}
			for _, s := range im.Segments {
				b := make([]byte, len(s.Data))
				if got.ReadAt(b, s.Addr) != len(b) || !bytes.Equal(b, s.Data) {
					t.Errorf("%s through %s: contents at 0x%08x differ", f, format, s.Addr)
				}
			}
		}
		lo, _ := im.Bounds()
		fam := uint32(uf2.FamilyRP2350ArmS)
		if im.Arch == ArchRISCV {
			fam = uf2.FamilyRP2350RISCV
		}
		var b bytes.Buffer
		if _, err := im.WriteUF2(&b, WriteOptions{Family: fam}); err != nil {
			t.Errorf("%s: %v", f, err)
		}
		got, err := Parse("x.uf2", b.Bytes(), Options{})
		check("UF2", got, err)

		b.Reset()
		if err := im.WriteHEX(&b); err != nil {
			t.Errorf("%s: %v", f, err)
		}
		got, err = Parse("x.hex", append([]byte(nil), b.Bytes()...), Options{})
		check("HEX", got, err)

		if im.Arch != ArchUnknown {
			b.Reset()
			if err := im.WriteELF(&b); err != nil {
				t.Errorf("%s: %v", f, err)
			}
			got, err = Parse("x.elf", append([]byte(nil), b.Bytes()...), Options{})
			check("ELF", got, err)
			if err == nil && got.Arch != im.Arch {
				t.Errorf("%s: ELF for %q, want %q", f, got.Arch, im.Arch)
			}
		}
		if _, end := im.Bounds(); end-uint64(lo) <= 32<<20 {
			b.Reset()
			if _, err := im.WriteBIN(&b, WriteOptions{}); err != nil {
				t.Errorf("%s: %v", f, err)
			}
			got, err = Parse("x", append([]byte(nil), b.Bytes()...), Options{Base: lo, HasBase: true, Format: FormatBIN})
			check("BIN", got, err)
		}
	}
	if n < 25 {
		t.Errorf("only %d cases could be converted", n)
	}
}

// TestSectorsAreWhole: a flash image fills the sectors it touches, up to its
// last page; a RAM image does not.
func TestSectorsAreWhole(t *testing.T) {
	im := &Image{Format: FormatBIN, Segments: []Segment{
		{Addr: 0x10000810, Data: make([]byte, 16)},
		{Addr: 0x10002004, Data: make([]byte, 300)},
	}}
	count := func(im *Image) (n int, first, last uint32) {
		var b bytes.Buffer
		if _, err := im.WriteUF2(&b, WriteOptions{Family: uf2.FamilyRP2350ArmS}); err != nil {
			t.Fatal(err)
		}
		r := uf2.NewReader(&b)
		for {
			s, err := r.Next()
			if errors.Is(err, io.EOF) {
				return
			}
			if n == 0 {
				first = s.Block.Addr
			}
			last = s.Block.Addr
			n++
		}
	}
	if n, first, last := count(im); n != 16+2 || first != 0x10000000 || last != 0x10002100 {
		t.Errorf("flash: %d pages, %08x to %08x", n, first, last)
	}
	for i := range im.Segments {
		im.Segments[i].Addr += 0x10000000
	}
	if n, first, last := count(im); n != 3 || first != 0x20000800 || last != 0x20002100 {
		t.Errorf("RAM: %d pages, %08x to %08x", n, first, last)
	}
}

func TestAbsBlockOnlyWhereItHelps(t *testing.T) {
	flash := &Image{Format: FormatBIN, Segments: []Segment{{Addr: 0x10000000, Data: make([]byte, 16)}}}
	ram := &Image{Format: FormatBIN, Segments: []Segment{{Addr: 0x20000000, Data: make([]byte, 16)}}}
	var b bytes.Buffer
	if _, err := flash.WriteUF2(&b, WriteOptions{Family: uf2.FamilyRP2350ArmS, AbsBlock: true}); err != nil {
		t.Error(err)
	}
	s, _ := uf2.NewReader(&b).Next()
	if !s.Block.IsErratumBlock() || s.Block.Flags != 0xa000 || s.Block.Total != 2 || s.Block.Addr != 0x10ffff00 {
		t.Errorf("%+v", s.Block)
	}
	for _, c := range []struct {
		im  *Image
		fam uint32
	}{{ram, uf2.FamilyRP2350ArmS}, {flash, uf2.FamilyAbsolute}, {flash, uf2.FamilyRP2040}} {
		if _, err := c.im.WriteUF2(io.Discard, WriteOptions{Family: c.fam, AbsBlock: true}); !faults.Is(err, faults.CodeUsage) {
			t.Errorf("%s: %v", uf2.FamilyName(c.fam), err)
		}
	}
}

// TestOlderFileSurvives: a failed write leaves the old file and nothing else.
func TestOlderFileSurvives(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out.uf2")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := WriteFile(path, func(w io.Writer) error {
		_, _ = w.Write([]byte("half"))
		return errors.New("no more")
	})
	if !faults.Is(err, faults.CodeFileAccess) {
		t.Error(err)
	}
	if b, _ := os.ReadFile(path); string(b) != "old" {
		t.Errorf("%q", b)
	}
	if d, _ := os.ReadDir(dir); len(d) != 1 {
		t.Errorf("%d files left", len(d))
	}
	if err := WriteFile(path, func(w io.Writer) error { _, err := w.Write([]byte("new")); return err }); err != nil {
		t.Error(err)
	}
	st, _ := os.Stat(path)
	if b, _ := os.ReadFile(path); string(b) != "new" || st.Mode().Perm() != 0o600 {
		t.Errorf("%q %v", b, st.Mode())
	}
}
