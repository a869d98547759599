package usb

import (
	"testing"
	"unicode/utf8"
)

func FuzzDescriptors(f *testing.F) {
	f.Add([]byte{18, 1, 0x10, 2, 0, 0, 0, 64, 0x8a, 0x2e, 0x0f, 0, 0, 1, 1, 2, 3, 1, 9, 2, 18, 0, 1, 1, 0, 0x80, 50, 9, 4, 0, 0, 0, 0xff, 0, 1, 0}, uint8(1))
	f.Add([]byte{18, 1}, uint8(0))
	f.Fuzz(func(t *testing.T, b []byte, config uint8) {
		_, ifs, err := parseDescriptors(b, config)
		if len(ifs) > maxParsed {
			t.Fatalf("%d interfaces", len(ifs))
		}
		d := Device{Interfaces: ifs}
		if err == nil {
			d.classify()
		}
		for _, i := range ifs {
			d.KindOf(i)
		}
	})
}

func FuzzLocks(f *testing.F) {
	f.Add("1: FLOCK  ADVISORY  WRITE 1234 00:06:456 0 EOF\n1: -> FLOCK  ADVISORY  WRITE 1 00:06:456 0 EOF\n")
	f.Fuzz(func(t *testing.T, s string) {
		for _, l := range parseLocks(s) {
			if l.pid < 0 {
				t.Fatal(l)
			}
		}
	})
}

func FuzzMounts(f *testing.F) {
	f.Add("90 1 8:1 / /media/RP\\0402350 rw - vfat /dev/sdq1 rw\n")
	f.Fuzz(func(t *testing.T, s string) {
		for k, v := range parseMounts(s) {
			if utf8.ValidString(s) && k == "" || v == "" {
				t.Fatal(k, v)
			}
		}
	})
}

func TestDeviceNames(t *testing.T) {
	for name, want := range map[string]bool{"1-2": true, "10-1.4.2": true, "1-2:1.0": false, "usb1": false, "1-": false, "-1": false, "a-1": false} {
		if isDeviceName(name) != want {
			t.Errorf("%s", name)
		}
	}
	for _, tt := range [][2]string{{"1-2", "1-10"}, {"1-10", "2-1"}, {"1-1", "1-1.1"}, {"1-1.2", "1-2"}} {
		if comparePorts(tt[0], tt[1]) >= 0 || comparePorts(tt[1], tt[0]) <= 0 {
			t.Errorf("%v", tt)
		}
	}
}
