package bootsel

import (
	"context"
	"time"

	"github.com/stem-hw/stem-hw/usb"
)

// Bus is where a board is plugged in.
type Bus interface {
	// Devices lists what there is.
	Devices(ctx context.Context) ([]usb.Device, error)
	// Open opens one interface.
	Open(ctx context.Context, d usb.Device, iface int) (usb.Conn, error)
	// Follow waits for a board that was told to restart.
	Follow(ctx context.Context, old usb.Device, want func(*usb.Device) bool) (usb.Device, error)
	// Lease takes a board for this process.
	Lease(ctx context.Context, d usb.Device, verb string, wait time.Duration, waiting func(usb.Holder)) (Lease, error)
}

// Lease is a board that this process has.
type Lease interface {
	// Move takes the lease over to what the board came back as.
	Move(ctx context.Context, to usb.Device) error
	Release() error
}

// System is this machine's USB.
type System struct{ *usb.Finder }

// Open implements Bus.
func (System) Open(ctx context.Context, d usb.Device, iface int) (usb.Conn, error) {
	return usb.Open(ctx, d, iface)
}

// Lease implements Bus.
func (s System) Lease(ctx context.Context, d usb.Device, verb string, wait time.Duration, waiting func(usb.Holder)) (Lease, error) {
	l, err := s.Finder.Lease(ctx, d, verb, wait, waiting)
	if err != nil {
		return nil, err
	}
	return l, nil
}
