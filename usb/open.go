//go:build cgo

package usb

/*
#cgo pkg-config: libusb-1.0
#include <libusb.h>
*/
import "C"

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/google/gousb"
)

// Available says that this program was built with USB.
const Available = true

// controlTime bounds a control transfer whose context has no end of its own.
const controlTime = 5 * time.Second

// Open opens a device that was found and claims one of its interfaces. Kernel
// drivers of the device's other interfaces keep them. Opening is by bus and
// device number, so it is never another device than the one that was found.
func Open(ctx context.Context, d Device, iface int) (Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var c *conn
	refused := func(err error) bool { return errors.Is(err, errAccess) }
	err := WhenReady(ctx, "/", d.Node.Path, refused, func() error {
		c = &conn{usb: gousb.NewContext(), device: d}
		err := c.open(iface)
		if err != nil {
			_ = c.Close()
		}
		return err
	})
	if err != nil {
		return nil, openFault(d, err)
	}
	return c, nil
}

type conn struct {
	usb    *gousb.Context
	dev    *gousb.Device
	config *gousb.Config
	iface  *gousb.Interface
	device Device
	in     map[uint8]*gousb.InEndpoint
	out    map[uint8]*gousb.OutEndpoint
}

func (c *conn) open(iface int) error {
	found := false
	devs, err := c.usb.OpenDevices(func(desc *gousb.DeviceDesc) bool {
		same := desc.Bus == c.device.Bus && desc.Address == c.device.Num &&
			uint16(desc.Vendor) == c.device.Vendor && uint16(desc.Product) == c.device.Product
		found = found || same
		return same
	})
	if len(devs) == 0 {
		switch {
		case !found:
			return ErrGone
		case err == nil:
			return ErrGone
		}
		return gousbError(err)
	}
	c.dev = devs[0]
	for _, d := range devs[1:] {
		_ = d.Close()
	}
	n, err := c.dev.ActiveConfigNum()
	if err != nil {
		return gousbError(err)
	}
	if c.config, err = c.dev.Config(n); err != nil {
		return gousbError(err)
	}
	if c.iface, err = c.config.Interface(iface, 0); err != nil {
		return gousbError(err)
	}
	c.in, c.out = map[uint8]*gousb.InEndpoint{}, map[uint8]*gousb.OutEndpoint{}
	for a, e := range c.iface.Setting.Endpoints {
		if e.Direction == gousb.EndpointDirectionIn {
			if c.in[uint8(a)], err = c.iface.InEndpoint(e.Number); err != nil {
				return gousbError(err)
			}
		} else if c.out[uint8(a)], err = c.iface.OutEndpoint(e.Number); err != nil {
			return gousbError(err)
		}
	}
	return nil
}

func (c *conn) Control(ctx context.Context, requestType, request uint8, value, index uint16, data []byte) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	c.dev.ControlTimeout = controlTime
	if end, ok := ctx.Deadline(); ok {
		c.dev.ControlTimeout = max(time.Millisecond, min(controlTime, time.Until(end)))
	}
	n, err := c.dev.Control(requestType, request, value, index, data)
	return n, c.transferError(ctx, err)
}

func (c *conn) Write(ctx context.Context, endpoint uint8, p []byte) (int, error) {
	e := c.out[endpoint]
	if e == nil {
		return 0, fmt.Errorf("the interface has no endpoint %#02x", endpoint)
	}
	n, err := e.WriteContext(ctx, p)
	return n, c.transferError(ctx, err)
}

func (c *conn) Read(ctx context.Context, endpoint uint8, p []byte) (int, error) {
	e := c.in[endpoint]
	if e == nil {
		return 0, fmt.Errorf("the interface has no endpoint %#02x", endpoint)
	}
	n, err := e.ReadContext(ctx, p)
	return n, c.transferError(ctx, err)
}

// ClearHalt goes to libusb directly: gousb has no call for it, and a control
// transfer would leave the host's data toggle as it is.
func (c *conn) ClearHalt(endpoint uint8) error {
	handle := reflect.ValueOf(c.dev).Elem().FieldByName("handle").UnsafePointer()
	if errno := C.libusb_clear_halt((*C.libusb_device_handle)(handle), C.uchar(endpoint)); errno != 0 {
		return gousbError(gousb.Error(errno))
	}
	return nil
}

func (c *conn) Close() error {
	var errs []error
	if c.iface != nil {
		c.iface.Close()
	}
	if c.config != nil {
		errs = append(errs, c.config.Close())
	}
	if c.dev != nil {
		errs = append(errs, c.dev.Close())
	}
	errs = append(errs, c.usb.Close())
	c.iface, c.config, c.dev = nil, nil, nil
	return errors.Join(errs...)
}

// transferError says what a transfer met in this package's words. The context's
// end comes first: it is why gousb cancelled the transfer.
func (c *conn) transferError(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return gousbError(err)
}

// errorCode is libusb's error. Where gousb claims an interface it keeps the text
// alone (google/gousb, config.go, Config.Interface).
func errorCode(err error) (gousb.Error, bool) {
	if code := gousb.Error(0); errors.As(err, &code) {
		return code, true
	}
	for _, code := range []gousb.Error{gousb.ErrorBusy, gousb.ErrorAccess, gousb.ErrorNoDevice, gousb.ErrorNotFound, gousb.ErrorPipe, gousb.ErrorTimeout} {
		if strings.HasSuffix(err.Error(), code.Error()) {
			return code, true
		}
	}
	return 0, false
}

func gousbError(err error) error {
	var status gousb.TransferStatus
	if errors.As(err, &status) {
		switch status {
		case gousb.TransferStall:
			return ErrStall
		case gousb.TransferNoDevice:
			return ErrGone
		case gousb.TransferOverflow:
			return ErrOverflow
		case gousb.TransferTimedOut:
			return context.DeadlineExceeded
		}
		return err
	}
	code, ok := errorCode(err)
	if !ok {
		return err
	}
	switch code {
	case gousb.ErrorPipe:
		return ErrStall
	case gousb.ErrorNoDevice:
		return ErrGone
	case gousb.ErrorOverflow:
		return ErrOverflow
	case gousb.ErrorTimeout:
		return context.DeadlineExceeded
	case gousb.ErrorAccess:
		return errAccess
	case gousb.ErrorBusy:
		return errBusy
	}
	return err
}
