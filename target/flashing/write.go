package flashing

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

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
	// Took is how long it took, by phase.
	Took Times `json:"seconds"`
	// Touched says that something was erased or programmed.
	Touched bool `json:"-"`
}

// Times is where the time went, in seconds.
type Times struct {
	Reading   float64 `json:"reading"`
	Erasing   float64 `json:"erasing"`
	Writing   float64 `json:"writing"`
	Verifying float64 `json:"verifying"`
}

// Total is all of it.
func (t Times) Total() float64 { return t.Reading + t.Erasing + t.Writing + t.Verifying }

// Limit names what most of the time went to.
func (t Times) Limit() string {
	name, most := "reading", t.Reading
	for _, p := range []struct {
		name string
		t    float64
	}{{"erasing", t.Erasing}, {"writing", t.Writing}, {"verifying", t.Verifying}} {
		if p.t > most {
			name, most = p.name, p.t
		}
	}
	return name
}

// timed adds to *sum how long f takes.
func timed(sum *float64, f func() error) error {
	start := time.Now()
	err := f()
	*sum += time.Since(start).Seconds()
	return err
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
		err := timed(&r.Took.Reading, func() (err error) {
			jobs, err = p.differing(ctx, d, func(n int) { done += n * SectorSize; tell("reading", done, total) })
			return err
		})
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
		state := fmt.Sprintf("%d of %d sectors are written", w.done/SectorSize, len(jobs))
		switch {
		case !r.Touched:
			state = "nothing was changed"
		case p.hasBoot:
			state += "; the program in flash will not start until it is flashed again"
		}
		return r, p.stopped(ctx, err, state)
	}
	if !o.Verify {
		return r, nil
	}
	err := timed(&r.Took.Verifying, func() error { return p.verify(ctx, d, jobs, tell, &r) })
	return r, err
}

// write erases and programs. What makes a program of flash is erased first and
// programmed last: the sector with the image definition, and the two in which
// the boot ROM begins to look for one (RP2350 datasheet 5.1.5: slot 0 and 1).
func (p *Plan) write(w *writer, jobs []job) error {
	first, rest := p.split(jobs)
	w.tell("writing", 0, w.total)
	for _, j := range first {
		if err := w.spoil(j); err != nil {
			return err
		}
	}
	for i := range first {
		if err := w.erase(first[i : i+1]); err != nil {
			return err
		}
	}
	for len(rest) > 0 {
		n := run(rest)
		if err := w.erase(rest[:n]); err != nil {
			return err
		}
		if err := w.program(rest[:n], -1); err != nil {
			return err
		}
		rest = rest[n:]
	}
	for i := len(first) - 1; i > 0; i-- {
		if err := w.program(first[i:i+1], -1); err != nil {
			return err
		}
	}
	if len(first) == 0 {
		return nil
	}
	return w.finish(first[0], p.lastPage(first[0]))
}

// split takes the sectors out that decide about what starts, in the order in
// which they are erased. The first of them ends what was there: where the search
// begins, or, if that is to stay as it is, where it leads.
func (p *Plan) split(jobs []job) (first, rest []job) {
	for _, j := range jobs {
		if p.critical(j.addr) {
			first = append(first, j)
		} else {
			rest = append(rest, j)
		}
	}
	if n := len(first); n > 1 && first[0].addr != p.sectors[0].addr && first[n-1].addr == p.boot&^(SectorSize-1) {
		first = append([]job{first[n-1]}, first[:n-1]...)
	}
	return first, rest
}

// critical reports whether a sector decides about what starts.
func (p *Plan) critical(addr uint32) bool {
	if !p.hasBoot {
		return false
	}
	return addr == p.boot&^(SectorSize-1) || addr-p.sectors[0].addr <= SectorSize
}

// marker is the word with which a block begins (RP2350 datasheet 5.9.5).
var marker = []byte{0xd3, 0xde, 0xff, 0xff}

// lastPage is the page of a sector that is programmed last: the one with the
// image definition, or with the block that leads to it; -1 if there is none.
func (p *Plan) lastPage(j job) int {
	if j.addr == p.boot&^(SectorSize-1) {
		return int(p.boot%SectorSize) / PageSize
	}
	if i := bytes.Index(j.want, marker); i >= 0 {
		return i / PageSize
	}
	return -1
}

// spoil clears the markers of blocks in a sector that is going to be erased: an
// erase that is cut off may leave any part of a sector as it was.
func (w *writer) spoil(j job) error {
	if j.blank {
		return nil
	}
	have := make([]byte, SectorSize)
	if err := timed(&w.r.Took.Reading, func() error { return w.d.ReadFlash(w.ctx, j.addr, have) }); err != nil {
		return err
	}
	for at := 0; at < SectorSize; at += PageSize {
		page := bytes.Repeat([]byte{0xff}, PageSize)
		found := false
		for i := 0; i < PageSize; i += len(marker) {
			if bytes.Equal(have[at+i:][:len(marker)], marker) {
				clear(page[i:][:len(marker)])
				found = true
			}
		}
		if !found {
			continue
		}
		if err := w.ctx.Err(); err != nil {
			return err
		}
		w.r.Touched = true
		err := timed(&w.r.Took.Writing, func() error { return w.d.ProgramFlash(w.ctx, j.addr+uint32(at), page) })
		if err != nil {
			return err
		}
	}
	return nil
}

// finish programs the sector that makes all of it a program. The page with the
// block is the last one, and the words that mark blocks are programmed when all
// else is in place: a page whose programming is cut off may have any part done.
func (w *writer) finish(j job, last int) error {
	if last < 0 {
		return w.program([]job{j}, -1)
	}
	at := last * PageSize
	page, marks := bytes.Clone(j.want[at:][:PageSize]), bytes.Repeat([]byte{0xff}, PageSize)
	for i := 0; i < PageSize; i += len(marker) {
		if bytes.Equal(page[i:][:len(marker)], marker) {
			copy(marks[i:], marker)
			copy(page[i:], []byte{0xff, 0xff, 0xff, 0xff})
		}
	}
	without := bytes.Clone(j.want)
	copy(without[at:], page)
	if err := w.program([]job{{sector{j.addr, without}, j.blank}}, last); err != nil {
		return err
	}
	if err := w.ctx.Err(); err != nil {
		return err
	}
	return timed(&w.r.Took.Writing, func() error { return w.d.ProgramFlash(w.ctx, j.addr+uint32(at), marks) })
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
		w.r.Touched = true
		err := timed(&w.r.Took.Erasing, func() error {
			return w.d.EraseFlash(w.ctx, jobs[0].addr, uint32(n)*SectorSize)
		})
		if err != nil {
			return err
		}
		w.r.Erased += n
		jobs = jobs[n:]
	}
	return nil
}

// program writes the pages of neighbouring sectors that are not blank, in runs
// as long as they can be; page last is written behind all others.
func (w *writer) program(jobs []job, last int) error {
	want := jobs[0].want
	if len(jobs) > 1 {
		want = make([]byte, 0, len(jobs)*SectorSize)
		for _, j := range jobs {
			want = append(want, j.want...)
		}
	}
	pages := len(want) / PageSize
	send := func(from, to int) error {
		p := want[from*PageSize : to*PageSize]
		if err := w.ctx.Err(); err != nil {
			return err
		}
		w.r.Touched = true
		err := timed(&w.r.Took.Writing, func() error {
			return w.d.ProgramFlash(w.ctx, jobs[0].addr+uint32(from*PageSize), p)
		})
		if err != nil {
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
	if last >= 0 && !Blank(want[last*PageSize:][:PageSize]) {
		if err := send(last, last+1); err != nil {
			return err
		}
	}
	w.done += len(want)
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
	done, total := 0, len(jobs)*SectorSize
	tell("verifying", 0, total)
	buf := make([]byte, stepSize)
	for len(jobs) > 0 {
		n := run(jobs)
		have := buf[:n*SectorSize]
		err := ctx.Err()
		matched := false
		if err == nil {
			matched, err = matches(ctx, d, jobs[:n])
		}
		if err == nil && !matched {
			err = d.ReadFlash(ctx, jobs[0].addr, have)
		}
		if err != nil {
			return p.stopped(ctx, err, "everything is written, nothing is known to be wrong, but it was not read back")
		}
		for i, j := range jobs[:n] {
			if h := have[i*SectorSize:][:SectorSize]; !matched && !bytes.Equal(h, j.want) {
				return mismatch("flash does not hold what was written", j.addr, h, j.want).
					WithTry("flash it again with --full")
			}
		}
		jobs = jobs[n:]
		done += len(have)
		tell("verifying", done, total)
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
