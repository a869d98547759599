package riscvdm

import (
	"context"
	"encoding/binary"
	"errors"

	"github.com/stem-hw/stem-hw/probe/mem"
)

// Loads and stores of the program buffer: s0 is the address, s1 the data.
func loadFrom(size uint32) uint32 {
	if size < 2 {
		size |= 4 // lbu, lhu
	}
	return s0<<15 | size<<12 | s1<<7 | 0x03
}

func storeTo(size uint32) uint32 { return s1<<20 | s0<<15 | size<<12 | 0x23 }

func advance(size uint32) uint32 { return 1<<size<<20 | s0<<15 | s0<<7 | 0x13 } // addi s0, s0, 1<<size

// ReadThrough fills p from addr on as the halted hart sees memory: by its own
// loads.
func (h *Hart) ReadThrough(ctx context.Context, addr uint32, p []byte) error {
	return h.through(ctx, addr, p, false)
}

// WriteThrough stores p at addr by the hart's own stores.
func (h *Hart) WriteThrough(ctx context.Context, addr uint32, p []byte) error {
	return h.through(ctx, addr, p, true)
}

func (h *Hart) through(ctx context.Context, addr uint32, p []byte, write bool) error {
	if err := h.load(ctx); err != nil {
		return err
	}
	for len(p) > 0 {
		n, size := len(p), uint32(2)
		switch {
		case addr&1 != 0 || n == 1:
			n, size = 1, 0
		case addr&2 != 0 || n < 4:
			n, size = 2, 1
		default:
			n &^= 3
		}
		width := 1 << size
		err := h.m.bus.Do(ctx, n/width, func(off, k int) error {
			at, part := addr+uint32(off*width), p[off*width:(off+k)*width]
			err := h.stream(ctx, at, part, size, write)
			var ce *CommandError
			if errors.As(err, &ce) && ce.Code == 3 {
				// s0 stands at the address that was refused.
				if v, rerr := h.commands(ctx, func(b *mem.Batch) {
					put(b, dmCommand, cmdRead|s0)
					get(b, dmData0)
				}); rerr == nil && v[0] >= at {
					at = v[0]
				}
				return &mem.Error{Addr: at, Write: write, Err: err}
			}
			return err
		})
		if err != nil {
			return err
		}
		addr += uint32(n)
		p = p[n:]
	}
	return nil
}

// stream moves units by one command that abstractauto repeats with each access of
// data0.
func (h *Hart) stream(ctx context.Context, addr uint32, p []byte, size uint32, write bool) error {
	h.scratch = [2]bool{true, true}
	width := 1 << size
	n := len(p) / width
	v, err := h.commands(ctx, func(b *mem.Batch) {
		put(b, dmAbstractAuto, 0)
		put(b, dmData0, addr)
		put(b, dmCommand, cmdWrite|s0)
		put(b, dmProgBuf1, advance(size))
		if write {
			put(b, dmProgBuf0, storeTo(size))
			for i := range n {
				var w uint32
				for k := range width {
					w |= uint32(p[i*width+k]) << (8 * k)
				}
				put(b, dmData0, w)
				if i == 0 {
					put(b, dmCommand, cmdWrite|s1|cmdPost)
					put(b, dmAbstractAuto, 1)
				}
			}
			put(b, dmAbstractAuto, 0)
			return
		}
		put(b, dmProgBuf0, loadFrom(size))
		put(b, dmCommand, cmdExec) // loads the first
		for range n - 1 {
			put(b, dmCommand, cmdRead|s1|cmdPost) // hands one over, loads the next
			get(b, dmData0)
		}
		put(b, dmCommand, cmdRead|s1)
		get(b, dmData0)
	})
	if err != nil {
		_ = h.m.ap.WriteWord(ctx, 4*dmAbstractAuto, 0)
		return err
	}
	if write {
		return nil
	}
	for i, w := range v {
		switch size {
		case 0:
			p[i] = byte(w)
		case 1:
			binary.LittleEndian.PutUint16(p[2*i:], uint16(w))
		default:
			binary.LittleEndian.PutUint32(p[4*i:], w)
		}
	}
	return nil
}
