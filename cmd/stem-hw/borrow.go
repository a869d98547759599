package main

import (
	"context"
	"path/filepath"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/sim"
	simboard "github.com/stem-hw/stem-hw/sim/board"
	"github.com/stem-hw/stem-hw/sim/machine"
	"github.com/stem-hw/stem-hw/sim/rp2350"
)

// boardFor is the lasting board that a program is to use: the one that is named
// or pinned. nil is none: a simulated machine of this process alone, which is
// the fallback, and where programs for other machines than the RP2350 run.
func (a *app) boardFor(ctx context.Context, f *chooseFlags, verb string, p *program) (*chosen, error) {
	c, ok, err := a.named(ctx, f.board, "stem-hw "+verb+" -b %s "+filepath.Base(p.path))
	if err != nil {
		return nil, err
	}
	p.fallback = !ok && p.machine == sim.MachineRP2350
	if !ok {
		return nil, nil
	}
	if p.machine != sim.MachineRP2350 {
		a.ui.Verbose(1, "the board %s is a Pico 2; the program runs on a %s of its own", c.Selector(), p.machine)
		return nil, nil
	}
	return &c, nil
}

// used is a board that this process simulates for a while.
type used struct {
	b    *simboard.Borrowed
	next *simboard.Contents
	chip *rp2350.Chip
}

// borrow takes the program's board into this process and lets opt build its
// chip. Without a board there is nothing to give back.
func (a *app) borrow(ctx context.Context, p *program, f *chooseFlags, verb string, opt *sim.Options) (*used, error) {
	if p.board == nil {
		return nil, nil
	}
	if err := p.board.needsSim(verb); err != nil {
		return nil, err
	}
	record, err := programOf(p.image)
	if err != nil {
		return nil, err
	}
	u := &used{}
	err = a.waiting(ctx, f.wait, func() error {
		u.b, err = simboard.Borrow(ctx, p.board.place, buildVersion().Version, verb)
		return err
	})
	if err != nil {
		return nil, err
	}
	u.next = &simboard.Contents{Program: &record}
	opt.Build = func() (machine.Machine, error) {
		u.chip = p.board.place.NewChip(u.b.Contents)
		return u.chip, nil
	}
	return u, nil
}

// Forget keeps nothing of what happened to the board.
func (u *used) Forget() {
	if u != nil {
		u.chip = nil
	}
}

// Return keeps what the chip holds and gives the board back. The chip must stand
// still.
func (u *used) Return() error {
	if u == nil {
		return nil
	}
	if u.chip == nil {
		return u.b.Return(nil)
	}
	u.next.Take(u.chip)
	u.chip = nil
	if err := u.b.Return(u.next); err != nil {
		if faults.Of(err) != nil {
			return err
		}
		return faults.Internal(err)
	}
	return nil
}
