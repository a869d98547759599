package uf2

import (
	"bufio"
	"errors"
	"io"
)

// Sector is one 512-byte piece of a UF2 file: a block, or something that a
// boot loader ignores.
type Sector struct {
	// Offset is where the sector starts in the file, and Index its number.
	Offset int64
	Index  int
	// Block holds the fields. It is meaningful if Reason is empty or one of
	// those that follow from the fields (no family, not main flash, payload).
	Block Block
	// Reason is why an RP2350 ignores the sector, if it does.
	Reason Reason
}

// Reader reads the sectors of a UF2 file as a stream. It uses the same small
// amount of memory for a file of any size.
type Reader struct {
	r   *bufio.Reader
	buf [BlockSize]byte
	off int64
	idx int
	sec Sector
}

// NewReader returns a Reader on r.
func NewReader(r io.Reader) *Reader { return &Reader{r: bufio.NewReaderSize(r, 32*1024)} }

// Next returns the next sector, or io.EOF. The sector is valid until the next
// call. A last piece shorter than a sector is returned with ReasonShort.
func (r *Reader) Next() (*Sector, error) {
	n, err := io.ReadFull(r.r, r.buf[:])
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	s := &r.sec
	s.Offset, s.Index, s.Reason = r.off, r.idx, ReasonNone
	r.off += int64(n)
	r.idx++
	m := MagicOf(r.buf[:n])
	if !m.Start0 || !m.Start1 {
		s.Block, s.Reason = Block{}, ReasonNotUF2
		return s, nil
	}
	if n < BlockSize {
		s.Block, s.Reason = Block{}, ReasonShort
		return s, nil
	}
	s.Block.Decode(r.buf[:])
	if !m.End {
		s.Reason = ReasonEndMagic
	} else {
		s.Reason = s.Block.Drop()
	}
	return s, nil
}

// Writer writes the blocks of one transfer: one family, numbered from 0 up to
// a count that is known beforehand.
type Writer struct {
	w      *bufio.Writer
	family uint32
	total  uint32
	next   uint32
	block  Block
	buf    [BlockSize]byte
}

// NewWriter returns a Writer of total blocks of a family.
func NewWriter(w io.Writer, family, total uint32) *Writer {
	return &Writer{w: bufio.NewWriterSize(w, 16*1024), family: family, total: total}
}

// ErrCount is returned when the number of pages is not the one announced.
var ErrCount = errors.New("uf2: number of pages differs from the count announced")

// WriteBlock writes a block as it is, outside the numbering.
func (w *Writer) WriteBlock(b *Block) error {
	b.Encode(w.buf[:])
	_, err := w.w.Write(w.buf[:])
	return err
}

// WritePage writes the next block. The page must have 256 bytes.
func (w *Writer) WritePage(addr uint32, page []byte) error {
	if w.next >= w.total {
		return ErrCount
	}
	if len(page) != PayloadSize {
		return errors.New("uf2: a page has 256 bytes")
	}
	b := &w.block
	b.Flags, b.Addr, b.Size = FlagFamily, addr, PayloadSize
	b.Number, b.Total, b.Family = w.next, w.total, w.family
	copy(b.Data[:PayloadSize], page)
	w.next++
	return w.WriteBlock(b)
}

// Flush writes what is buffered, and fails if pages are missing.
func (w *Writer) Flush() error {
	if w.next != w.total {
		return ErrCount
	}
	return w.w.Flush()
}
