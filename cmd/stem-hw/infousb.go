package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/stem-hw/stem-hw/board"
	"github.com/stem-hw/stem-hw/bootsel"
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/image/boot"
	"github.com/stem-hw/stem-hw/image/report"
	"github.com/stem-hw/stem-hw/target/flashing"
	"github.com/stem-hw/stem-hw/ui"
)

// chipInfo is what the boot ROM says about the chip.
type chipInfo struct {
	ID string `json:"id"`
	// Arch is what the boot ROM runs on now.
	Arch image.Arch `json:"arch"`
	// Package is QFN-60 or QFN-80.
	Package string `json:"package,omitempty"`
	// Fuses are the critical ones that are set, in words.
	Fuses []string `json:"fuses"`
	// Partitions is the number of partitions, -1 without a table.
	Partitions int `json:"partitions"`
	// LastBoot says how the chip started last.
	LastBoot string `json:"last_boot"`
	// FlashSure says that the flash's size was found out, not assumed.
	FlashSure bool `json:"flash_size_sure"`
}

func (c *chipInfo) rows(t *ui.Text) {
	t.Row("  chip", strings.Trim("id "+c.ID+", "+c.Package, ", "))
	t.Row("  boot ROM on", string(c.Arch))
	if len(c.Fuses) > 0 {
		t.Row("  fuses", strings.Join(c.Fuses, ", "))
	}
	if c.Partitions >= 0 {
		t.Row("  partitions", fmt.Sprint(c.Partitions))
	}
	t.Row("  last start", c.LastBoot)
}

// rowPackage is the OTP row that says the package (RP2350 datasheet 13.10,
// NUM_GPIOS).
const rowPackage = 0x18

// chip asks the boot ROM.
func (a *app) chip(ctx context.Context, t *bootsel.Target) (*chipInfo, error) {
	s := t.System()
	c := &chipInfo{ID: t.ChipID(), Arch: t.Describe().Arch, Fuses: s.Fuses(), Partitions: -1, LastBoot: s.LastBoot()}
	pins := make([]uint16, 1)
	if err := t.Pico().ReadOTP(ctx, rowPackage, pins); err == nil {
		c.Package = map[uint16]string{30: "QFN-60", 48: "QFN-80"}[pins[0]]
	}
	has, n, err := t.Pico().Table(ctx)
	if err == nil && has {
		c.Partitions = n
	}
	return c, err
}

// infoUSB shows a board on the USB.
func (a *app) infoUSB(ctx context.Context, c *chosen, f *chooseFlags, vf *viaFlags, pins string) error {
	r := boardInfo{Board: c.Board}
	if c.Mode != board.ModeBootsel && !vf.force {
		if err := a.ui.Result(r); err != nil {
			return err
		}
		a.ui.Note("the board runs a program; to look into its flash, interrupt it: stem-hw info -b %s -f", c.Selector())
		return nil
	}
	s, err := a.openStorage(ctx, c, access{verb: "info", wait: f.wait, force: vf.force, command: "stem-hw info -b %s"})
	if err != nil {
		return err
	}
	if r.Chip, err = a.chip(ctx, s.usb); err == nil {
		_, r.Chip.FlashSure, _ = s.usb.FlashSize(ctx)
		r.FlashSize = s.size
		r.Image, r.Used, err = a.program(ctx, s, c.Selector(), pins != "")
	}
	if err = errors.Join(err, s.Close(false)); err != nil {
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

// program reads the program in the flash of a board: up to the first 64 KiB of
// nothing, since all of a flash takes long.
func (a *app) program(ctx context.Context, s *storage, name string, pins bool) (*report.Info, int, error) {
	const step = 64 << 10
	tell, end := a.progress()
	defer end()
	var data []byte
	for uint32(len(data)) < s.size {
		at := len(data)
		data = append(data, make([]byte, step)...)
		if err := s.ReadFlash(ctx, boot.FlashBase+uint32(at), data[at:]); err != nil {
			return nil, 0, err
		}
		tell("reading", len(data), int(s.size))
		if flashing.Blank(data[at:]) {
			data = data[:at]
			break
		}
	}
	if len(data) == 0 {
		return nil, 0, nil
	}
	im, err := image.Parse("flash", data, image.Options{Format: image.FormatBIN, Base: boot.FlashBase, HasBase: true})
	if err != nil {
		return nil, 0, err
	}
	im.Segments = usedSectors(boot.FlashBase, data)
	used := 0
	for _, seg := range im.Segments {
		used += len(seg.Data) / flashing.SectorSize
	}
	im.Path = "flash of " + name
	return report.NewInfo(im, pins), used, nil
}
