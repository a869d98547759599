package seal

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/image/boot"
	"github.com/stem-hw/stem-hw/uf2"
)

func open(t *testing.T, name string) *image.Image {
	t.Helper()
	im, err := image.Open(filepath.Join("..", "testdata", "cases", name))
	if err != nil {
		t.Fatal(err)
	}
	return im
}

// TestSealedImageBoots: sealed in any format, the chip uses the seal's block
// and starts as before.
func TestSealedImageBoots(t *testing.T) {
	for _, name := range []string{"e01_plain_arm.elf", "e02_plain_riscv.elf", "e05_phdrs_at_end.elf", "b3000_image.bin", "h03_crlf_lower.hex",
		"u24_with_sha_ext_tags.uf2", "p01_two_block_loop.bin", "e15_ram_entry_not_first.elf"} {
		im := open(t, name)
		cpu := boot.Arm
		if im.Arch == image.ArchRISCV {
			cpu = boot.RISCV
		}
		find := func(im *image.Image) *boot.Decision {
			o := boot.Options{Chip: boot.A2, CPU: cpu}
			if w, _ := im.SearchWindow(); w.Base != boot.FlashBase {
				return boot.FindInWindow(im.Memory(), w, o)
			}
			return boot.FindImage(im.Memory(), o)
		}
		before := find(im)
		if before.Outcome != boot.OutcomeBoot {
			t.Logf("%s: not bootable to begin with: %s", name, before.Reason)
			continue
		}
		res, err := Seal(im, Options{Hash: true, Version: &[2]uint16{3, 4}})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		sealed := im
		if res.ELF != nil {
			if sealed, err = image.Parse(name, res.ELF, image.Options{}); err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
		}
		// Through UF2 and back, with any fill.
		for _, fill := range []byte{0, 0xff} {
			var b bytes.Buffer
			fam := uint32(uf2.FamilyRP2350ArmS)
			if _, err := sealed.WriteUF2(&b, image.WriteOptions{Family: fam, Fill: &fill}); err != nil {
				t.Fatal(err)
			}
			back, err := image.Parse("x.uf2", b.Bytes(), image.Options{})
			if err != nil {
				t.Fatal(err)
			}
			back.Arch = im.Arch
			d := find(back)
			if d.Outcome != boot.OutcomeBoot || d.Image.Addr != res.Block || !d.Check.Hashed || d.Image.Major != 3 || d.Image.Minor != 4 || d.Entry != before.Entry {
				t.Errorf("%s: %s (%s) at %08x, entry %+v, want %+v", name, d.Outcome, d.Reason, d.Image.Addr, d.Entry, before.Entry)
			}
		}
	}
}

// TestDamage: a changed byte anywhere in the contents makes the hash wrong.
func TestDamage(t *testing.T) {
	im := open(t, "b3000_image.bin")
	if _, err := Seal(im, Options{Hash: true}); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if _, err := im.WriteBIN(&b, image.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	whole := b.Bytes()
	for _, at := range []int{0x10, 0x200, 2000, 2999} {
		bad := append([]byte(nil), whole...)
		bad[at] ^= 0x40
		d := boot.FindImage(boot.Flash{Data: bad}, boot.Options{Chip: boot.A2})
		if d.Outcome != boot.OutcomeBootsel || !strings.Contains(d.Reason, "hash is wrong") {
			t.Errorf("byte %d: %s %s", at, d.Outcome, d.Reason)
		}
	}
	if d := boot.FindImage(boot.Flash{Data: whole}, boot.Options{Chip: boot.A2}); d.Outcome != boot.OutcomeBoot {
		t.Error(d.Reason)
	}
}

func TestRefused(t *testing.T) {
	for name, want := range map[string]string{
		"b0257.bin":                "no block loop",
		"p04_second_self_link.bin": "a later block links to itself",
		"pt.bin":                   "no image definition",
	} {
		_, err := Seal(open(t, name), Options{Hash: true})
		if !faults.Is(err, faults.CodeNotBootable) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	im := open(t, "b3000_image.bin")
	if _, err := Seal(im, Options{Hash: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := Seal(im, Options{Hash: true}); err == nil || !strings.Contains(err.Error(), "sealed already") {
		t.Errorf("second seal: %v", err)
	}
}

func TestVersionOnly(t *testing.T) {
	im := open(t, "e02_plain_riscv.elf")
	res, err := Seal(im, Options{Version: &[2]uint16{1, 2}})
	if err != nil {
		t.Fatal(err)
	}
	d := boot.FindImage(im.Memory(), boot.Options{Chip: boot.A2, CPU: boot.RISCV})
	if res.Hash != nil || d.Image.Major != 1 || d.Image.Minor != 2 || d.Check.Hashed {
		t.Errorf("%+v", d.Image)
	}
}
