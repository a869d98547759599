package main

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/sim/virtual/bench"
)

// TestBenchStats asks for the statistics of boards by the beginning of a serial
// number; sockets of processes that are gone are cleared away.
func TestBenchStats(t *testing.T) {
	dir := t.TempDir()
	a := &app{getenv: func(name string) string {
		if name == "XDG_RUNTIME_DIR" {
			return dir
		}
		return ""
	}}
	b, err := bench.New(bench.Options{Boards: 2, Probe: true, Serials: []string{"AA00000000000001", "AA00000000000002"}})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	base, err := a.runtimeFolder()
	if err != nil {
		t.Fatal(err)
	}
	stale := filepath.Join(base, benchPrefix+"1")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: stale, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- a.serveStats(ctx, b) }()
	for {
		if all, err := a.benchBoards(ctx, ""); err != nil {
			t.Fatal(err)
		} else if len(all) == 4 {
			break
		}
		if ctx.Err() != nil {
			t.Fatal("no statistics")
		}
		time.Sleep(time.Millisecond)
	}
	if _, err := os.Stat(stale); err == nil {
		t.Error("the socket of a process that is gone is left")
	}
	one, err := a.benchBoards(ctx, "aa00000000000002")
	if err != nil || len(one) != 1 || one[0].Device != "board" || one[0].Serial != "AA00000000000002" {
		t.Errorf("%+v, %v", one, err)
	}
	var f *faults.Fault
	if _, err := a.benchBoards(ctx, "AA"); !errors.As(err, &f) || f.Status != faults.StatusAmbiguous || len(f.Details) != 2 {
		t.Errorf("%v", err)
	}
	if none, err := a.benchBoards(ctx, "ZZ"); err != nil || len(none) != 0 {
		t.Errorf("%+v, %v", none, err)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
