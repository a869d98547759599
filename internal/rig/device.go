package rig

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"
)

const sysfs = "/sys/bus/usb/devices/"

// patience is how long a test waits for something that has to happen.
const patience = 3 * time.Minute

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func contains(s, text string) bool { return strings.Contains(s, text) }

func serialOf(name, what string) string {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s %s %d", name, what, serials())
	return fmt.Sprintf("%016X", h.Sum64()|1)
}

var serials = func() func() int {
	n := 0
	return func() int { n++; return n }
}()

// Wait waits until something is so, and fails the test if it never is.
func Wait(t testing.TB, what string, so func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !so(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited %s in vain until %s", patience, what)
		}
	}
}

// Settle waits until udev has dealt with all events.
func Settle(t testing.TB) {
	t.Helper()
	Run(t, "udevadm", "settle", "-t", "180")
}

// Device is a USB device as the kernel has it.
type Device struct {
	// Name is its name in /sys/bus/usb/devices, 1-3.
	Name string
}

// Attr reads a file of its folder in sysfs, "" if there is none.
func (d *Device) Attr(name string) string {
	b, err := os.ReadFile(filepath.Join(sysfs, d.Name, name))
	if err != nil {
		return ""
	}
	return string(bytes.TrimSpace(b))
}

// Descriptors are its device descriptor and its configurations.
func (d *Device) Descriptors() []byte {
	b, err := os.ReadFile(filepath.Join(sysfs, d.Name, "descriptors"))
	if err != nil {
		return nil
	}
	return b
}

// ID is vendor and product, "2e8a:000f".
func (d *Device) ID() string { return d.Attr("idVendor") + ":" + d.Attr("idProduct") }

// Serial is its serial number.
func (d *Device) Serial() string { return d.Attr("serial") }

// Interface is class, subclass and protocol of an interface of its first
// configuration: "080650".
func (d *Device) Interface(n int) string {
	read := func(file string) string { return d.Attr(fmt.Sprintf("%s:1.%d/%s", d.Name, n, file)) }
	return read("bInterfaceClass") + read("bInterfaceSubClass") + read("bInterfaceProtocol")
}

// Num is the device number, which a re-enumeration changes.
func (d *Device) Num() int {
	n, _ := strconv.Atoi(d.Attr("devnum"))
	return n
}

// Node is its node in /dev/bus/usb.
func (d *Device) Node() string {
	bus, _ := strconv.Atoi(d.Attr("busnum"))
	return fmt.Sprintf("/dev/bus/usb/%03d/%03d", bus, d.Num())
}

// under lists the children of a class, by the names in it.
func (d *Device) under(patterns ...string) (names []string) {
	for _, p := range patterns {
		found, err := filepath.Glob(filepath.Join(sysfs, d.Name, d.Name+":*", p))
		if err != nil {
			continue
		}
		for _, f := range found {
			names = append(names, filepath.Base(f))
		}
	}
	sort.Strings(names)
	return names
}

// TTYs are its terminals, "/dev/ttyACM0".
func (d *Device) TTYs() (paths []string) {
	for _, n := range d.under("tty/*") {
		paths = append(paths, "/dev/"+n)
	}
	return paths
}

// Disks are its disks, "/dev/sda".
func (d *Device) Disks() (paths []string) {
	for _, n := range d.under("host*/target*/*/block/*") {
		paths = append(paths, "/dev/"+n)
	}
	return paths
}

// WaitTTY waits for its terminal.
func (d *Device) WaitTTY(t testing.TB) string {
	t.Helper()
	Wait(t, d.Name+" has a terminal", func() bool { return len(d.TTYs()) > 0 && exists(d.TTYs()[0]) })
	Settle(t)
	return d.TTYs()[0]
}

// WaitPartition waits for the first partition of its disk, "/dev/sda1".
func (d *Device) WaitPartition(t testing.TB) string {
	t.Helper()
	Wait(t, d.Name+" has a disk with a partition", func() bool {
		return len(d.Disks()) > 0 && exists(d.Disks()[0]+"1")
	})
	Settle(t)
	return d.Disks()[0] + "1"
}

// Properties are udev's of the device, or of a node or path in /sys.
func Properties(t testing.TB, path string) map[string]string {
	t.Helper()
	flag := "--path"
	if strings.HasPrefix(path, "/dev/") {
		flag = "--name"
	}
	p := map[string]string{}
	for _, line := range strings.Split(Run(t, "udevadm", "info", "--query=property", flag+"="+path), "\n") {
		if k, v, ok := strings.Cut(line, "="); ok {
			p[k] = v
		}
	}
	return p
}

// Properties are udev's.
func (d *Device) Properties(t testing.TB) map[string]string {
	t.Helper()
	return Properties(t, sysfs+d.Name)
}

// WaitDevice waits until a device with an id is at a path and udev has dealt
// with it.
func WaitDevice(t testing.TB, path, id string) *Device {
	t.Helper()
	return waitDevice(t, path, id, func(d *Device) bool { return d.ID() == id })
}

func waitDevice(t testing.TB, path, what string, is func(*Device) bool) *Device {
	t.Helper()
	d := &Device{Name: path}
	Wait(t, what+" is at "+path, func() bool {
		// The configuration is set last of what is needed.
		return len(d.Attr("idVendor")) == 4 && d.Attr("bConfigurationValue") != "" && is(d) && exists(d.Node())
	})
	Settle(t)
	return d
}
