package flashing

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/stem-hw/stem-hw/faults"
)

// Options say how an image is written.
type Options struct {
	// Full writes every sector, whatever it holds.
	Full bool
	// Verify reads back what was written.
	Verify bool
	// DryRun only finds out what would be done.
	DryRun bool
	// Progress hears of phases ("reading", "writing", "verifying") and of how
	// many bytes of how many are done; may be nil.
	Progress func(phase string, done, total int)
}

// Result says what was done.
type Result struct {
	// Sectors of the image; Changed were written, Erased needed an erase.
	Sectors int `json:"sectors"`
	Changed int `json:"changed"`
	Erased  int `json:"erased"`
	// Bytes were programmed: pages that are not blank.
	Bytes    int  `json:"bytes"`
	Verified bool `json:"verified"`
}

// Unchanged is the number of sectors that were right already.
func (r Result) Unchanged() int { return r.Sectors - r.Changed }

// Write carries a plan out.
func (p *Plan) Write(ctx context.Context, d Device, o Options) (Result, error) {
	tell := o.Progress
	if tell == nil {
		tell = func(string, int, int) {}
	}
	r := Result{Sectors: len(p.sectors)}
	jobs := p.all()
	if !o.Full {
		done, total := 0, len(p.sectors)*SectorSize
		tell("reading", 0, total)
		var err error
		jobs, err = p.differing(ctx, d, func(n int) { done += n; tell("reading", done, total) })
		if err != nil {
			return r, p.stopped(ctx, err, "nothing was changed")
		}
	}
	r.Changed = len(jobs)
	if o.DryRun || len(jobs) == 0 {
		for _, j := range jobs {
			if !j.blank {
				r.Erased++
			}
			r.Bytes += programmed(j.want)
		}
		r.Verified = len(jobs) == 0 && !o.DryRun && o.Verify
		return r, nil
	}
	w := &writer{ctx: ctx, d: d, r: &r, tell: tell, total: len(jobs) * SectorSize}
	if err := p.write(w, jobs); err != nil {
		return r, p.stopped(ctx, err, fmt.Sprintf(
			"%d of %d sectors are written; the program in flash will not start until it is flashed again", w.done/SectorSize, len(jobs)))
	}
	if !o.Verify {
		return r, nil
	}
	return r, p.verify(ctx, d, jobs, tell, &r)
}

// write erases and programs: the bootable sector is erased first and programmed
// last.
func (p *Plan) write(w *writer, jobs []job) error {
	rest := jobs
	var last *job
	if p.hasBoot {
		for i := range jobs {
			if jobs[i].addr == p.boot&^(SectorSize-1) {
				last = &jobs[i]
				rest = append(append([]job(nil), jobs[:i]...), jobs[i+1:]...)
			}
		}
	}
	w.tell("writing", 0, w.total)
	if last != nil {
		if err := w.erase([]job{*last}); err != nil {
			return err
		}
	}
	for len(rest) > 0 {
		n := run(rest)
		if err := w.erase(rest[:n]); err != nil {
			return err
		}
		for _, j := range rest[:n] {
			if err := w.program(j.addr, j.want, -1); err != nil {
				return err
			}
		}
		rest = rest[n:]
	}
	if last == nil {
		return nil
	}
	return w.program(last.addr, last.want, int(p.boot%SectorSize)/PageSize)
}

// run is how many of the first jobs are neighbours inside one aligned step.
func run(jobs []job) int {
	n := 1
	for n < len(jobs) && jobs[n].addr == jobs[n-1].addr+SectorSize && jobs[n].addr%stepSize != 0 {
		n++
	}
	return n
}

// writer carries out erases and programs.
type writer struct {
	ctx         context.Context
	d           Device
	r           *Result
	tell        func(phase string, done, total int)
	done, total int
}

// erase erases neighbouring sectors in as few commands as there are runs of
// sectors that are not blank.
func (w *writer) erase(jobs []job) error {
	for len(jobs) > 0 {
		if jobs[0].blank {
			jobs = jobs[1:]
			continue
		}
		n := 1
		for n < len(jobs) && !jobs[n].blank {
			n++
		}
		if err := w.ctx.Err(); err != nil {
			return err
		}
		if err := w.d.EraseFlash(w.ctx, jobs[0].addr, uint32(n)*SectorSize); err != nil {
			return err
		}
		w.r.Erased += n
		jobs = jobs[n:]
	}
	return nil
}

// program writes the pages of a sector that are not blank, in runs; page last is
// written behind all others.
func (w *writer) program(addr uint32, want []byte, last int) error {
	const pages = SectorSize / PageSize
	send := func(from, to int) error {
		p := want[from*PageSize : to*PageSize]
		if err := w.ctx.Err(); err != nil {
			return err
		}
		if err := w.d.ProgramFlash(w.ctx, addr+uint32(from*PageSize), p); err != nil {
			return err
		}
		w.r.Bytes += len(p)
		return nil
	}
	for i := 0; i < pages; {
		if i == last || Blank(want[i*PageSize:][:PageSize]) {
			i++
			continue
		}
		n := 1
		for i+n < pages && i+n != last && !Blank(want[(i+n)*PageSize:][:PageSize]) {
			n++
		}
		if err := send(i, i+n); err != nil {
			return err
		}
		i += n
	}
	if last >= 0 {
		if err := send(last, last+1); err != nil {
			return err
		}
	}
	w.done += SectorSize
	w.tell("writing", w.done, w.total)
	return nil
}

// programmed is the number of bytes in pages that are not blank.
func programmed(want []byte) int {
	n := 0
	for i := 0; i < len(want); i += PageSize {
		if !Blank(want[i : i+PageSize]) {
			n += PageSize
		}
	}
	return n
}

// verify compares what was written.
func (p *Plan) verify(ctx context.Context, d Device, jobs []job, tell func(string, int, int), r *Result) error {
	total := len(jobs) * SectorSize
	tell("verifying", 0, total)
	buf := make([]byte, SectorSize)
	for i, j := range jobs {
		if err := d.ReadFlash(ctx, j.addr, buf); err != nil {
			return p.stopped(ctx, err, "everything is written, nothing is known to be wrong, but it was not read back")
		}
		if !bytes.Equal(buf, j.want) {
			return mismatch("flash does not hold what was written", j.addr, buf, j.want).
				WithTry("flash it again with --full")
		}
		tell("verifying", (i+1)*SectorSize, total)
	}
	r.Verified = true
	return nil
}

// mismatch is the fault for contents that differ at or behind addr.
func mismatch(summary string, addr uint32, have, want []byte) *faults.Fault {
	i := 0
	for have[i] == want[i] {
		i++
	}
	n := min(len(have)-i, 8)
	return &faults.Fault{
		Code: faults.CodeVerify, Status: faults.StatusVerify, Summary: summary,
		Seen:   fmt.Sprintf("% x at 0x%08x", have[i:i+n], addr+uint32(i)),
		Wanted: fmt.Sprintf("% x", want[i:i+n]),
	}
}

// stopped explains an error with the state that it left behind.
func (p *Plan) stopped(ctx context.Context, err error, state string) error {
	f := faults.Of(err)
	switch {
	case ctx.Err() != nil || errors.Is(err, context.Canceled):
		return &faults.Fault{
			Code: faults.CodeInterrupted, Status: faults.StatusInterrupted,
			Summary: "interrupted", Details: []string{state}, Try: []string{"run the same command again: it finishes what is left"},
		}
	case f != nil && f.Status != faults.StatusInternal:
		c := *f
		c.Details = append(append([]string(nil), f.Details...), state)
		return &c
	}
	return &faults.Fault{
		Code: faults.CodeWriteFailed, Status: faults.StatusWrite,
		Summary: "the flash was not written", Err: err, Details: []string{state},
		Try: []string{"run the same command again: it finishes what is left"},
	}
}
