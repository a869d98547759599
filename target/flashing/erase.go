package flashing

import (
	"context"
	"errors"
	"fmt"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/image/boot"
)

// Erase erases whole sectors from from on up to to, and returns how many there
// were to erase: blank ones are left alone. The sectors in which the boot ROM
// begins to search for a program come first, and what it would find there is made
// unusable before, so that no part of a program starts if power is lost.
func Erase(ctx context.Context, d Device, from, to uint32, progress func(phase string, done, total int)) (erased int, err error) {
	if progress == nil {
		progress = func(string, int, int) {}
	}
	r := Result{}
	w := &writer{ctx: ctx, d: d, r: &r}
	at := from
	failed := func(err error) (int, error) {
		state := fmt.Sprintf("0x%08x to 0x%08x is erased, the rest up to 0x%08x is not", from, at, to)
		if !r.Touched {
			state = "nothing was changed"
		}
		return r.Erased, stoppedErasing(ctx, err, state)
	}
	for s := from; s < min(to, boot.FlashBase+2*SectorSize); s += SectorSize {
		if err := w.spoil(job{sector: sector{addr: s}}); err != nil {
			return failed(err)
		}
	}
	buf := make([]byte, stepSize)
	for at < to {
		n := min(to-at, stepSize-at%stepSize)
		if err := ctx.Err(); err != nil {
			return failed(err)
		}
		if err := d.ReadFlash(ctx, at, buf[:n]); err != nil {
			return failed(err)
		}
		jobs := make([]job, 0, n/SectorSize)
		for off := uint32(0); off < n; off += SectorSize {
			jobs = append(jobs, job{sector{addr: at + off}, Blank(buf[off : off+SectorSize])})
		}
		if err := w.erase(jobs); err != nil {
			return failed(err)
		}
		at += n
		progress("erasing", int(at-from), int(to-from))
	}
	return r.Erased, nil
}

// stoppedErasing explains an error with the state that it left behind.
func stoppedErasing(ctx context.Context, err error, state string) error {
	const again = "run the same command again"
	f := faults.Of(err)
	switch {
	case ctx.Err() != nil || errors.Is(err, context.Canceled):
		return &faults.Fault{
			Code: faults.CodeInterrupted, Status: faults.StatusInterrupted, Summary: "interrupted",
			Details: []string{state}, Try: []string{again},
		}
	case f != nil && f.Status != faults.StatusInternal:
		c := *f
		c.Details = append(append([]string(nil), f.Details...), state)
		return &c
	}
	return &faults.Fault{
		Code: faults.CodeWriteFailed, Status: faults.StatusWrite, Summary: "the flash was not erased", Err: err,
		Details: []string{state}, Try: []string{again},
	}
}
