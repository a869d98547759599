package board

import (
	"slices"
	"strings"
	"testing"

	"github.com/stem-hw/stem-hw/faults"
)

func on(serial, port string, role Role) Board { return Board{Identity: Identity{serial, port, role}} }

func TestTelling(t *testing.T) {
	for s, want := range map[string]bool{"": false, "EEEEEEEEEEEEEEEE": false, "0": false, "E0C9125B0D9B": false, "A1B2C3D4E5F60718": true, "01": true} {
		if Telling(s) != want {
			t.Errorf("%q", s)
		}
	}
}

// TestPinned: a board is known by its number wherever it is, by its place only if
// its number tells nothing, and never taken for another one.
func TestPinned(t *testing.T) {
	const own, other, eee = "A1B2C3D4E5F60718", "FFFF222233334444", "EEEEEEEEEEEEEEEE"
	pin := Pin{Identity: Identity{own, "1-1", RoleBoard}}
	learned := Pin{Identity: pin.Identity, Aliases: []string{"0001"}}
	blind := Pin{Identity: Identity{eee, "1-1", RoleBoard}}
	tests := []struct {
		name   string
		pin    Pin
		boards []Board
		want   string // the port, or the code of the fault
	}{
		{"there", pin, []Board{on(own, "1-1", RoleBoard), on(other, "1-2", RoleBoard)}, "1-1"},
		{"in any case", pin, []Board{on(strings.ToLower(own), "1-1", RoleBoard)}, "1-1"},
		{"moved", pin, []Board{on(other, "1-1", RoleBoard), on(own, "2-4.1", RoleBoard)}, "2-4.1"},
		{"away", pin, []Board{on(other, "1-2", RoleBoard)}, string(faults.CodeBoardNotFound)},
		{"swapped", pin, []Board{on(other, "1-1", RoleBoard)}, string(faults.CodeOtherChip)},
		{"a probe at its place", pin, []Board{on(own, "1-1", RoleProbe)}, string(faults.CodeBoardNotFound)},
		{"its program's number, not seen before", pin, []Board{on("0001", "1-1", RoleBoard)}, string(faults.CodeOtherChip)},
		{"its program's number", learned, []Board{on("0001", "1-1", RoleBoard)}, "1-1"},
		{"the same program on another board", learned, []Board{on("0001", "1-2", RoleBoard)}, string(faults.CodeBoardNotFound)},
		{"its own before its program's", learned, []Board{on("0001", "1-1", RoleBoard), on(own, "1-3", RoleBoard)}, "1-3"},
		{"without a number", blind, []Board{on(eee, "1-1", RoleBoard), on(eee, "1-2", RoleBoard)}, "1-1"},
		{"without a number, elsewhere", blind, []Board{on(eee, "1-2", RoleBoard)}, string(faults.CodeBoardNotFound)},
		{"one number twice, one at its place", pin, []Board{on(own, "1-2", RoleBoard), on(own, "1-1", RoleBoard)}, "1-1"},
		{"one number twice, none at its place", pin, []Board{on(own, "1-2", RoleBoard), on(own, "1-3", RoleBoard)}, string(faults.CodeAmbiguous)},
		{"simulated", pin, []Board{{Identity: Identity{Serial: own, Role: RoleBoard}, Sim: "x", Simulated: true}}, string(faults.CodeBoardNotFound)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b, err := Pinned(tt.pin, tt.boards, Ask{Command: "stem-hw flash -b %s app.elf"})
			got := b.Port
			if err != nil {
				f := faults.Of(err)
				got = string(f.Code)
				if len(f.Try) == 0 {
					t.Errorf("nothing to try: %v", err)
				}
				if f.Code == faults.CodeOtherChip && (f.Status != faults.StatusAmbiguous || !strings.Contains(f.Wanted, own) || !strings.Contains(f.Seen, tt.boards[0].Serial)) {
					t.Errorf("not both are shown: %v", err)
				}
			}
			if got != tt.want {
				t.Errorf("%s (%v), want %s", got, err, tt.want)
			}
		})
	}
}

func TestCheckChip(t *testing.T) {
	for _, tt := range []struct {
		pinned, seen string
		ok           bool
	}{{"", "A1", true}, {"A1", "", true}, {"a1", "A1", true}, {"A1", "B2", false}} {
		err := CheckChip(tt.pinned, tt.seen, "usb 1-1")
		if (err == nil) != tt.ok {
			t.Errorf("%+v: %v", tt, err)
		}
		if f := faults.Of(err); err != nil && (f.Status != faults.StatusAmbiguous || !strings.Contains(f.Seen, "B2") || !strings.Contains(f.Wanted, "A1")) {
			t.Errorf("%v", err)
		}
	}
}

// TestNames: whatever a list calls a board means that board.
func TestNames(t *testing.T) {
	boards := []Board{
		on("A1B2", "1-1", RoleBoard), on("A1B2C3", "1-2", RoleBoard),
		on("EEEE", "1-3", RoleBoard), on("", "1-4", RoleBoard),
		on("same", "1-5", RoleBoard), on("SAME", "1-6", RoleBoard),
		on("sim", "1-7", RoleBoard), on("a:b", "1-8", RoleBoard), on("x\x1b[2J", "1-9", RoleBoard), on(" y ", "1-10", RoleBoard),
		{Identity: Identity{Serial: "7A3C", Role: RoleBoard}, Sim: DefaultSim, Simulated: true},
	}
	names := Names(boards)
	want := []string{"A1B2", "A1B2C3", "usb:1-3", "usb:1-4", "usb:1-5", "usb:1-6", "usb:1-7", "usb:1-8", "usb:1-9", "usb:1-10", "sim"}
	if !slices.Equal(names, want) {
		t.Errorf("%q", names)
	}
	for i, n := range names {
		s, err := Parse(n)
		if err != nil {
			t.Errorf("%s: %v", n, err)
			continue
		}
		if b, err := Match(s, boards, Ask{Command: "%s"}); err != nil || b.Port != boards[i].Port {
			t.Errorf("%s means %+v, %v", n, b, err)
		}
	}
}
