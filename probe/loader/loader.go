package loader

import (
	"context"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"time"

	"github.com/stem-hw/stem-hw/image"
)

//go:embed arm.bin
var armCode []byte

//go:embed riscv.bin
var riscvCode []byte

// Code is the program for an architecture.
func Code(arch image.Arch) []byte {
	if arch == image.ArchARM {
		return armCode
	}
	return riscvCode
}

// Places in RAM.
const (
	// Base is where the program lies, End the end of what it uses.
	Base = 0x20010000
	End  = Base + 0xc000

	control = Base + 0x400
	stack   = Base + 0x2000
	buffers = Base + 0x2000
	sums    = Base + 0xa000

	ring     = control + 16
	entry    = 32
	entries  = 8
	resultAt = 20
)

// SectorSize is the unit of sums; BufferSize is the most that one call programs.
const (
	SectorSize = 4096
	BufferSize = 4096
	maxSums    = (End - sums) / 8
)

// Functions of the program itself.
const (
	fnLeave = 0
	fnSums  = 1
)

// Machine is the chip as the loader needs it.
type Machine interface {
	// Read and Write access memory while the core runs.
	Read(ctx context.Context, addr uint32, p []byte) error
	Write(ctx context.Context, addr uint32, p []byte) error
	// Start lets core 0 execute code at pc in privileged, Secure state, with
	// interrupts off and arg as its first argument.
	Start(ctx context.Context, pc, sp, arg uint32) error
	// Stopped reports whether core 0 is halted, and where; Stop halts it.
	Stopped(ctx context.Context) (pc uint32, halted bool, err error)
	Stop(ctx context.Context) error
}

// Session is the program running on a chip.
type Session struct {
	m     Machine
	asked uint32
	done  uint32
	// limits are how long each call under way may take.
	limits [entries]time.Duration
	closed bool
}

// Start places the program and starts it.
func Start(ctx context.Context, m Machine, arch image.Arch) (*Session, error) {
	code := Code(arch)
	p := make([]byte, control-Base+16)
	copy(p, code)
	if err := m.Write(ctx, Base, p); err != nil {
		return nil, err
	}
	back := make([]byte, len(p))
	if err := m.Read(ctx, Base, back); err != nil {
		return nil, err
	}
	if string(back) != string(p) {
		return nil, errors.New("RAM does not keep the loader: what was written is not what is read")
	}
	if err := m.Start(ctx, Base, stack, control); err != nil {
		return nil, err
	}
	return &Session{m: m}, nil
}

// Zeros is the address of two words that are zero until a function changes them.
const Zeros = control + 8

// Queue asks for a call and does not wait for it. A full ring is waited for.
func (s *Session) Queue(ctx context.Context, limit time.Duration, fn uint32, args ...uint32) error {
	if err := s.room(ctx); err != nil {
		return err
	}
	slot := s.asked % entries
	p := make([]byte, 20)
	binary.LittleEndian.PutUint32(p, fn)
	for i, a := range args {
		binary.LittleEndian.PutUint32(p[4+4*i:], a)
	}
	if err := s.m.Write(ctx, ring+entry*slot, p); err != nil {
		return err
	}
	s.asked++
	s.limits[slot] = limit
	return s.m.Write(ctx, control, binary.LittleEndian.AppendUint32(nil, s.asked))
}

// room waits until one more call fits in the ring.
func (s *Session) room(ctx context.Context) error {
	if s.asked-s.done < entries {
		return nil
	}
	return s.wait(ctx, s.asked-entries+1)
}

// Wait waits until every call that was asked for is done.
func (s *Session) Wait(ctx context.Context) error { return s.wait(ctx, s.asked) }

// StoppedError says that the program came to an end that it should not.
type StoppedError struct{ PC uint32 }

// Error describes it.
func (e *StoppedError) Error() string {
	return fmt.Sprintf("the loader stopped at 0x%08x: a function of the boot ROM failed", e.PC)
}

// ErrSlow is in the chain of an error when a call does not come to its end.
var ErrSlow = errors.New("a function of the boot ROM does not come to its end")

// wait waits until n calls are done.
func (s *Session) wait(ctx context.Context, n uint32) error {
	last := time.Now()
	for try := 0; int32(s.done-n) < 0; try++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		var b [4]byte
		if err := s.m.Read(ctx, control+4, b[:]); err != nil {
			return err
		}
		done := binary.LittleEndian.Uint32(b[:])
		if done-s.done > s.asked-s.done {
			return fmt.Errorf("the loader says that %d of %d calls are done", done, s.asked)
		}
		if done != s.done {
			s.done, last = done, time.Now()
			continue
		}
		if try%16 == 15 {
			pc, halted, err := s.m.Stopped(ctx)
			if err != nil {
				return err
			}
			if halted {
				return &StoppedError{pc}
			}
		}
		if limit := s.limits[s.done%entries]; time.Since(last) > limit {
			return fmt.Errorf("%w within %v", ErrSlow, limit)
		}
		if try > 2 {
			if err := pause(ctx, pollTime); err != nil {
				return err
			}
		}
	}
	return nil
}

// pollTime is the pause between two looks.
const pollTime = 500 * time.Microsecond

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Call calls a function and returns its result.
func (s *Session) Call(ctx context.Context, limit time.Duration, fn uint32, args ...uint32) (uint32, error) {
	if err := s.Queue(ctx, limit, fn, args...); err != nil {
		return 0, err
	}
	slot := (s.asked - 1) % entries
	if err := s.Wait(ctx); err != nil {
		return 0, err
	}
	var b [4]byte
	err := s.m.Read(ctx, ring+entry*slot+resultAt, b[:])
	return binary.LittleEndian.Uint32(b[:]), err
}

// QueueData places data in a buffer and asks for a call fn(first, buffer, length)
// with it.
func (s *Session) QueueData(ctx context.Context, limit time.Duration, fn, first uint32, p []byte) error {
	if len(p) > BufferSize {
		return fmt.Errorf("%d bytes for one call", len(p))
	}
	if err := s.room(ctx); err != nil {
		return err
	}
	at := buffers + BufferSize*(s.asked%entries)
	if err := s.m.Write(ctx, at, p); err != nil {
		return err
	}
	return s.Queue(ctx, limit, fn, first, at, uint32(len(p)))
}

// Sum are the two sums of a sector.
type Sum [2]uint32

// castagnoli is the table of the second sum.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// SumOf sums a sector on the host.
func SumOf(p []byte) Sum {
	return Sum{crc32.ChecksumIEEE(p), crc32.Checksum(p, castagnoli)}
}

// Sums sums n sectors from addr on, on the chip. limit is for each sector.
func (s *Session) Sums(ctx context.Context, limit time.Duration, addr uint32, n int) ([]Sum, error) {
	out := make([]Sum, 0, n)
	for len(out) < n {
		k := min(n-len(out), maxSums)
		at := addr + uint32(len(out))*SectorSize
		if _, err := s.Call(ctx, time.Duration(k)*limit+leaveTime, fnSums, at, uint32(k), sums); err != nil {
			return nil, err
		}
		p := make([]byte, 8*k)
		if err := s.m.Read(ctx, sums, p); err != nil {
			return nil, err
		}
		for i := range k {
			out = append(out, Sum{binary.LittleEndian.Uint32(p[8*i:]), binary.LittleEndian.Uint32(p[8*i+4:])})
		}
	}
	return out, nil
}

// leaveTime bounds the end of the program, and what a call of it takes at least.
const leaveTime = 5 * time.Second

// Close ends the program; the core is halted afterwards.
func (s *Session) Close(ctx context.Context) error {
	if s.closed {
		return nil
	}
	s.closed = true
	if err := s.Queue(ctx, leaveTime, fnLeave); err != nil {
		return errors.Join(err, s.m.Stop(ctx))
	}
	if err := s.Wait(ctx); err != nil {
		return errors.Join(err, s.m.Stop(ctx))
	}
	return s.m.Stop(ctx)
}
