package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/image/report"
	"github.com/stem-hw/stem-hw/uf2"
)

func (a *app) uf2CombineCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "combine OUT IN...",
		Short: "put several images into one UF2 file",
		Long: `combine reads images in any format and writes one UF2 file. Images of one
family become one transfer, for example a boot loader and the program behind
it; images of other families follow, so that one file serves an RP2040 and an
RP2350. Images of one family that disagree about a byte are an error.`,
		Example: `  stem-hw uf2 combine all.uf2 pico.uf2 pico2.uf2
  stem-hw uf2 combine board.uf2 loader.elf app.elf`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 {
				f := faults.Usage("%s needs OUT and at least one IN", cmd.CommandPath())
				f.Try = []string{cmd.CommandPath() + " OUT.uf2 IN...", cmd.CommandPath() + " --help"}
				return f
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return a.combine(args[0], args[1:]) },
	}
	return cmd
}

func (a *app) combine(out string, in []string) error {
	if ext := strings.ToLower(filepath.Ext(out)); ext != ".uf2" {
		f := faults.Usage("combine writes a UF2 file")
		f.Seen, f.Wanted = out, "a name that ends with .uf2"
		return f
	}
	var images []*image.Image
	var families []uint32
	var notes, warnings []string
	for _, path := range in {
		list, err := everyFamily(path)
		if err != nil {
			return err
		}
		for _, im := range list {
			fam, note, err := im.FamilyFor()
			if err != nil {
				return err
			}
			if err := checkTarget(im, fam); err != nil {
				return err
			}
			if note != "" {
				notes = append(notes, path+": "+note)
			}
			warnings = append(append(warnings, im.Warnings...), im.Contradictions()...)
			images, families = append(images, im), append(families, fam)
		}
	}
	parts, err := image.Combine(images, families)
	if err != nil {
		return err
	}
	warnings = append(warnings, image.CombineWarnings(parts)...)
	res := &report.Written{Verb: "combine", Inputs: in, Warnings: warnings, Notes: notes}
	err = image.WriteFile(out, func(w io.Writer) error {
		for _, p := range parts {
			n, err := p.Image.WriteUF2(w, image.WriteOptions{Family: p.Family})
			if err != nil {
				return err
			}
			lo, end := p.Image.Bounds()
			res.Files = append(res.Files, report.Output{File: out, Format: "uf2", Family: uf2.FamilyName(p.Family), Blocks: n,
				Bytes: uint64(p.Image.Size()), Start: report.Addr(lo), End: report.Addr(uint32(end))})
		}
		return nil
	})
	if err != nil {
		return err
	}
	return a.written(res)
}

// everyFamily reads a file once for each UF2 family in it.
func everyFamily(path string) ([]*image.Image, error) {
	im, err := image.Open(path)
	if err != nil {
		return nil, err
	}
	list := []*image.Image{im}
	for _, o := range im.Others {
		other, err := image.OpenWith(path, image.Options{Family: o.Family})
		if err != nil {
			return nil, err
		}
		list = append(list, other)
	}
	return list, nil
}

func (a *app) uf2SplitCmd() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "split FILE",
		Short: "write each family of a UF2 file to a file of its own",
		Long: `split copies the blocks of each family as they are. app.uf2 with two families
becomes app-rp2040.uf2 and app-rp2350-arm-s.uf2. Either all files are written
or none.`,
		Example: `  stem-hw uf2 split universal.uf2
  stem-hw uf2 split --dir parts universal.uf2`,
		Args: exactArgs("FILE"),
		RunE: func(_ *cobra.Command, args []string) error { return a.split(args[0], dir) },
	}
	cmd.Flags().StringVar(&dir, "dir", "", "`FOLDER` for the files (default: that of FILE)")
	_ = cmd.MarkFlagDirname("dir")
	return cmd
}

func (a *app) split(in, dir string) error {
	if dir == "" {
		dir = filepath.Dir(in)
	}
	stem := strings.TrimSuffix(filepath.Base(in), filepath.Ext(in))
	res := &report.Written{Verb: "split", Inputs: []string{in}}
	batch := &image.Batch{}
	defer batch.Discard()
	err := withFile(in, func(r io.Reader) error {
		u, err := report.ReadUF2(in, r)
		if err != nil {
			return err
		}
		for _, t := range u.Transfers {
			if !t.Complete {
				res.Warnings = append(res.Warnings, fmt.Sprintf("family %s: missing block numbers %s", t.Family, t.Missing))
			}
		}
		res.Files = splitOutputs(u, dir, stem)
		return nil
	})
	if err != nil {
		return err
	}
	err = withFile(in, func(r io.Reader) error {
		dropped, err := image.SplitUF2(r, func(family uint32) (io.Writer, error) {
			return batch.Create(splitName(dir, stem, uf2.FamilyName(family)))
		})
		if dropped > 0 {
			res.Warnings = append(res.Warnings, fmt.Sprintf("%d blocks that every RP2350 ignores are left out", dropped))
		}
		return err
	})
	if err != nil {
		return err
	}
	if err := batch.Commit(); err != nil {
		return err
	}
	return a.written(res)
}

func splitName(dir, stem, family string) string {
	return filepath.Join(dir, stem+"-"+family+".uf2")
}

// splitOutputs lists the files, one a family.
func splitOutputs(u *report.UF2, dir, stem string) []report.Output {
	var out []report.Output
	for _, t := range u.AllTransfers() {
		o := report.Output{File: splitName(dir, stem, t.Family), Format: "uf2", Family: t.Family, Blocks: t.Blocks, Bytes: uint64(t.Blocks) * uf2.PayloadSize}
		if n := len(t.Ranges); n > 0 {
			o.Start, o.End = t.Ranges[0].Start, t.Ranges[n-1].End
		}
		merged := false
		for i := range out {
			if out[i].Family == o.Family {
				out[i].Blocks += o.Blocks
				out[i].Bytes += o.Bytes
				merged = true
			}
		}
		if !merged {
			out = append(out, o)
		}
	}
	return out
}
