package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/image/boot"
	"github.com/stem-hw/stem-hw/image/partition"
	"github.com/stem-hw/stem-hw/image/picobin"
	"github.com/stem-hw/stem-hw/image/seal"
	"github.com/stem-hw/stem-hw/uf2"
	"github.com/stem-hw/stem-hw/ui"
)

func caseFile(name string) string { return filepath.Join("..", "testdata", "cases", name) }

func load(t *testing.T, path string) *image.Image {
	t.Helper()
	im, err := image.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return im
}

// TestEveryCaseExplained: each UF2 case with what a board makes of it.
func TestEveryCaseExplained(t *testing.T) {
	tests := []struct {
		file string
		ok   bool
		want string // part of the words or the verdict
	}{
		{"u03_rp2040_family.uf2", false, "does not accept family rp2040"},
		{"u04_universal_rp2040_arm_s.uf2", true, "refuses the blocks of family rp2040"},
		{"u05_missing_block.uf2", false, "Only 11 of the 12 blocks arrive"},
		{"u08_truncated_mid_block.uf2", false, "block 11, cut off in the middle"},
		{"u09_abs_block_first.uf2", true, "erases the 4 KiB sector at 0x10fff000"},
		{"u10_abs_block_no_ext.uf2", true, "RP2350-E10"},
		{"u13_no_family_flag.uf2", false, "blocks 0-11, no family flag"},
		{"u14_not_main_flash.uf2", false, "blocks 0-11, marked not for main flash"},
		{"u15_numblocks_lies.uf2", false, "Only 12 of the 99 blocks arrive"},
		{"u18_bad_end_magic.uf2", false, "block 3, wrong end magic"},
		{"u19_unaligned_target.uf2", false, "is not a multiple of 256"},
		{"u20_ram_and_flash.uf2", false, "blocks 12-13, the transfer goes to flash, but this block does not"},
		{"u23_beyond_32M.uf2", false, "is neither in flash nor in RAM"},
		{"u24_with_sha_ext_tags.uf2", true, "starts on Arm at 0x10000201"},
		{"u25_md5_flag.uf2", true, "starts on Arm"},
		{"u28_arm_family_riscv_code.uf2", true, "the chip restarts with the other CPU"},
		{"u29_data_family.uf2", false, "does not start it: nothing to boot"},
		{"u30_leading_garbage.uf2", true, "block 0, not a UF2 block"},
		{"pt.uf2", false, "none of the partitions holds an image"},
	}
	for _, tt := range tests {
		f, err := os.Open(caseFile(tt.file))
		if err != nil {
			t.Fatal(err)
		}
		e, err := Explain(tt.file, f, ExplainOptions{Chip: boot.A2})
		f.Close()
		if err != nil {
			t.Errorf("%s: %v", tt.file, err)
			continue
		}
		all := strings.Join(e.Words, "\n") + "\n" + e.Verdict
		if e.OK != tt.ok || !strings.Contains(all, tt.want) {
			t.Errorf("%s: ok %v, want %v and %q in\n%s", tt.file, e.OK, tt.ok, tt.want, all)
		}
	}
}

// TestInfoOfEveryCase: whatever can be read has a page and a document.
func TestInfoOfEveryCase(t *testing.T) {
	files, _ := filepath.Glob(caseFile("*"))
	n := 0
	for _, f := range files {
		im, err := image.Open(f)
		if err != nil || strings.HasSuffix(f, ".md") || strings.HasSuffix(f, ".json") {
			continue
		}
		n++
		r := NewInfo(im, true)
		if s := ui.RenderText(r); !strings.Contains(s, "Memory") || strings.Contains(s, "%!") {
			t.Errorf("%s:\n%s", f, s)
		}
		if _, err := ui.Document(r, true); err != nil {
			t.Errorf("%s: %v", f, err)
		}
		if err := r.HashFault(); err != nil {
			t.Errorf("%s: %v", f, err)
		}
	}
	if n < 35 {
		t.Errorf("only %d cases", n)
	}
}

func TestHashFault(t *testing.T) {
	im := load(t, caseFile("b3000_image.bin"))
	if _, err := seal.Seal(im, seal.Options{Hash: true}); err != nil {
		t.Fatal(err)
	}
	if r := NewInfo(im, false); r.HashFault() != nil || r.Blocks[len(r.Blocks)-1].Hash != hashRight {
		t.Errorf("a sound seal: %v", r.HashFault())
	}
	im.Segments[0].Data[0x300] ^= 1
	r := NewInfo(im, false)
	if err := r.HashFault(); !faults.Is(err, faults.CodeHashMismatch) || faults.StatusOf(err) != faults.StatusImage {
		t.Errorf("a damaged one: %v", err)
	}
}

// TestSVG: the picture is well-formed and holds every pin and use.
func TestSVG(t *testing.T) {
	r := NewInfo(load(t, filepath.Join("..", "testdata", "weather.bin")), false)
	r.Program.Name = `<b>&"weather"`
	svg := NewPinsSVG(r).SVG
	d := xml.NewDecoder(strings.NewReader(svg))
	circles, text := 0, ""
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch x := tok.(type) {
		case xml.StartElement:
			if x.Name.Local == "circle" {
				circles++
			}
		case xml.CharData:
			text += string(x)
		}
	}
	if circles != 40 {
		t.Errorf("%d pins", circles)
	}
	for _, s := range []string{`<b>&"weather"`, "UART0 TX", "SCL pull-up", "GP25 (LED on the board): heartbeat", "3V3_EN"} {
		if !strings.Contains(text, s) {
			t.Errorf("%q is not in the picture", s)
		}
	}
}

func TestMemoryCountsOnce(t *testing.T) {
	r := NewInfo(load(t, caseFile("e01_plain_arm.elf")), false)
	got := map[string]uint64{}
	for _, m := range r.Memory {
		got[m.Name] = m.Used
	}
	// 3000 bytes of code, 200 of data with their copy in flash, 512 cleared.
	if got["flash"] != 3200 || got["RAM"] != 200+512 {
		t.Errorf("%v", got)
	}
}

// largeUF2 is a UF2 file of 64 MiB that exists only while it is read.
type largeUF2 struct {
	next  uint32
	shift uint32
	left  []byte
}

func (l *largeUF2) Read(p []byte) (int, error) {
	const total = 64 << 20 / uf2.BlockSize
	if len(l.left) == 0 {
		if l.next == total {
			return 0, io.EOF
		}
		n := l.next ^ l.shift // any order
		b := uf2.Block{Flags: uf2.FlagFamily, Addr: 0x10000000 + n*256, Size: 256, Number: n, Total: total, Family: uf2.FamilyData}
		b.Data[0] = byte(n)
		l.left = make([]byte, uf2.BlockSize)
		b.Encode(l.left)
		l.next++
	}
	n := copy(p, l.left)
	l.left = l.left[n:]
	return n, nil
}

// TestLargeUF2Streams: 64 MiB in and out of order, with memory that does not
// grow with the file.
func TestLargeUF2Streams(t *testing.T) {
	for _, shift := range []uint32{0, 0x155} {
		u, err := ReadUF2("large", &largeUF2{shift: shift})
		if err != nil || len(u.Transfers) != 1 || !u.Transfers[0].Complete || len(u.Transfers[0].Ranges) != 1 || u.Transfers[0].InOrder != (shift == 0) {
			t.Fatalf("%+v %v", u, err)
		}
		if r := u.Transfers[0].Ranges[0]; r.Start != 0x10000000 || r.End != 0x12000000 {
			t.Errorf("%+v", r)
		}
		if n := cap(u.Transfers[0].seen) * 8; n > 64<<10 {
			t.Errorf("%d bytes to remember block numbers", n)
		}
		e, err := Explain("large", &largeUF2{shift: shift}, ExplainOptions{Chip: boot.A4, Flash: 16 << 20})
		if err != nil || len(e.Transfers) != 1 || !e.Transfers[0].Complete {
			t.Fatalf("%+v %v", e, err)
		}
	}
}

// TestExplainTrial: a try-before-you-buy image in a pair of partitions.
func TestExplainTrial(t *testing.T) {
	js, err := os.ReadFile(caseFile("pt.json"))
	if err != nil {
		t.Fatal(err)
	}
	pt, err := partition.ParseJSON("pt.json", js)
	if err != nil {
		t.Fatal(err)
	}
	words, err := pt.Words(true)
	if err != nil {
		t.Fatal(err)
	}
	im := load(t, caseFile("b3000_image.bin"))
	im.Segments[0].Data[0x114+7] |= 0x80 // the flag, in the image type item
	var b bytes.Buffer
	if _, err := im.WriteUF2(&b, image.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	e, err := Explain("x.uf2", &b, ExplainOptions{Chip: boot.A4, Table: picobin.Bytes(words)})
	if err != nil {
		t.Fatal(err)
	}
	if !e.OK || !e.Boot.Trial || e.Transfers[0].Partition == nil || *e.Transfers[0].Partition != 1 || !strings.Contains(strings.Join(e.Words, " "), "explicit_buy") {
		t.Errorf("%+v\n%s", e.Boot, strings.Join(e.Words, "\n"))
	}
	if e.PerCPU[0].Outcome != string(boot.OutcomeBootsel) {
		t.Errorf("after a reset the trial goes on: %+v", e.PerCPU[0])
	}
}

func TestMissingNumbers(t *testing.T) {
	f, err := os.Open(caseFile("u15_numblocks_lies.uf2"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	u, err := ReadUF2("x", f)
	if err != nil || len(u.Transfers) != 1 || u.Transfers[0].Complete || u.Transfers[0].Missing != "12-98" {
		t.Errorf("%+v %v", u, err)
	}
}
