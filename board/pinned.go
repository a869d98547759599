package board

import (
	"fmt"
	"strings"

	"github.com/stem-hw/stem-hw/faults"
)

// Pin is what is known of a board that was chosen once.
type Pin struct {
	Identity
	// Aliases are serial numbers that the board showed at its port after a reset
	// that was asked for: programs may have numbers of their own.
	Aliases []string
}

// Pinned finds the board that was pinned among those there are. The serial number
// says which one it is, wherever it is plugged in. At its old port another number
// is another board, unless the board itself was seen with it.
func Pinned(pin Pin, boards []Board, ask Ask) (Board, error) {
	var found, atPort []Board
	for _, b := range boards {
		if b.Simulated || b.Role != pin.Role {
			continue
		}
		if pin.Same(b.Identity) {
			found = append(found, b)
		} else if b.Port == pin.Port {
			atPort = append(atPort, b)
		}
	}
	if len(found) > 1 {
		// Serial numbers that should tell apart and do not.
		for _, b := range found {
			if b.Port == pin.Port {
				return b, nil
			}
		}
		return Board{}, Ambiguous(found, ask)
	}
	if len(found) == 1 {
		return found[0], nil
	}
	for _, b := range atPort {
		for _, alias := range pin.Aliases {
			if strings.EqualFold(alias, b.Serial) {
				return b, nil
			}
		}
	}
	if len(atPort) > 0 {
		return Board{}, otherBoard(pin, atPort[0], ask)
	}
	f := &faults.Fault{
		Code: faults.CodeBoardNotFound, Status: faults.StatusNotFound,
		Summary: "the board that is pinned for this project is not plugged in",
		Wanted:  pin.String(),
		Details: Rows(boards),
		Try:     []string{"plug it in, or wait for it: --wait 30s", "stem-hw use BOARD      (another one for this project)"},
	}
	return Board{}, f
}

// otherBoard is the fault for another board where the pinned one was.
func otherBoard(pin Pin, b Board, ask Ask) error {
	return &faults.Fault{
		Code: faults.CodeOtherChip, Status: faults.StatusAmbiguous,
		Summary: "another board is where the pinned one was",
		Seen:    b.Identity.String(), Wanted: pin.String(),
		Try: []string{
			"stem-hw use " + b.Selector() + "      (if this is the board for the project from now on)",
			fmt.Sprintf(ask.Command, b.Selector()),
		},
	}
}

// String says who it is.
func (id Identity) String() string {
	s := "serial number " + id.Serial
	if id.Serial == "" {
		s = "no serial number"
	}
	if id.Port != "" {
		s += ", usb " + id.Port
	}
	return string(id.Role) + " with " + s
}

// CheckChip compares the device id that a chip says of itself with the one that
// was pinned; either may be unknown, which is "". Verbs call it before they
// write.
func CheckChip(pinned, seen string, where string) error {
	if pinned == "" || seen == "" || strings.EqualFold(pinned, seen) {
		return nil
	}
	return &faults.Fault{
		Code: faults.CodeOtherChip, Status: faults.StatusAmbiguous,
		Summary: "this is another chip than the one that was pinned",
		Seen:    "chip " + strings.ToUpper(seen) + " at " + where, Wanted: "chip " + strings.ToUpper(pinned),
		Try: []string{"stem-hw use BOARD      (if this is the chip for the project from now on)"},
	}
}
