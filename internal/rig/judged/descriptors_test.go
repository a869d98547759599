//go:build rig

package judged

import (
	"bytes"
	"encoding/hex"
	"errors"
	"strings"
	"syscall"
	"testing"
	"unicode/utf16"

	"github.com/stem-hw/stem-hw/internal/rig"
	"github.com/stem-hw/stem-hw/sim/rp2350/otp"
)

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(s), ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The descriptors of BOOTSEL mode (raspberrypi/pico-bootrom-rp2350 A2,
// src/nsboot/nsboot_usb_client.c and native/usb_device.c).
const (
	bootselDevice = "12 01 1002 00 00 00 40 8a2e 0f00 0001 01 02 03 01"
	configHeader  = "09 02 3700 02 01 00 80 19"
	driveAlone    = "09 04 00 00 02 08 06 50 00 07 05 81 02 4000 00 07 05 02 02 4000 00"
	picobootAlone = "09 04 00 00 02 ff 00 00 00 07 05 03 02 4000 00 07 05 84 02 4000 00"
	picobootBoth  = "09 04 01 00 02 ff 00 00 00 07 05 03 02 4000 00 07 05 84 02 4000 00"
	oneHeader     = "09 02 2000 01 01 00 80 19"

	bosHead = "05 0f 2100 01 1c 10 05 00 df60ddd8 8945 c74c 9cd2 659d9e648a9f 00000306"
	// What Windows wants to know: a set, for interface 1 if there are two.
	setHead      = "0a00 0000 00000306"
	setFunction  = "0800 0200 0100 9c00"
	compatibleID = "1400 0300 57494e555342 0000 0000000000000000"
	registry     = "8000 0400 0100 2800"
)

func wide(s string) []byte {
	var b []byte
	for _, c := range utf16.Encode([]rune(s)) {
		b = append(b, byte(c), byte(c>>8))
	}
	return b
}

func windowsSet(t *testing.T, composite bool) []byte {
	body := unhex(t, compatibleID+registry)
	body = append(body, wide("DeviceInterfaceGUID\x00")...)
	body = append(body, 0x4e, 0)
	body = append(body, wide("{bc7398c1-73cd-4cb7-98b8-913a8fca7bf6}\x00")...)
	head := unhex(t, setHead)
	if !composite {
		return append(append(head, 0x9e, 0), body...)
	}
	return append(append(append(head, 0xa6, 0), unhex(t, setFunction)...), body...)
}

// TestRigDescriptors reads BOOTSEL mode's descriptors through the kernel, with
// both interfaces and with each alone.
func TestRigDescriptors(t *testing.T) {
	tests := []struct {
		name    string
		disable int // BOOT_FLAGS0: 17 is no drive, 18 no PICOBOOT
		config  string
	}{
		{"both", 0, configHeader + driveAlone + picobootBoth},
		{"PICOBOOT alone", 17, oneHeader + picobootAlone},
		{"drive alone", 18, oneHeader + driveAlone},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := rig.NewBoard(t, rig.Board{Serial: "E6632C85931E832A", OTP: flags0(tt.disable)})
			b.Plug(1)
			d := b.WaitBootsel()
			if want := unhex(t, bootselDevice+tt.config); !bytes.Equal(d.Descriptors(), want) {
				t.Errorf("descriptors\n% x, want\n% x", d.Descriptors(), want)
			}
			for i, want := range []string{"Raspberry Pi", "RP2350 Boot", "E6632C85931E832A"} {
				checkString(t, d, i+1, want)
			}
			languages, err := d.Control(t, 0x80, 6, 0x0300, 0, 255)
			if want := []byte{4, 3, 9, 4}; err != nil || !bytes.Equal(languages, want) {
				t.Errorf("languages % x (%v), want % x", languages, err, want)
			}
			checkWindows(t, d, tt.disable != 17)
		})
	}
}

func flags0(bit int) map[int]uint32 {
	if bit == 0 {
		return nil
	}
	// Three copies, of which two decide (RP2350 datasheet 13.10).
	return map[int]uint32{0x48: 1 << bit, 0x49: 1 << bit, 0x4a: 1 << bit}
}

func checkString(t *testing.T, d *rig.Device, index int, want string) {
	t.Helper()
	s, err := d.Control(t, 0x80, 6, 0x0300|uint16(index), 0x0409, 255)
	if err != nil {
		t.Errorf("string %d: %v", index, err)
		return
	}
	full := append([]byte{byte(2 + 2*len(want)), 3}, wide(want)...)
	if !bytes.Equal(s, full) {
		t.Errorf("string %d is % x, want % x (%s)", index, s, full, want)
	}
}

func checkWindows(t *testing.T, d *rig.Device, composite bool) {
	t.Helper()
	set := windowsSet(t, composite)
	bos := append(unhex(t, bosHead), byte(len(set)), 0, 1, 0)
	if got, err := d.Control(t, 0x80, 6, 0x0f00, 0, 255); err != nil || !bytes.Equal(got, bos) {
		t.Errorf("BOS % x (%v), want\n% x", got, err, bos)
	}
	if got, err := d.Control(t, 0xc0, 1, 0, 7, 512); err != nil || !bytes.Equal(got, set) {
		t.Errorf("MS OS 2.0 set\n% x (%v), want\n% x", got, err, set)
	}
	if got, err := d.Control(t, 0xc0, 1, 0, 4, 64); !errors.Is(err, syscall.EPIPE) {
		t.Errorf("index 4 of the vendor's request gives % x (%v), want a stall", got, err)
	}
	if got, err := d.Control(t, 0x80, 6, 0x0600, 0, 10); !errors.Is(err, syscall.EPIPE) {
		t.Errorf("a device qualifier % x (%v), want a stall: it is full speed", got, err)
	}
}

// TestRigWhiteLabel has fuses change the numbers and strings.
func TestRigWhiteLabel(t *testing.T) {
	// Row 0x59 says which fields hold (three copies), 0x5c where the table is
	// (RP2350 datasheet 5.7 and 13.10, USB_BOOT_FLAGS).
	const at = 0x100
	rows := map[int]uint32{}
	put := func(row int, v uint16) { rows[row] = otp.Encode(v) }
	for copy := range 3 {
		rows[0x59+copy] = 1<<22 | 1<<0 | 1<<1 | 1<<4 | 1<<5 | 1<<8
	}
	put(0x5c, at)
	put(at, 0x1209)
	put(at+1, 0x0001)
	text := func(field, offset int, s string) {
		put(at+field, uint16(offset)<<8|uint16(len(s)))
		for i := 0; i < len(s); i += 2 {
			v := uint16(s[i])
			if i+1 < len(s) {
				v |= uint16(s[i+1]) << 8
			}
			put(at+offset+i/2, v)
		}
	}
	text(4, 16, "Acme")
	text(5, 20, "Gadget Boot")
	text(8, 30, "ACMEDRIVE")
	b := rig.NewBoard(t, rig.Board{OTP: rows})
	b.Plug(1)
	d := rig.WaitDevice(t, b.Path(), "1209:0001")
	for file, want := range map[string]string{"manufacturer": "Acme", "product": "Gadget Boot", "serial": b.Serial} {
		if got := d.Attr(file); got != want {
			t.Errorf("%s is %q, want %q", file, got, want)
		}
	}
	if got := rig.Properties(t, d.WaitPartition(t))["ID_FS_LABEL"]; got != "ACMEDRIVE" {
		t.Errorf("the drive's label is %q", got)
	}
}
