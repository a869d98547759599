package main

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/stem-hw/stem-hw/board"
	"github.com/stem-hw/stem-hw/bootsel"
	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/image/report"
	"github.com/stem-hw/stem-hw/target/flashing"
)

// usesUSB says whether a program says of itself that it shows itself on the USB.
func usesUSB(im *image.Image) bool {
	p := report.NewInfo(im, false).Program
	return p != nil && slices.ContainsFunc(p.Features, func(s string) bool { return strings.Contains(s, "USB") })
}

// flashUSB writes an image into a board on the USB.
func (a *app) flashUSB(ctx context.Context, c *chosen, im *image.Image, f *flashFlags, r *flashed, tell progressFunc) error {
	if f.via == viaDrive {
		return a.flashDrive(ctx, c, im, f, r, tell)
	}
	r.Via = viaBootsel
	t, err := a.openUSB(ctx, c, access{
		verb: "flash", wait: f.wait, command: "stem-hw flash -b %s " + shellQuote(im.Path),
		force: f.force || !f.dryRun,
	})
	if err != nil {
		return err
	}
	err = a.putUSB(ctx, t, im, f, r, tell)
	switch {
	case err != nil:
		err = a.leftAs(ctx, t, err, r.Touched)
	case f.dryRun:
		_, err = t.Resume(ctx)
	case !f.noStart:
		if err = t.Start(ctx); err == nil {
			err = a.started(ctx, c, t, usesUSB(im))
			r.Started = err == nil
		}
	}
	return errors.Join(err, t.Close())
}

// putUSB brings an image into flash or RAM.
func (a *app) putUSB(ctx context.Context, t *bootsel.Target, im *image.Image, f *flashFlags, r *flashed, tell progressFunc) error {
	if r.Memory == image.KindRAM {
		if f.dryRun {
			return t.CheckArch(im.Arch)
		}
		return t.LoadRAM(ctx, im)
	}
	plan, err := t.Plan(ctx, im)
	if err != nil {
		return err
	}
	r.Result, err = plan.Write(ctx, t, flashing.Options{Full: f.full, Verify: !f.noVerify, DryRun: f.dryRun, Progress: tell})
	r.Unchanged = r.Result.Unchanged()
	if s := r.Took.Total(); s > 0 && !f.dryRun {
		r.KiBps = float64(r.Sectors*flashing.SectorSize) / 1024 / s
		r.Limit = r.Took.Limit()
	}
	return err
}

// leftAs adds to a fault what state the board is left in. A program that was
// interrupted and is as it was goes on.
func (a *app) leftAs(ctx context.Context, t *bootsel.Target, err error, touched bool) error {
	if faults.StatusOf(err) == faults.StatusLost {
		return err
	}
	state := "the board waits in BOOTSEL mode"
	if !touched {
		resumed, rerr := t.Resume(context.WithoutCancel(ctx))
		if resumed && rerr == nil {
			state = "the program that ran was started again"
		} else if t.Was().Mode == board.ModeBootsel {
			state = "the board waits in BOOTSEL mode, as before"
		}
	}
	f := faults.Of(err)
	if f == nil {
		return err
	}
	n := *f
	n.Details = append(slices.Clone(f.Details), state)
	return &n
}
