package main

import (
	"context"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/target/flashing"
	"github.com/stem-hw/stem-hw/ui"
)

// verified says that a board holds a file.
type verified struct {
	Board     string `json:"board"`
	Serial    string `json:"serial"`
	Simulated bool   `json:"simulated"`
	File      string `json:"file"`
	Bytes     int    `json:"bytes"`
}

func (verified) Kind() string { return "verify" }

func (v verified) Text(t *ui.Text) {
	t.Linef("%s: holds %s, %d bytes compared", v.Board, filepath.Base(v.File), v.Bytes)
}

func (a *app) verifyCmd() *cobra.Command {
	var f flashFlags
	cmd := &cobra.Command{
		Use:   "verify FILE",
		Short: "check that a board holds a program",
		Long: `Verify compares the flash of a board with a file and changes nothing. A difference
ends with exit status 9 and is shown.

A board on the USB can be read in BOOTSEL mode alone. A program that runs there is
interrupted with -f only, and started again at the end; a simulated board goes on.`,
		Example: "  stem-hw verify -b sim app.elf",
		GroupID: groupBoards,
		Args:    exactArgs("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.verify(cmd.Context(), args[0], &f)
		},
	}
	f.chooseFlags.add(cmd, a)
	f.viaFlags.add(cmd, interrupt, viaBootsel)
	f.read.add(cmd)
	cmd.Flags().StringVar(&f.offset, "offset", "", "`PLACE` in flash of a BIN file: 64k, 1M or an address")
	return cmd
}

func (a *app) verify(ctx context.Context, path string, f *flashFlags) error {
	im, err := f.open(path)
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
			Summary: path + " is for RAM: a program that runs has changed it", Wanted: "an image for flash",
		}
	}
	c, err := a.choose(ctx, f.board, needNamed, "stem-hw verify -b %s "+filepath.Base(path))
	if err != nil {
		return err
	}
	s, err := a.openStorage(ctx, &c, access{
		verb: "verify", wait: f.wait, force: f.force, command: "stem-hw verify -b %s " + shellQuote(path),
	})
	if err != nil {
		return err
	}
	defer s.Close(false)
	held, err := s.holding(ctx, im)
	if err != nil {
		return err
	}
	tell, end := a.progress()
	n, err := flashing.Compare(ctx, held, im, tell)
	end()
	if err != nil {
		if fl := faults.Of(err); fl != nil && fl.Code == faults.CodeVerify {
			return fl.WithTry("stem-hw flash -b " + c.Selector() + " " + shellQuote(path))
		}
		return err
	}
	return a.ui.Result(verified{c.Selector(), c.Serial, c.Simulated, path, n})
}
