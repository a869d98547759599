package board

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
	// PID is the process that serves a simulated board, 0 if none does.
	PID int `json:"pid,omitempty"`
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
	case b.Serial != "":
		return b.Serial
	}
	return "usb:" + b.Port
}
