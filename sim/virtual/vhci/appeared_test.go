package vhci

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

func TestLook(t *testing.T) {
	root := filepath.Dir(tree(t, map[string]string{
		"platform/usb1/1-1/busnum":                                       "1\n",
		"platform/usb1/1-1/devnum":                                       "12\n",
		"platform/usb1/1-1/idVendor":                                     "2e8a\n",
		"platform/usb1/1-1/idProduct":                                    "000c\n",
		"platform/usb1/1-1/product":                                      "Debug Probe (CMSIS-DAP)\n",
		"platform/usb1/1-1/serial":                                       "E660\n",
		"platform/usb1/1-1/bConfigurationValue":                          "1\n",
		"platform/usb1/1-1/1-1:1.0/bInterfaceClass":                      "03\n",
		"platform/usb1/1-1/1-1:1.0/0003:2E8A:000C.0001/hidraw/hidraw0/x": "",
		"platform/usb1/1-1/1-1:1.1/bInterfaceClass":                      "02\n",
		"platform/usb1/1-1/1-1:1.1/tty/ttyACM0/x":                        "",
		"platform/usb1/1-2/busnum":                                       "1\n",
	}))
	devices := filepath.Join(root, "devices")
	if err := os.Mkdir(devices, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{"1-1", "1-2"} {
		if err := os.Symlink("../platform/usb1/"+d, filepath.Join(devices, d)); err != nil {
			t.Fatal(err)
		}
	}
	want := Appearance{
		Path: "1-1", Node: "/dev/bus/usb/001/012", ID: "2e8a:000c", Name: "Debug Probe (CMSIS-DAP)", Serial: "E660",
		Nodes: []string{"/dev/hidraw0", "/dev/ttyACM0"},
	}
	if got, ok := Await(context.Background(), devices, "1-1"); !ok || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, ok)
	}
	for _, name := range []string{"1-2", "1-9"} {
		if _, ok := Look(devices, name); ok {
			t.Errorf("%s is not configured", name)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, ok := Await(ctx, devices, "1-9"); ok {
		t.Error("it never comes")
	}
}
