package mem

import (
	"context"
	"encoding/binary"

	"github.com/stem-hw/stem-hw/probe/swd"
)

// page is the range within which TAR advances by itself.
const page = 0x400

// Read fills p from addr on.
func (a *AP) Read(ctx context.Context, addr uint32, p []byte) error {
	return a.bytes(ctx, addr, p, false)
}

// Write stores p at addr.
func (a *AP) Write(ctx context.Context, addr uint32, p []byte) error {
	return a.bytes(ctx, addr, p, true)
}

// bytes does a range of any alignment: bytes and halfwords at the edges, words
// between them.
func (a *AP) bytes(ctx context.Context, addr uint32, p []byte, write bool) error {
	for len(p) > 0 {
		n, size := len(p), 4
		switch {
		case addr&1 != 0 || n == 1:
			n, size = 1, 1
		case addr&2 != 0 || n < 4:
			n, size = 2, 2
		default:
			n &^= 3
		}
		var err error
		switch {
		case size == 4:
			err = a.words(ctx, addr, p[:n], write)
		default:
			err = a.Narrow(ctx, addr, size, p[:n], write)
		}
		if err != nil {
			return err
		}
		addr += uint32(n)
		p = p[n:]
	}
	return nil
}

// words does whole words.
func (a *AP) words(ctx context.Context, addr uint32, p []byte, write bool) error {
	return a.chunks.Do(ctx, len(p)/4, func(off, n int) error {
		at := addr + uint32(4*off)
		if err := a.chunkOf(ctx, at, p[4*off:4*(off+n)], cswSize32|a.inc, 4, write); err != nil {
			return a.refused(ctx, err, at, write)
		}
		return nil
	})
}

// chunkOf does one chunk. step is how many bytes an access of DRW moves.
func (a *AP) chunkOf(ctx context.Context, addr uint32, p []byte, csw uint32, step int, write bool) error {
	acc := make([]swd.Access, 0, len(p)/step+len(p)/page+3)
	for off := 0; off < len(p); off += step {
		at := addr + uint32(off)
		acc = a.setup(acc, csw, at)
		v := uint32(0)
		if write {
			v = lanes(at, p[off:min(off+step, len(p))])
		}
		acc = append(acc, swd.Access{Addr: a.base + regDRW, Write: write, Value: v})
		a.advance(uint32(step))
	}
	got, err := a.port.Do(ctx, acc)
	if err != nil {
		a.Forget()
		return err
	}
	if write {
		return nil
	}
	for i, v := range got {
		off := i * step
		unlanes(addr+uint32(off), v, p[off:min(off+step, len(p))])
	}
	return nil
}

// advance is what the port does with TAR.
func (a *AP) advance(n uint32) {
	if a.csw&cswIncAll == 0 {
		return
	}
	a.tar += n
	if a.tar%page == 0 {
		a.tarKnown = false
	}
}

// lanes puts bytes into the lanes of a word in which the bus carries them.
func lanes(addr uint32, p []byte) uint32 {
	if len(p) == 4 && addr&3 == 0 {
		return binary.LittleEndian.Uint32(p)
	}
	var v uint32
	for i, b := range p {
		v |= uint32(b) << (8 * ((addr + uint32(i)) & 3))
	}
	return v
}

// unlanes takes them out.
func unlanes(addr, v uint32, p []byte) {
	for i := range p {
		p[i] = byte(v >> (8 * ((addr + uint32(i)) & 3)))
	}
}

// Narrow accesses a range as bytes (size 1) or halfwords (size 2) and in no other
// way, for what must not be accessed in words: packed, where the port can and
// the range is long enough.
func (a *AP) Narrow(ctx context.Context, addr uint32, size int, p []byte, write bool) error {
	csw := cswSize8
	if size == 2 {
		csw = cswSize16
	}
	err := a.port.Retry(ctx, func() error {
		a.Forget()
		at, rest := addr, p
		if a.packed {
			// A packed access covers four bytes from a word's beginning.
			head := min(int(-at&3), len(rest))
			if n := (len(rest) - head) &^ 3; n > 0 {
				if err := a.chunkOf(ctx, at, rest[:head], csw|cswInc, size, write); head > 0 && err != nil {
					return err
				}
				if err := a.chunkOf(ctx, at+uint32(head), rest[head:head+n], csw|cswPacked, 4, write); err != nil {
					return err
				}
				at, rest = at+uint32(head+n), rest[head+n:]
			}
		}
		if len(rest) == 0 {
			return nil
		}
		return a.chunkOf(ctx, at, rest, csw|cswInc, size, write)
	})
	if err != nil {
		return a.refused(ctx, err, addr, write)
	}
	return nil
}

// ReadWord reads a word.
func (a *AP) ReadWord(ctx context.Context, addr uint32) (uint32, error) {
	var b [4]byte
	err := a.words(ctx, addr, b[:], false)
	return binary.LittleEndian.Uint32(b[:]), err
}

// WriteWord writes one.
func (a *AP) WriteWord(ctx context.Context, addr, v uint32) error {
	return a.words(ctx, addr, binary.LittleEndian.AppendUint32(nil, v), true)
}
