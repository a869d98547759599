package main

import (
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/image/boot"
	"github.com/stem-hw/stem-hw/image/picobin"
	"github.com/stem-hw/stem-hw/image/report"
	"github.com/stem-hw/stem-hw/image/seal"
	"github.com/stem-hw/stem-hw/uf2"
)

func (a *app) imageCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "image",
		Short:   "seal images and make partition tables",
		GroupID: groupPrograms,
		Args:    verbsOnly,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	parts := &cobra.Command{
		Use:   "partitions",
		Short: "make and show partition tables",
		Args:  verbsOnly,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	parts.AddCommand(a.partitionsCreateCmd(), a.partitionsInfoCmd())
	cmd.AddCommand(a.imageSealCmd(), parts)
	return cmd
}

func (a *app) imageSealCmd() *cobra.Command {
	var wf writeFlags
	var version string
	hash := true
	cmd := &cobra.Command{
		Use:   "seal IN OUT",
		Short: "add a hash and a version to an image",
		Long: `seal adds a metadata block behind the image that covers every byte with a
SHA-256. The boot ROM checks it at every start and refuses an image that was
changed or only partly written. A version decides between slots and between A
and B partitions. IN and OUT may have any format; an ELF file keeps its symbols.`,
		Example: `  stem-hw image seal app.elf sealed.elf
  stem-hw image seal --version 1.2 app.elf app.uf2`,
		Args: exactArgs("IN", "OUT"),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.seal(args[0], args[1], &wf, version, hash)
		},
	}
	wf.add(cmd)
	cmd.Flags().StringVar(&version, "version", "", "`MAJOR.MINOR` for the boot ROM's choice between images")
	cmd.Flags().BoolVar(&hash, "hash", true, "add a hash; --hash=false only sets the version")
	return cmd
}

func parseVersion(s string) (*[2]uint16, error) {
	maj, minor, ok := strings.Cut(s, ".")
	m, err1 := strconv.ParseUint(maj, 10, 16)
	n, err2 := strconv.ParseUint(minor, 10, 16)
	if !ok || err1 != nil || err2 != nil {
		f := faults.Usage("the version is not usable")
		f.Seen, f.Wanted = strconv.Quote(s), "two numbers from 0 to 65535, such as 1.2"
		return nil, f
	}
	return &[2]uint16{uint16(m), uint16(n)}, nil
}

func (a *app) seal(in, out string, wf *writeFlags, version string, hash bool) error {
	o := seal.Options{Hash: hash}
	var err error
	if version != "" {
		if o.Version, err = parseVersion(version); err != nil {
			return err
		}
	}
	if !hash && o.Version == nil {
		return faults.Usage("there is nothing to add: give --version, or leave --hash on")
	}
	format, err := wf.format(out)
	if err != nil {
		return err
	}
	im, err := image.Open(in)
	if err != nil {
		return err
	}
	opt, notes, err := wf.options(im, format)
	if err != nil {
		return err
	}
	if err := checkTarget(im, opt.Family); err != nil {
		return err
	}
	warnings := append(append([]string(nil), im.Warnings...), im.Contradictions()...)
	res, err := seal.Seal(im, o)
	if err != nil {
		return err
	}
	var w report.Output
	if format == image.FormatELF && res.ELF != nil {
		lo, end := im.Bounds()
		w = report.Output{File: out, Format: "elf", Bytes: uint64(im.Size()), Start: report.Addr(lo), End: report.Addr(uint32(end))}
		err = image.WriteFile(out, func(w io.Writer) error { _, err := w.Write(res.ELF); return err })
	} else {
		w, err = writeImage(im, out, format, opt)
	}
	if err != nil {
		return err
	}
	w.Hash, w.Version = hex.EncodeToString(res.Hash), version
	return a.written(&report.Written{Verb: "seal", Inputs: []string{in}, Files: []report.Output{w}, Warnings: warnings, Notes: notes})
}

func (a *app) partitionsCreateCmd() *cobra.Command {
	var singleton bool
	var family string
	hash := true
	cmd := &cobra.Command{
		Use:   "create JSON OUT",
		Short: "make a partition table from its description",
		Long: `create reads the same JSON as picotool and writes the partition table as a BIN
or UF2 file for the start of flash. Sizes such as "512K" or "1M" are bytes; a
number below 4096 counts sectors of 4 KiB.`,
		Example: `  stem-hw image partitions create pt.json pt.uf2
  stem-hw image partitions create --singleton pt.json pt.bin`,
		Args: exactArgs("JSON", "OUT"),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.createPartitions(args[0], args[1], singleton, hash, family)
		},
	}
	cmd.Flags().BoolVar(&singleton, "singleton", false, "keep the boot ROM from looking for a second table in slot 1")
	cmd.Flags().BoolVar(&hash, "hash", true, "add a hash, which the boot ROM checks")
	cmd.Flags().StringVar(&family, "family", "absolute", "UF2 `FAMILY` of OUT")
	_ = cmd.RegisterFlagCompletionFunc("family", completeFamilies)
	return cmd
}

func (a *app) createPartitions(in, out string, singleton, hash bool, family string) error {
	wf := writeFlags{family: family}
	format, err := wf.format(out)
	if err != nil {
		return err
	}
	t, err := readTableJSON(in)
	if err != nil {
		return err
	}
	t.Singleton = singleton
	words, err := t.Words(hash)
	if err != nil {
		return err
	}
	im := &image.Image{Path: in, Format: image.FormatBIN,
		Segments: []image.Segment{{Addr: boot.FlashBase, Data: picobin.Bytes(words), Name: "the table"}}}
	id, err := parseFamily(family)
	if err != nil {
		return err
	}
	if _, err := writeImage(im, out, format, image.WriteOptions{Family: id}); err != nil {
		return err
	}
	p, err := partitionsOf(im)
	if err != nil {
		return err
	}
	p.Output, p.Warnings = out, nil
	for _, w := range t.Warnings {
		a.ui.Warn("%s", w)
	}
	return a.ui.Result(p)
}

// partitionsOf describes the partition table at the start of an image.
func partitionsOf(im *image.Image) (*report.Partitions, error) {
	l := im.Loop(boot.Arm)
	if l == nil || l.Table == nil {
		f := &faults.Fault{Code: faults.CodeBadPartitions, Status: faults.StatusImage,
			Summary: im.Path + ": there is no partition table in this file", Seen: "none in its block loop", Wanted: "a partition table"}
		if l != nil && l.Problem != "" {
			f.Seen = l.Problem
		}
		return nil, f
	}
	p := report.PartitionsOf(l.Table)
	p.File = im.Path
	if v := boot.Check(im.Memory(), l.Table, boot.Options{Chip: boot.A4}); len(l.Table.HashValue) > 0 {
		p.Hash = "correct"
		if !v.OK {
			p.Hash = "wrong"
		}
	}
	return p, nil
}

func (a *app) partitionsInfoCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "info FILE",
		Short: "show the partition table of an image, or of its JSON description",
		Example: `  stem-hw image partitions info pt.uf2
  stem-hw image partitions info pt.json`,
		Args: exactArgs("FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			im, err := openTable(args[0])
			if err != nil {
				return err
			}
			p, err := partitionsOf(im)
			if err != nil {
				return err
			}
			if err := a.ui.Result(p); err != nil {
				return err
			}
			if p.Hash == "wrong" {
				return &faults.Fault{Code: faults.CodeHashMismatch, Status: faults.StatusImage,
					Summary: args[0] + ": the partition table was changed after it was made",
					Seen:    fmt.Sprintf("a hash that does not fit the block at %s", p.Addr), Wanted: "the table as it was made"}
			}
			return nil
		},
	}
}

// openTable opens an image, or makes one of a description.
func openTable(path string) (*image.Image, error) {
	if !strings.HasSuffix(strings.ToLower(path), ".json") {
		im, err := image.OpenWith(path, image.Options{Family: uf2.FamilyAbsolute})
		if err != nil && faults.Is(err, faults.CodeWrongMachine) {
			return image.Open(path)
		}
		return im, err
	}
	data, err := readTable(path)
	if err != nil {
		return nil, err
	}
	return &image.Image{Path: path, Format: image.FormatBIN,
		Segments: []image.Segment{{Addr: boot.FlashBase, Data: data, Name: "the table"}}}, nil
}
