package image

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stem-hw/stem-hw/faults"
)

func TestPlaceCases(t *testing.T) {
	tests := []struct {
		file string
		kind Kind
		code faults.Code
		want string // part of the error, a note or a contradiction
	}{
		{"e01_plain_arm.elf", KindFlash, "", ""},
		{"e02_plain_riscv.elf", KindFlash, "", ""},
		{"e12_data_lma_in_ram.elf", "", faults.CodeBadImage, "load address in RAM"},
		{"e15_ram_entry_not_first.elf", KindRAM, "", ""},
		{"e16_beyond_flash.elf", "", faults.CodeImageTooLarge, "0x11fffff0-0x12000030"},
		{"e17_second_cs_0x11000000.elf", KindFlash, "", "chip select 1"},
		{"e20_riscv_elf_arm_imagedef.elf", KindFlash, "", "the ELF file is for RISC-V, but the image definition at 0x10000114 is for ARM"},
		{"e21_app_at_64k.elf", KindFlash, "", ""},
		{"e25_xip_sram_only.elf", KindRAM, "", ""},
		{"e26_usb_ram_bss.elf", KindFlash, "", ""},
		{"u03_rp2040_family.uf2", "", faults.CodeWrongMachine, "found family rp2040, need rp2350-arm-s or rp2350-riscv for an RP2350"},
		{"u04_universal_rp2040_arm_s.uf2", KindFlash, "", ""},
		{"u28_arm_family_riscv_code.uf2", KindFlash, "", "is for Arm, but the image definition"},
		{"u29_data_family.uf2", KindFlash, "", ""},
	}
	for _, tt := range tests {
		im, err := Open(filepath.Join("testdata", "cases", tt.file))
		if err != nil {
			t.Fatal(err)
		}
		l, err := im.Place(&RP2350)
		if tt.code != "" {
			if !faults.Is(err, tt.code) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: %v", tt.file, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", tt.file, err)
			continue
		}
		got := strings.Join(append(l.Notes, im.Contradictions()...), "; ")
		if l.Kind != tt.kind || (tt.want == "") != (got == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %s %q, want %s %q", tt.file, l.Kind, got, tt.kind, tt.want)
		}
	}
}

func TestArchFromMetadata(t *testing.T) {
	for name, want := range map[string]Arch{
		"b3000_image.bin": ArchARM, "h03_crlf_lower.hex": ArchARM, "e21_app_at_64k.elf": ArchARM,
		"e02_plain_riscv.elf": ArchRISCV, "b0257.bin": ArchUnknown, "u29_data_family.uf2": ArchUnknown,
	} {
		im, err := Open(filepath.Join("testdata", "cases", name))
		if err != nil {
			t.Fatal(err)
		}
		if im.Arch != want {
			t.Errorf("%s: %q, want %q", name, im.Arch, want)
		}
	}
}
