package binaryinfo

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/stem-hw/stem-hw/image/picobin"
)

const base = 0x10000000

// program lays out binary info as the pico-sdk does: header, image definition,
// pointers, entries, strings. Entries behind ramFrom live in RAM and are found
// through the copy table.
type program struct {
	buf  []byte
	ptrs []uint32
}

func (p *program) here() uint32 { return base + uint32(len(p.buf)) }

func (p *program) words(w ...uint32) uint32 {
	for len(p.buf)%4 != 0 {
		p.buf = append(p.buf, 0)
	}
	at := p.here()
	p.buf = append(p.buf, picobin.Bytes(w)...)
	return at
}

func (p *program) str(s string) uint32 {
	at := p.here()
	p.buf = append(append(p.buf, s...), 0)
	return at
}

func (p *program) entry(typ uint16, w ...uint32) {
	p.ptrs = append(p.ptrs, p.words(append([]uint32{uint32(Tag)<<16 | uint32(typ)}, w...)...))
}

// example is a program with everything that info shows.
func example() []byte {
	p := &program{buf: make([]byte, 0x40)}
	copy(p.buf[0x14:], picobin.Bytes([]uint32{picobin.MarkerStart, 0x11010142, 0x344, 0x10000036, 0x20082000, 0x4ff, 0, picobin.MarkerEnd}))
	p.entry(typeIDString, idName, p.str("weather"))
	p.entry(typeIDString, idVersion, p.str("1.4"))
	p.entry(typeIDString, idURL, p.str("https://example.org/weather"))
	p.entry(typeIDString, idText, p.str("temperature and pressure on a display"))
	p.entry(typeIDString, idFeature, p.str("UART stdin / stdout"))
	p.entry(typeIDString, idFeature, p.str("sleeps between readings"))
	p.entry(typeIDString, idSDK, p.str("2.2.0"))
	p.entry(typeIDString, idBoard, p.str("pico2"))
	p.entry(typeIDString, idDate, p.str("Nov 30 2026"))
	p.entry(typeIDString, idAttribute, p.str("Release"))
	// pins: UART 0 and 1, SPI 16-19 as single pins, a named one, a range.
	p.entry(typePins, 2|2<<3|0<<7|1<<12|1<<17)
	p.entry(typePins64, 2|1<<3|16<<8|18<<16|19<<24, 19)
	p.entry(typePinNames, 1<<17, p.str("display CS"))
	p.entry(typePinNames, 1<<20|1<<21, p.str("SDA pull-up|SCL pull-up"))
	p.entry(typePins, 1|4<<3|4<<7|5<<12)
	p.entry(typePinNames, 1<<25, p.str("heartbeat"))
	// a group of settings, whose values live in RAM
	const group = 0x12345678
	p.entry(typeGroup, idFeature, uint32(Tag)<<16|groupSort, group, p.str("Settings"))
	value := p.words(30)
	text := p.str("Celsius")
	p.entry(typePtrString, group, 0x20000100+text-value, p.str("unit"), 16)
	p.entry(typePtrInt, group, 0x20000100, p.str("interval"))
	p.entry(typeIDInt, idEnd, 0x10000400)
	p.entry(typeBlockDev, p.str("log"), 0x10300000, 0x80000, 0, 7|1<<4)
	copies := p.words(value, 0x20000100, 0x20000200, 0)
	list := p.words(p.ptrs...)
	copy(p.buf, picobin.Bytes([]uint32{markerStart, list, list + 4*uint32(len(p.ptrs)), copies, markerEnd}))
	return p.buf
}

func find(data []byte) *Info {
	return Find(func(b []byte, addr uint32) bool {
		off := int64(addr) - base
		if off < 0 || off+int64(len(b)) > int64(len(data)) {
			return false
		}
		copy(b, data[off:])
		return true
	}, base, 256)
}

func TestRead(t *testing.T) {
	got := find(example())
	if got == nil {
		t.Fatal("no header found")
	}
	n := int32(30)
	unit := "Celsius"
	want := &Info{
		Header: base, Name: "weather", Version: "1.4", URL: "https://example.org/weather",
		Description: "temperature and pressure on a display",
		Features:    []string{"UART stdin / stdout", "sleeps between readings"},
		BinaryEnd:   0x10000400,
		SDKVersion:  "2.2.0", Board: "pico2", BuildDate: "Nov 30 2026", BuildAttributes: []string{"Release"},
		Groups:  []Group{{Label: "Settings", Values: []Value{{Label: "interval", Int: &n}, {Label: "unit", Text: &unit}}}},
		Devices: []BlockDevice{{Name: "log", Address: 0x10300000, Size: 0x80000, Read: true, Write: true, Format: true, Scheme: "mbr"}},
		Pins: []Pin{{0, []string{"UART0 TX"}}, {1, []string{"UART0 RX"}}, {4, []string{"PWM2 A"}}, {5, []string{"PWM2 B"}},
			{16, []string{"SPI0 RX"}}, {17, []string{"display CS"}}, {18, []string{"SPI0 SCK"}}, {19, []string{"SPI0 TX"}},
			{20, []string{"SDA pull-up"}}, {21, []string{"SCL pull-up"}}, {25, []string{"heartbeat"}}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// TestExampleFile: the file that documents show is this example. Run with
// STEM_HW_UPDATE=1 to write it again.
func TestExampleFile(t *testing.T) {
	path := filepath.Join("..", "testdata", "weather.bin")
	if os.Getenv("STEM_HW_UPDATE") != "" {
		if err := os.WriteFile(path, example(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, example()) {
		t.Error("testdata/weather.bin is not the example: run with STEM_HW_UPDATE=1")
	}
}

func TestDamaged(t *testing.T) {
	data := example()
	// Every truncation and every wild pointer ends without trouble.
	for n := range len(data) {
		find(data[:n])
	}
	for off := 0; off+4 <= len(data); off += 4 {
		for _, w := range []uint32{0, 0xffffffff, base, base + 0x14} {
			bad := append([]byte(nil), data...)
			binary.LittleEndian.PutUint32(bad[off:], w)
			find(bad)
		}
	}
	bad := append([]byte(nil), data...)
	binary.LittleEndian.PutUint32(bad[0x14+8*4:], 0xffff) // not a pointer list, but inside
	if find(bad) == nil {
		t.Error("the header is not found any more")
	}
}

func TestFunctions(t *testing.T) {
	for _, tt := range []struct {
		pin, fn int
		want    string
	}{
		{0, 1, "SPI0 RX"}, {9, 1, "SPI1 CSn"}, {46, 1, "SPI1 SCK"}, {0, 2, "UART0 TX"}, {4, 2, "UART1 TX"},
		{12, 2, "UART0 TX"}, {2, 11, "UART0 TX"}, {7, 11, "UART1 RX"}, {0, 11, "Unknown pin function 11"},
		{26, 3, "I2C1 SDA"}, {31, 4, "PWM7 B"}, {32, 4, "PWM8 A"}, {47, 4, "PWM11 B"}, {5, 5, "SIO"}, {3, 8, "PIO2"},
		{21, 9, "CLK GPOUT"}, {0, 0, "JTAG TCK"}, {19, 0, "HSTX7"}, {5, 0, "Unknown pin function 0"}, {4, 10, "USB VBUS DET"},
	} {
		if got := Function(tt.pin, tt.fn); got != tt.want {
			t.Errorf("pin %d, function %d: %q, want %q", tt.pin, tt.fn, got, tt.want)
		}
	}
}
