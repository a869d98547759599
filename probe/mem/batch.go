package mem

import (
	"context"

	"github.com/stem-hw/stem-hw/probe/swd"
)

// Batch is a list of word accesses that are done in one run.
type Batch struct {
	a      *AP
	acc    []swd.Access
	first  uint32
	write  bool
	window uint32
	banked bool
	apart  bool
}

// Batch begins an empty list.
func (a *AP) Batch() *Batch { return &Batch{a: a} }

// Window makes the sixteen bytes at base those that further accesses reach
// through the banked data registers, in any order and without an address.
func (b *Batch) Window(base uint32) {
	base &^= 0xf
	b.acc = b.a.setup(b.acc, cswSize32|b.a.inc, base)
	b.window, b.banked = base, true
}

func (b *Batch) access(addr uint32, write bool, v uint32) {
	if len(b.acc) == 0 {
		b.first, b.write = addr, write
	}
	if from := len(b.acc); b.apart {
		b.apart = false
		defer func() { b.acc[from].Apart = true }()
	}
	if b.banked && addr&^0xf == b.window {
		b.acc = append(b.acc, swd.Access{Addr: b.a.base + regBD0 + addr&0xc, Write: write, Value: v})
		return
	}
	b.banked = false
	b.acc = b.a.setup(b.acc, cswSize32|b.a.inc, addr)
	b.acc = append(b.acc, swd.Access{Addr: b.a.base + regDRW, Write: write, Value: v})
	b.a.advance(4)
}

// Apart lets the next access begin a packet: what is asked of a core before has
// had its effect by then.
func (b *Batch) Apart() { b.apart = true }

// Len is how many accesses it takes so far.
func (b *Batch) Len() int { return len(b.acc) }

// Read reads a word; its value comes at the same place among the reads.
func (b *Batch) Read(addr uint32) { b.access(addr, false, 0) }

// Write writes a word.
func (b *Batch) Write(addr, v uint32) { b.access(addr, true, v) }

// Run does the list. It is not tried again: only the caller knows whether it may
// be done twice.
func (b *Batch) Run(ctx context.Context) ([]uint32, error) {
	v, err := b.a.port.Do(ctx, b.acc)
	if err != nil {
		return nil, b.a.refused(ctx, err, b.first, b.write)
	}
	return v, nil
}

// Do builds a batch and runs it, again if the wires fail: fill has to describe
// something that may be done twice.
func (a *AP) Do(ctx context.Context, fill func(b *Batch)) (v []uint32, err error) {
	err = a.port.Retry(ctx, func() error {
		b := a.Batch()
		fill(b)
		v, err = b.Run(ctx)
		return err
	})
	return v, err
}
