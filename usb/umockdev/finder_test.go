//go:build cgo

package umockdev_test

import (
	"context"
	"os"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/gousb"

	"github.com/stem-hw/stem-hw/board"
	"github.com/stem-hw/stem-hw/internal/built"
	"github.com/stem-hw/stem-hw/usb"
	"github.com/stem-hw/stem-hw/usb/umockdev"
	"github.com/stem-hw/stem-hw/usb/usbtest"
)

func TestMain(m *testing.M) {
	if umockdev.Preloaded() {
		os.Exit(built.Main(m))
	}
	os.Exit(umockdev.Main(m))
}

// machine makes up a machine and looks at it through libudev.
func machine(t *testing.T, gadgets ...usbtest.Gadget) (*umockdev.Testbed, *usb.Finder) {
	t.Helper()
	umockdev.Need(t)
	tb, err := umockdev.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tb.Close)
	if len(gadgets) > 0 {
		if err := tb.Add(usbtest.Umockdev(gadgets...)); err != nil {
			t.Fatal(err)
		}
	}
	f, err := usb.New(usb.Machine(func(k string) string {
		if k == "UMOCKDEV_DIR" {
			return tb.Root()
		}
		return ""
	}))
	if err != nil {
		t.Fatal(err)
	}
	return tb, f
}

func devices(t *testing.T, f *usb.Finder) []usb.Device {
	t.Helper()
	d, err := f.Devices(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// plug adds a gadget and tells of it as the kernel and udev do.
func plug(t *testing.T, tb *umockdev.Testbed, g usbtest.Gadget) {
	t.Helper()
	if err := tb.Add(usbtest.Umockdev(g)); err != nil {
		t.Error(err)
		return
	}
	tb.Event("/sys"+g.Syspath(), "add")
}

func unplug(tb *umockdev.Testbed, g usbtest.Gadget) {
	tb.Event("/sys"+g.Syspath(), "remove")
	// umockdev forgets the links to what is inside a folder that it removes.
	for _, p := range slices.Backward(g.Paths()) {
		tb.Remove("/sys" + p)
	}
}

func TestEnumerate(t *testing.T) {
	hub := usbtest.Stdio("1-4.2", 9, "E6614864D3123456", "ttyACM3")
	_, f := machine(t,
		usbtest.Bootsel("1-10", 7, "A1B2C3D4E5F60718", "sdb"),
		usbtest.Probe("1-2", 5, "E6633861A355B82C", "ttyACM0"),
		usbtest.HIDProbe("2-1", 3, "0240000034544e45", "hidraw2"),
		hub,
		usbtest.Gadget{Port: "1-1", Num: 2, Vendor: 0x046d, Product: 0xc31c, Name: "Keyboard", Interfaces: []usbtest.Interface{{Class: 3}}},
	)
	type seen struct {
		port, serial string
		role         board.Role
		mode         board.Mode
		kinds        []string
	}
	var got []seen
	for _, d := range devices(t, f) {
		got = append(got, seen{d.Port, d.Serial, d.Role, d.Mode, f.Board(d).Interfaces})
	}
	want := []seen{
		{"1-2", "E6633861A355B82C", board.RoleProbe, board.ModeProbe, []string{usb.InterfaceDAP2, usb.InterfaceSerial}},
		{"1-4.2", "E6614864D3123456", board.RoleBoard, board.ModeRunning, []string{usb.InterfaceSerial, usb.InterfaceReset}},
		{"1-10", "A1B2C3D4E5F60718", board.RoleBoard, board.ModeBootsel, []string{usb.InterfaceStorage, usb.InterfacePicoboot}},
		{"2-1", "0240000034544e45", board.RoleProbe, board.ModeProbe, []string{usb.InterfaceDAP1}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	for _, d := range devices(t, f) {
		switch d.Port {
		case "1-10":
			if d.Drive == nil || d.Drive.Partition != "/dev/sdb1" || d.Node.Path != "/dev/bus/usb/001/007" {
				t.Errorf("%+v, %+v", d.Drive, d.Node)
			}
		case "2-1":
			if !slices.Equal(d.HIDRaw, []string{"/dev/hidraw2"}) {
				t.Errorf("%v", d.HIDRaw)
			}
		case "1-4.2":
			if len(d.TTYs) != 1 || d.TTYs[0].Node != "/dev/ttyACM3" || d.TTYs[0].Interface != 0 {
				t.Errorf("%+v", d.TTYs)
			}
		}
	}
}

// TestRecorded reads what umockdev-record wrote of simulated boards that were
// plugged into a Linux 6.12 (without the folders of their interfaces).
func TestRecorded(t *testing.T) {
	for _, tt := range []struct {
		file, port, serial, name string
		mode                     board.Mode
		kinds                    []string
		num                      int
	}{
		{"bootsel", "1-1", "A1B2C3D4E5F60718", "RP2350 Boot", board.ModeBootsel, []string{usb.InterfaceStorage, usb.InterfacePicoboot}, 2},
		{"probe", "1-2", "E6633861A355B82C", "Debug Probe (CMSIS-DAP)", board.ModeProbe, []string{usb.InterfaceDAP2, usb.InterfaceSerial}, 3},
	} {
		t.Run(tt.file, func(t *testing.T) {
			text, err := os.ReadFile("testdata/" + tt.file + ".umockdev")
			if err != nil {
				t.Fatal(err)
			}
			tb, f := machine(t)
			if err := tb.Add(string(text)); err != nil {
				t.Fatal(err)
			}
			ds := devices(t, f)
			if len(ds) != 1 {
				t.Fatalf("%+v", ds)
			}
			b := f.Board(ds[0])
			if b.Port != tt.port || b.Serial != tt.serial || b.Product != tt.name || b.Mode != tt.mode || !slices.Equal(b.Interfaces, tt.kinds) || ds[0].Num != tt.num {
				t.Errorf("%+v, want %+v", b, tt)
			}
		})
	}
}

// TestSameAsLibusb compares the kernel's descriptors as this package reads them
// with what libusb makes of the same machine.
func TestSameAsLibusb(t *testing.T) {
	_, f := machine(t,
		usbtest.Bootsel("1-1", 7, "A1B2C3D4E5F60718", ""),
		usbtest.Probe("1-2", 5, "E6633861A355B82C", "ttyACM0"),
	)
	mine := devices(t, f)
	ctx := gousb.NewContext()
	defer ctx.Close()
	n := 0
	_, err := ctx.OpenDevices(func(desc *gousb.DeviceDesc) bool {
		for _, d := range mine {
			if d.Bus != desc.Bus || d.Num != desc.Address {
				continue
			}
			n++
			config := desc.Configs[1]
			if len(config.Interfaces) != len(d.Interfaces) {
				t.Errorf("%s: %d interfaces, libusb sees %d", d.Port, len(d.Interfaces), len(config.Interfaces))
				continue
			}
			for i, in := range config.Interfaces {
				alt := in.AltSettings[0]
				if uint8(alt.Class) != d.Interfaces[i].Class || uint8(alt.Protocol) != d.Interfaces[i].Protocol || len(alt.Endpoints) != len(d.Interfaces[i].Endpoints) {
					t.Errorf("%s: interface %+v, libusb sees %v", d.Port, d.Interfaces[i], alt)
				}
				for _, e := range d.Interfaces[i].Endpoints {
					if le, ok := alt.Endpoints[gousb.EndpointAddress(e.Address)]; !ok || le.MaxPacketSize != e.MaxPacket {
						t.Errorf("%s: endpoint %+v, libusb sees %v", d.Port, e, le)
					}
				}
			}
		}
		return false
	})
	if err != nil || n != 2 {
		t.Errorf("libusb saw %d of 2 devices: %v", n, err)
	}
}

func TestHotPlug(t *testing.T) {
	stay := usbtest.Probe("1-2", 5, "E6633861A355B82C", "ttyACM0")
	tb, f := machine(t, stay)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	looks := make(chan []string)
	ended := make(chan error, 1)
	go func() {
		ended <- f.Watch(ctx, func(ds []usb.Device) error {
			ports := []string{}
			for _, d := range ds {
				ports = append(ports, d.Port+" "+string(d.Mode))
			}
			select {
			case looks <- ports:
			case <-ctx.Done():
			}
			return nil
		})
	}()
	until := func(want ...string) {
		t.Helper()
		for {
			select {
			case got := <-looks:
				if slices.Equal(got, want) {
					return
				}
			case err := <-ended:
				t.Fatalf("Watch ended: %v; wanted to see %v", err, want)
			}
		}
	}
	until("1-2 probe")
	b := usbtest.Bootsel("1-1", 8, "A1B2C3D4E5F60718", "sda")
	plug(t, tb, b)
	until("1-1 bootsel", "1-2 probe")
	unplug(tb, b)
	until("1-2 probe")
	cancel()
	for {
		select {
		case <-looks:
			continue
		case err := <-ended:
			if err != context.Canceled { //nolint:errorlint // as it is
				t.Error(err)
			}
			return
		}
	}
}

// TestFollow re-enumerates a board as a reset does: another device number, other
// interfaces, another serial number, the same port. Another board that is in the
// mode that is waited for is not taken for it.
func TestFollow(t *testing.T) {
	app := usbtest.Stdio("1-1", 8, "EEEEEEEEEEEEEEEE", "ttyACM0")
	tb, f := machine(t, app, usbtest.Bootsel("1-7", 3, "FFFF00001111AAAA", ""))
	var old usb.Device
	for _, d := range devices(t, f) {
		if d.Port == "1-1" {
			old = d
		}
	}
	boot := usbtest.Bootsel("1-1", 11, "A1B2C3D4E5F60718", "sda")
	replug := func(from, to usbtest.Gadget, want func(*usb.Device) bool) usb.Device {
		t.Helper()
		done := make(chan struct{})
		go func() {
			defer close(done)
			unplug(tb, from)
			plug(t, tb, to)
		}()
		got, err := f.Follow(t.Context(), old, want)
		<-done
		if err != nil || got.Port != "1-1" || got.Num != to.Num || got.Serial != to.Serial {
			t.Fatalf("%+v, %v", got, err)
		}
		return got
	}
	old = replug(app, boot, usb.InBootsel)
	again := usbtest.Stdio("1-1", 12, "EEEEEEEEEEEEEEEE", "ttyACM1")
	old = replug(boot, again, func(d *usb.Device) bool { return usb.Running(d) && len(d.TTYs) > 0 })
	if old.TTYs[0].Node != "/dev/ttyACM1" {
		t.Errorf("%+v", old.TTYs)
	}
}

// TestStrangeStrings: a device may say anything.
func TestStrangeStrings(t *testing.T) {
	g := usbtest.Stdio("1-1", 8, "../../etc\n\x1b[2J", "ttyACM0")
	g.Name = "\x1b]0;owned\a%s"
	_, f := machine(t, g)
	ds := devices(t, f)
	if len(ds) != 1 || ds[0].Serial != "../../etc\n\x1b[2J" {
		t.Fatalf("%+v", ds)
	}
	if s := f.Board(ds[0]).Selector(); s != "usb:1-1" {
		t.Errorf("selector %q", s)
	}
}
