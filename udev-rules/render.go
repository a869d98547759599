package udevrules

import (
	_ "embed" // the rules as they were generated
	"fmt"
	"slices"
	"strings"

	"github.com/stem-hw/stem-hw/profiles"
)

// File is the name of the rules' file.
const File = "60-stem-hw.rules"

// The groups that may open boards and their serial ports. Debian and Ubuntu have
// both; other distributions call the second one uucp, or have only uaccess.
const (
	GroupUSB  = "plugdev"
	GroupPort = "dialout"
)

//go:embed 60-stem-hw.rules
var text []byte

// Text is the rules.
func Text() []byte { return slices.Clone(text) }

// device is a vendor and product with what it is.
type device struct {
	id         profiles.USBID
	role, name string
}

// others are boards that are no target of a profile but that stem-hw lists
// (raspberrypi/usb-pid: Readme.md).
var others = []device{
	{profiles.USBID{Vendor: 0x2e8a, Product: 0x0003}, "bootsel", "RP2 Boot (RP2040)"},
	{profiles.USBID{Vendor: 0x2e8a, Product: 0x000a}, "firmware", "Pico (pico-sdk stdio, RP2040)"},
	{profiles.USBID{Vendor: 0x2e8a, Product: 0x0004}, "probe", "Picoprobe"},
}

// roles are the values of ENV{STEM_HW} by the profiles' roles.
var roles = map[string]string{"bootsel": "board", "firmware": "board", "probe": "probe"}

// Render writes the rules for what the profiles name.
func Render(chips ...*profiles.Chip) []byte {
	var all []device
	for _, c := range chips {
		for _, u := range c.USB {
			all = append(all, device{u.ID, u.Role, u.Name})
		}
	}
	all = append(all, others...)
	slices.SortStableFunc(all, func(a, b device) int {
		return (int(a.id.Vendor)<<16 | int(a.id.Product)) - (int(b.id.Vendor)<<16 | int(b.id.Product))
	})
	all = slices.CompactFunc(all, func(a, b device) bool { return a.id == b.id })

	var b strings.Builder
	b.WriteString(`# 60-stem-hw.rules: boards and debug probes are for people.
# Generated from the profiles of stem-hw; changes belong there. To install it:
#     sudo stem-hw udev install
#
# Access by uaccess (the person at the machine) and by group (everybody else) are
# on lines of their own: udev drops a line that names a group it does not know.

ACTION=="remove", GOTO="stem_hw_end"
SUBSYSTEM=="usb", ENV{DEVTYPE}=="usb_device", GOTO="stem_hw_device"
SUBSYSTEM=="tty", SUBSYSTEMS=="usb", GOTO="stem_hw_tty"
SUBSYSTEM=="hidraw", SUBSYSTEMS=="usb", GOTO="stem_hw_hidraw"
GOTO="stem_hw_end"

# The device itself: PICOBOOT, CMSIS-DAP, resetting.
LABEL="stem_hw_device"
`)
	for _, d := range all {
		fmt.Fprintf(&b, "# %s\nATTR{idVendor}==\"%04x\", ATTR{idProduct}==\"%04x\", ENV{STEM_HW}=\"%s\"\n", d.name, d.id.Vendor, d.id.Product, roles[d.role])
	}
	b.WriteString(`# Programs with the pico-sdk's reset interface, whatever numbers they have.
ENV{ID_USB_INTERFACES}=="*:ff0001:*", ENV{STEM_HW}="board"
# Probes of every maker.
ATTR{product}=="*CMSIS-DAP*", ENV{STEM_HW}="probe"
ENV{STEM_HW}!="?*", GOTO="stem_hw_end"
MODE="0660"
GROUP="plugdev"
TAG+="uaccess"
ENV{ID_MM_DEVICE_IGNORE}="1"
# A probe that is put to sleep loses what it knows of its target.
ENV{STEM_HW}=="probe", TEST=="power/control", ATTR{power/control}="on"
GOTO="stem_hw_end"

# Serial ports. ID_USB_INTERFACES and the like come from 60-serial.rules.
LABEL="stem_hw_tty"
`)
	for _, d := range all {
		if d.role == "bootsel" {
			continue
		}
		fmt.Fprintf(&b, "ATTRS{idVendor}==\"%04x\", ATTRS{idProduct}==\"%04x\", ENV{STEM_HW}=\"%s\"\n", d.id.Vendor, d.id.Product, roles[d.role])
	}
	b.WriteString(`ENV{ID_USB_INTERFACES}=="*:ff0001:*", ENV{STEM_HW}="board"
ATTRS{product}=="*CMSIS-DAP*", ENV{STEM_HW}="probe"
ENV{STEM_HW}!="?*", GOTO="stem_hw_end"
MODE="0660"
GROUP="dialout"
TAG+="uaccess"
ENV{ID_MM_PORT_IGNORE}="1"
ENV{ID_MM_DEVICE_IGNORE}="1"
# Names that stay: by serial number, and by the place where it is plugged in.
ENV{ID_SERIAL_SHORT}=="?*", ENV{ID_USB_INTERFACE_NUM}=="?*", SYMLINK+="stem-hw/$env{ID_SERIAL_SHORT}-if$env{ID_USB_INTERFACE_NUM}"
SUBSYSTEMS=="usb", KERNELS=="*:*", SYMLINK+="stem-hw/usb-%b"
GOTO="stem_hw_end"

# CMSIS-DAP v1.
LABEL="stem_hw_hidraw"
ATTRS{product}=="*CMSIS-DAP*", ENV{STEM_HW}="probe"
ATTRS{interface}=="*CMSIS-DAP*", ENV{STEM_HW}="probe"
ENV{STEM_HW}!="?*", GOTO="stem_hw_end"
MODE="0660"
GROUP="plugdev"
TAG+="uaccess"

LABEL="stem_hw_end"
`)
	return []byte(b.String())
}
