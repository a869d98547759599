package main

import (
	"context"
	"errors"

	"github.com/stem-hw/stem-hw/bootsel"
	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/target/flashing"
	"github.com/stem-hw/stem-hw/usb"
)

// flashDrive writes an image to the drive of a board.
func (a *app) flashDrive(ctx context.Context, c *chosen, im *image.Image, f *flashFlags, r *flashed, tell progressFunc) error {
	r.Via = viaDrive
	switch {
	case f.noStart:
		u := faults.Usage("--no-start and --via drive exclude each other")
		u.Wanted = "the board restarts by itself when the last block came to its drive"
		return u
	case f.dryRun:
		u := faults.Usage("--dry-run and --via drive exclude each other")
		u.Wanted = "a way on which the board can be read"
		return u
	}
	bus, err := a.bus()
	if err != nil {
		return err
	}
	o := a.bootselOptions(c, access{verb: "flash", wait: f.wait, force: true, command: "stem-hw flash -b %s " + shellQuote(im.Path)})
	for {
		blocks, err := bootsel.ToDrive(ctx, bus, c.device, im, bootsel.DriveOptions{Options: o, Progress: tell})
		if errors.Is(err, usb.ErrMoved) {
			if err := a.findAgain(ctx, c); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		r.Sectors = flashing.NewPlan(im).Sectors()
		r.Changed, r.Bytes, r.Started = r.Sectors, blocks*256, true
		return nil
	}
}
