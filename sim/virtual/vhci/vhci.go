package vhci

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"time"
)

// DefaultSysfs is where the controller's files are.
const DefaultSysfs = "/sys/devices/platform/vhci_hcd.0"

// FullSpeed is USB's 12 Mbit/s in the kernel's numbers (include/uapi/linux/usb/ch9.h).
const FullSpeed = 2

// stateFree is VDEV_ST_NULL of enum usbip_device_status (include/uapi/linux/usbip.h).
const stateFree = 4

// ErrNoController says that the module is not loaded.
var ErrNoController = errors.New("the kernel has no virtual USB host controller: the module vhci-hcd is not loaded")

// ErrBusy says that a port has a device.
var ErrBusy = errors.New("the port has a device")

// Controller is the virtual host controller.
type Controller struct{ dir string }

// Open returns the controller whose files are in dir.
func Open(dir string) (*Controller, error) {
	if _, err := os.Stat(filepath.Join(dir, "attach")); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, ErrNoController
		}
		return nil, err
	}
	return &Controller{dir}, nil
}

// Port is one port for full-speed devices.
type Port struct {
	// Number is the kernel's for it.
	Number int
	// Free says that it has no device.
	Free bool
	// Device is what a device there is called in /sys/bus/usb/devices.
	Device string
}

// Ports lists the ports for full-speed devices, in order.
func (c *Controller) Ports() ([]Port, error) {
	names, err := filepath.Glob(filepath.Join(c.dir, "status*"))
	if err != nil {
		return nil, err
	}
	sort.Slice(names, func(i, j int) bool { return index(names[i]) < index(names[j]) })
	var ports []Port
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		bus, err := c.bus(index(name))
		if err != nil {
			return nil, err
		}
		found, err := parseStatus(b)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		for i, p := range found {
			p.Device = fmt.Sprintf("%d-%d", bus, i+1)
			ports = append(ports, p)
		}
	}
	return ports, nil
}

// index is the number of the controller of a status file.
func index(name string) int {
	_, after, _ := strings.Cut(filepath.Base(name), ".")
	n, _ := strconv.Atoi(after)
	return n
}

// bus is the number of the bus with the full-speed ports of a controller. They
// are shared by the controllers' platform devices vhci_hcd.0, vhci_hcd.1, ...;
// of each one's two buses the first is for USB 2.
func (c *Controller) bus(controller int) (int, error) {
	base := strings.TrimSuffix(c.dir, filepath.Ext(c.dir))
	names, err := filepath.Glob(fmt.Sprintf("%s.%d/usb*/busnum", base, controller))
	if err != nil {
		return 0, err
	}
	best := 0
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			return 0, err
		}
		n, err := strconv.Atoi(string(bytes.TrimSpace(b)))
		if err == nil && (best == 0 || n < best) {
			best = n
		}
	}
	if best == 0 {
		return 0, fmt.Errorf("%s.%d has no bus", base, controller)
	}
	return best, nil
}

// parseStatus reads a status file; its first line is a heading.
func parseStatus(b []byte) (ports []Port, err error) {
	sc := bufio.NewScanner(bytes.NewReader(b))
	for first := true; sc.Scan(); first = false {
		f := strings.Fields(sc.Text())
		if first || len(f) == 0 {
			continue
		}
		if len(f) < 3 {
			return nil, fmt.Errorf("the line %q has no state", sc.Text())
		}
		if f[0] != "hs" {
			continue
		}
		number, err1 := strconv.Atoi(f[1])
		state, err2 := strconv.Atoi(f[2])
		if err := errors.Join(err1, err2); err != nil {
			return nil, err
		}
		ports = append(ports, Port{Number: number, Free: state == stateFree})
	}
	return ports, sc.Err()
}

// AwaitFree waits until a port is free: a device that was unplugged needs a
// moment to be gone.
func (c *Controller) AwaitFree(ctx context.Context, number int) error {
	for {
		ports, err := c.Ports()
		if err != nil {
			return err
		}
		known := false
		for _, p := range ports {
			if p.Number == number {
				known = true
				if p.Free {
					return nil
				}
			}
		}
		if !known {
			return fmt.Errorf("the controller has no full-speed port %d", number)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("port %d: %w", number, ErrBusy)
		case <-time.After(5 * time.Millisecond):
		}
	}
}
