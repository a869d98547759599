package main

import (
	"github.com/spf13/cobra"

	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/image/report"
	"github.com/stem-hw/stem-hw/uf2"
)

// readFlags say how an image file is read.
type readFlags struct {
	family string
}

func (f *readFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.family, "family", "", "UF2 `FAMILY` to look at, by name or number")
	_ = cmd.RegisterFlagCompletionFunc("family", completeFamilies)
}

// options turns the flags into what package image takes.
func (f *readFlags) options() (image.Options, error) {
	var opt image.Options
	if f.family != "" {
		id, err := parseFamily(f.family)
		if err != nil {
			return opt, err
		}
		opt.Family = id
	}
	return opt, nil
}

func completeFamilies(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var names []string
	for _, f := range uf2.Families() {
		names = append(names, f.Name+"\t"+f.Text)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

func (a *app) infoCmd() *cobra.Command {
	var rf readFlags
	var cf chooseFlags
	var vf viaFlags
	var pins string
	cmd := &cobra.Command{
		Use:   "info [FILE]",
		Short: "say what is in a firmware file, or on a board",
		Long: `info reads an ELF, BIN, Intel HEX or UF2 file and shows what the program says
about itself, the memory it uses, its largest symbols, its pins, its RP2350
metadata with the hashes checked, and what the boot ROM would do with it.

Without FILE it shows a board (-b, the pinned one, or the only one there is) and the
same about the program in its flash. The board goes on with what it does. A board on
the USB can be asked in BOOTSEL mode alone: of one that runs a program only that is
shown which can be seen from outside, unless -f interrupts it.

A wrong hash or signature ends with exit status 7, after everything is shown.`,
		Example: `  stem-hw info app.elf
  stem-hw info -b sim
  stem-hw info --pins app.elf
  stem-hw info --pins=svg app.elf > pins.svg
  stem-hw info --json app.uf2 | jq .program.features`,
		GroupID: groupBoards,
		Args:    atMostArgs("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return a.infoBoard(cmd.Context(), &cf, &vf, pins)
			}
			opt, err := rf.options()
			if err != nil {
				return err
			}
			return image.With(args[0], opt, func(im *image.Image) error {
				r := report.NewInfo(im, pins != "")
				if pins == "svg" {
					return a.ui.Result(report.NewPinsSVG(r))
				}
				if err := a.ui.Result(r); err != nil {
					return err
				}
				return r.HashFault()
			})
		},
	}
	rf.add(cmd)
	cf.add(cmd, a)
	vf.add(cmd, interrupt, viaBootsel)
	choiceFlag(cmd, &pins, "pins", "", "draw the pins on the board's outline, as text or as an SVG picture", "text", "svg")
	cmd.Flags().Lookup("pins").NoOptDefVal = "text"
	return cmd
}
