package board

import (
	"fmt"
	"strings"
	"time"
)

// Role is what a USB device or a simulation is good for.
type Role string

const (
	// RoleBoard is a chip that programs run on.
	RoleBoard Role = "board"
	// RoleProbe is a debug probe.
	RoleProbe Role = "probe"
)

// Mode is what a board does at the moment.
type Mode string

const (
	// ModeBootsel waits in the boot ROM for something to be loaded.
	ModeBootsel Mode = "bootsel"
	// ModeRunning executes a program.
	ModeRunning Mode = "running"
	// ModeHalted is stopped by a debugger or held in reset.
	ModeHalted Mode = "halted"
	// ModeEnded is a simulated program that is over.
	ModeEnded Mode = "ended"
	// ModeUsed is a board that somebody else has for himself.
	ModeUsed Mode = "in use"
	// ModeOff is a simulated board that nothing serves.
	ModeOff Mode = "off"
	// ModeProbe is a debug probe.
	ModeProbe Mode = "probe"
)

// Identity is what tells boards apart.
type Identity struct {
	// Serial is the serial number: USB iSerial, or a simulated chip's id.
	Serial string `json:"serial,omitempty"`
	// Port is the USB port path ("3-1.2"); empty for a simulated board.
	Port string `json:"port,omitempty"`
	Role Role   `json:"role"`
}

// Board is one board, probe or simulation as it is seen now.
type Board struct {
	Identity
	// Sim is the name of a simulated board ("default" for plain sim), else "".
	Sim string `json:"sim,omitempty"`
	// Simulated says that no hardware is involved.
	Simulated bool `json:"simulated"`
	// Nickname is what the user calls it.
	Nickname string `json:"nickname,omitempty"`
	// Product is the device's own name.
	Product string `json:"product,omitempty"`
	// Vendor and ProductID are the USB numbers, 0 for a simulated board.
	Vendor    uint16 `json:"vendor_id,omitempty"`
	ProductID uint16 `json:"product_id,omitempty"`
	Mode      Mode   `json:"mode"`
	// Consoles are device nodes of serial ports.
	Consoles []string `json:"consoles,omitempty"`
	// Detail says more about the mode: the program, who uses it.
	Detail string `json:"detail,omitempty"`
	// PID is the process that serves a simulated board or has a real one for
	// itself, 0 if none does.
	PID int `json:"pid,omitempty"`

	// Chip is "rp2350" or "rp2040" where it is known.
	Chip string `json:"chip,omitempty"`
	// Interfaces are what can be spoken to it, in the order of its interfaces.
	Interfaces []string `json:"interfaces,omitempty"`
	// Node is the USB device node.
	Node string `json:"node,omitempty"`
	// Drive is the BOOTSEL drive's device node, Mount where it is mounted.
	Drive string `json:"drive,omitempty"`
	Mount string `json:"mount,omitempty"`
	// NoAccess are nodes that this account may not open.
	NoAccess []NoAccess `json:"no_access,omitempty"`
	// Holder is who has the board for himself, nil if nobody has.
	Holder *Holder `json:"holder,omitempty"`
}

// NoAccess is a device node that may not be opened, and why.
type NoAccess struct {
	Node  string `json:"node"`
	Owner string `json:"owner,omitempty"`
	Group string `json:"group,omitempty"`
	Perm  uint32 `json:"mode,omitempty"`
	// Missing is what would let this account open it.
	Missing string `json:"missing"`
}

// String says it in words, with the node as ls would show it.
func (n NoAccess) String() string {
	s := n.Node
	if n.Owner != "" {
		s += fmt.Sprintf(" %s:%s %04o", n.Owner, n.Group, n.Perm)
	}
	return s + ", " + n.Missing
}

// Holder is who has a board for himself.
type Holder struct {
	PID   int       `json:"pid"`
	User  string    `json:"user,omitempty"`
	Verb  string    `json:"verb,omitempty"`
	Since time.Time `json:"since,omitzero"`
}

// String says it in words.
func (h Holder) String() string {
	s := fmt.Sprintf("process %d", h.PID)
	if h.PID == 0 {
		s = "a process outside"
	}
	if h.User != "" {
		s += " of " + h.User
	}
	if h.Verb != "" {
		s = h.Verb + ", " + s
	}
	if !h.Since.IsZero() {
		s += ", since " + h.Since.Local().Format("15:04:05")
	}
	return s
}

// State says what the board does, who has it, and what keeps this account from
// it, on one line.
func (b Board) State() string {
	parts := []string{string(b.Mode)}
	if b.Detail != "" {
		parts[0] += ": " + b.Detail
	}
	if b.Holder != nil {
		parts = append(parts, "in use: "+b.Holder.String())
	}
	for _, n := range b.NoAccess {
		parts = append(parts, "no access: "+n.String())
	}
	return strings.Join(parts, "; ")
}

// Where says where the board is and what it shows there.
func (b Board) Where() string {
	if b.Simulated {
		return "simulated"
	}
	parts := append([]string{"usb " + b.Port}, b.Consoles...)
	if b.Drive != "" {
		parts = append(parts, b.Drive)
	}
	if b.Mount != "" {
		parts = append(parts, "on "+b.Mount)
	}
	return strings.Join(parts, " ")
}

// Telling says that a serial number tells one chip from others. It does not if it
// is empty, one character over and over (what the pico-sdk shows when the flash
// has no number), or the one that every RP2040 shows in BOOTSEL mode.
func Telling(serial string) bool {
	if serial == "" || strings.EqualFold(serial, "E0C9125B0D9B") {
		return false
	}
	return strings.Trim(serial, serial[:1]) != ""
}

// Same says that b is the board of an identity: it has its role and its serial
// number, and its port as well if the number does not tell chips apart.
func (id Identity) Same(b Identity) bool {
	if id.Role != b.Role || !strings.EqualFold(id.Serial, b.Serial) {
		return false
	}
	return Telling(id.Serial) || id.Port == b.Port
}

// DefaultSim is the name of the board that plain "sim" means.
const DefaultSim = "default"

// Selector returns the shortest exact selector of b that never changes its
// meaning when other boards are plugged in.
func (b Board) Selector() string {
	switch {
	case b.Sim == DefaultSim:
		return "sim"
	case b.Sim != "":
		return "sim:" + b.Sim
	case Telling(b.Serial):
		if s, err := Parse(b.Serial); err == nil && s.Kind == KindWord {
			return b.Serial
		}
	}
	return "usb:" + b.Port
}
