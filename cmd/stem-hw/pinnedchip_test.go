package main

import (
	"strings"
	"testing"

	"github.com/stem-hw/stem-hw/board"
	"github.com/stem-hw/stem-hw/board/state"
	"github.com/stem-hw/stem-hw/faults"
)

// TestChipBehindProbe: the first chip that is reached behind a pinned probe is
// recorded; another one there later is refused, both shown, before anything is
// written.
func TestChipBehindProbe(t *testing.T) {
	dir := t.TempDir()
	a := &app{getenv: func(k string) string { return map[string]string{"XDG_STATE_HOME": dir}[k] }}
	folder, err := state.Folder(a.getenv)
	if err != nil {
		t.Fatal(err)
	}
	project, err := state.Project(".")
	if err != nil {
		t.Fatal(err)
	}
	id := board.Identity{Serial: "E6633861A355B82C", Port: "1-3", Role: board.RoleProbe}
	pin := state.Pin{Selector: id.Serial, Board: id}
	store := state.New(folder)
	if err := store.Change(func(b *state.Boards) error { b.Probes[project] = pin; return nil }); err != nil {
		t.Fatal(err)
	}
	way := func() *probeWay {
		t.Helper()
		known, err := store.Read()
		if err != nil {
			t.Fatal(err)
		}
		p := known.Probes[project]
		return &probeWay{f: &probeFlags{}, chosen: chosen{Board: board.Board{Identity: id}, pin: &p}, how: "pinned for " + project}
	}
	if err := a.checkPinned(way(), "A1B2C3D4E5F60718"); err != nil {
		t.Fatal(err)
	}
	if p := way().chosen.pin; p.Chip != "A1B2C3D4E5F60718" {
		t.Errorf("not recorded: %+v", p)
	}
	if err := a.checkPinned(way(), "a1b2c3d4e5f60718"); err != nil {
		t.Error(err)
	}
	err = a.checkPinned(way(), "FFFF222233334444")
	f := faults.Of(err)
	if f == nil || f.Status != faults.StatusAmbiguous || f.Code != faults.CodeOtherChip ||
		!strings.Contains(f.Seen, "FFFF222233334444") || !strings.Contains(f.Wanted, "A1B2C3D4E5F60718") {
		t.Errorf("%v", err)
	}
	if p := way().chosen.pin; p.Chip != "A1B2C3D4E5F60718" {
		t.Errorf("the record was changed: %+v", p)
	}
}
