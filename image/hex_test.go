package image

import (
	"strings"
	"testing"

	"github.com/stem-hw/stem-hw/faults"
)

// record builds one line of Intel HEX.
func record(typ byte, offset uint16, data ...byte) string {
	const digits = "0123456789ABCDEF"
	b := append([]byte{byte(len(data)), byte(offset >> 8), byte(offset), typ}, data...)
	sum := byte(0)
	s := ":"
	for _, c := range b {
		sum += c
		s += string(digits[c>>4]) + string(digits[c&15])
	}
	return s + string(digits[-sum>>4]) + string(digits[-sum&15]) + "\n"
}

const eof = ":00000001FF\n"

func TestHEX(t *testing.T) {
	type seg struct {
		addr uint32
		data string
	}
	for _, tt := range []struct {
		name, text string
		segs       []seg
	}{
		{"type 04", record(4, 0, 0x10, 0x00) + record(0, 0x20, 1, 2) + eof, []seg{{0x10000020, "\x01\x02"}}},
		{"type 02", record(2, 0, 0x10, 0x00) + record(0, 0x20, 1, 2) + eof, []seg{{0x00010020, "\x01\x02"}}},
		{"type 02 wraps inside its 64 KiB", record(2, 0, 0x10, 0x00) + record(0, 0xffff, 1, 2) + eof, []seg{{0x00010000, "\x02"}, {0x0001ffff, "\x01"}}},
		{"type 04 goes on past 64 KiB", record(4, 0, 0x10, 0x00) + record(0, 0xffff, 1, 2) + eof, []seg{{0x1000ffff, "\x01\x02"}}},
		{"gap", record(4, 0, 0x10, 0x00) + record(0, 0, 1) + record(0, 4, 2) + eof, []seg{{0x10000000, "\x01"}, {0x10000004, "\x02"}}},
		{"any order", record(4, 0, 0x10, 0x00) + record(0, 1, 2) + record(0, 0, 1) + eof, []seg{{0x10000000, "\x01\x02"}}},
		{"equal overlap", record(4, 0, 0x10, 0x00) + record(0, 0, 1, 2) + record(0, 1, 2, 3) + eof, []seg{{0x10000000, "\x01\x02\x03"}}},
		{"blank lines, CR alone, byte order mark", "\xef\xbb\xbf\r\n" + strings.ReplaceAll(record(4, 0, 0x10, 0x00)+record(0, 0, 1)+eof, "\n", "\r"), []seg{{0x10000000, "\x01"}}},
		{"no record at 4 GiB", record(4, 0, 0xff, 0xff) + record(0, 0xffff, 1) + eof, []seg{{0xffffffff, "\x01"}}},
	} {
		im, err := Parse("x.hex", []byte(tt.text), Options{Format: FormatHEX})
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if len(im.Segments) != len(tt.segs) {
			t.Errorf("%s: %+v", tt.name, im.Segments)
			continue
		}
		for i, s := range tt.segs {
			if im.Segments[i].Addr != s.addr || string(im.Segments[i].Data) != s.data {
				t.Errorf("%s: %08x % x", tt.name, im.Segments[i].Addr, im.Segments[i].Data)
			}
		}
	}
	im, err := Parse("x.hex", []byte(record(5, 0, 0x10, 0, 2, 1)+record(0, 0, 1)+eof), Options{})
	if err != nil || !im.HasEntry || im.Entry != 0x10000201 {
		t.Errorf("entry: %+v %v", im, err)
	}
}

func TestHEXErrors(t *testing.T) {
	four := record(4, 0, 0x10, 0x00)
	for _, tt := range []struct{ name, text, want string }{
		{"conflict", four + record(0, 0, 1, 2) + record(0, 8, 9) + record(0, 1, 3) + eof, "line 2 and line 4 with different bytes at 0x10000001"},
		{"checksum", four + ":0100000001FF\n", "line 2: HEX checksum is wrong: found 0xff, need 0xfe"},
		{"length", four + ":0200000001FD\n", "line 2: HEX record length is wrong"},
		{"digit", four + ":01000000GGFE\n", "line 2: not a hexadecimal digit"},
		{"odd", four + ":0100000001F\n", "line 2: HEX record of impossible length"},
		{"no colon", four + "hello\n", `line 2: not a HEX record: found "hello"`},
		{"type", four + record(9, 0) + eof, "line 2: unknown record type: found 09"},
		{"type 04 size", record(4, 0, 1) + eof, "line 1: record of type 04 has the wrong size"},
		{"no data", four + eof, "holds no data"},
		{"wrap", record(4, 0, 0xff, 0xff) + record(0, 0xffff, 1, 2) + eof, "line 2: data wraps around"},
		{"empty line only", "\n\n", "holds no data"},
	} {
		_, err := Parse("x.hex", []byte(tt.text), Options{Format: FormatHEX})
		if !faults.Is(err, faults.CodeBadImage) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}
