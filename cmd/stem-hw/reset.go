package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/stem-hw/stem-hw/board"
	"github.com/stem-hw/stem-hw/bootsel"
	"github.com/stem-hw/stem-hw/faults"
	simboard "github.com/stem-hw/stem-hw/sim/board"
	"github.com/stem-hw/stem-hw/ui"
	"github.com/stem-hw/stem-hw/usb"
)

// resetResult is what a board does after a reset.
type resetResult struct {
	Board     string     `json:"board"`
	Serial    string     `json:"serial"`
	Simulated bool       `json:"simulated"`
	Mode      board.Mode `json:"mode"`
}

func (resetResult) Kind() string { return "reset" }

func (r resetResult) Text(t *ui.Text) { t.Linef("%s: %s", r.Board, string(r.Mode)) }

func (a *app) resetCmd() *cobra.Command {
	var f chooseFlags
	var halt, bootsel bool
	cmd := &cobra.Command{
		Use:   "reset",
		Short: "reset a board",
		Long: `Reset resets a board, as power off and on does. It starts what is in flash, or with
--halt it stops before the first instruction, for a debugger, or with --bootsel it
waits for something to be loaded.

A board on the USB is restarted by the reset interface of its program, or through
its boot ROM; --halt needs a debug probe.`,
		Example: "  stem-hw reset -b sim\n  stem-hw reset -b sim --bootsel",
		GroupID: groupBoards,
		Args:    exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			to := simboard.ResetRun
			switch {
			case halt && bootsel:
				return faults.Usage("--halt and --bootsel exclude each other")
			case halt:
				to = simboard.ResetHalt
			case bootsel:
				to = simboard.ResetBootsel
			}
			return a.reset(cmd.Context(), &f, to)
		},
	}
	f.add(cmd, a)
	cmd.Flags().BoolVar(&halt, "halt", false, "stop before the first instruction")
	cmd.Flags().BoolVar(&bootsel, "bootsel", false, "wait for something to be loaded")
	return cmd
}

func (a *app) reset(ctx context.Context, f *chooseFlags, to simboard.ResetTo) error {
	c, err := a.choose(ctx, f.board, needNamed, "stem-hw reset -b %s")
	if err != nil {
		return err
	}
	if c.Sim == "" {
		return a.resetUSB(ctx, &c, f, to)
	}
	return a.waiting(ctx, f.wait, func() error {
		cl, err := a.connect(ctx, c, "reset", 0)
		if err != nil {
			return err
		}
		defer cl.Close()
		if err := cl.Reset(ctx, to); err != nil {
			return err
		}
		mode := board.ModeRunning
		switch to {
		case simboard.ResetHalt:
			mode = board.ModeHalted
		case simboard.ResetBootsel:
			mode = board.ModeBootsel
		}
		return a.ui.Result(resetResult{c.Selector(), c.Serial, c.Simulated, mode})
	})
}

// resetUSB resets a board on the USB.
func (a *app) resetUSB(ctx context.Context, c *chosen, f *chooseFlags, to simboard.ResetTo) error {
	if to == simboard.ResetHalt {
		return &faults.Fault{
			Code: faults.CodeNotSupported, Status: faults.StatusTarget,
			Summary: "a board on the USB cannot be stopped before its first instruction", Seen: c.Selector() + ", " + c.Where(),
			Wanted: "a debug probe, or a simulated board", Try: []string{"stem-hw reset -b " + c.Selector() + " --bootsel"},
		}
	}
	bus, err := a.bus()
	if err != nil {
		return err
	}
	d, err := bootsel.Restart(ctx, bus, c.device, to == simboard.ResetBootsel, a.bootselOptions(c, access{verb: "reset", wait: f.wait}))
	if errors.Is(err, usb.ErrMoved) {
		if err := a.findAgain(ctx, c); err != nil {
			return err
		}
		d, err = bootsel.Restart(ctx, bus, c.device, to == simboard.ResetBootsel, a.bootselOptions(c, access{verb: "reset", wait: f.wait}))
	}
	if err != nil {
		return err
	}
	return a.ui.Result(resetResult{c.Selector(), c.Serial, c.Simulated, d.Mode})
}
