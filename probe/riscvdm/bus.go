package riscvdm

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/stem-hw/stem-hw/probe/mem"
)

// Bits of sbcs.
const (
	sbReadOnData uint32 = 1 << 15
	sbAutoInc    uint32 = 1 << 16
	sbSizeShift         = 17
	sbReadOnAddr uint32 = 1 << 20
	sbBusy       uint32 = 1 << 21
	sbBusyError  uint32 = 1 << 22
	sbErrShift          = 12
	sbClear      uint32 = 7<<sbErrShift | sbBusyError
)

// ErrStalled is in the chain of an error when the module's bus accesses do not
// come to an end.
var ErrStalled = errors.New("the debug module's bus accesses stall: hart 1 sleeps deeply (erratum RP2350-E4)")

// busError is an access that the bus refused.
type busError struct{ code uint32 }

func (e *busError) Error() string {
	why := map[uint32]string{1: "a timeout", 2: "no such address", 3: "a wrong alignment", 4: "a size it does not have"}[e.code]
	if why == "" {
		why = fmt.Sprintf("error %d", e.code)
	}
	return "the bus refuses: " + why
}

// Read fills p from addr on, whether the harts run or not.
func (m *Module) Read(ctx context.Context, addr uint32, p []byte) error {
	return m.pieces(ctx, addr, p, false)
}

// Write stores p at addr.
func (m *Module) Write(ctx context.Context, addr uint32, p []byte) error {
	return m.pieces(ctx, addr, p, true)
}

// pieces does a range of any alignment: bytes and halfwords at the edges.
func (m *Module) pieces(ctx context.Context, addr uint32, p []byte, write bool) error {
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
		err := m.bus.Do(ctx, n/width, func(off, k int) error {
			at := addr + uint32(off*width)
			part := p[off*width : (off+k)*width]
			if write {
				return m.write(ctx, at, part, size)
			}
			return m.read(ctx, at, part, size)
		})
		if err != nil {
			return err
		}
		addr += uint32(n)
		p = p[n:]
	}
	return nil
}

// read does one stream of reads. The last one is read with the read-ahead off:
// what lies behind may have side effects, or not exist.
func (m *Module) read(ctx context.Context, addr uint32, p []byte, size uint32) error {
	width := 1 << size
	n := len(p) / width
	cs := size<<sbSizeShift | sbReadOnAddr | sbClear
	b := m.ap.Batch()
	if n == 1 {
		put(b, dmSBCS, cs)
		put(b, dmSBAddress0, addr)
	} else {
		put(b, dmSBCS, cs|sbAutoInc|sbReadOnData)
		put(b, dmSBAddress0, addr)
		for range n - 1 {
			get(b, dmSBData0)
		}
		put(b, dmSBCS, size<<sbSizeShift)
	}
	get(b, dmSBData0)
	get(b, dmSBCS)
	v, err := b.Run(ctx)
	if err != nil {
		return err
	}
	if err := m.checkBus(ctx, v[n]); err != nil {
		var e *busError
		if n > 1 && errors.As(err, &e) {
			addr = m.firstRefused(ctx, addr, n, size)
		}
		return &mem.Error{Addr: addr, Err: err}
	}
	for i, w := range v[:n] {
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

// firstRefused finds the first address of a refused range by halves: a read
// error in a stream does not keep the place.
func (m *Module) firstRefused(ctx context.Context, addr uint32, n int, size uint32) uint32 {
	lo, hi := 0, n-1 // the first refused one is in lo..hi
	p := make([]byte, 1<<size)
	for lo < hi {
		mid := (lo + hi) / 2
		if m.read(ctx, addr+uint32(mid)<<size, p, size) != nil {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return addr + uint32(lo)<<size
}

// write does one stream of writes.
func (m *Module) write(ctx context.Context, addr uint32, p []byte, size uint32) error {
	width := 1 << size
	b := m.ap.Batch()
	put(b, dmSBCS, size<<sbSizeShift|sbAutoInc|sbClear)
	put(b, dmSBAddress0, addr)
	for off := 0; off < len(p); off += width {
		var w uint32
		for i := range width {
			w |= uint32(p[off+i]) << (8 * i)
		}
		put(b, dmSBData0, w)
	}
	get(b, dmSBCS)
	get(b, dmSBAddress0)
	v, err := b.Run(ctx)
	if err != nil {
		return err
	}
	if err := m.checkBus(ctx, v[0]); err != nil {
		return &mem.Error{Addr: v[1], Write: true, Err: err}
	}
	return nil
}

// checkBus looks at sbcs behind a stream.
func (m *Module) checkBus(ctx context.Context, cs uint32) (err error) {
	for try := 0; cs&sbBusy != 0 && cs&sbBusyError == 0; try++ {
		if try == 20 {
			return ErrStalled
		}
		if cs, err = m.ap.ReadWord(ctx, 4*dmSBCS); err != nil {
			return err
		}
		if cs&sbBusy == 0 {
			return ErrStalled // it went on, but what it read is not known here
		}
	}
	switch {
	case cs&sbBusyError != 0:
		return ErrStalled
	case cs>>sbErrShift&7 != 0:
		return &busError{cs >> sbErrShift & 7}
	}
	return nil
}
