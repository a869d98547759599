package image

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stem-hw/stem-hw/faults"
)

// TestReadCases reads every shared case and compares what Parse itself has to
// say; placement and boot rules are tested where they live.
func TestReadCases(t *testing.T) {
	tests := []struct {
		file string
		kind string
		code faults.Code // "" for success
		want string      // part of the error, or of a warning
	}{
		{"b0000_empty.bin", "empty", faults.CodeBadImage, "empty"},
		{"b0001.bin", "awkward size", "", ""},
		{"b0257.bin", "awkward size", "", ""},
		{"b3000_image.bin", "plain image", "", ""},
		{"b4095.bin", "awkward size", "", ""},
		{"b_all_ff.bin", "all 0xFF", "", ""},
		{"e01_plain_arm.elf", "plain", "", ""},
		{"e02_plain_riscv.elf", "plain", "", ""},
		{"e05_phdrs_at_end.elf", "program headers at the end", "", ""},
		{"e06_elf64_riscv.elf", "ELF64", faults.CodeWrongMachine, "64-bit little-endian RISC-V"},
		{"e07_big_endian.elf", "big-endian", faults.CodeWrongMachine, "32-bit big-endian Arm"},
		{"e10_overlap_conflict.elf", "overlap with different bytes", faults.CodeBadImage, "segment 0 and segment 1 with different bytes at 0x10000b54"},
		{"e11_shared_page.elf", "two segments in a page", "", ""},
		{"e12_data_lma_in_ram.elf", "data with load address in RAM", "", ""},
		{"e15_ram_entry_not_first.elf", "RAM, entry not first", "", ""},
		{"e16_beyond_flash.elf", "past the flash window", "", ""},
		{"e17_second_cs_0x11000000.elf", "second chip select", "", ""},
		{"e20_riscv_elf_arm_imagedef.elf", "contradiction", "", ""},
		{"e21_app_at_64k.elf", "application at 64 KiB", "", ""},
		{"e22_truncated_file.elf", "truncated", faults.CodeBadImage, "cut off"},
		{"e25_xip_sram_only.elf", "XIP SRAM", "", ""},
		{"e26_usb_ram_bss.elf", "bss in USB RAM", "", ""},
		{"e27_huge_phnum.elf", "absurd counts", faults.CodeBadImage, "beyond the end of the file"},
		{"e30_osabi_linux.elf", "odd OSABI", "", ""},
		{"e31_osabi_97.elf", "odd OSABI", "", ""},
		{"e32_wrap_addr.elf", "address wrap", faults.CodeImageTooLarge, "wraps around"},
		{"h03_crlf_lower.hex", "CRLF, lower case", "", ""},
		{"h04_no_eof.hex", "no end record", "", "no end record"},
		{"h05_bad_checksum.hex", "bad checksum", faults.CodeBadImage, "line "},
		{"h08_cross_64k.hex", "line across 64 KiB", "", ""},
		{"h09_data_after_eof.hex", "data after the end record", "", "follow the end record"},
		{"u03_rp2040_family.uf2", "RP2040", "", ""},
		{"u04_universal_rp2040_arm_s.uf2", "several families", "", ""},
		{"u05_missing_block.uf2", "block missing", faults.CodeBadImage, "missing: block 5"},
		{"u08_truncated_mid_block.uf2", "truncated", faults.CodeBadImage, "cut off"},
		{"u09_abs_block_first.uf2", "absolute block", "", "RP2350-E10"},
		{"u10_abs_block_no_ext.uf2", "absolute block without tag", "", "RP2350-E10"},
		{"u13_no_family_flag.uf2", "no family flag", faults.CodeBadImage, "blocks 0-11: no family flag"},
		{"u14_not_main_flash.uf2", "not main flash", faults.CodeBadImage, "blocks 0-11: marked not for main flash"},
		{"u15_numblocks_lies.uf2", "count wrong", faults.CodeBadImage, "12 of 99 blocks"},
		{"u18_bad_end_magic.uf2", "bad end magic", faults.CodeBadImage, "block 3: wrong end magic"},
		{"u19_unaligned_target.uf2", "unaligned target", faults.CodeBadImage, "not aligned"},
		{"u20_ram_and_flash.uf2", "RAM and flash", faults.CodeBadImage, "mixes RAM and flash"},
		{"u23_beyond_32M.uf2", "past 32 MiB", faults.CodeImageTooLarge, "block 1 at 0x12000000"},
		{"u24_with_sha_ext_tags.uf2", "extension tags", "", ""},
		{"u25_md5_flag.uf2", "MD5 flag", "", ""},
		{"u28_arm_family_riscv_code.uf2", "family contradicts code", "", ""},
		{"u29_data_family.uf2", "data family", "", ""},
		{"u30_leading_garbage.uf2", "junk before", "", "block 0: not a UF2 block"},
		{"pt.bin", "partition table", "", ""},
		{"pt.uf2", "partition table", "", ""},
		{"p01_two_block_loop.bin", "block loops", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			im, err := Open(filepath.Join("testdata", "cases", tt.file))
			if tt.code == "" {
				if err != nil {
					t.Fatalf("%s: %v", tt.kind, err)
				}
				if tt.want != "" && !strings.Contains(strings.Join(im.Warnings, "\n"), tt.want) {
					t.Errorf("%s: warnings %q lack %q", tt.kind, im.Warnings, tt.want)
				}
				if tt.want == "" && len(im.Warnings) > 0 {
					t.Errorf("%s: unexpected warnings %q", tt.kind, im.Warnings)
				}
				return
			}
			f := faults.Of(err)
			if f == nil || f.Code != tt.code || f.Status != faults.StatusImage {
				t.Fatalf("%s: got %v, want code %s, exit 7", tt.kind, err, tt.code)
			}
			if all := f.Error() + "\n" + strings.Join(f.Details, "\n"); !strings.Contains(all, tt.want) {
				t.Errorf("%s: %q lacks %q", tt.kind, all, tt.want)
			}
			if !strings.Contains(f.Error(), tt.file) {
				t.Errorf("%s: %q does not name the file", tt.kind, f.Error())
			}
		})
	}
}

// TestSameContents: different containers of the same program give the same
// contents.
func TestSameContents(t *testing.T) {
	read := func(name string) *Image {
		im, err := Open(filepath.Join("testdata", "cases", name))
		if err != nil {
			t.Fatal(err)
		}
		return im
	}
	bin := read("b3000_image.bin")
	n := uint32(len(bin.Segments[0].Data))
	want := make([]byte, n)
	bin.ReadAt(want, 0x10000000)
	for _, name := range []string{"e05_phdrs_at_end.elf", "e30_osabi_linux.elf", "h03_crlf_lower.hex",
		"u09_abs_block_first.uf2", "u24_with_sha_ext_tags.uf2", "u25_md5_flag.uf2", "u30_leading_garbage.uf2"} {
		im := read(name)
		got := make([]byte, n)
		if c := im.ReadAt(got, 0x10000000); c != int(n) || string(got) != string(want) {
			t.Errorf("%s: contents differ from the plain image (%d of %d bytes)", name, c, n)
		}
	}
	cross := read("h08_cross_64k.hex")
	if len(cross.Segments) != 1 || cross.Segments[0].Addr != 0x1000fff8 {
		t.Errorf("h08: %x", cross.Segments[0].Addr)
	}
	if len(cross.Segments[0].Data) != 16 || cross.Segments[0].Data[15] != 15 {
		t.Errorf("h08: data % x", cross.Segments[0].Data)
	}
}

func TestEveryCaseIsTested(t *testing.T) {
	dir, err := os.ReadDir(filepath.Join("testdata", "cases"))
	if err != nil {
		t.Fatal(err)
	}
	if len(dir) < 59 {
		t.Errorf("only %d cases", len(dir))
	}
}
