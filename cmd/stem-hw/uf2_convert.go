package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/image/report"
	"github.com/stem-hw/stem-hw/uf2"
)

// writeFlags say how an image file is written.
type writeFlags struct {
	to       string
	family   string
	fill     string
	absBlock string
}

func (f *writeFlags) add(cmd *cobra.Command) {
	choiceFlag(cmd, &f.to, "to", "", "format of OUT, when its name does not say it", "uf2", "bin", "hex", "elf")
	cmd.Flags().StringVar(&f.family, "family", "", "UF2 `FAMILY`, by name or number (default: the one of the image's CPU)")
	_ = cmd.RegisterFlagCompletionFunc("family", completeFamilies)
	cmd.Flags().StringVar(&f.fill, "fill", "", "`BYTE` between the parts of the image (default 0xff, the erased state of flash)")
	cmd.Flags().StringVar(&f.absBlock, "abs-block", "", "put the extra block against erratum RP2350-E10 in front, for `ADDRESS`; it erases the last 4 KiB of a smaller flash")
	cmd.Flags().Lookup("abs-block").NoOptDefVal = "default"
}

// format is what OUT is to be.
func (f *writeFlags) format(out string) (image.Format, error) {
	if f.to != "" {
		return image.Format(f.to), nil
	}
	switch strings.ToLower(filepath.Ext(out)) {
	case ".uf2":
		return image.FormatUF2, nil
	case ".bin":
		return image.FormatBIN, nil
	case ".hex", ".ihex", ".ihx":
		return image.FormatHEX, nil
	case ".elf", ".axf":
		return image.FormatELF, nil
	}
	fault := faults.Usage("the name of the output file does not say its format")
	fault.Seen, fault.Wanted = strconv.Quote(out), "a name that ends with .uf2, .bin, .hex or .elf, or --to"
	return "", fault
}

func (f *writeFlags) options(im *image.Image, format image.Format) (opt image.WriteOptions, notes []string, err error) {
	if f.fill != "" {
		n, err := strconv.ParseUint(f.fill, 0, 8)
		if err != nil {
			fault := faults.Usage("the fill byte is not usable")
			fault.Seen, fault.Wanted = strconv.Quote(f.fill), "a number from 0 to 255, such as 0xff"
			return opt, nil, fault
		}
		b := byte(n)
		opt.Fill = &b
	}
	if f.family != "" {
		if opt.Family, err = parseFamily(f.family); err != nil {
			return opt, nil, err
		}
	} else if format == image.FormatUF2 {
		fam, note, err := im.FamilyFor()
		if err != nil {
			return opt, nil, err
		}
		opt.Family = fam
		if note != "" {
			notes = append(notes, note)
		}
	}
	if f.absBlock != "" {
		if format != image.FormatUF2 {
			return opt, nil, faults.Usage("--abs-block only makes sense for a UF2 file")
		}
		opt.AbsBlock = true
		if f.absBlock != "default" {
			if opt.AbsAddr, err = parseOffset(f.absBlock); err != nil {
				return opt, nil, err
			}
		}
		notes = append(notes, "the extra block against erratum RP2350-E10 makes the board erase the 4 KiB sector of its address; on a flash of 4 MiB that is the last one, 0x103ff000")
	}
	return opt, notes, nil
}

// writeImage writes an image to a file, whole or not at all.
func writeImage(im *image.Image, out string, format image.Format, opt image.WriteOptions) (report.Output, error) {
	lo, end := im.Bounds()
	o := report.Output{File: out, Format: string(format), Bytes: uint64(im.Size()), Start: report.Addr(lo), End: report.Addr(uint32(end))}
	err := image.WriteFile(out, func(w io.Writer) (err error) {
		switch format {
		case image.FormatUF2:
			o.Blocks, err = im.WriteUF2(w, opt)
			o.Family, o.Erratum = uf2.FamilyName(opt.Family), opt.AbsBlock
		case image.FormatHEX:
			err = im.WriteHEX(w)
		case image.FormatELF:
			err = im.WriteELF(w)
		default:
			_, err = im.WriteBIN(w, opt)
		}
		return err
	})
	return o, err
}

func (a *app) uf2ConvertCmd() *cobra.Command {
	var wf writeFlags
	var offset, from string
	cmd := &cobra.Command{
		Use:   "convert IN OUT",
		Short: "convert between ELF, BIN, Intel HEX and UF2",
		Long: `convert reads an image in any of the four formats, told by its contents, and
writes it in the format of OUT's name. OUT is written whole or not at all.

--offset places a BIN file, or moves another image, so that it begins at that
place in flash: 65536, 0x10000, 64k and 1M are bytes from the start of flash,
0x10010000 is an address.`,
		Example: `  stem-hw uf2 convert app.elf app.uf2
  stem-hw uf2 convert app.uf2 app.bin
  stem-hw uf2 convert --offset 64k app.bin app.uf2`,
		Args: exactArgs("IN", "OUT"),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.convert(args[0], args[1], &wf, offset, image.Format(from))
		},
	}
	wf.add(cmd)
	choiceFlag(cmd, &from, "from", "", "format of IN, when its contents do not say it", "uf2", "bin", "hex", "elf")
	cmd.Flags().StringVar(&offset, "offset", "", "`PLACE` in flash where the image begins")
	return cmd
}

func (a *app) convert(in, out string, wf *writeFlags, offset string, from image.Format) error {
	format, err := wf.format(out)
	if err != nil {
		return err
	}
	ropt := image.Options{Format: from}
	if wf.family != "" && format != image.FormatUF2 {
		if ropt.Family, err = parseFamily(wf.family); err != nil {
			return err
		}
	}
	var base uint32
	if offset != "" {
		if base, err = parseOffset(offset); err != nil {
			return err
		}
		ropt.Base, ropt.HasBase = base, true
	}
	run := func(im *image.Image) error { return a.convertImage(im, out, wf, offset, base, format) }
	err = image.With(in, ropt, run)
	if ropt.Family != 0 && faults.Is(err, faults.CodeWrongMachine) {
		// A family that is not in the file is for the output then.
		ropt.Family = 0
		err = image.With(in, ropt, run)
	}
	return err
}

func (a *app) convertImage(im *image.Image, out string, wf *writeFlags, offset string, base uint32, format image.Format) error {
	var notes []string
	for _, o := range im.Others {
		notes = append(notes, fmt.Sprintf("the file also holds %d blocks of family %s, which are left out", o.Blocks, o.Name))
	}
	if offset != "" {
		if lo, _ := im.Bounds(); lo != base {
			if err := im.Move(base); err != nil {
				return err
			}
		}
		lo, _ := im.Bounds()
		notes = append(notes, fmt.Sprintf("the image begins at 0x%08x, %d bytes into flash", lo, lo-image.RP2350.FlashBase))
	}
	if wf.family != "" && im.Arch == image.ArchUnknown {
		im.Arch = archOf(wf.family)
	}
	opt, more, err := wf.options(im, format)
	if err != nil {
		return err
	}
	notes = append(notes, more...)
	warnings := append(append([]string(nil), im.Warnings...), im.Contradictions()...)
	if err := checkTarget(im, opt.Family); err != nil {
		return err
	}
	o, err := writeImage(im, out, format, opt)
	if err != nil {
		return err
	}
	return a.written(&report.Written{Verb: "convert", Inputs: []string{im.Path}, Files: []report.Output{o}, Warnings: warnings, Notes: notes})
}

func archOf(family string) image.Arch {
	switch id, _ := uf2.ParseFamily(family); id {
	case uf2.FamilyRP2350RISCV:
		return image.ArchRISCV
	case uf2.FamilyRP2350ArmS, uf2.FamilyRP2350ArmNS, uf2.FamilyRP2040:
		return image.ArchARM
	}
	return image.ArchUnknown
}

// checkTarget makes sure that the image fits the chip that a family is for.
// A UF2 file of an RP2040 is only checked as such.
func checkTarget(im *image.Image, family uint32) error {
	m := &image.RP2350
	if family == uf2.FamilyRP2040 || (family == 0 && im.Family == uf2.FamilyRP2040) {
		m = &image.RP2040
	}
	c := *im
	if c.Format == image.FormatUF2 {
		c.Format = image.FormatBIN
	}
	_, err := c.Place(m)
	return err
}

// written shows what was written; remarks go to standard error.
func (a *app) written(w *report.Written) error {
	for _, n := range w.Warnings {
		a.ui.Warn("%s", n)
	}
	for _, n := range w.Notes {
		a.ui.Note("%s", n)
	}
	return a.ui.Result(w)
}
