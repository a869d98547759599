package main

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/image/boot"
	"github.com/stem-hw/stem-hw/image/partition"
	"github.com/stem-hw/stem-hw/image/picobin"
	"github.com/stem-hw/stem-hw/image/report"
)

// withFile opens a file as a stream.
func withFile(path string, use func(io.Reader) error) error {
	f, err := image.OpenStream(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return use(f)
}

func (a *app) uf2InfoCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "info FILE",
		Short: "say what blocks are in a UF2 file",
		Long: `info sums up the blocks of a UF2 file: families, counts, addresses, what is
missing, and which blocks every RP2350 ignores, with the reason. The file is
read as a stream, whatever its size.`,
		Example: `  stem-hw uf2 info app.uf2
  stem-hw uf2 info --json app.uf2`,
		Args: exactArgs("FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			return withFile(args[0], func(r io.Reader) error {
				u, err := report.ReadUF2(args[0], r)
				if err != nil {
					return err
				}
				return a.ui.Result(u)
			})
		},
	}
}

func (a *app) uf2ExplainCmd() *cobra.Command {
	var chip, cpu, partitions, present, flash string
	cmd := &cobra.Command{
		Use:   "explain FILE",
		Short: "tell what a board will do with a UF2 file",
		Long: `explain plays a UF2 file to the drive of an RP2350 in software, by the boot
ROM's own rules, and tells the story: which blocks are taken and where they go,
whether the board restarts, which image each CPU then boots, and why.

--partitions gives the board a partition table, as JSON or as an image that
holds one. --present puts other contents into flash first.`,
		Example: `  stem-hw uf2 explain app.uf2
  stem-hw uf2 explain --chip rp2350-a2 --partitions pt.json app.uf2`,
		Args: exactArgs("FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			o := report.ExplainOptions{}
			o.Chip, _ = boot.ParseChip(chip)
			if cpu == "riscv" {
				o.CPU = boot.RISCV
			}
			var err error
			if o.Flash, err = parseFlashSize(flash); err != nil {
				return err
			}
			if partitions != "" {
				if o.Table, err = readTable(partitions); err != nil {
					return err
				}
			}
			if present != "" {
				if o.Present, err = image.Open(present); err != nil {
					return err
				}
			}
			return withFile(args[0], func(r io.Reader) error {
				e, err := report.Explain(args[0], r, o)
				if err != nil {
					return err
				}
				return a.ui.Result(e)
			})
		},
	}
	choiceFlag(cmd, &chip, "chip", "rp2350-a2", "revision of the chip", "rp2350-a2", "rp2350-a3", "rp2350-a4")
	choiceFlag(cmd, &cpu, "cpu", "arm", "CPU that the board's drive runs on", "arm", "riscv")
	cmd.Flags().StringVar(&partitions, "partitions", "", "partition table of the board: JSON, or an image `FILE` that begins with one")
	cmd.Flags().StringVar(&present, "present", "", "image `FILE` that is in flash already")
	cmd.Flags().StringVar(&flash, "flash", "4M", "`SIZE` of the flash")
	return cmd
}

func parseFlashSize(s string) (uint32, error) {
	addr, err := parseOffset(s)
	n := addr - image.RP2350.FlashBase
	if err != nil || addr < image.RP2350.FlashBase || n < 1<<16 || n > 1<<24 || n&(n-1) != 0 {
		f := faults.Usage("the flash size is not usable")
		f.Seen, f.Wanted = s, "a power of two from 64k to 16M, such as 4M"
		return 0, f
	}
	return n, nil
}

// readTable reads a partition table, described in JSON or as an image, and
// returns what stands at the start of flash.
func readTable(path string) ([]byte, error) {
	if strings.HasSuffix(strings.ToLower(path), ".json") {
		t, err := readTableJSON(path)
		if err != nil {
			return nil, err
		}
		w, err := t.Words(true)
		if err != nil {
			return nil, err
		}
		return picobin.Bytes(w), nil
	}
	im, err := image.Open(path)
	if err != nil {
		return nil, err
	}
	l := im.Loop(boot.Arm)
	if l == nil || l.Table == nil {
		return nil, &faults.Fault{Code: faults.CodeBadPartitions, Status: faults.StatusImage,
			Summary: path + ": there is no partition table in this file", Seen: "none in its block loop",
			Wanted: "a partition table", Try: []string{"stem-hw image partitions create pt.json pt.bin"}}
	}
	data := make([]byte, 2*boot.SectorSize)
	for i := range data {
		data[i] = 0xff
	}
	im.ReadAt(data, boot.FlashBase)
	return data, nil
}

func readTableJSON(path string) (*partition.Table, error) {
	data, err := image.ReadSmall(path, 1<<20)
	if err != nil {
		return nil, err
	}
	return partition.ParseJSON(path, data)
}
