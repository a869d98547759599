package virtual

import (
	"testing"
	"time"

	"github.com/stem-hw/stem-hw/sim/rp2350"
)

// load writes n bytes as picotool does: batches of a hundredth rounded up to
// sectors, each erased and written with two commands and EXIT_XIP before both.
func (b *board) load(n int) {
	b.t.Helper()
	batch := (n/100 + 4095) &^ 4095
	for at := 0; at < n; at += batch {
		size := min(batch, n-at)
		addr := 0x10000000 + uint32(at)
		b.ok(cmdExitXIP, nil, nil, 0)
		b.ok(cmdFlashErase, words(addr, uint32(size)), nil, 0)
		b.ok(cmdExitXIP, nil, nil, 0)
		b.ok(cmdWrite, words(addr, uint32(size)), make([]byte, size), 0)
	}
}

// TestTimesOfLoading compares what loading and reading 1 MiB would take with
// what was measured on a board: 16.3 s and 2.4 s.
func TestTimesOfLoading(t *testing.T) {
	const mib = 1 << 20
	b := newBoard(t, rp2350.Options{})
	before := b.clk.Stats()
	b.load(mib)
	s := b.clk.Stats().Sub(before)
	if s.Erases != 256 || s.Programs != 4096 || s.Reads != 0 {
		t.Errorf("%+v", s)
	}
	// 86 batches of four commands: a command, an acknowledgement, and the data of
	// one of them; and CMD_STATUS, which the tests here ask for.
	if s.Transfers != 86*(4*2+1+4) {
		t.Errorf("%d transfers", s.Transfers)
	}
	if s.Time.Erase != 256*45*time.Millisecond || s.Time.Program != 4096*400*time.Microsecond {
		t.Errorf("%+v", s.Time)
	}
	if d := s.Total(); d < 16*time.Second || d > 17*time.Second {
		t.Errorf("loading takes %v", d)
	}
	before = b.clk.Stats()
	b.ok(cmdRead, words(0x10000000, mib), nil, mib)
	s = b.clk.Stats().Sub(before)
	if d := s.Total(); s.Reads != 4096 || s.Bytes != mib+32+16+8 || d < 2300*time.Millisecond || d > 2600*time.Millisecond {
		t.Errorf("reading takes %v, %+v", d, s)
	}
}

// TestRealTime: with a clock to keep, devices are not ahead of it.
func TestRealTime(t *testing.T) {
	b := newBoard(t, rp2350.Options{})
	now := time.Duration(0)
	b.clk.Pace = func() time.Duration { return now }
	erase := &URB{Endpoint: 3, Data: packet(cmdFlashErase, 0, words(0x10000000, 8192))}
	ack := &URB{Endpoint: 4, In: true, Length: 1}
	b.dev.Submit(erase)
	b.dev.Submit(ack)
	for _, step := range []struct {
		at   time.Duration
		done bool
	}{{80 * time.Millisecond, false}, {88 * time.Millisecond, false}, {91 * time.Millisecond, true}} {
		now = step.at
		b.dev.Poll()
		if ack.Complete() != step.done {
			t.Errorf("after %v: %+v", now, ack)
		}
	}
	// Bulk data goes at nineteen packets a frame.
	in := &URB{Endpoint: 4, In: true, Length: 64 * 190}
	b.dev.Submit(&URB{Endpoint: 3, Data: packet(cmdRead, 64*190, words(0x20000000, 64*190))})
	b.dev.Submit(in)
	start := now
	for !in.Complete() && now < start+time.Second {
		now += time.Millisecond
		b.dev.Poll()
	}
	if d := now - start; d < 8*time.Millisecond || d > 13*time.Millisecond {
		t.Errorf("190 packets take %v", d)
	}
}
