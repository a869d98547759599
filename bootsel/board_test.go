//go:build board || rig

package bootsel_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/stem-hw/stem-hw/board"
	"github.com/stem-hw/stem-hw/bootsel"
	"github.com/stem-hw/stem-hw/target"
	"github.com/stem-hw/stem-hw/target/targettest"
	"github.com/stem-hw/stem-hw/usb"
	"github.com/stem-hw/stem-hw/usb/picoboot"
)

// find returns this machine's USB and the one board on it that a selector means.
func find(t *testing.T, selector string) (bootsel.System, usb.Device) {
	t.Helper()
	f, err := usb.New(usb.Machine(os.Getenv))
	if err != nil {
		t.Fatal(err)
	}
	all, err := f.Devices(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	s, err := board.Parse(selector)
	if err != nil {
		t.Fatal(err)
	}
	var boards []board.Board
	for _, d := range all {
		boards = append(boards, f.Board(d))
	}
	b, err := board.Match(s, boards, board.Ask{Command: "make test-board BOARD=%s"})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range all {
		if d.Port == b.Port {
			return bootsel.System{Finder: f}, d
		}
	}
	t.Fatal("the board went away")
	return bootsel.System{}, usb.Device{}
}

// onBoard runs the conformance suite on a board, and measures it. Two sectors near
// the end of its flash are erased, and get back what they held.
func onBoard(t *testing.T, selector string) {
	ctx := context.Background()
	port := ""
	open := func(t *testing.T) *bootsel.Target {
		t.Helper()
		if port != "" {
			selector = "usb:" + port // its serial number may be another one now
		}
		bus, d := find(t, selector)
		port = d.Port
		tg, err := bootsel.Open(ctx, bus, d, bootsel.Options{
			Verb: "test-board", Force: true, Say: t.Logf,
			Trace: func(e picoboot.Event) { t.Log(e) },
		})
		if err != nil {
			t.Fatal(err)
		}
		return tg
	}
	tg := open(t)
	d := tg.Device()
	t.Logf("board %s, chip %s, %s, fuses %v", d.String(), tg.ChipID(), tg.Describe().Arch, tg.System().Fuses())
	size, sure, err := tg.FlashSize(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d KiB of flash (found out: %v)", size>>10, sure)
	const span = 64 << 10
	at := base + size - span
	kept := make([]byte, span)
	if err := tg.ReadFlash(ctx, at, kept); err != nil {
		t.Fatal(err)
	}
	measure(ctx, t, tg, at)
	arch := tg.Describe().Arch
	if err := tg.Close(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		tg := open(t)
		back := make([]byte, span)
		err := errors.Join(tg.EraseFlash(ctx, at, span), tg.ProgramFlash(ctx, at, kept), tg.ReadFlash(ctx, at, back))
		if err != nil || !bytes.Equal(back, kept) {
			t.Errorf("0x%08x did not get back what it held: %v", at, err)
		}
		if _, err := tg.Resume(ctx); err != nil {
			t.Error(err)
		}
		_ = tg.Close()
	})
	targettest.Run(t, targettest.Case{
		New:  func(t *testing.T) target.Target { return open(t) },
		Must: must, At: 0x20000000, Arch: arch, Flash: at,
	})
}

// measure tells how fast the board is; docs/performance.md has what is assumed.
func measure(ctx context.Context, t *testing.T, tg *bootsel.Target, at uint32) {
	t.Helper()
	const n = 64 << 10
	p := bytes.Repeat([]byte{0x5a}, n)
	for _, m := range []struct {
		what string
		do   func() error
	}{
		{"erasing 16 sectors", func() error { return tg.EraseFlash(ctx, at, n) }},
		{"writing 256 pages", func() error { return tg.ProgramFlash(ctx, at, p) }},
		{"reading 256 pages", func() error { return tg.ReadFlash(ctx, at, p) }},
	} {
		start := time.Now()
		if err := m.do(); err != nil {
			t.Fatal(err)
		}
		took := time.Since(start)
		t.Logf("%s: %.1f ms, %.0f KiB/s", m.what, float64(took.Microseconds())/1000, n/1024/took.Seconds())
	}
}
