package main

import (
	"context"
	"errors"
	"time"

	"github.com/stem-hw/stem-hw/board"
	"github.com/stem-hw/stem-hw/bootsel"
	"github.com/stem-hw/stem-hw/image"
	simboard "github.com/stem-hw/stem-hw/sim/board"
	"github.com/stem-hw/stem-hw/target/flashing"
)

// storage reaches what a board keeps, without starting it: through the boot ROM
// of a real board; of a simulated one through the process that runs it, or in its
// file.
type storage struct {
	usb      *bootsel.Target
	client   *simboard.Client
	borrowed *simboard.Borrowed
	// contents are the board's when it is off; a copy that may be changed.
	contents *simboard.Contents
	size     uint32
	program  *simboard.Program
}

// access says what a verb wants to do with a storage.
type access struct {
	verb    string
	command string // as it would be typed, with a place for the selector
	wait    time.Duration
	// reset, if not empty, stops a program that runs, and nobody else may use the
	// board meanwhile.
	reset simboard.ResetTo
	// force restarts a real board's program into BOOTSEL mode.
	force bool
}

// openStorage opens it.
func (a *app) openStorage(ctx context.Context, c *chosen, w access) (s *storage, err error) {
	if c.Sim == "" {
		s = &storage{}
		if s.usb, err = a.openUSB(ctx, c, w); err != nil {
			return nil, err
		}
		sure := false
		if s.size, sure, err = s.usb.FlashSize(ctx); err != nil {
			_ = s.Close(false)
			return nil, err
		}
		if !sure {
			a.ui.Verbose(1, "the flash is so empty that its size cannot be told; %d MiB are assumed", s.size>>20)
		}
		return s, nil
	}
	verb, reset := w.verb, w.reset
	version := buildVersion().Version
	err = a.waiting(ctx, w.wait, func() error {
		s = &storage{}
		if s.client, err = simboard.Dial(ctx, c.place, version, verb); err == nil {
			i, err := s.client.Describe(ctx)
			if err == nil && i.Mode == board.ModeUsed {
				err = s.client.Hold(ctx, "") // tells who has it
			}
			if err == nil && reset != "" {
				err = s.client.Hold(ctx, reset)
			}
			if err != nil {
				_ = s.client.Close()
				return err
			}
			s.size, s.program = i.FlashSize, i.Program
			return nil
		}
		s.client = nil
		if reset == "" && !c.place.Exists() {
			// Looking at a board that is not there does not make one.
			s.contents = c.place.NewContents()
			s.size = uint32(len(s.contents.Flash))
			return nil
		}
		if s.borrowed, err = simboard.Borrow(ctx, c.place, version, verb); err != nil {
			return err
		}
		s.contents = s.borrowed.Contents.Clone()
		s.size, s.program = uint32(len(s.contents.Flash)), s.contents.Program
		return nil
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// ReadFlash implements flashing.Device.
func (s *storage) ReadFlash(ctx context.Context, addr uint32, p []byte) error {
	if s.usb != nil {
		return s.usb.ReadFlash(ctx, addr, p)
	}
	if s.client != nil {
		return s.client.ReadFlash(ctx, addr, p)
	}
	return s.contents.ReadFlash(ctx, addr, p)
}

// EraseFlash implements flashing.Device.
func (s *storage) EraseFlash(ctx context.Context, addr, n uint32) error {
	if s.usb != nil {
		return s.usb.EraseFlash(ctx, addr, n)
	}
	if s.client != nil {
		return s.client.EraseFlash(ctx, addr, n)
	}
	return s.contents.EraseFlash(ctx, addr, n)
}

// ProgramFlash implements flashing.Device.
func (s *storage) ProgramFlash(ctx context.Context, addr uint32, p []byte) error {
	if s.usb != nil {
		return s.usb.ProgramFlash(ctx, addr, p)
	}
	if s.client != nil {
		return s.client.ProgramFlash(ctx, addr, p)
	}
	return s.contents.ProgramFlash(ctx, addr, p)
}

// holding returns the flash as an image sees it that the board was given.
func (s *storage) holding(ctx context.Context, im *image.Image) (flashing.Device, error) {
	if s.usb == nil {
		return s, nil
	}
	if _, err := s.usb.Plan(ctx, im); err != nil {
		return nil, err
	}
	return s.usb.Moved(), nil
}

// Close gives the board back; with keep, what was changed is kept. A program of a
// real board that was interrupted to look is started again.
func (s *storage) Close(keep bool) error {
	if s.usb != nil {
		var err error
		if !keep {
			_, err = s.usb.Resume(context.Background())
		}
		return errors.Join(err, s.usb.Close())
	}
	if s.client != nil {
		return s.client.Close()
	}
	if s.borrowed == nil {
		return nil
	}
	if !keep {
		return s.borrowed.Return(nil)
	}
	return s.borrowed.Return(s.contents)
}
