//go:build !cgo

package usb

import "context"

// Available says that this program was built with USB.
const Available = false

// Open returns the fault of a program without USB.
func Open(context.Context, Device, int) (Conn, error) { return nil, ErrNoUSB }
