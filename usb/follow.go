package usb

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/stem-hw/stem-hw/board"
	"github.com/stem-hw/stem-hw/faults"
)

// FollowTime is how long a board that was told to restart may stay away. Only in
// this time does its place on the USB say who it is.
const FollowTime = 10 * time.Second

// settle is how long events may come in a row before they are looked at: one
// plugging in makes many.
const settle = 20 * time.Millisecond

// rescan is how often is looked without an event, should one be lost.
const rescan = 500 * time.Millisecond

// Watch calls changed with what there is, at first and after every change, until
// ctx ends or changed returns an error. Every call is worth a look: several
// changes may come as one.
func (f *Finder) Watch(ctx context.Context, changed func([]Device) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	events, err := f.index.watch(ctx)
	if err != nil {
		// Without udev's messages there is still looking again and again.
		events = nil
	}
	for {
		now, err := f.Devices(ctx)
		if err != nil {
			return err
		}
		if err := changed(now); err != nil {
			return err
		}
		t := time.NewTimer(rescan)
		select {
		case <-ctx.Done():
			t.Stop()
			return ctx.Err()
		case <-t.C:
		case _, ok := <-events:
			t.Stop()
			if !ok {
				events = nil
				continue
			}
			if err := sleep(ctx, settle); err != nil {
				return err
			}
		}
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// errFound ends a Watch.
var errFound = errors.New("found")

// Follow waits for the board that was told to restart: another device at the
// same port which want accepts and which may be opened. It must be called right
// behind the reset: at other times a place on the USB proves nothing.
func (f *Finder) Follow(ctx context.Context, old Device, want func(*Device) bool) (Device, error) {
	ctx, cancel := context.WithTimeout(ctx, FollowTime)
	defer cancel()
	var last *Device
	var found Device
	err := f.Watch(ctx, func(now []Device) error {
		last = nil
		for _, d := range now {
			if d.Port != old.Port {
				continue
			}
			last = &d
			// Before the kernel has configured it, nobody can say what it offers.
			if !sameDevice(d, old) && len(d.Interfaces) > 0 && d.Role == old.Role && want(&d) && d.Node.Access {
				found = d
				return errFound
			}
		}
		return nil
	})
	switch {
	case errors.Is(err, errFound):
		return found, nil
	case errors.Is(err, context.DeadlineExceeded):
		return Device{}, lost(old, last)
	}
	return Device{}, err
}

// sameDevice says that two looks saw one device, plugged in once.
func sameDevice(a, b Device) bool { return a.Port == b.Port && a.Bus == b.Bus && a.Num == b.Num }

// lost is the fault for a board that did not come back as wanted.
func lost(old Device, last *Device) error {
	f := &faults.Fault{
		Code: faults.CodeLost, Status: faults.StatusLost,
		Summary: fmt.Sprintf("the board at usb %s did not come back after its reset", old.Port),
		Try:     []string{"stem-hw list", "hold the button BOOTSEL, unplug the board and plug it in again"},
	}
	switch {
	case last == nil:
		f.Seen = "nothing at that port"
	case sameDevice(*last, old):
		f.Seen = "the board as it was, " + string(last.Mode)
	case !last.Node.Access:
		return NoAccess(*last)
	default:
		f.Seen = last.String() + ", " + string(last.Mode)
	}
	return f
}

// InBootsel is what Follow wants of a board that was sent into BOOTSEL mode.
func InBootsel(d *Device) bool { return d.Mode == board.ModeBootsel }

// Running is what Follow wants of a board that was started.
func Running(d *Device) bool { return d.Mode == board.ModeRunning }
