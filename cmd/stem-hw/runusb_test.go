package main

import (
	"testing"

	"github.com/spf13/cobra"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/ui"
)

// TestOnlySimulated: what run takes by itself suits a real board, what only a
// simulated one can do is refused.
func TestOnlySimulated(t *testing.T) {
	a := &app{streams: ui.Streams{}, getenv: func(string) string { return "" }}
	var f runFlags
	cmd := a.runCmd()
	find := func(c *cobra.Command, name string) string { return c.Flags().Lookup(name).DefValue }
	f.machine, f.harts, f.chip = find(cmd, "machine"), 1, find(cmd, "chip")
	if err := f.onlySimulated(); err != nil {
		t.Fatalf("run as it is: %v", err)
	}
	for _, set := range []func(*runFlags){
		func(f *runFlags) { f.machine = "hazard3-tb" }, func(f *runFlags) { f.harts = 2 }, func(f *runFlags) { f.chip = "rp2350-a4" },
		func(f *runFlags) { f.cycles = 1 }, func(f *runFlags) { f.speed = "max" }, func(f *runFlags) { f.exitStatus = true },
		func(f *runFlags) { f.semihosting = "." }, func(f *runFlags) { f.trace = "t" },
	} {
		g := f
		set(&g)
		if err := g.onlySimulated(); faults.StatusOf(err) != faults.StatusUsage {
			t.Errorf("%+v: %v", g, err)
		}
	}
}
