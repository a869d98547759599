package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/probe"
	"github.com/stem-hw/stem-hw/target/flashing"
)

// readOnly is the flash behind a probe for verbs that disturb nothing: it is
// read through the window in which a program is executed.
type readOnly struct{ t *probe.Target }

// ReadFlash implements flashing.Device.
func (r readOnly) ReadFlash(ctx context.Context, addr uint32, p []byte) error {
	return r.t.ReadFlash(ctx, addr, p)
}

// EraseFlash and ProgramFlash implement flashing.Device.
func (r readOnly) EraseFlash(context.Context, uint32, uint32) error { return errors.ErrUnsupported }

// ProgramFlash is never called.
func (r readOnly) ProgramFlash(context.Context, uint32, []byte) error { return errors.ErrUnsupported }

// probeImage opens the file of flash and verify as their flags say.
func probeImage(cmd *cobra.Command, path string) (*image.Image, error) {
	var f flashFlags
	f.read.family, _ = cmd.Flags().GetString("family")
	f.offset, _ = cmd.Flags().GetString("offset")
	return f.open(path)
}

func flag(cmd *cobra.Command, name string) bool {
	v, err := cmd.Flags().GetBool(name)
	return err == nil && v
}

// checkRollback refuses an image whose version item names rows of
// one-time-programmable memory: the boot ROM burns them when the image starts,
// and then no older one starts ever again.
func checkRollback(im *image.Image, allow bool) error {
	d := im.Definition()
	if d == nil || len(d.RollbackRows) == 0 || allow {
		return nil
	}
	return &faults.Fault{
		Code: faults.CodeRefused, Status: faults.StatusRefused,
		Summary: im.Path + " burns fuses of the chip when it starts",
		Seen:    fmt.Sprintf("a rollback version %d with %d rows of one-time-programmable memory", d.Rollback, len(d.RollbackRows)),
		Wanted:  "an image without, or --allow-rollback",
		Try:     []string{"stem-hw info " + shellQuote(im.Path), "stem-hw flash --allow-rollback " + shellQuote(im.Path)},
	}
}

// probeFlash is flash through a probe.
func (a *app) probeFlash(ctx context.Context, cmd *cobra.Command, args []string, w *probeWay) (err error) {
	im, err := probeImage(cmd, args[0])
	if err != nil {
		return err
	}
	noStart, dry := flag(cmd, "no-start"), flag(cmd, "dry-run")
	kind, err := checkFlashable(im, noStart)
	if err != nil {
		return err
	}
	if err := checkRollback(im, flag(cmd, "allow-rollback")); err != nil {
		return err
	}
	for _, warning := range im.Warnings {
		a.ui.Warn("%s", warning)
	}
	t, done, err := a.openProbe(ctx, w, "flash", probe.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	r := flashed{
		Board: w.name(), Serial: t.Chip().ID, File: im.Path, Format: im.Format, Arch: im.Arch, Memory: kind, DryRun: dry,
	}
	switch {
	case kind == image.KindRAM && dry:
	case kind == image.KindRAM:
		if err := t.Load(ctx, im); err != nil {
			return err
		}
		if err := t.Start(ctx); err != nil {
			return err
		}
		r.Started = true
	default:
		if err := a.probeWrite(ctx, cmd, t, im, &r); err != nil {
			return err
		}
		if dry {
			break
		}
		if noStart {
			err = t.ResetBootsel(ctx)
		} else {
			err = t.StartFlash(ctx, im.Arch)
			r.Started = err == nil
		}
		if err != nil {
			return err
		}
	}
	return a.ui.Result(flashResult{Boards: []flashed{r}})
}

// probeWrite brings an image into flash.
func (a *app) probeWrite(ctx context.Context, cmd *cobra.Command, t *probe.Target, im *image.Image, r *flashed) error {
	plan := flashing.NewPlan(im)
	tell, end := a.progress()
	defer end()
	o := flashing.Options{Full: flag(cmd, "full"), Verify: !flag(cmd, "no-verify"), DryRun: r.DryRun, Progress: tell}
	var err error
	if r.DryRun {
		if err := fits(plan, t.Chip().FlashSize); err != nil {
			return err
		}
		r.Result, err = plan.Write(ctx, readOnly{t}, o)
	} else {
		r.Result, err = t.Flash(ctx, plan, o)
	}
	r.Unchanged = r.Result.Unchanged()
	return err
}

// probeVerify is verify through a probe; the program runs on.
func (a *app) probeVerify(ctx context.Context, cmd *cobra.Command, args []string, w *probeWay) (err error) {
	im, err := probeImage(cmd, args[0])
	if err != nil {
		return err
	}
	l, err := im.Place(&image.RP2350)
	if err != nil {
		return err
	}
	if l.Kind != image.KindFlash {
		return &faults.Fault{
			Code: faults.CodeNotBootable, Status: faults.StatusImage,
			Summary: im.Path + " is for RAM: a program that runs has changed it", Wanted: "an image for flash",
		}
	}
	t, done, err := a.openProbe(ctx, w, "verify", probe.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	tell, end := a.progress()
	n, err := flashing.Compare(ctx, readOnly{t}, im, tell)
	end()
	if err != nil {
		if fl := faults.Of(err); fl != nil && fl.Code == faults.CodeVerify {
			return fl.WithTry("stem-hw flash --probe " + w.name() + " " + shellQuote(im.Path))
		}
		return err
	}
	return a.ui.Result(verified{w.name(), t.Chip().ID, false, im.Path, n})
}

// rangeOf is the range of flash that a verb means; all of it without one.
func rangeOf(text string, size uint32) (addrRange, error) {
	base := uint64(image.RP2350.FlashBase)
	r := addrRange{base, base + uint64(size)}
	if text == "" {
		return r, nil
	}
	got, err := parseRange(text)
	if err == nil && got.to > r.to {
		err = &faults.Fault{
			Code: faults.CodeImageTooLarge, Status: faults.StatusUsage,
			Summary: "the range reaches beyond the flash of the board",
			Seen:    text, Wanted: fmt.Sprintf("an end at or below 0x%08x", r.to),
		}
	}
	return got, err
}

// probeSave is save through a probe; the program runs on.
func (a *app) probeSave(ctx context.Context, cmd *cobra.Command, args []string, w *probeWay) (err error) {
	part, _ := cmd.Flags().GetString("range")
	all := flag(cmd, "all")
	if part != "" && all {
		return faults.Usage("--range and --all exclude each other")
	}
	var wf writeFlags
	wf.from(cmd)
	format, err := wf.format(args[0])
	if err != nil {
		return err
	}
	t, done, err := a.openProbe(ctx, w, "save", probe.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	r, err := rangeOf(part, t.Chip().FlashSize)
	if err != nil {
		return err
	}
	im, err := a.readImage(ctx, readOnly{t}, r, part == "" && !all)
	if err != nil {
		return err
	}
	if len(im.Segments) == 0 {
		return &faults.Fault{
			Code: faults.CodeBadImage, Status: faults.StatusImage,
			Summary: "the flash of the board is blank: there is nothing to save", Try: []string{"save it all the same with --all"},
		}
	}
	opt, notes, err := wf.options(im, format)
	if err != nil {
		return err
	}
	for _, n := range notes {
		a.ui.Note("%s", n)
	}
	o, err := writeImage(im, args[0], format, opt)
	if err != nil {
		return err
	}
	return a.ui.Result(saved{w.name(), t.Chip().ID, false, o})
}

// probeErase is erase through a probe.
func (a *app) probeErase(ctx context.Context, cmd *cobra.Command, args []string, w *probeWay) (err error) {
	all, dry := flag(cmd, "all"), flag(cmd, "dry-run")
	if all == (len(args) > 0) {
		u := faults.Usage("what is to be erased must be said once")
		u.Wanted = "a range, or --all"
		return u
	}
	text := strings.Join(args, "")
	if r, err := parseRange(text); !all && (err != nil || r.from%flashing.SectorSize != 0 || r.to%flashing.SectorSize != 0) {
		if err != nil {
			return err
		}
		u := faults.Usage("flash is erased in whole sectors of %d bytes", flashing.SectorSize)
		u.Seen = fmt.Sprintf("0x%08x to 0x%08x", r.from, r.to)
		return u
	}
	t, done, err := a.openProbe(ctx, w, "erase", probe.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	what := "erase " + text
	if all {
		what = "erase --all"
	}
	c := w.chosen
	if c.Serial == "" {
		c.Serial = t.Chip().ID
	}
	if !dry {
		if err := a.confirm(c, what, flag(cmd, "yes")); err != nil {
			return err
		}
	}
	r, err := rangeOf(text, t.Chip().FlashSize)
	if err != nil {
		return err
	}
	res := erased{w.name(), t.Chip().ID, false, uint32(r.from), uint32(r.to), int(r.to-r.from) / flashing.SectorSize, dry}
	if dry {
		return a.ui.Result(res)
	}
	if _, err := t.PrepareFlash(ctx); err != nil {
		return err
	}
	tell, end := a.progress()
	const step = 64 << 10
	for at := r.from; at < r.to && err == nil; {
		n := min(r.to-at, step-at%step)
		if err = t.EraseFlash(ctx, uint32(at), uint32(n)); err == nil {
			at += n
			tell("erasing", int(at-r.from), int(r.to-r.from))
		}
	}
	if err == nil {
		err = t.ResetBootsel(ctx)
	}
	end()
	if err != nil {
		return err
	}
	a.ui.Note("the board waits in BOOTSEL mode; what is left is started by: stem-hw reset --probe %s", w.name())
	return a.ui.Result(res)
}

// from takes the flags' values from a verb.
func (f *writeFlags) from(cmd *cobra.Command) {
	for name, to := range map[string]*string{"to": &f.to, "family": &f.family, "fill": &f.fill, "abs-block": &f.absBlock} {
		if l := cmd.Flags().Lookup(name); l != nil {
			*to = l.Value.String()
		}
	}
}
