package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/image/boot"
	simboard "github.com/stem-hw/stem-hw/sim/board"
	"github.com/stem-hw/stem-hw/target/flashing"
	"github.com/stem-hw/stem-hw/ui"
)

// flashFlags are the options of flash.
type flashFlags struct {
	chooseFlags
	viaFlags
	boards   []string
	read     readFlags
	offset   string
	full     bool
	noVerify bool
	noStart  bool
	dryRun   bool
	// allowRollback lets an image burn fuses when it starts.
	allowRollback bool
}

// flashed is what was done to one board.
type flashed struct {
	Board     string       `json:"board"`
	Serial    string       `json:"serial"`
	Simulated bool         `json:"simulated"`
	File      string       `json:"file"`
	Format    image.Format `json:"format"`
	Arch      image.Arch   `json:"arch,omitempty"`
	// Memory is "flash" or "ram".
	Memory image.Kind `json:"memory"`
	flashing.Result
	Unchanged int  `json:"unchanged"`
	Started   bool `json:"started"`
	DryRun    bool `json:"dry_run,omitempty"`
	// Via is the way to a real board, KiBps how fast the image came to be there
	// and Limit what took most of the time.
	Via   string  `json:"via,omitempty"`
	KiBps float64 `json:"kib_per_second,omitempty"`
	Limit string  `json:"limited_by,omitempty"`
	// err is why it was not done.
	err error
}

// flashResult is a row for each board.
type flashResult struct {
	Boards []flashed `json:"boards"`
}

func (flashResult) Kind() string { return "flash" }

func (r flashResult) Text(t *ui.Text) {
	for _, b := range r.Boards {
		t.Linef("%s: %s", b.Board, b.text())
	}
}

// text is the row of a board.
func (b flashed) text() string {
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	switch {
	case b.Memory == image.KindRAM:
		add("%s loaded into RAM", filepath.Base(b.File))
	case b.Changed == 0:
		add("%s was there already, %s unchanged", filepath.Base(b.File), sectors(b.Sectors))
	default:
		verb := "written"
		if b.DryRun {
			verb = "to be written"
		}
		add("%s: %d of %s %s, %d unchanged", filepath.Base(b.File), b.Changed, sectors(b.Sectors), verb, b.Unchanged)
	}
	switch {
	case b.DryRun:
		add("nothing was done")
	case b.Verified && b.Memory == image.KindFlash:
		add("verified")
	}
	if b.Started {
		add("started")
	}
	row := strings.Join(parts, ", ")
	if b.KiBps > 0 && !b.Simulated {
		row += fmt.Sprintf("; %.0f KiB/s, most of the time went to %s", b.KiBps, b.Limit)
	}
	return row
}

// sectors counts in words.
func sectors(n int) string {
	if n == 1 {
		return "1 sector"
	}
	return fmt.Sprintf("%d sectors", n)
}

func (a *app) flashCmd() *cobra.Command {
	var f flashFlags
	cmd := &cobra.Command{
		Use:   "flash FILE",
		Short: "write a program into a board and start it",
		Long: `Flash writes a program (ELF, UF2, BIN or Intel HEX) into a board that is named with
-b or pinned with stem-hw use, checks what was written, and starts it.

Before anything is touched the file is checked: its family, its architecture, its
place in the memories, and whether the boot ROM would start it. Data that is no
program is written with --no-start.

Only sectors that differ are written. The sector that makes the program bootable
is erased first and written last, so that a board that loses power starts the old
program, the new one or none, never a mixture.

A board on the USB is reached through its boot ROM. If it runs a program, that is
restarted into BOOTSEL mode first, by its reset interface or by its serial port.
--via drive writes a UF2 file to the board's drive instead; nothing can be read
back there.`,
		Example: `  stem-hw flash -b sim app.uf2
  stem-hw use sim && stem-hw flash app.elf
  stem-hw flash -b sim --no-start --offset 1M data.bin`,
		GroupID: groupBoards,
		Args:    exactArgs("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.flash(cmd.Context(), args[0], &f)
		},
	}
	fl := cmd.Flags()
	fl.StringArrayVarP(&f.boards, "board", "b", nil, "the `BOARD`: a nickname, the beginning of a serial number, sim or sim:NAME; may be repeated")
	fl.DurationVar(&f.wait, "wait", 0, "wait up to this `TIME` for a board that is in use or not there")
	f.viaFlags.add(cmd, "restart a program that runs into BOOTSEL mode (flash does so by itself)", viaBootsel, viaDrive)
	_ = cmd.RegisterFlagCompletionFunc("board", a.completeBoards)
	f.read.add(cmd)
	fl.StringVar(&f.offset, "offset", "", "`PLACE` in flash of a BIN file: 64k, 1M or an address")
	fl.BoolVar(&f.full, "full", false, "write every sector, whatever it holds")
	fl.BoolVar(&f.noVerify, "no-verify", false, "do not read back what was written")
	fl.BoolVar(&f.noStart, "no-start", false, "leave the board in BOOTSEL mode")
	fl.BoolVar(&f.allowRollback, "allow-rollback", false, "write an image that burns rollback fuses when it starts, for ever")
	fl.BoolVar(&f.dryRun, "dry-run", false, "say what would be written, and write nothing")
	return cmd
}

func (a *app) flash(ctx context.Context, path string, f *flashFlags) error {
	im, err := f.open(path)
	if err != nil {
		return err
	}
	kind, err := checkFlashable(im, f.noStart)
	if err != nil {
		return err
	}
	if err := checkRollback(im, f.allowRollback); err != nil {
		return err
	}
	selectors := f.boards
	if len(selectors) == 0 {
		selectors = []string{""}
	}
	command := "stem-hw flash -b %s " + filepath.Base(path)
	var boards []chosen
	seen := map[string]bool{}
	for _, s := range selectors {
		c, err := a.choose(ctx, s, needNamed, command)
		if err != nil {
			return err
		}
		if !seen[c.Selector()] {
			seen[c.Selector()] = true
			boards = append(boards, c)
		}
	}
	for _, w := range im.Warnings {
		a.ui.Warn("%s", w)
	}
	r := flashResult{Boards: []flashed{}}
	var failed error
	for _, b := range a.flashAll(ctx, boards, im, kind, f) {
		if b.err != nil {
			if len(boards) > 1 {
				a.ui.Warn("%s was not flashed", b.Board)
			}
			failed = errors.Join(failed, b.err)
			continue
		}
		r.Boards = append(r.Boards, b)
	}
	if len(r.Boards) > 0 || failed == nil {
		if err := a.ui.Result(r); err != nil {
			return err
		}
	}
	return failed
}

// manyBoards bounds how many boards are flashed at the same time.
const manyBoards = 8

// flashAll writes an image into boards. Real ones, which are slow, are done at
// the same time.
func (a *app) flashAll(ctx context.Context, boards []chosen, im *image.Image, kind image.Kind, f *flashFlags) []flashed {
	rows := make([]flashed, len(boards))
	var bars *ui.Rows
	if len(boards) > 1 {
		names := make([]string, len(boards))
		for i, c := range boards {
			names[i] = c.Selector()
		}
		bars = a.ui.Rows(names)
		defer bars.Close()
	}
	one := func(i int) {
		tell, end := a.progress()
		how := "done"
		switch {
		case bars == nil && len(boards) > 1:
			phase := ""
			tell = func(ph string, _, _ int) {
				if ph != phase {
					phase = ph
					a.ui.Verbose(1, "%s: %s", boards[i].Selector(), ph)
				}
			}
		case bars != nil:
			tell = func(phase string, done, total int) { bars.Set(i, phase, done, total) }
			end = func() { bars.End(i, how) }
		}
		b, err := a.flashBoard(ctx, boards[i], im, kind, f, tell)
		if err != nil {
			how = "failed"
		}
		end()
		b.err = err
		rows[i] = b
	}
	var all sync.WaitGroup
	slots := make(chan struct{}, manyBoards)
	for i, c := range boards {
		if c.Sim != "" || len(boards) == 1 {
			continue
		}
		all.Add(1)
		go func() {
			defer all.Done()
			slots <- struct{}{}
			defer func() { <-slots }()
			one(i)
		}()
	}
	for i, c := range boards {
		if c.Sim != "" || len(boards) == 1 {
			one(i)
		}
	}
	all.Wait()
	return rows
}

// open reads the file as the flags say.
func (f *flashFlags) open(path string) (*image.Image, error) {
	opt, err := f.read.options()
	if err != nil {
		return nil, err
	}
	if f.offset != "" {
		if opt.Base, err = parseOffset(f.offset); err != nil {
			return nil, err
		}
		opt.HasBase = true
	}
	im, err := image.OpenWith(path, opt)
	if err == nil && f.offset != "" && im.Format != image.FormatBIN {
		u := faults.Usage("--offset is for BIN files: other files say where they belong")
		u.Seen = "a file of format " + string(im.Format)
		return nil, u
	}
	return im, err
}

// checkFlashable refuses an image that a board would not take, or not start.
func checkFlashable(im *image.Image, data bool) (image.Kind, error) {
	l, err := im.Place(&image.RP2350)
	if err != nil {
		return "", err
	}
	if c := im.Contradictions(); len(c) > 0 {
		return "", &faults.Fault{
			Code: faults.CodeWrongMachine, Status: faults.StatusImage,
			Summary: im.Path + ": the file contradicts itself", Seen: c[0], Details: c[1:],
			Try: []string{"build it again for one architecture"},
		}
	}
	if l.Kind == image.KindRAM || data {
		return l.Kind, nil
	}
	why := "no image definition in its first 4 KiB"
	d := im.Definition()
	ok := d != nil && d.Type.Executable()
	if lo, _ := im.Bounds(); ok && lo == image.RP2350.FlashBase {
		cpu := boot.Arm
		if im.Arch == image.ArchRISCV {
			cpu = boot.RISCV
		}
		found := boot.FindImage(im.Memory(), boot.Options{Chip: boot.A2, CPU: cpu})
		ok = found.Outcome == boot.OutcomeBoot || found.Outcome == boot.OutcomeSwitch
		why = strings.TrimSuffix(found.Reason, ".")
	} else if d != nil && !ok {
		why = "its image definition is for " + d.Type.CPUText() + " and not executable"
	}
	if ok {
		return l.Kind, nil
	}
	return "", &faults.Fault{
		Code: faults.CodeNotBootable, Status: faults.StatusImage,
		Summary: im.Path + " would not start on a board", Seen: why,
		Wanted: "a program with an image definition for the RP2350",
		Try:    []string{"stem-hw uf2 explain " + shellQuote(im.Path), "write it as data: stem-hw flash --no-start " + shellQuote(im.Path)},
	}
}

// progressFunc is told what is done and how much of it, in sectors or bytes.
type progressFunc func(phase string, done, total int)

// progress shows the phases of a job as bars.
func (a *app) progress() (tell progressFunc, end func()) {
	var p *ui.Progress
	phase := ""
	end = func() {
		if p != nil {
			p.Done()
		}
	}
	if !a.ui.ErrTerminal() {
		return func(ph string, _, _ int) {
			if ph != phase {
				phase = ph
				a.ui.Verbose(1, "%s", ph)
			}
		}, end
	}
	return func(ph string, done, total int) {
		if ph != phase {
			end()
			phase, p = ph, a.ui.Progress(ph, int64(total))
		}
		p.Set(int64(done))
	}, end
}

// flashBoard writes the image into one board.
func (a *app) flashBoard(ctx context.Context, c chosen, im *image.Image, kind image.Kind, f *flashFlags, tell progressFunc) (flashed, error) {
	r := flashed{
		Board: c.Selector(), Serial: c.Serial, Simulated: c.Simulated, File: im.Path, Format: im.Format,
		Arch: im.Arch, Memory: kind, DryRun: f.dryRun,
	}
	program, err := programOf(im)
	if err != nil {
		return r, err
	}
	if c.Sim == "" {
		return r, a.flashUSB(ctx, &c, im, f, &r, tell)
	}
	o := flashing.Options{Full: f.full, Verify: !f.noVerify, DryRun: f.dryRun, Progress: tell}
	plan := flashing.NewPlan(im)
	if f.dryRun {
		s, err := a.openStorage(ctx, &c, access{verb: "flash", wait: f.wait})
		if err != nil {
			return r, err
		}
		defer s.Close(false)
		if err := fits(plan, s.size); err != nil {
			return r, err
		}
		r.Result, err = plan.Write(ctx, s, o)
		r.Unchanged = r.Result.Unchanged()
		return r, err
	}
	err = a.waiting(ctx, f.wait, func() error {
		cl, err := a.connect(ctx, c, "flash", 0)
		if err != nil {
			return err
		}
		defer cl.Close()
		r.Result, err = putProgram(ctx, cl, im, plan, o, simboard.Adoption{Program: program, Arch: im.Arch})
		if err != nil || f.noStart {
			return err
		}
		if err := cl.Reset(ctx, simboard.ResetRun); err != nil {
			return err
		}
		r.Started = true
		return cl.Release(ctx)
	})
	r.Unchanged = r.Result.Unchanged()
	return r, err
}

// putProgram puts a program into a board, which then waits in BOOTSEL mode and
// is held.
func putProgram(ctx context.Context, cl *simboard.Client, im *image.Image, plan *flashing.Plan, o flashing.Options, adoption simboard.Adoption) (flashing.Result, error) {
	i, err := cl.Describe(ctx)
	if err != nil {
		return flashing.Result{}, err
	}
	if err := simboard.CheckArch(im.Arch, i.ArmOff, i.RISCVOff); err != nil {
		return flashing.Result{}, err
	}
	if err := fits(plan, i.FlashSize); err != nil {
		return flashing.Result{}, err
	}
	if err := cl.Hold(ctx, simboard.ResetBootsel); err != nil {
		return flashing.Result{}, err
	}
	r, err := plan.Write(ctx, cl, o)
	if err != nil {
		return r, err
	}
	if plan.Sectors() > 0 && im.Definition() == nil {
		return r, nil // data beside a program, which stays the board's
	}
	if err := cl.Adopt(ctx, adoption, im.ELF); err != nil {
		return r, err
	}
	if plan.Sectors() == 0 {
		return r, cl.LoadRAM(ctx, im)
	}
	return r, nil
}

// fits refuses an image that reaches beyond the board's flash.
func fits(p *flashing.Plan, size uint32) error {
	_, end := p.Bounds()
	if end <= uint64(image.RP2350.FlashBase)+uint64(size) {
		return nil
	}
	return &faults.Fault{
		Code: faults.CodeImageTooLarge, Status: faults.StatusImage,
		Summary: "the image reaches beyond the flash of the board",
		Seen:    fmt.Sprintf("an end at 0x%08x", end),
		Wanted:  fmt.Sprintf("at most 0x%08x", image.RP2350.FlashBase+size),
	}
}

// programOf describes the file for the board's own record.
func programOf(im *image.Image) (simboard.Program, error) {
	p := simboard.Program{Path: im.Path, Format: im.Format}
	if abs, err := filepath.Abs(im.Path); err == nil {
		p.Path = abs
	}
	sum, err := fileSum(im.Path)
	p.SHA256 = sum
	return p, err
}

func fileSum(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("digest of the file: %w", err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("digest of the file: %w", err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
