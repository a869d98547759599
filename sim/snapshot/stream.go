package snapshot

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"reflect"
)

// writer is a stream that is written.
type writer struct {
	w   *bufio.Writer
	err error
}

func (s *writer) raw(p []byte) {
	if s.err == nil {
		_, s.err = s.w.Write(p)
	}
}

func (s *writer) length(n int) int {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], uint64(n))
	s.raw(b[:])
	return n
}

func (s *writer) failed() error { return s.err }

// reader is a stream that is read.
type reader struct {
	r   *bufio.Reader
	err error
}

func (s *reader) raw(p []byte) {
	if s.err == nil {
		_, s.err = io.ReadFull(s.r, p)
	}
}

func (s *reader) length(int) int {
	var b [8]byte
	s.raw(b[:])
	n := binary.LittleEndian.Uint64(b[:])
	if s.err == nil && n > 1<<40 {
		s.err = errors.New("the snapshot is damaged")
	}
	if s.err != nil {
		return 0
	}
	return int(n)
}

func (s *reader) failed() error { return s.err }

// ErrOther says that a snapshot was written by another version of the program.
var ErrOther = errors.New("the snapshot was made by another version")

// Save writes the state of the objects that roots point at.
func Save(w io.Writer, p *Policy, roots ...any) error {
	s := &writer{w: bufio.NewWriterSize(w, 1<<16)}
	f := Fingerprint(p, roots...)
	s.raw(f[:])
	if err := newWalker(p, s, false).graph(roots); err != nil {
		return err
	}
	return s.w.Flush()
}

// Load reads what Save wrote into objects of the same shape. After an error they
// are in no usable state.
func Load(r io.Reader, p *Policy, roots ...any) error {
	s := &reader{r: bufio.NewReaderSize(r, 1<<16)}
	want := Fingerprint(p, roots...)
	got := want
	s.raw(got[:])
	if s.err == nil && got != want {
		return ErrOther
	}
	if err := newWalker(p, s, true).graph(roots); err != nil {
		return err
	}
	return s.err
}

// Fingerprint is a digest of the types that roots lead to.
func Fingerprint(p *Policy, roots ...any) [sha256.Size]byte {
	f := fingerprint{p: p, h: sha256.New(), seen: map[reflect.Type]bool{}}
	for _, r := range roots {
		f.add(reflect.TypeOf(r))
	}
	return [sha256.Size]byte(f.h.Sum(nil))
}

type fingerprint struct {
	p    *Policy
	h    hash.Hash
	seen map[reflect.Type]bool
}

func (f *fingerprint) add(t reflect.Type) {
	// A hash does not fail.
	_, _ = fmt.Fprintf(f.h, "%s %d %s;", t, t.Size(), t.Kind())
	if f.seen[t] || f.p.Skip[t] {
		return
	}
	f.seen[t] = true
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			_, _ = fmt.Fprintf(f.h, "%s:", t.Field(i).Name)
			f.add(t.Field(i).Type)
		}
	case reflect.Array, reflect.Slice, reflect.Pointer:
		f.add(t.Elem())
	case reflect.Map:
		f.add(t.Key())
		f.add(t.Elem())
	}
}
