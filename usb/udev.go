//go:build cgo

package usb

import (
	"context"
	"errors"
	"path"
	"strings"

	"github.com/jochenvg/go-udev"
)

// subsystems are those whose events change what a board looks like.
var subsystems = []string{"usb", "tty", "hidraw", "block"}

// udevIndex asks libudev.
type udevIndex struct{ udev *udev.Udev }

func newIndex() (index, error) { return udevIndex{&udev.Udev{}}, nil }

// devices returns the syspaths of all USB devices, without interfaces and root
// hubs. It does not wait for udev's rules: a device that is being set up is a
// device.
func (x udevIndex) devices() ([]string, error) {
	e := x.udev.NewEnumerate()
	if e == nil {
		return nil, errors.New("libudev cannot list devices")
	}
	if err := e.AddMatchSubsystem("usb"); err != nil {
		return nil, err
	}
	all, err := e.DeviceSyspaths()
	if err != nil {
		return nil, err
	}
	var out []string
	for _, p := range all {
		if isDeviceName(path.Base(p)) {
			out = append(out, strings.TrimPrefix(strings.TrimPrefix(p, "/sys"), "/"))
		}
	}
	return out, nil
}

// watch tells that something changed, after udev's rules for it ran.
func (x udevIndex) watch(ctx context.Context) (<-chan struct{}, error) {
	m := x.udev.NewMonitorFromNetlink("udev")
	if m == nil {
		return nil, errors.New("udev's messages cannot be heard")
	}
	for _, s := range subsystems {
		if err := m.FilterAddMatchSubsystem(s); err != nil {
			return nil, err
		}
	}
	events, errs, err := m.DeviceChan(ctx)
	if err != nil {
		return nil, err
	}
	out := make(chan struct{}, 1)
	go func() {
		defer close(out)
		// Both channels are drained to their end: the sender waits for that.
		for events != nil || errs != nil {
			select {
			case _, ok := <-events:
				if !ok {
					events = nil
					continue
				}
				select {
				case out <- struct{}{}:
				default: // one is waiting already
				}
			case _, ok := <-errs:
				if !ok {
					errs = nil
				}
			}
		}
	}()
	return out, nil
}
