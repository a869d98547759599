package board

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/image"
)

func TestContents(t *testing.T) {
	p := testPlace(t, "x")
	c := p.NewContents()
	c.Flash[0], c.Flash[len(c.Flash)-1] = 1, 2
	c.OTP[0x40] = 5
	c.Arch = image.ArchARM
	c.Program = &Program{Path: "/a b.elf", SHA256: "00", Format: image.FormatELF}
	if err := p.Save(c); err != nil {
		t.Fatal(err)
	}
	got, err := p.Load()
	if err != nil || !got.Equal(c) {
		t.Fatalf("%v", err)
	}
	st, err := os.Stat(p.file("board"))
	if err != nil || st.Mode().Perm() != 0o600 || st.Size() > 16<<10 {
		t.Errorf("%v, %v", st, err)
	}
	// Every damage is found.
	data := c.Encode()
	for i := 0; i < len(data); i += 97 {
		bad := append([]byte(nil), data...)
		bad[i] ^= 4
		if _, err := Decode(bad); err == nil {
			t.Fatalf("a flipped bit at %d is not found", i)
		}
		if _, err := Decode(data[:i]); err == nil {
			t.Fatalf("a file cut at %d is accepted", i)
		}
	}
	if err := os.WriteFile(p.file("board"), data[:100], 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = p.Load()
	if f := faults.Of(err); f == nil || f.Code != faults.CodeBadState || len(f.Try) == 0 {
		t.Errorf("%v", err)
	}
	chip := p.NewChip(c)
	if chip.Arch() != image.ArchARM || chip.Flash().Bytes()[0] != 1 || chip.OTP().Raw(0x40) != 5 {
		t.Error("the chip is not what the file says")
	}
	d := &Contents{Program: c.Program}
	d.Take(chip)
	if !d.Equal(c) || c.differs(chip) {
		t.Error("the chip was not taken as it is")
	}
}

func TestPlaces(t *testing.T) {
	for _, bad := range []string{"", "..", "a/b", "1", "ü"} {
		if _, err := NewPlace("/s", "/r", bad); faults.StatusOf(err) != faults.StatusUsage {
			t.Errorf("%q: %v", bad, err)
		}
	}
	a, _ := NewPlace("/s", "/r", "a")
	b, _ := NewPlace("/t", "/r", "a")
	if a.Socket == b.Socket || a.Serial() == testPlace(t, "b").Serial() || a.Serial() != b.Serial() {
		t.Error("places are mixed up")
	}
	dir := t.TempDir()
	for _, d := range []string{"sim/b", "sim/a", "sim/.x", "sim/1"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if n := Names(dir); len(n) != 2 || n[0] != "a" || n[1] != "b" {
		t.Errorf("%v", n)
	}
}

func FuzzDecode(f *testing.F) {
	p := Place{Name: "x"}
	c := p.NewContents()
	f.Add(c.Encode())
	c.Flash[5] = 1
	f.Add(c.Encode())
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Decode(data)
		if err != nil {
			return
		}
		again, err := Decode(c.Encode())
		if err != nil || !again.Equal(c) {
			t.Fatalf("not the same after a round trip: %v", err)
		}
	})
}

func FuzzFrame(f *testing.F) {
	f.Add([]byte("J\x00\x00\x00\x02{}"))
	f.Add([]byte("D\x00\x00\x00\x03abcJ\x00\x00\x00\x00"))
	f.Add([]byte("D\xff\xff\xff\xff"))
	f.Add([]byte("X"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := bytes.NewReader(data)
		for {
			at := len(data) - r.Len()
			fr, err := readFrame(r)
			if err != nil {
				if errors.Is(err, io.EOF) && at != len(data) {
					t.Fatal("an end in the middle of a frame")
				}
				return
			}
			if len(fr.body)+5 != len(data)-r.Len()-at {
				t.Fatal("a frame of another length")
			}
		}
	})
}
