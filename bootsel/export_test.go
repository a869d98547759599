package bootsel

import (
	"context"

	"github.com/stem-hw/stem-hw/usb"
)

// writeFunc is a drive that a test plays.
type writeFunc func(blocks []byte) error

func (f writeFunc) Put(b []byte) error { return f(b) }
func (writeFunc) Close() error         { return nil }

// WithDrive lets put take the place of the kernel's way to the drive.
func (o DriveOptions) WithDrive(put func(blocks []byte) error) DriveOptions {
	o.open = func(context.Context, usb.Drive, func(context.Context) (usb.Device, bool, error)) (driveWriter, string, error) {
		return writeFunc(put), "played by a test", nil
	}
	return o
}
