package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/stem-hw/stem-hw/board"
	"github.com/stem-hw/stem-hw/bootsel"
	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/usb"
	"github.com/stem-hw/stem-hw/usb/picoboot"
)

// Ways to a board.
const (
	viaAuto    = "auto"
	viaBootsel = "bootsel"
	viaDrive   = "drive"
)

// viaFlags are the options of verbs that reach a real board.
type viaFlags struct {
	via   string
	force bool
}

func (f *viaFlags) add(cmd *cobra.Command, force string, ways ...string) {
	choiceFlag(cmd, &f.via, "via", viaAuto, "the `WAY` to the chip of a board on the USB", append([]string{viaAuto}, ways...)...)
	cmd.Flags().BoolVarP(&f.force, "force", "f", false, force)
}

// interrupt is what -f does where a program has to be interrupted to look.
const interrupt = "restart a program that runs into BOOTSEL mode, and start it again at the end"

// bus is the USB of this machine.
func (a *app) bus() (bootsel.System, error) {
	f, err := a.usbFinder()
	return bootsel.System{Finder: f}, err
}

// bootselOptions are what a verb wants of a board.
func (a *app) bootselOptions(c *chosen, w access) bootsel.Options {
	o := bootsel.Options{
		Verb: w.verb, Wait: w.wait, Force: w.force, Command: w.command,
		Waiting: func(h usb.Holder) { a.ui.Say("waiting: the board is in use, %s", h) },
		Say:     a.ui.Say,
	}
	if c.pin != nil {
		o.ChipID = c.pin.Chip
	}
	if a.ui.Verbosity() >= 2 {
		o.Trace = func(e picoboot.Event) { a.ui.Verbose(2, "picoboot: %s", e) }
	}
	return o
}

// openUSB takes a board on the USB and opens it in BOOTSEL mode. Its chip is the
// one that was pinned.
func (a *app) openUSB(ctx context.Context, c *chosen, w access) (*bootsel.Target, error) {
	bus, err := a.bus()
	if err != nil {
		return nil, err
	}
	for {
		t, err := bootsel.Open(ctx, bus, c.device, a.bootselOptions(c, w))
		if errors.Is(err, usb.ErrMoved) {
			if err := a.findAgain(ctx, c); err != nil {
				return nil, err
			}
			continue
		}
		if err != nil {
			return nil, err
		}
		alias := ""
		if s := t.Device().Serial; s != c.Serial {
			alias = s
		}
		err = a.checkChip(c, t.ChipID())
		if err == nil && alias != "" {
			err = a.learn(c.Identity, t.ChipID(), alias)
		}
		if err != nil {
			_, rerr := t.Resume(ctx)
			return nil, errors.Join(err, rerr, t.Close())
		}
		return t, nil
	}
}

// started waits until the board restarts, and if its program uses the USB, until
// it is there, to remember the serial number that it shows.
func (a *app) started(ctx context.Context, c *chosen, t *bootsel.Target, usesUSB bool) error {
	if err := t.Left(ctx); err != nil || !usesUSB {
		return err
	}
	d, ok, err := t.Appeared(ctx)
	switch {
	case err != nil && faults.StatusOf(err) != faults.StatusBusy:
		return err
	case err != nil || !ok || d.Mode == board.ModeBootsel || d.Serial == c.Serial:
		return nil
	}
	return a.learn(c.Identity, t.ChipID(), d.Serial)
}
