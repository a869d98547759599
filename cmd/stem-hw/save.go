package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/image/report"
	"github.com/stem-hw/stem-hw/target/flashing"
	"github.com/stem-hw/stem-hw/ui"
)

// saved is what was read out of a board.
type saved struct {
	Board     string        `json:"board"`
	Serial    string        `json:"serial"`
	Simulated bool          `json:"simulated"`
	Written   report.Output `json:"written"`
}

func (saved) Kind() string { return "save" }

func (s saved) Text(t *ui.Text) {
	w := s.Written
	t.Linef("%s: %d bytes saved to %s (%s)", s.Board, w.Bytes, w.File, w.Format)
}

func (a *app) saveCmd() *cobra.Command {
	var f chooseFlags
	var vf viaFlags
	var wf writeFlags
	var part string
	var all bool
	cmd := &cobra.Command{
		Use:   "save FILE",
		Short: "read the flash of a board into a file",
		Long: `Save reads the flash of a board into a UF2, BIN, ELF or Intel HEX file, as FILE's
name says: every sector that is not blank, a --range, or the whole chip with --all.
FILE is written whole or not at all.

A board on the USB can be read in BOOTSEL mode alone. A program that runs there is
interrupted with -f only, and started again at the end; a simulated board goes on.`,
		Example: `  stem-hw save -b sim backup.uf2
  stem-hw save -b sim --range 1M+64k data.bin
  stem-hw save -b sim --all flash.bin`,
		GroupID: groupBoards,
		Args:    exactArgs("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			r := addrRange{}
			if part != "" {
				if all {
					return faults.Usage("--range and --all exclude each other")
				}
				var err error
				if r, err = parseRange(part); err != nil {
					return err
				}
			}
			return a.save(cmd.Context(), args[0], &f, &vf, &wf, r, all)
		},
	}
	f.add(cmd, a)
	vf.add(cmd, interrupt, viaBootsel)
	wf.add(cmd)
	cmd.Flags().StringVar(&part, "range", "", "save this `RANGE`: FROM-TO or FROM+LENGTH")
	cmd.Flags().BoolVar(&all, "all", false, "save the whole chip, blank or not")
	return cmd
}

func (a *app) save(ctx context.Context, out string, f *chooseFlags, vf *viaFlags, wf *writeFlags, r addrRange, all bool) error {
	format, err := wf.format(out)
	if err != nil {
		return err
	}
	c, err := a.choose(ctx, f.board, needNamed, "stem-hw save -b %s "+filepath.Base(out))
	if err != nil {
		return err
	}
	s, err := a.openStorage(ctx, &c, access{
		verb: "save", wait: f.wait, force: vf.force, command: "stem-hw save -b %s " + shellQuote(out),
	})
	if err != nil {
		return err
	}
	defer s.Close(false)
	base := uint64(image.RP2350.FlashBase)
	whole := addrRange{base, base + uint64(s.size)}
	sparse := r.to == 0 && !all
	if r.to == 0 {
		r = whole
	}
	if r.to > whole.to {
		return &faults.Fault{
			Code: faults.CodeImageTooLarge, Status: faults.StatusUsage,
			Summary: "the range reaches beyond the flash of the board",
			Seen:    fmt.Sprintf("an end at 0x%08x", r.to), Wanted: fmt.Sprintf("at most 0x%08x", whole.to),
		}
	}
	im, err := a.readImage(ctx, s, r, sparse)
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
	o, err := writeImage(im, out, format, opt)
	if err != nil {
		return err
	}
	return a.ui.Result(saved{c.Selector(), c.Serial, c.Simulated, o})
}

// readImage reads flash as an image: in one piece, or (sparse) the sectors that
// are not blank.
func (a *app) readImage(ctx context.Context, d flashing.Device, r addrRange, sparse bool) (*image.Image, error) {
	const step = 64 << 10
	data := make([]byte, r.to-r.from)
	tell, end := a.progress()
	defer end()
	for at := 0; at < len(data); {
		n := min(len(data)-at, step)
		if err := d.ReadFlash(ctx, uint32(r.from)+uint32(at), data[at:at+n]); err != nil {
			return nil, err
		}
		at += n
		tell("reading", at, len(data))
	}
	im, err := image.Parse("flash", data, image.Options{Format: image.FormatBIN, Base: uint32(r.from), HasBase: true})
	if err != nil || !sparse {
		return im, err
	}
	im.Segments = usedSectors(uint32(r.from), data)
	return im, nil
}

// usedSectors are the sectors of flash that are not blank.
func usedSectors(base uint32, data []byte) (out []image.Segment) {
	for i := 0; i < len(data); i += flashing.SectorSize {
		p := data[i : i+flashing.SectorSize]
		if flashing.Blank(p) {
			continue
		}
		addr := base + uint32(i)
		if n := len(out); n > 0 && out[n-1].End() == uint64(addr) {
			last := &out[n-1]
			last.Data = data[last.Addr-base : i+flashing.SectorSize]
			continue
		}
		out = append(out, image.Segment{Addr: addr, Data: p, Name: "flash"})
	}
	return out
}
