package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/stem-hw/stem-hw/board"
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/image/report"
	simboard "github.com/stem-hw/stem-hw/sim/board"
	"github.com/stem-hw/stem-hw/target/flashing"
	"github.com/stem-hw/stem-hw/ui"
)

// boardInfo is a board and the program in its flash.
type boardInfo struct {
	Board     board.Board `json:"board"`
	Simulated bool        `json:"simulated"`
	FlashSize uint32      `json:"flash_size"`
	// Used is the number of sectors that are not blank.
	Used int `json:"used_sectors"`
	// Program is what was put there last.
	Program *simboard.Program `json:"program,omitempty"`
	// Chip is what the boot ROM of a real board says about it.
	Chip  *chipInfo    `json:"chip,omitempty"`
	Image *report.Info `json:"image,omitempty"`
}

func (boardInfo) Kind() string { return "board-info" }

func (r boardInfo) Text(t *ui.Text) {
	t.Heading("Board")
	t.Row("  board", r.Board.Selector())
	if r.Board.Nickname != "" {
		t.Row("  nickname", r.Board.Nickname)
	}
	t.Row("  product", r.Board.Product)
	t.Row("  serial", r.Board.Serial)
	t.Row("  mode", strings.TrimSuffix(string(r.Board.Mode)+": "+r.Board.Detail, ": "))
	if r.Board.PID != 0 {
		t.Row("  process", fmt.Sprint(r.Board.PID))
	}
	if r.Chip != nil {
		r.Chip.rows(t)
	}
	if r.FlashSize > 0 {
		t.Row("  flash", fmt.Sprintf("%d KiB, %s in use", r.FlashSize>>10, sectors(r.Used)))
	}
	if r.Program != nil {
		t.Row("  flashed", r.Program.Path)
	}
	if r.Image != nil {
		r.Image.Text(t)
	}
}

func (a *app) infoBoard(ctx context.Context, f *chooseFlags, vf *viaFlags, pins string) error {
	c, err := a.choose(ctx, f.board, needAny, "stem-hw info -b %s")
	if err != nil {
		return err
	}
	if c.Sim == "" {
		return a.infoUSB(ctx, &c, f, vf, pins)
	}
	_, known, err := a.decisions()
	if err != nil {
		return err
	}
	r := boardInfo{Board: a.look(ctx, c.place), Simulated: c.Simulated}
	r.Board.Nickname = known.Nickname(r.Board.Identity)
	s, err := a.openStorage(ctx, &c, access{verb: "info", wait: f.wait})
	if err != nil {
		return err
	}
	defer s.Close(false)
	r.FlashSize, r.Program = s.size, s.program
	base := uint64(image.RP2350.FlashBase)
	im, err := a.readImage(ctx, s, addrRange{base, base + uint64(s.size)}, true)
	if err != nil {
		return err
	}
	for _, seg := range im.Segments {
		r.Used += len(seg.Data) / flashing.SectorSize
	}
	if len(im.Segments) > 0 {
		im.Path = "flash of " + c.Selector()
		r.Image = report.NewInfo(im, pins != "")
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
