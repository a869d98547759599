package resetiface

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"github.com/stem-hw/stem-hw/usb"
)

// Requests of the interface, of type class.
const (
	classToInterface = 0x21
	requestBootsel   = 1
	requestFlash     = 2
)

// controlTime bounds a request.
const controlTime = time.Second

// Flags of BOOTSEL mode.
const (
	NoDrive    = 0x01
	NoPicoboot = 0x02
)

// Bootsel asks for BOOTSEL mode.
func Bootsel(ctx context.Context, c usb.Conn, i usb.Interface, flags uint16) error {
	return request(ctx, c, requestBootsel, flags, i)
}

// Restart asks the program to start again.
func Restart(ctx context.Context, c usb.Conn, i usb.Interface) error {
	return request(ctx, c, requestFlash, 0, i)
}

func request(ctx context.Context, c usb.Conn, what uint8, value uint16, i usb.Interface) error {
	ctx, cancel := context.WithTimeout(ctx, controlTime)
	defer cancel()
	_, err := c.Control(ctx, classToInterface, what, value, uint16(i.Number), nil)
	if errors.Is(err, usb.ErrStall) {
		return fmt.Errorf("the program's reset interface refuses the request: %w", err)
	}
	// Gone, timed out, an I/O error: it restarts already.
	return nil
}

// touchTime is how long a port that somebody else has open is asked again.
const touchTime = 2 * time.Second

// Touch sets a serial port to 1200 baud. A console that has it for itself is
// given time to let go of it.
func Touch(ctx context.Context, node string) error {
	end := time.Now().Add(touchTime)
	for {
		fd, err := unix.Open(node, unix.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
		if err == nil {
			err = touch(fd)
			_ = unix.Close(fd)
			return err
		}
		if !errors.Is(err, unix.EBUSY) || !time.Now().Before(end) {
			return fmt.Errorf("opening %s: %w", node, err)
		}
		t := time.NewTimer(50 * time.Millisecond)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return ctx.Err()
		}
	}
}

func touch(fd int) error {
	t, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil {
		return fmt.Errorf("the serial port: %w", err)
	}
	t.Cflag = t.Cflag&^unix.CBAUD | unix.B1200 | unix.CS8 | unix.CREAD | unix.CLOCAL
	t.Ispeed, t.Ospeed = unix.B1200, unix.B1200
	err = unix.IoctlSetTermios(fd, unix.TCSETS, t)
	if errors.Is(err, unix.ENODEV) || errors.Is(err, unix.EIO) {
		return nil // it restarts already
	}
	return err
}
