package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/image"
	simboard "github.com/stem-hw/stem-hw/sim/board"
	"github.com/stem-hw/stem-hw/target/flashing"
	"github.com/stem-hw/stem-hw/ui"
)

// addrRange is a part of flash.
type addrRange struct{ from, to uint64 }

// parseRange reads FROM-TO or FROM+LENGTH; both ends are places as of
// parseOffset.
func parseRange(s string) (addrRange, error) {
	bad := func(wanted string) (addrRange, error) {
		f := faults.Usage("the range is not usable")
		f.Seen, f.Wanted = strconv.Quote(s), wanted
		f.Try = []string{"0x10010000-0x10020000", "64k+4k"}
		return addrRange{}, f
	}
	i := strings.IndexAny(s, "-+")
	if i < 0 {
		return bad("FROM-TO or FROM+LENGTH")
	}
	from, err := parseOffset(s[:i])
	if err != nil {
		return addrRange{}, err
	}
	flash := image.RP2350
	to, err := parseOffset(s[i+1:])
	if err != nil {
		return addrRange{}, err
	}
	r := addrRange{uint64(from), uint64(to)}
	if s[i] == '+' {
		if to < flash.FlashBase || to >= flash.FlashBase+flash.FlashSize {
			return bad("a length such as 4096, 0x1000 or 4k behind the +")
		}
		r.to = r.from + uint64(to-flash.FlashBase)
	}
	if r.to <= r.from || !flash.IsFlash(from, r.to-r.from) {
		return bad(fmt.Sprintf("a range of flash, 0x%08x to 0x%08x, whose end lies behind its beginning", flash.FlashBase, flash.FlashBase+flash.FlashSize))
	}
	return r, nil
}

// erased is what was erased.
type erased struct {
	Board     string `json:"board"`
	Serial    string `json:"serial"`
	Simulated bool   `json:"simulated"`
	From      uint32 `json:"from"`
	To        uint32 `json:"to"`
	Sectors   int    `json:"sectors"`
	DryRun    bool   `json:"dry_run,omitempty"`
}

func (erased) Kind() string { return "erase" }

func (e erased) Text(t *ui.Text) {
	verb := "erased"
	if e.DryRun {
		verb = "would be erased"
	}
	t.Linef("%s: %s %s, 0x%08x to 0x%08x", e.Board, sectors(e.Sectors), verb, e.From, e.To)
}

func (a *app) eraseCmd() *cobra.Command {
	var f chooseFlags
	var vf viaFlags
	var all, yes, dry bool
	cmd := &cobra.Command{
		Use:   "erase [RANGE]",
		Short: "erase flash of a board",
		Long: `Erase erases a range of a board's flash, or all of it with --all. A range is
FROM-TO or FROM+LENGTH, in whole sectors of 4 KiB; 64k and 1M count from the start
of flash, 0x10010000 is an address.

On a terminal it asks for the board's nickname or serial number; elsewhere it
wants --yes. The program on the board is stopped; stem-hw reset starts what is
left.`,
		Example: `  stem-hw erase -b sim --all --yes
  stem-hw erase -b sim 1M+64k
  stem-hw erase -b sim 0x10010000-0x10020000`,
		GroupID: groupBoards,
		Args:    atMostArgs("RANGE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if all == (len(args) > 0) {
				u := faults.Usage("what is to be erased must be said once")
				u.Wanted = "a range, or --all"
				u.Try = []string{"stem-hw erase --all", "stem-hw erase 1M+64k"}
				return u
			}
			r := addrRange{}
			if !all {
				var err error
				if r, err = parseRange(args[0]); err != nil {
					return err
				}
				if r.from%flashing.SectorSize != 0 || r.to%flashing.SectorSize != 0 {
					u := faults.Usage("flash is erased in whole sectors of %d bytes", flashing.SectorSize)
					u.Seen = fmt.Sprintf("0x%08x to 0x%08x", r.from, r.to)
					from, to := r.from&^(flashing.SectorSize-1), (r.to+flashing.SectorSize-1)&^(flashing.SectorSize-1)
					u.Try = []string{fmt.Sprintf("stem-hw erase 0x%08x-0x%08x", from, to)}
					return u
				}
			}
			return a.erase(cmd.Context(), &f, &vf, r, yes, dry)
		},
	}
	f.add(cmd, a)
	vf.add(cmd, "restart a program that runs into BOOTSEL mode (erase does so by itself)", viaBootsel)
	cmd.Flags().BoolVar(&all, "all", false, "erase all of the flash")
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "say what would be erased, and erase nothing")
	return cmd
}

func (a *app) erase(ctx context.Context, f *chooseFlags, vf *viaFlags, r addrRange, yes, dry bool) error {
	what := "--all"
	if r.to != 0 {
		what = fmt.Sprintf("0x%08x-0x%08x", r.from, r.to)
	}
	c, err := a.choose(ctx, f.board, needNamed, "stem-hw erase -b %s "+what)
	if err != nil {
		return err
	}
	if !dry {
		if err := a.confirm(c, "erase "+what, yes); err != nil {
			return err
		}
	}
	stop := simboard.ResetBootsel
	if dry {
		stop = ""
	}
	s, err := a.openStorage(ctx, &c, access{
		verb: "erase", wait: f.wait, reset: stop, force: vf.force || !dry, command: "stem-hw erase -b %s " + what,
	})
	if err != nil {
		return err
	}
	keep := false
	defer func() { _ = s.Close(keep) }()
	base := uint64(image.RP2350.FlashBase)
	all := r.to == 0
	if all {
		r = addrRange{base, base + uint64(s.size)}
	}
	if r.to > base+uint64(s.size) {
		return &faults.Fault{
			Code: faults.CodeImageTooLarge, Status: faults.StatusUsage,
			Summary: "the range reaches beyond the flash of the board",
			Seen:    what, Wanted: fmt.Sprintf("an end at or below 0x%08x", base+uint64(s.size)),
		}
	}
	res := erased{c.Selector(), c.Serial, c.Simulated, uint32(r.from), uint32(r.to), int(r.to-r.from) / flashing.SectorSize, dry}
	if dry {
		return a.ui.Result(res)
	}
	keep = true // what was erased is erased
	if err := a.eraseRange(ctx, s, r); err != nil {
		if s.usb != nil {
			return a.leftAs(ctx, s.usb, err, true)
		}
		keep = false
		return err
	}
	if all && s.contents != nil {
		s.contents.Program = nil
	}
	if all && s.client != nil {
		if err := s.client.Adopt(ctx, simboard.Adoption{}, nil); err != nil {
			return err
		}
	}
	if s.client != nil || s.usb != nil {
		a.ui.Note("the board waits in BOOTSEL mode; what is left is started by: stem-hw reset -b %s", c.Selector())
	}
	return a.ui.Result(res)
}

// eraseRange erases, and shows how far it is.
func (a *app) eraseRange(ctx context.Context, s *storage, r addrRange) error {
	tell, end := a.progress()
	defer end()
	_, err := flashing.Erase(ctx, s, uint32(r.from), uint32(r.to), tell)
	return err
}

// confirm asks a person to type the board's name before something is lost.
func (a *app) confirm(c chosen, what string, yes bool) error {
	if yes {
		return nil
	}
	if !a.ui.Interactive() {
		return &faults.Fault{
			Code: faults.CodeRefused, Status: faults.StatusRefused,
			Summary: what + " was not confirmed", Seen: "nobody can be asked here", Wanted: "--yes",
			Try: []string{"stem-hw " + what + " -b " + c.Selector() + " --yes"},
		}
	}
	names := []string{c.Selector(), c.Serial}
	if c.Nickname != "" {
		names = append(names, c.Nickname)
	}
	typed, err := a.ui.Ask(fmt.Sprintf("%s on the board %s, serial number %s. Type its name or serial number to go on:", what, c.Selector(), c.Serial))
	if err == nil {
		for _, n := range names {
			if strings.EqualFold(n, typed) {
				return nil
			}
		}
	}
	return &faults.Fault{
		Code: faults.CodeRefused, Status: faults.StatusRefused,
		Summary: what + " was not confirmed", Seen: strconv.Quote(typed), Wanted: strings.Join(names, " or "),
	}
}
