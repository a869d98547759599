package vhci

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// DefaultDevices is where the kernel lists USB devices.
const DefaultDevices = "/sys/bus/usb/devices"

// Appearance is what the kernel made of a device.
type Appearance struct {
	// Path is its name by ports, 1-1; Node is its file in /dev/bus/usb.
	Path string `json:"path"`
	Node string `json:"node,omitempty"`
	// ID is vendor:product.
	ID     string `json:"id"`
	Name   string `json:"name"`
	Serial string `json:"serial"`
	// Nodes are what drivers made of it in /dev: terminals, disks, hidraw.
	Nodes []string `json:"nodes,omitempty"`
}

// classes are the kinds of nodes that are told of.
var classes = []string{"tty", "block", "hidraw"}

// Look reads what is known about the device called name in the folder devices.
// ok is false until it has an address and a configuration.
func Look(devices, name string) (a Appearance, ok bool) {
	dir, err := filepath.EvalSymlinks(filepath.Join(devices, name))
	if err != nil {
		return a, false
	}
	get := func(file string) string {
		b, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			return ""
		}
		return strings.TrimSpace(string(b))
	}
	a = Appearance{Path: name, ID: get("idVendor") + ":" + get("idProduct"), Name: get("product"), Serial: get("serial")}
	if bus, dev := get("busnum"), get("devnum"); bus != "" && dev != "" {
		a.Node = "/dev/bus/usb/" + padded(bus) + "/" + padded(dev)
	}
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // a device that goes while it is looked at
		}
		if d.IsDir() && slices.Contains(classes, filepath.Base(filepath.Dir(path))) {
			a.Nodes = append(a.Nodes, "/dev/"+d.Name())
			return filepath.SkipDir
		}
		return nil
	})
	slices.Sort(a.Nodes)
	return a, a.Node != "" && get("bConfigurationValue") != ""
}

func padded(n string) string { return strings.Repeat("0", max(0, 3-len(n))) + n }

// wanted is how many nodes the interfaces of a device get from drivers that come
// with Linux.
func wanted(dir string) (n int) {
	files, _ := filepath.Glob(filepath.Join(dir, "*", "bInterfaceClass"))
	for _, f := range files {
		switch b, _ := os.ReadFile(f); strings.TrimSpace(string(b)) {
		case "02", "08", "03": // communication, mass storage, HID
			n++
		}
	}
	return n
}

// settleTime is how long the drivers of a device are waited for.
const settleTime = 4 * time.Second

// Await waits until a device is configured and its drivers made their nodes, for
// settleTime at most. ok is false if it never was.
func Await(ctx context.Context, devices, name string) (a Appearance, ok bool) {
	ctx, cancel := context.WithTimeout(ctx, settleTime)
	defer cancel()
	for {
		a, ok = Look(devices, name)
		if dir, err := filepath.EvalSymlinks(filepath.Join(devices, name)); err == nil && ok && len(a.Nodes) >= wanted(dir) {
			return a, true
		}
		select {
		case <-ctx.Done():
			return a, ok
		case <-time.After(20 * time.Millisecond):
		}
	}
}
