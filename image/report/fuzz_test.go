package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/image/boot"
	"github.com/stem-hw/stem-hw/image/picobin"
	"github.com/stem-hw/stem-hw/uf2"
	"github.com/stem-hw/stem-hw/ui"
)

// FuzzReport renders whatever can be read, in both ways.
func FuzzReport(f *testing.F) {
	block := picobin.Bytes([]uint32{picobin.MarkerStart, 0x11010142, 0x344, 0x10000100, 0x20001000, 0x248, 0x10002, 0x6ff, 0, picobin.MarkerEnd})
	f.Add(block)
	info := picobin.Bytes([]uint32{0x7188ebf2, 0x10000014, 0x1000001c, 0, 0xe71aa390, 0x1000001c, 0x10000028,
		0x50520006, 0x02031c86, 0x10000000, 0x50520008, 0x3a8a1011})
	f.Add(append(info, block...))
	var b bytes.Buffer
	w := uf2.NewWriter(&b, uf2.FamilyRP2350RISCV, 1)
	page := make([]byte, uf2.PayloadSize)
	copy(page, block)
	_ = w.WritePage(0x10000000, page)
	_ = w.Flush()
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		render := func(r ui.Result) {
			if s := ui.RenderText(r); strings.ContainsAny(s, "\x1b\x07\x00") {
				t.Fatalf("control characters in %q", s)
			}
			if _, err := ui.Document(r, true); err != nil {
				t.Fatal(err)
			}
		}
		if im, err := image.Parse("x", data, image.Options{}); err == nil {
			r := NewInfo(im, len(data)%2 == 0)
			render(r)
			render(NewPinsSVG(r))
		}
		if u, err := ReadUF2("x", bytes.NewReader(data)); err == nil {
			render(u)
		}
		if e, err := Explain("x", bytes.NewReader(data), ExplainOptions{Chip: boot.A2}); err == nil {
			render(e)
		}
	})
}
