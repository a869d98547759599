package bootsel

import (
	"context"

	"github.com/stem-hw/stem-hw/board"
	"github.com/stem-hw/stem-hw/usb"
	"github.com/stem-hw/stem-hw/usb/resetiface"
)

// Restart resets a board: what is in flash starts, or with toBootsel the board
// waits in BOOTSEL mode. It returns what the board is afterwards; of a program
// that does not use the USB that is not seen.
func Restart(ctx context.Context, bus Bus, d usb.Device, toBootsel bool, o Options) (usb.Device, error) {
	if i, ok := d.Find(usb.InterfaceReset); ok && !toBootsel && d.Mode != board.ModeBootsel {
		return restartProgram(ctx, bus, d, i, o)
	}
	o.Force = true
	if toBootsel {
		h, err := take(ctx, bus, d, o)
		if err != nil {
			return d, err
		}
		return h.device, h.lease.Release()
	}
	t, err := Open(ctx, bus, d, o)
	if err != nil {
		return d, err
	}
	defer t.Close()
	if err := t.reboot(ctx, 0, 0, 0); err != nil {
		return d, err
	}
	after := t.device
	after.Mode = board.ModeRunning
	if err := t.Left(ctx); err != nil {
		return t.device, err
	}
	return after, t.Close()
}

// restartProgram asks the program itself.
func restartProgram(ctx context.Context, bus Bus, d usb.Device, i usb.Interface, o Options) (usb.Device, error) {
	if err := suitable(d); err != nil {
		return d, err
	}
	l, err := bus.Lease(ctx, d, o.Verb, o.Wait, o.Waiting)
	if err != nil {
		return d, err
	}
	defer func() { _ = l.Release() }()
	c, err := bus.Open(ctx, d, i.Number)
	if err != nil {
		return d, err
	}
	if o.BeforeRestart != nil {
		o.BeforeRestart()
	}
	err = resetiface.Restart(ctx, c, i)
	_ = c.Close()
	if err != nil {
		return d, err
	}
	next, err := bus.Follow(ctx, d, func(*usb.Device) bool { return true })
	if err != nil {
		return d, err
	}
	return next, nil
}
