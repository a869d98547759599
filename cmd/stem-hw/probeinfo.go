package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/stem-hw/stem-hw/board"
	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/image/boot"
	"github.com/stem-hw/stem-hw/image/report"
	"github.com/stem-hw/stem-hw/probe"
	"github.com/stem-hw/stem-hw/target"
	"github.com/stem-hw/stem-hw/target/flashing"
	"github.com/stem-hw/stem-hw/ui"
)

// probeInfo is a probe, the chip behind it, and the program in its flash.
type probeInfo struct {
	Probe probeSelf  `json:"probe"`
	Chip  probe.Chip `json:"chip"`
	// Used is the number of sectors that are not blank.
	Used  int          `json:"used_sectors"`
	Image *report.Info `json:"image,omitempty"`
}

// probeSelf is what a probe says of itself, and how it is used.
type probeSelf struct {
	Name     string `json:"name"`
	Product  string `json:"product,omitempty"`
	Serial   string `json:"serial,omitempty"`
	Protocol string `json:"protocol,omitempty"`
	Firmware string `json:"firmware,omitempty"`
	Packets  int    `json:"packets"`
	Clock    uint32 `json:"clock_khz"`
}

func (probeInfo) Kind() string { return "probe-info" }

func (r probeInfo) Text(t *ui.Text) {
	t.Heading("Probe")
	t.Row("  probe", r.Probe.Name)
	t.Row("  product", r.Probe.Product)
	t.Row("  serial", r.Probe.Serial)
	t.Row("  CMSIS-DAP", fmt.Sprintf("%s, %d packets", r.Probe.Protocol, r.Probe.Packets))
	t.Row("  SWD clock", fmt.Sprintf("%d kHz", r.Probe.Clock))
	t.Heading("Chip")
	t.Row("  chip", fmt.Sprintf("RP2350 %s, id %s", r.Chip.Revision, r.Chip.ID))
	t.Row("  boot ROM", fmt.Sprintf("version %d", r.Chip.ROM))
	for i, arch := range r.Chip.Arch {
		t.Row(fmt.Sprintf("  core %d", i), string(arch))
	}
	t.Row("  debug port", fmt.Sprintf("DPIDR 0x%08x, TARGETID 0x%08x", r.Chip.DPIDR, r.Chip.TargetID))
	size := fmt.Sprintf("%d KiB, %s in use", r.Chip.FlashSize>>10, sectors(r.Used))
	if !r.Chip.FlashKnown {
		size += " (the size is assumed: the flash is too empty to tell)"
	}
	t.Row("  flash", size)
	if r.Image != nil {
		r.Image.Text(t)
	}
}

// probeInfoVerb is info through a probe; the program runs on.
func (a *app) probeInfoVerb(ctx context.Context, cmd *cobra.Command, _ []string, w *probeWay) (err error) {
	t, done, err := a.openProbe(ctx, w, "info", probe.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	p := t.Probe()
	r := probeInfo{Chip: t.Chip(), Probe: probeSelf{
		Name: w.name(), Product: p.Product, Serial: p.Serial, Protocol: p.Protocol, Firmware: p.Firmware,
		Packets: p.PacketCount, Clock: t.Clock() / 1000,
	}}
	pins := cmd.Flags().Lookup("pins").Value.String()
	if r.Image, r.Used, err = a.probeProgram(ctx, t, "flash behind "+w.name(), pins != ""); err != nil {
		return err
	}
	if pins == "svg" && r.Image != nil {
		return a.ui.Result(report.NewPinsSVG(r.Image))
	}
	if err := a.ui.Result(r); err != nil {
		return err
	}
	if r.Image != nil {
		return r.Image.HashFault()
	}
	return nil
}

// probeProgram reads the program in flash, up to the first 64 KiB of nothing:
// all of a flash takes long.
func (a *app) probeProgram(ctx context.Context, t *probe.Target, name string, pins bool) (*report.Info, int, error) {
	const step = 64 << 10
	tell, end := a.progress()
	defer end()
	var data []byte
	size := t.Chip().FlashSize
	for uint32(len(data)) < size {
		at := len(data)
		data = append(data, make([]byte, step)...)
		if err := t.ReadFlash(ctx, boot.FlashBase+uint32(at), data[at:]); err != nil {
			return nil, 0, err
		}
		tell("reading", len(data), int(size))
		if flashing.Blank(data[at:]) {
			data = data[:at]
			break
		}
	}
	used := 0
	for i := 0; i < len(data); i += flashing.SectorSize {
		if !flashing.Blank(data[i : i+flashing.SectorSize]) {
			used++
		}
	}
	if used == 0 {
		return nil, 0, nil
	}
	im, err := image.Parse("flash", data, image.Options{Format: image.FormatBIN, Base: boot.FlashBase, HasBase: true})
	if err != nil {
		return nil, 0, err
	}
	im.Path = name
	return report.NewInfo(im, pins), used, nil
}

// probeReset is reset through a probe: what is in flash runs, or waits at its
// first instruction, or the boot ROM waits, or the chip is rescued.
func (a *app) probeReset(ctx context.Context, cmd *cobra.Command, _ []string, w *probeWay) (err error) {
	halt, bootsel, rescue := flag(cmd, "halt"), flag(cmd, "bootsel"), flag(cmd, "rescue")
	arch := cmd.Flags().Lookup("arch").Value.String()
	ways := 0
	for _, on := range []bool{halt && arch == "", bootsel, rescue, arch != ""} {
		if on {
			ways++
		}
	}
	if ways > 1 {
		return faults.Usage("--halt, --bootsel, --rescue and --arch exclude each other, except --halt and --arch")
	}
	t, done, err := a.openProbe(ctx, w, "reset", probe.Options{Rescue: rescue})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	mode := board.ModeRunning
	switch {
	case rescue:
		mode = board.ModeHalted
		t.LeaveHalted()
	case bootsel:
		err, mode = t.ResetBootsel(ctx), board.ModeBootsel
	case arch != "":
		err, mode = t.SwitchArch(ctx, image.Arch(arch)), board.ModeHalted
		if err == nil && !halt {
			err, mode = t.Start(ctx), board.ModeRunning
		} else {
			t.LeaveHalted()
		}
	case halt:
		err, mode = t.Reset(ctx, target.ResetHalt), board.ModeHalted
		t.LeaveHalted()
	default:
		err = t.Reset(ctx, target.ResetRun)
	}
	if err != nil {
		return err
	}
	return a.ui.Result(resetResult{w.name(), t.Chip().ID, false, mode})
}
