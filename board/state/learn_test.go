package state

import (
	"testing"

	"github.com/stem-hw/stem-hw/board"
)

// TestLearn: what is found out about a board goes to its pins and to no others.
func TestLearn(t *testing.T) {
	id := board.Identity{Serial: "A1B2C3D4E5F60718", Port: "1-1", Role: board.RoleBoard}
	other := board.Identity{Serial: "FFFF222233334444", Port: "1-2", Role: board.RoleBoard}
	b := Boards{Pins: map[string]Pin{"/p": {Board: id}, "/q": {Board: other}}}
	if !b.Learn(id, "A1B2", "0001") || b.Pins["/p"].Chip != "A1B2" || len(b.Pins["/p"].Aliases) != 1 {
		t.Errorf("%+v", b.Pins["/p"])
	}
	if p := b.Pins["/q"]; p.Chip != "" || len(p.Aliases) != 0 {
		t.Errorf("%+v", p)
	}
	if b.Learn(id, "A1B2", "0001") {
		t.Error("nothing new changes something")
	}
	if b.Learn(id, "OTHER", ""); b.Pins["/p"].Chip != "A1B2" {
		t.Error("a chip that is known was replaced")
	}
	// The board runs its program, which shows another number, at the same port.
	running := board.Identity{Serial: "0001", Port: "1-1", Role: board.RoleBoard}
	if !b.Learn(running, "", "0002") || len(b.Pins["/p"].Aliases) != 2 {
		t.Errorf("%+v", b.Pins["/p"])
	}
	// The same program on a board elsewhere is another board.
	running.Port = "1-7"
	if b.Learn(running, "X", "0003") {
		t.Errorf("%+v", b.Pins)
	}
	probe := board.Identity{Serial: "E6633861A355B82C", Port: "1-3", Role: board.RoleProbe}
	b.Probes = map[string]Pin{"/p": {Board: probe}}
	if !b.Learn(probe, "A1B2", "") || b.Probes["/p"].Chip != "A1B2" || b.Learn(probe, "B2", "") || b.Probes["/p"].Chip != "A1B2" {
		t.Errorf("%+v", b.Probes)
	}
	for i := range 2 * maxAliases {
		b.Learn(id, "", string(rune('a'+i)))
	}
	if n := len(b.Pins["/p"].Aliases); n > maxAliases {
		t.Errorf("%d aliases", n)
	}
}
