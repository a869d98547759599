package usb

import (
	"context"
	"errors"
)

// Conn is one claimed interface of a device.
type Conn interface {
	// Control does a control transfer. requestType has bit 7 set for IN, and
	// data is filled then.
	Control(ctx context.Context, requestType, request uint8, value, index uint16, data []byte) (int, error)
	// Write sends p to an OUT endpoint as one transfer; an empty p is a
	// zero-length packet.
	Write(ctx context.Context, endpoint uint8, p []byte) (int, error)
	// Read fills p from an IN endpoint as one transfer, which a short packet
	// ends.
	Read(ctx context.Context, endpoint uint8, p []byte) (int, error)
	// ClearHalt clears an endpoint's halt, on both sides.
	ClearHalt(endpoint uint8) error
	// Close gives the interface and the device back.
	Close() error
}

// What a transfer may meet, beside the context's end.
var (
	// ErrStall is a halted endpoint or a refused control transfer.
	ErrStall = errors.New("the endpoint is halted")
	// ErrGone is a device that is not there any more.
	ErrGone = errors.New("the device is gone")
	// ErrOverflow is a device that sends more than was asked for.
	ErrOverflow = errors.New("the device sent too much")
)
