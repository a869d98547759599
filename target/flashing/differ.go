package flashing

import (
	"bytes"
	"context"
	"math/rand/v2"
	"slices"
)

// What a sector costs on a board whose boot ROM does the work, in milliseconds:
// reading 16 pages, an erase, writing 16 pages (docs/performance.md has the
// model). Only their ratio counts.
const (
	costRead  = 10
	costErase = 45
	costWrite = 19
)

// Samples: of large images one sector in eight is looked at first, and not more
// than maxSamples.
const (
	fewSectors  = 16
	sampleEvery = 8
	maxSamples  = 32
)

// state is what is known of a sector of the board.
type state uint8

const (
	unknown state = iota
	same
	blank
	other
)

// look reads sectors and notes their states. first and n are indices into the
// plan's sectors, which are neighbours in flash.
func (p *Plan) look(ctx context.Context, d Device, first, n int, states []state) error {
	if m, ok := d.(Matcher); ok {
		return p.match(ctx, m, first, n, states)
	}
	have := make([]byte, n*SectorSize)
	if err := d.ReadFlash(ctx, p.sectors[first].addr, have); err != nil {
		return err
	}
	for k := range n {
		h := have[k*SectorSize:][:SectorSize]
		switch {
		case bytes.Equal(p.sectors[first+k].want, h):
			states[first+k] = same
		case Blank(h):
			states[first+k] = blank
		default:
			states[first+k] = other
		}
	}
	return nil
}

// sample looks at a few sectors and reports whether it pays to read the others:
// whether what they save is more than what reading them costs. Of each stretch of
// the image it takes one somewhere, so that changes at regular distances do not
// deceive it.
func (p *Plan) sample(ctx context.Context, d Device, states []state, tell func(int)) (pays bool, err error) {
	if len(p.sectors) < fewSectors {
		return true, nil
	}
	n := min(maxSamples, len(p.sectors)/sampleEvery)
	saved := 0
	stretch := len(p.sectors) / n
	dice := rand.New(rand.NewPCG(uint64(len(p.sectors)), 0)) // always the same
	for i := range n {
		at := i*stretch + dice.IntN(stretch)
		if err := p.look(ctx, d, at, 1, states); err != nil {
			return false, err
		}
		switch states[at] {
		case same:
			saved += costErase + costWrite
		case blank:
			saved += costErase
		default:
		}
		tell(1)
	}
	return saved > n*costRead, nil
}

// differing finds out what has to be changed, and reads the device for it as
// long as that pays. If anything has to be changed, the sector with the image
// definition is part of it.
func (p *Plan) differing(ctx context.Context, d Device, tell func(sectors int)) ([]job, error) {
	states := make([]state, len(p.sectors))
	_, pays := d.(Matcher) // nothing is read over
	if !pays {
		var err error
		if pays, err = p.sample(ctx, d, states, tell); err != nil {
			return nil, err
		}
	}
	for i := 0; pays && i < len(p.sectors); {
		if states[i] != unknown {
			i++
			continue
		}
		n := 1
		for i+n < len(p.sectors) && states[i+n] == unknown && n < stepSize/SectorSize &&
			p.sectors[i+n].addr == p.sectors[i].addr+uint32(n)*SectorSize {
			n++
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := p.look(ctx, d, i, n, states); err != nil {
			return nil, err
		}
		i += n
		tell(n)
	}
	var jobs []job
	for i, s := range p.sectors {
		if states[i] != same {
			jobs = append(jobs, job{s, states[i] == blank})
		}
	}
	if len(jobs) == 0 || !p.hasBoot {
		return jobs, nil
	}
	base := p.boot &^ (SectorSize - 1)
	at, there := slices.BinarySearchFunc(jobs, base, func(j job, a uint32) int { return int(int64(j.addr) - int64(a)) })
	if !there {
		i := slices.IndexFunc(p.sectors, func(s sector) bool { return s.addr == base })
		if i >= 0 {
			jobs = slices.Insert(jobs, at, job{p.sectors[i], false})
		}
	}
	return jobs, nil
}

// all returns every sector as a job.
func (p *Plan) all() []job {
	jobs := make([]job, len(p.sectors))
	for i, s := range p.sectors {
		jobs[i] = job{s, false}
	}
	return jobs
}
