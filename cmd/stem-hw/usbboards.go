package main

import (
	"context"
	"errors"
	"time"

	"github.com/stem-hw/stem-hw/board"
	"github.com/stem-hw/stem-hw/board/state"
	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/usb"
)

// plugged is a board on the USB.
type plugged struct {
	board.Board
	device usb.Device
}

// usbFinder returns what looks for boards on the USB.
func (a *app) usbFinder() (*usb.Finder, error) {
	if a.finder == nil {
		f, err := usb.New(usb.Machine(a.getenv))
		if err != nil {
			return nil, err
		}
		a.finder = f
	}
	return a.finder, nil
}

// usbBoards lists boards and probes on the USB. A program without USB has none.
func (a *app) usbBoards(ctx context.Context) ([]plugged, error) {
	f, err := a.usbFinder()
	if faults.Is(err, faults.CodeNoUSB) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	devices, err := f.Devices(ctx)
	if err != nil {
		return nil, err
	}
	return a.plugged(f, devices)
}

// plugged adds what this user knows of them.
func (a *app) plugged(f *usb.Finder, devices []usb.Device) ([]plugged, error) {
	_, known, err := a.decisions()
	if err != nil {
		return nil, err
	}
	out := make([]plugged, len(devices))
	for i, d := range devices {
		out[i] = plugged{f.Board(d), d}
		out[i].Nickname = known.Nickname(out[i].Identity)
	}
	return out, nil
}

// withoutUSB says of a board that was not found that this program could not look
// for it.
func (a *app) withoutUSB(s board.Selector, err error) error {
	if usb.Available || !faults.Is(err, faults.CodeBoardNotFound) {
		return err
	}
	f := *faults.Of(usb.ErrNoUSB)
	f.Summary = "the board " + s.String() + " cannot be looked for: " + f.Summary
	return &f
}

// present does f, and again after every change on the USB for as long as --wait
// says while the board is not there.
func (a *app) present(ctx context.Context, f func() error) error {
	err := f()
	if a.wait <= 0 || faults.StatusOf(err) != faults.StatusNotFound || err == nil {
		return err
	}
	finder, ferr := a.usbFinder()
	if ferr != nil {
		return err
	}
	a.ui.Say("waiting: %s", faults.Of(err).Summary)
	wctx, cancel := context.WithTimeout(ctx, a.wait)
	defer cancel()
	found := errors.New("found")
	werr := finder.Watch(wctx, func([]usb.Device) error {
		if err = f(); faults.StatusOf(err) != faults.StatusNotFound || err == nil {
			return found
		}
		return nil
	})
	if errors.Is(werr, found) || errors.Is(werr, context.DeadlineExceeded) && ctx.Err() == nil {
		return err
	}
	return werr
}

// lease takes a board on the USB for this process, and waits for it as long as
// wait says. A board that came back as another device meanwhile is found again,
// by what it was chosen for.
func (a *app) lease(ctx context.Context, c *chosen, verb string, wait time.Duration) (*usb.Lease, error) {
	f, err := a.usbFinder()
	if err != nil {
		return nil, err
	}
	end := time.Now().Add(wait)
	for {
		l, err := f.Lease(ctx, c.device, verb, max(0, time.Until(end)), func(h usb.Holder) {
			a.ui.Say("waiting: the board is in use, %s", h)
		})
		if !errors.Is(err, usb.ErrMoved) {
			return l, err
		}
		if err := a.findAgain(ctx, c); err != nil {
			return nil, err
		}
	}
}

// findAgain looks for a chosen board that was plugged in anew: by its identity,
// never by its port alone.
func (a *app) findAgain(ctx context.Context, c *chosen) error {
	pin := board.Pin{Identity: c.Identity}
	if c.pin != nil {
		pin = c.pin.Pin()
	}
	return a.present(ctx, func() error {
		found, err := a.usbBoards(ctx)
		if err != nil {
			return err
		}
		all := make([]board.Board, len(found))
		for i, p := range found {
			all[i] = p.Board
		}
		b, err := board.Pinned(pin, all, board.Ask{Command: "stem-hw info -b %s"})
		if err != nil {
			return err
		}
		for _, p := range found {
			if p.Node == b.Node {
				c.Board, c.device = p.Board, p.device
			}
		}
		return nil
	})
}

// checkChip compares the device id that a chip says of itself with the pinned
// one, before anything is written, and remembers it if none is known yet.
func (a *app) checkChip(c *chosen, chip string) error {
	if c.pin != nil {
		if err := board.CheckChip(c.pin.Chip, chip, c.Where()); err != nil {
			return err
		}
	}
	return a.learn(c.Identity, chip, "")
}

// learn remembers of the pins of a board the device id of its chip, and a serial
// number that its program shows behind a reset that was asked for.
func (a *app) learn(id board.Identity, chip, alias string) error {
	store, known, err := a.decisions()
	if err != nil {
		return err
	}
	if !known.Learn(id, chip, alias) {
		return nil
	}
	return store.Change(func(b *state.Boards) error {
		b.Learn(id, chip, alias)
		return nil
	})
}
