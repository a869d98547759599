package bootsel

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/image/boot"
	"github.com/stem-hw/stem-hw/uf2"
)

// def is an image definition, RISC-V, with the way to the next block.
func def(link int32) []byte {
	b := []byte{0xd3, 0xde, 0xff, 0xff, 0x42, 0x01, 0x01, 0x11, 0xff, 0x01, 0, 0, 0, 0, 0, 0, 0x79, 0x35, 0x12, 0xab}
	binary.LittleEndian.PutUint32(b[12:], uint32(link))
	return b
}

func chained(t *testing.T, n int, fill byte, at ...int) *image.Image {
	t.Helper()
	data := bytes.Repeat([]byte{fill}, n)
	for i, off := range at {
		copy(data[off:], def(int32(at[(i+1)%len(at)]-off)))
	}
	im, err := image.Parse("p.bin", data, image.Options{Format: image.FormatBIN})
	if err != nil || im.Definition() == nil {
		t.Fatal(err)
	}
	return im
}

// TestDrivePowerCut plays the boot ROM's part of the drive and loses power after
// every block: what is in flash starts as the old program, the new one, or not at
// all.
func TestDrivePowerCut(t *testing.T) {
	for _, c := range []struct {
		name      string
		old, next []int
	}{
		{"plain", []int{0x150}, []int{0x150}},
		{"other page", []int{0x150}, []int{0xe50}},
		{"becomes sealed", []int{0x150}, []int{0x150, 0x2c00}},
		{"was sealed", []int{0x150, 0x2c00}, []int{0x150}},
		{"second sector", []int{0x150}, []int{0x150, 0x1200}},
	} {
		t.Run(c.name, func(t *testing.T) {
			old, next := chained(t, 12000, 0x11, c.old...), chained(t, 13000, 0x22, c.next...)
			b, err := blocksOf(next)
			if err != nil {
				t.Fatal(err)
			}
			all := slices.Concat(b.pieces...)
			if len(all) != b.count*uf2.BlockSize || b.count != 51 {
				t.Fatalf("%d bytes, %d blocks", len(all), b.count)
			}
			for cut := 0; cut <= b.count; cut++ {
				mem := bytes.Repeat([]byte{0xff}, 64<<10)
				copy(mem, old.Segments[0].Data)
				o := boot.Options{Chip: boot.A2, CPU: boot.RISCV}
				rom := boot.NewDrive(boot.Flash{Data: mem}, o, boot.ResidentTable(boot.Flash{Data: mem}, o))
				rom.ExitXIP()
				for sector := range slices.Chunk(all[:cut*uf2.BlockSize], uf2.BlockSize) {
					w := rom.Sector(sector)
					if !w.Taken {
						t.Fatalf("refused: %+v", w)
					}
					at := int(w.Addr) - boot.FlashBase
					if w.HasErase {
						copy(mem[int(w.Erase)-boot.FlashBase:][:4096], bytes.Repeat([]byte{0xff}, 4096))
					}
					copy(mem[at:], sector[32:32+256])
				}
				boots := boot.FindImage(boot.Flash{Data: mem}, o).Outcome == boot.OutcomeBoot
				isOld := bytes.HasPrefix(mem, old.Segments[0].Data)
				isNew := bytes.HasPrefix(mem, next.Segments[0].Data)
				if boots && !isOld && !isNew {
					t.Fatalf("after %d blocks a mixture starts", cut)
				}
				if cut == b.count && (!boots || !isNew) {
					t.Fatal("not written whole")
				}
			}
		})
	}
}

func TestBlocksOfOthers(t *testing.T) {
	// Data, a program of one page, and one for RAM keep their order.
	for _, n := range []int{100, 5000} {
		im, err := image.Parse("d.bin", bytes.Repeat([]byte{7}, n), image.Options{Format: image.FormatBIN})
		if err != nil {
			t.Fatal(err)
		}
		b, err := blocksOf(im)
		if err != nil || len(b.pieces) != 1 || len(b.pieces[0]) != b.count*uf2.BlockSize {
			t.Errorf("%d: %d pieces, %v", n, len(b.pieces), err)
		}
	}
	one := chained(t, 200, 1, 0x20)
	b, err := blocksOf(one)
	if err != nil || b.count != 1 || len(slices.Concat(b.pieces...)) != uf2.BlockSize {
		t.Errorf("%+v %v", b, err)
	}
}

// disk is a partition as the RP2350's ROM shows it, with its INFO_UF2.TXT.
func disk(info string) []byte {
	b := make([]byte, (1+2*129+32+16)*512)
	le := binary.LittleEndian
	le.PutUint16(b[11:], 512)
	b[13], b[14], b[16] = 8, 1, 2
	le.PutUint16(b[17:], 512)
	le.PutUint16(b[22:], 129)
	le.PutUint32(b[32:], 262143)
	b[510], b[511] = 0x55, 0xaa
	root := b[(1+2*129)*512:]
	copy(root, "RP2350     \x28")
	copy(root[32:], "INDEX   HTM\x21")
	copy(root[64:], infoFile+"\x21")
	le.PutUint16(root[64+26:], 3)
	le.PutUint32(root[64+28:], uint32(len(info)))
	copy(root[32*512+8*512:], info)
	return b
}

func TestVolume(t *testing.T) {
	r := bytes.NewReader(disk("UF2 Bootloader v1.0\nModel: Raspberry Pi RP2350\nBoard-ID: RP2350\n"))
	v, err := readVolume(r)
	if err != nil || v.data != (1+2*129+32)*512 || v.free() <= v.data {
		t.Fatalf("%+v, %v", v, err)
	}
	text, err := v.file(r, infoFile)
	if err != nil || checkInfo(text) != nil {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := v.file(r, "NOTHERE TXT"); err == nil || !strings.Contains(err.Error(), "NOTHERE.TXT") {
		t.Error(err)
	}
	if checkInfo("Welcome to my camera\n") == nil {
		t.Error("another drive")
	}
	bad := disk("")
	bad[510] = 0
	if _, err := readVolume(bytes.NewReader(bad)); err == nil {
		t.Error("no boot sector")
	}
}

func TestMounted(t *testing.T) {
	dir := t.TempDir()
	if _, err := openMounted(dir); err == nil {
		t.Error("no INFO_UF2.TXT")
	}
	if err := os.WriteFile(filepath.Join(dir, "INFO_UF2.TXT"), []byte("UF2 Bootloader v1.0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w, err := openMounted(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{"one", "two"} {
		if err := w.Put([]byte(s)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(filepath.Join(dir, fileName)); err != nil || string(b) != "onetwo" {
		t.Errorf("%q %v", b, err)
	}
}

func FuzzVolume(f *testing.F) {
	f.Add(disk("UF2 Bootloader")[:1024])
	f.Fuzz(func(_ *testing.T, p []byte) {
		r := bytes.NewReader(append(p, make([]byte, 8192)...))
		v, err := readVolume(r)
		if err != nil {
			return
		}
		_, _ = v.file(r, infoFile)
		_, _ = v.file(io.NewSectionReader(r, 0, 1), infoFile)
	})
}

// TestRaw: blocks go behind the files of a disk that nobody mounted.
func TestRaw(t *testing.T) {
	img := append(disk("UF2 Bootloader v1.0\n"), make([]byte, 4<<20)...)
	path := filepath.Join(t.TempDir(), "sdx1")
	if err := os.WriteFile(path, img, 0o600); err != nil {
		t.Fatal(err)
	}
	w, err := openRaw(path)
	if errors.Is(err, unix.EINVAL) {
		t.Skip("this file system knows no direct writes")
	}
	if err != nil {
		t.Fatal(err)
	}
	first, second := bytes.Repeat([]byte{1}, 512), bytes.Repeat([]byte{2}, 200<<10)
	if err := errors.Join(w.Put(first), w.Put(second), w.Close()); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	v, err := readVolume(bytes.NewReader(got))
	if err != nil {
		t.Fatal(err)
	}
	at := int(v.free())
	if !bytes.Equal(got[at:][:512], first) || !bytes.Equal(got[at+512:][:len(second)], second) || !bytes.Equal(got[:at], img[:at]) {
		t.Error("blocks are not where they should be")
	}
	if err := os.WriteFile(path, append(disk("Welcome to my camera\n"), make([]byte, 1<<20)...), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := openRaw(path); err == nil {
		t.Error("another drive is written")
	}
}
