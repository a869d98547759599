package usb

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/stem-hw/stem-hw/faults"
)

// ErrNoUSB is the fault of a program that was built without cgo.
var ErrNoUSB error = &faults.Fault{
	Code: faults.CodeNoUSB, Status: faults.StatusMissingTool,
	Summary: "this stem-hw was built without USB", Seen: "a build with CGO_ENABLED=0",
	Wanted: "a build with cgo, libusb-1.0 and libudev", Try: []string{"make build CGO_ENABLED=1"},
}

var (
	errAccess = errors.New("the device may not be opened")
	errBusy   = errors.New("somebody else has the interface")
)

// openFault says why a device that was found could not be opened.
func openFault(d Device, err error) error {
	switch {
	case errors.Is(err, errAccess):
		return NoAccess(seenNow(Machine(os.Getenv), d))
	case errors.Is(err, errBusy):
		f := &faults.Fault{
			Code: faults.CodeBusy, Status: faults.StatusBusy,
			Summary: "another program has this device open", Seen: d.String(),
			Try: []string{"end the program that uses it (OpenOCD, picotool, a debugger)"},
		}
		if who := opener("/", d.Node.Path); who != "" {
			f.Seen += ", held by " + who
		}
		return f
	case errors.Is(err, ErrGone):
		return &faults.Fault{
			Code: faults.CodeLost, Status: faults.StatusLost,
			Summary: "the device went away", Seen: d.String(), Try: []string{"stem-hw list"},
		}
	}
	return &faults.Fault{
		Code: faults.CodeTargetFailed, Status: faults.StatusTarget,
		Summary: "the device cannot be opened", Seen: d.String(), Err: err, Try: []string{"unplug it and plug it in again"},
	}
}

// seenNow is a device with its node as it is now: udev may have been at it.
func seenNow(sys System, d Device) Device {
	if n := newLook(sys).node(strings.TrimPrefix(d.Node.Path, "/")); !n.Missing {
		d.Node = n
	}
	return d
}

// NoAccess is the fault for a device that this account may not open.
func NoAccess(d Device) error {
	return &faults.Fault{
		Code: faults.CodeNoAccess, Status: faults.StatusPermission,
		Summary: "no permission to open the device", Seen: d.Node.String(),
		Wanted: "read and write access for this account",
		Try:    []string{"stem-hw udev install", "stem-hw doctor"},
	}
}

// String shows the node as ls would: "/dev/bus/usb/001/005 root:root 0664".
func (n Node) String() string {
	if n.Missing {
		return n.Path + ", which is not there"
	}
	return fmt.Sprintf("%s %s:%s %04o", n.Path, n.Owner, n.Group, n.Perm)
}
