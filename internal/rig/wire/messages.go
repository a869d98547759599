package wire

import "time"

// PortName is what the virtio-serial port is called in the guest.
const PortName = "rig"

// Socket is where the agent lets tests in the guest in.
const Socket = "/run/rig.sock"

// Exec runs a program in the guest. Data on the stream are its standard input
// and its output; the guest closes with its status.
type Exec struct {
	Args []string `json:"args"`
	Env  []string `json:"env,omitempty"`
	Dir  string   `json:"dir,omitempty"`
	// Limit ends it with everything it started.
	Limit time.Duration `json:"limit,omitempty"`
}

// Attach plugs a device into a port of the guest's kernel. Data on the stream
// are USB/IP commands and answers.
type Attach struct {
	Port   int    `json:"port"` // from 1
	Bus    uint32 `json:"bus"`
	Number uint32 `json:"number"`
}

// Control lets a test command boards: each line of data is a Request or the
// Reply to it. With the stream its boards end.
type Control struct{}

// Board describes a board to make.
type Board struct {
	// Serial is the chip's identity in 16 hexadecimal digits.
	Serial string `json:"serial,omitempty"`
	// Arch is arm or riscv, what the cores are after power-up.
	Arch string `json:"arch,omitempty"`
	// FlashSize is in bytes.
	FlashSize uint32 `json:"flash_size,omitempty"`
	// Flash is what the flash holds from its begin.
	Flash []byte `json:"flash,omitempty"`
	// Firmware is a program (ELF, UF2, BIN, HEX) to put into it.
	Firmware []byte `json:"firmware,omitempty"`
	// OTP are raw rows of the fuses.
	OTP map[int]uint32 `json:"otp,omitempty"`
	// Button holds the BOOTSEL button down.
	Button bool `json:"button,omitempty"`
	// Probe gives it a Debug Probe.
	Probe bool `json:"probe,omitempty"`
	// ProbeSerial is the probe's serial number, ProbePackets how many packets it
	// holds.
	ProbeSerial  string `json:"probe_serial,omitempty"`
	ProbePackets int    `json:"probe_packets,omitempty"`
	// ProbeDAP is v2 if empty, v1 (HID) or both.
	ProbeDAP string `json:"probe_dap,omitempty"`
	// Trouble is what is wrong with the debug port, by the names of sim board.
	Trouble []string `json:"trouble,omitempty"`
	// Faults happen to it, in the words of sim board --fault.
	Faults []string `json:"faults,omitempty"`
	// RealTime makes everything take the time that it takes on hardware.
	RealTime bool `json:"real_time,omitempty"`
}

// Things that have a plug.
const (
	PlugBoard = "board"
	PlugProbe = "probe"
)

// Request asks for something.
type Request struct {
	// Op is new, plug, unplug, power, button, fault, flash, otp, stats, printed or
	// type.
	Op string `json:"op"`
	// ID is the board's, as new told it.
	ID    int    `json:"id,omitempty"`
	Board *Board `json:"board,omitempty"`
	// What has a plug, and into which port it goes; or a fault in words.
	What string `json:"what,omitempty"`
	Port int    `json:"port,omitempty"`
	// On is for power and button.
	On bool `json:"on,omitempty"`
	// Addr and Size are a range of flash or fuses.
	Addr uint32 `json:"addr,omitempty"`
	Size int    `json:"size,omitempty"`
	Data []byte `json:"data,omitempty"`
}

// Reply answers it.
type Reply struct {
	Error string `json:"error,omitempty"`
	ID    int    `json:"id,omitempty"`
	Data  []byte `json:"data,omitempty"`
	Stats *Stats `json:"stats,omitempty"`
}

// Stats is what a board has been through.
type Stats struct {
	// Seconds is simulated time since power-up.
	Seconds float64 `json:"seconds"`
	// USB is what transfers, erasing, programming and the boot ROM would have
	// taken on hardware.
	USB time.Duration `json:"usb"`
	// Transfers ended, Packets and Bytes crossed the bus for them; Sectors and
	// Pages were erased and programmed.
	Transfers uint64 `json:"transfers"`
	Packets   uint64 `json:"packets"`
	Bytes     uint64 `json:"bytes"`
	Sectors   uint64 `json:"sectors"`
	Pages     uint64 `json:"pages"`
	// Enumerations are how often it came to the bus.
	Enumerations uint64 `json:"enumerations"`
	// Device is what it shows on USB: bootsel, program or empty.
	Device string `json:"device"`
	// Arch is what its cores are.
	Arch string `json:"arch"`
	// Restarts counts how often the program or the ROM restarted the chip.
	Restarts int `json:"restarts"`
}
