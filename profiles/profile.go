package profiles

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Profile is one kind of target with the settings in force.
type Profile struct {
	Chip Chip `toml:"chip"`
	Settings
}

// Chip is the fixed part: what the target is.
type Chip struct {
	// Name is the profile's name, Title what a person calls it.
	Name  string `toml:"name"`
	Title string `toml:"title"`
	// Kind is "board", "simulator" or "native".
	Kind string `toml:"kind"`
	// Machine is what the simulator calls it, "native" for a host program.
	Machine string `toml:"machine"`
	// Arch are the instruction sets it can execute: "riscv", "arm", "amd64".
	Arch []string `toml:"arch"`
	// Memory is the memory map, sorted by address.
	Memory []Region `toml:"memory"`
	// USB are the usual identities of its parts on the bus.
	USB []USB `toml:"usb"`
	// UF2 are the families it accepts, by picotool's names.
	UF2 map[string]uint32 `toml:"uf2"`
	// Targets are what programs for it can be built for.
	Targets []string `toml:"targets"`
	// Tools are the programs that work with it, Stage the stage of the container
	// images' recipe that has them.
	Tools []string `toml:"tools"`
	Stage string   `toml:"stage"`
	// Limits are what it cannot do, in words.
	Limits []string `toml:"limits"`
}

// Region is a part of the address space.
type Region struct {
	Name string `toml:"name"`
	// Kind is "ram", "rom", "flash" or "io".
	Kind   string `toml:"kind"`
	Base   uint32 `toml:"base"`
	Size   Size   `toml:"size"`
	Sector Size   `toml:"sector"`
}

// USB is an identity on the bus.
type USB struct {
	// ID is vendor:product in hexadecimal.
	ID USBID `toml:"id"`
	// Role is "bootsel", "firmware" or "probe".
	Role string `toml:"role"`
	Name string `toml:"name"`
}

// Settings is the part that overlays may change.
type Settings struct {
	Roles   Roles   `toml:"roles"`
	Board   Board   `toml:"board"`
	Console Console `toml:"console"`
	Flash   Flash   `toml:"flash"`
	Debug   Debug   `toml:"debug"`
	Run     Run     `toml:"run"`
	// Commands are a project's own. They run only after a person trusted the very
	// file they stand in (package card).
	Commands Commands `toml:"commands"`
}

// Commands take the place of what builds and tests a folder: lists of words,
// without a shell.
type Commands struct {
	Build []string `toml:"build"`
	Test  []string `toml:"test"`
}

// Roles are what a project works with. Which board fills a role is the user's to
// say, never a file's.
type Roles struct {
	// Needs are "board" and "probe".
	Needs []string `toml:"needs"`
}

// Board describes the circuit around the chip.
type Board struct {
	Name string `toml:"name"`
	// LED is the pin of the light, -1 without one.
	LED int `toml:"led"`
}

// Console is the serial console.
type Console struct {
	Baud     int `toml:"baud"`
	DataBits int `toml:"data_bits"`
	// Parity is "none", "even" or "odd".
	Parity   string `toml:"parity"`
	StopBits int    `toml:"stop_bits"`
	// DTR says whether the line is set when the port is opened.
	DTR bool `toml:"dtr"`
	// Reconnect waits for a port that went away.
	Reconnect bool `toml:"reconnect"`
}

// Flash says how images are written.
type Flash struct {
	// Size is the flash the board has.
	Size Size `toml:"size"`
	// Verify reads back what was written; Full writes also sectors that have
	// not changed.
	Verify bool `toml:"verify"`
	Full   bool `toml:"full"`
}

// Debug is the debug probe.
type Debug struct {
	// SWDKHz is the clock to begin with, SWDKHzMin where stepping down on
	// errors ends.
	SWDKHz    int `toml:"swd_khz"`
	SWDKHzMin int `toml:"swd_khz_min"`
}

// Run are defaults of `stem-hw run`.
type Run struct {
	// Speed is "auto", "real" or "max".
	Speed string `toml:"speed"`
	// Timeout ends a run; 0 is no limit.
	Timeout Duration `toml:"timeout"`
	// ExpectText ends a run with success, FailText with failure.
	ExpectText string `toml:"expect_text"`
	FailText   string `toml:"fail_text"`
}

// Size is a number of bytes, written "4 MiB", "512 B" or just 4096.
type Size uint32

// UnmarshalText reads a size.
func (s *Size) UnmarshalText(text []byte) error {
	t := strings.TrimSpace(string(text))
	unit := uint64(1)
	for suffix, factor := range map[string]uint64{"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30} {
		if rest, ok := strings.CutSuffix(t, suffix); ok {
			t, unit = strings.TrimSpace(rest), factor
			break
		}
	}
	if unit == 1 {
		t = strings.TrimSpace(strings.TrimSuffix(t, "B"))
	}
	n, err := strconv.ParseUint(t, 10, 32)
	if err != nil || n > 0xffffffff/unit {
		return fmt.Errorf("%q is not a size such as \"4 MiB\" below 4 GiB", text)
	}
	*s = Size(n * unit)
	return nil
}

// String writes it as it is read.
func (s Size) String() string {
	switch {
	case s != 0 && s%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", s>>20)
	case s != 0 && s%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", s>>10)
	}
	return fmt.Sprintf("%d B", uint32(s))
}

// Duration is a time, written "30s" or "1m30s".
type Duration struct{ time.Duration }

// UnmarshalText reads a duration.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err != nil || v < 0 {
		return fmt.Errorf("%q is not a time such as \"30s\" or \"1m30s\"", text)
	}
	*d = Duration{v}
	return nil
}

// USBID is a vendor and product number.
type USBID struct{ Vendor, Product uint16 }

// UnmarshalText reads four hexadecimal digits, a colon and four more.
func (u *USBID) UnmarshalText(text []byte) error {
	v, p, ok := strings.Cut(string(text), ":")
	vn, verr := strconv.ParseUint(v, 16, 16)
	pn, perr := strconv.ParseUint(p, 16, 16)
	if !ok || verr != nil || perr != nil || len(v) != 4 || len(p) != 4 {
		return fmt.Errorf("%q is not a USB identity such as \"2e8a:000f\"", text)
	}
	*u = USBID{uint16(vn), uint16(pn)}
	return nil
}

// String writes it as it is read.
func (u USBID) String() string { return fmt.Sprintf("%04x:%04x", u.Vendor, u.Product) }
