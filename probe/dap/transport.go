package dap

import (
	"context"
	"errors"
)

// Transport carries packets to a probe and its answers back, in order. Send and
// Receive are used by one goroutine; Close may come from anywhere and ends them.
type Transport interface {
	// Send hands one packet over.
	Send(ctx context.Context, packet []byte) error
	// Receive waits for the next answer.
	Receive(ctx context.Context) ([]byte, error)
	// Close gives the probe back.
	Close() error
}

// MaxPacket bounds a packet of any probe: CMSIS-DAP v2 at high speed has 512
// bytes, and nobody has more than a kilobyte.
const MaxPacket = 1024

// ErrLost is in the chain of an error when the probe is gone: pulled out, or its
// server closed the connection.
var ErrLost = errors.New("the probe is gone")

// ErrAnswer is in the chain of an error when the probe answered something that
// cannot be an answer.
var ErrAnswer = errors.New("the probe does not keep to CMSIS-DAP")
