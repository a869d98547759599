package image

import (
	"encoding/binary"
	"path/filepath"
	"testing"

	"github.com/stem-hw/stem-hw/uf2"
)

// TestFamilyFor: machine and image definition decide, never the place.
func TestFamilyFor(t *testing.T) {
	for name, want := range map[string]uint32{
		"e01_plain_arm.elf": uf2.FamilyRP2350ArmS, "e02_plain_riscv.elf": uf2.FamilyRP2350RISCV,
		"e21_app_at_64k.elf": uf2.FamilyRP2350ArmS, "b3000_image.bin": uf2.FamilyRP2350ArmS,
		"e15_ram_entry_not_first.elf": uf2.FamilyRP2350ArmS, "e25_xip_sram_only.elf": uf2.FamilyRP2350ArmS,
		"b4095.bin": uf2.FamilyAbsolute, "u29_data_family.uf2": uf2.FamilyData, "p10_three_imagedefs.bin": uf2.FamilyRP2350RISCV,
	} {
		im, err := Open(filepath.Join("testdata", "cases", name))
		if err != nil {
			t.Fatal(err)
		}
		got, note, err := im.FamilyFor()
		if err != nil || got != want || (note != "") != (want == uf2.FamilyAbsolute) {
			t.Errorf("%s: %s %q %v", name, uf2.FamilyName(got), note, err)
		}
	}
	// A boot stage with its check sum makes an RP2040 image.
	data := make([]byte, 512)
	for i := range data[:252] {
		data[i] = byte(i * 31)
	}
	crc := ^uint32(0)
	for _, c := range data[:252] {
		for bit := 7; bit >= 0; bit-- {
			top := crc>>31 ^ uint32(c)>>bit&1
			crc <<= 1
			if top != 0 {
				crc ^= 0x04c11db7
			}
		}
	}
	binary.LittleEndian.PutUint32(data[252:], crc)
	im, err := Parse("x", data, Options{Format: FormatBIN})
	if err != nil {
		t.Fatal(err)
	}
	if got, _, _ := im.FamilyFor(); got != uf2.FamilyRP2040 {
		t.Errorf("boot stage: %s", uf2.FamilyName(got))
	}
	data[10] ^= 1
	if got, _, _ := im.FamilyFor(); got != uf2.FamilyAbsolute {
		t.Errorf("damaged boot stage: %s", uf2.FamilyName(got))
	}
	// RAM contents without a word about the CPU.
	im, err = Parse("x", data, Options{Format: FormatBIN, Base: 0x20000000})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := im.FamilyFor(); err == nil {
		t.Error("a family is guessed for RAM")
	}
}
