package bootsel

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/stem-hw/stem-hw/board"
	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/usb"
	"github.com/stem-hw/stem-hw/usb/picoboot"
	"github.com/stem-hw/stem-hw/usb/resetiface"
)

// Options say how a board is opened.
type Options struct {
	// Verb is what the board is wanted for, for the lease.
	Verb string
	// Wait is how long a board that somebody else has is waited for; Waiting,
	// which may be nil, hears of it.
	Wait    time.Duration
	Waiting func(usb.Holder)
	// Force restarts a program that runs into BOOTSEL mode.
	Force bool
	// ChipID is the 64-bit device id that was pinned, in hexadecimal; "" if none
	// was.
	ChipID string
	// Say, which may be nil, hears what is done to the board.
	Say func(format string, args ...any)
	// Trace, which may be nil, hears of each PICOBOOT command.
	Trace func(picoboot.Event)
	// Command is the verb with a place for the selector, for advice.
	Command string
	// BeforeRestart, which may be nil, is called before the board leaves the bus
	// because of a request: a serial port of it should be closed then.
	BeforeRestart func()
}

// held is a board that this process has.
type held struct {
	bus    Bus
	opt    Options
	device usb.Device
	lease  Lease
	// was is what the board was before, running or in BOOTSEL mode.
	was usb.Device
}

// take takes a board, and brings it into BOOTSEL mode.
func take(ctx context.Context, bus Bus, d usb.Device, o Options) (*held, error) {
	if o.Say == nil {
		o.Say = func(string, ...any) {}
	}
	if o.BeforeRestart == nil {
		o.BeforeRestart = func() {}
	}
	if err := suitable(d); err != nil {
		return nil, err
	}
	l, err := bus.Lease(ctx, d, o.Verb, o.Wait, o.Waiting)
	if err != nil {
		return nil, err
	}
	h := &held{bus: bus, opt: o, device: d, lease: l, was: d}
	if d.Mode == board.ModeBootsel {
		return h, nil
	}
	if !o.Force {
		_ = l.Release()
		return nil, running(d, o.Command)
	}
	if err := h.enter(ctx); err != nil {
		_ = h.lease.Release()
		return nil, err
	}
	return h, nil
}

// suitable refuses what is no RP2350.
func suitable(d usb.Device) error {
	switch {
	case d.Role != board.RoleBoard:
		return &faults.Fault{
			Code: faults.CodeNotSupported, Status: faults.StatusTarget,
			Summary: "this is a debug probe, not a board", Seen: d.String(),
			Try: []string{"name the board behind it: stem-hw list"},
		}
	case d.Chip == "rp2040":
		return &faults.Fault{
			Code: faults.CodeWrongMachine, Status: faults.StatusImage,
			Summary: "this board has an RP2040", Seen: d.String(), Wanted: "a board with an RP2350",
			Try: []string{"stem-hw list"},
		}
	}
	return nil
}

// running is the fault for a board that would have to be interrupted.
func running(d usb.Device, command string) error {
	f := &faults.Fault{
		Code: faults.CodeBusy, Status: faults.StatusBusy,
		Summary: "the board runs a program", Seen: d.String(),
		Wanted: "a board in BOOTSEL mode, or leave to restart it",
		Try:    []string{"hold the button BOOTSEL, unplug the board and plug it in again"},
	}
	if command != "" {
		f.Try = append([]string{fmt.Sprintf(command, "usb:"+d.Port) + " -f"}, f.Try...)
	}
	return f
}

// enter restarts the program that runs into BOOTSEL mode: by the reset interface,
// else by the serial port.
func (h *held) enter(ctx context.Context) error {
	h.opt.BeforeRestart()
	if err := h.request(ctx); err != nil {
		return err
	}
	old := h.device
	next, err := h.bus.Follow(ctx, old, usb.InBootsel)
	if err != nil {
		return err
	}
	return h.move(ctx, next)
}

// request asks the program for BOOTSEL mode.
func (h *held) request(ctx context.Context) error {
	d := h.device
	var first error
	if i, ok := d.Find(usb.InterfaceReset); ok {
		h.opt.Say("restarting the board at usb %s into BOOTSEL mode", d.Port)
		c, err := h.bus.Open(ctx, d, i.Number)
		if err == nil {
			err = resetiface.Bootsel(ctx, c, i, 0)
			_ = c.Close()
		}
		if err == nil {
			return nil
		}
		first = err
	}
	for _, t := range d.TTYs {
		if t.Node == "" {
			continue
		}
		h.opt.Say("restarting the board at usb %s into BOOTSEL mode by %s at 1200 baud", d.Port, t.Node)
		if err := resetiface.Touch(ctx, t.Node); err != nil {
			first = errors.Join(first, err)
			continue
		}
		return nil
	}
	if f := faults.Of(first); f != nil {
		return f
	}
	return &faults.Fault{
		Code: faults.CodeTargetFailed, Status: faults.StatusTarget,
		Summary: "the program on the board offers no way into BOOTSEL mode", Seen: d.String(),
		Wanted: "the reset interface of the pico-sdk, or a serial port that listens to 1200 baud", Err: first,
		Try: []string{"hold the button BOOTSEL, unplug the board and plug it in again"},
	}
}

// move takes the lease over to what the board came back as.
func (h *held) move(ctx context.Context, next usb.Device) error {
	if err := h.lease.Move(ctx, next); err != nil {
		f := faults.Of(err)
		if f == nil {
			return err
		}
		c := *f
		c.Details = append(slices.Clone(f.Details), fmt.Sprintf(
			"the board at usb %s was restarted and is %s now; nothing was written to it", next.Port, modeText(next.Mode)))
		return &c
	}
	h.device = next
	return nil
}

func modeText(m board.Mode) string {
	if m == board.ModeBootsel {
		return "in BOOTSEL mode"
	}
	return string(m)
}

// picobootOf returns the PICOBOOT interface of a device.
func picobootOf(d usb.Device) (usb.Interface, bool) {
	if n := slices.IndexFunc(d.Interfaces, picoboot.IsInterface); n >= 0 {
		return d.Interfaces[n], true
	}
	return usb.Interface{}, false
}

// Open takes a board and speaks PICOBOOT to it.
func Open(ctx context.Context, bus Bus, d usb.Device, o Options) (*Target, error) {
	h, err := take(ctx, bus, d, o)
	if err != nil {
		return nil, err
	}
	t := &Target{held: h}
	if err := t.connect(ctx); err != nil {
		_ = t.Close()
		return nil, err
	}
	return t, nil
}

// connect opens PICOBOOT and asks the chip who it is.
func (t *Target) connect(ctx context.Context) error {
	i, ok := picobootOf(t.device)
	if !ok {
		return &faults.Fault{
			Code: faults.CodeNotSupported, Status: faults.StatusTarget,
			Summary: "the board does not offer PICOBOOT", Seen: t.device.String(),
			Wanted: "its interface, which OTP or the request for BOOTSEL mode switched off",
			Try:    []string{"use the drive: --via drive", "unplug the board and plug it in again with BOOTSEL held"},
		}
	}
	var err error
	if t.conn, err = t.bus.Open(ctx, t.device, i.Number); err != nil {
		return t.fault(err)
	}
	if t.pico, err = picoboot.Open(ctx, t.conn, i); err != nil {
		return t.fault(err)
	}
	t.pico.Trace = t.opt.Trace
	if t.system, err = t.pico.System(ctx); err != nil {
		return t.fault(err)
	}
	if err := board.CheckChip(t.opt.ChipID, t.ChipID(), "usb "+t.device.Port); err != nil {
		return err
	}
	return t.fault(t.pico.Exclusive(ctx, picoboot.IsExclusive))
}
