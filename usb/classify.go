package usb

import (
	"slices"
	"strings"

	"github.com/stem-hw/stem-hw/board"
)

// The numbers that Raspberry Pi gave to what the boot ROMs and its firmware
// show (raspberrypi/usb-pid: Readme.md).
const (
	VendorRaspberryPi = 0x2e8a
	ProductRP2040Boot = 0x0003
	ProductPicoprobe  = 0x0004
	ProductMicroPy    = 0x0005
	ProductSDK2040    = 0x000a
	ProductSDK2350    = 0x0009
	ProductDebugProbe = 0x000c
	ProductRP2350Boot = 0x000f
)

// USB class codes (usb.org, Defined Class Codes).
const (
	classCDC     = 0x02
	classHID     = 0x03
	classStorage = 0x08
	classCDCData = 0x0a
	classVendor  = 0xff
)

// KindOf returns what an interface of the device is for, "" for one that
// stem-hw has no use for.
func (d *Device) KindOf(i Interface) string {
	switch {
	case i.Class == classStorage:
		return InterfaceStorage
	case d.isPicoboot(i):
		return InterfacePicoboot
	// pico-sdk: pico_usb_reset_interface_headers, any vendor and product.
	case i.Class == classVendor && i.Subclass == 0 && i.Protocol == 1:
		return InterfaceReset
	case i.Class == classVendor && (isDAP(i.Name) || i.Name == "" && isDAP(d.Name)) && i.Endpoint(true, "bulk") != 0 && i.Endpoint(false, "bulk") != 0:
		return InterfaceDAP2
	case i.Class == classHID && (isDAP(i.Name) || isDAP(d.Name)):
		return InterfaceDAP1
	case i.Class == classCDC && i.Subclass == 2:
		return InterfaceSerial
	}
	return ""
}

// isDAP recognises the mark of a probe (CMSIS-DAP, "Connecting to the Target":
// the string has to contain it).
func isDAP(s string) bool { return strings.Contains(s, "CMSIS-DAP") }

// bootsel says that the boot ROM shows this device. A board's maker may have
// written numbers and names of his own into its fuses (RP2350 datasheet, 5.7.1,
// USB white-labelling): then the ROM's other marks tell it.
func (d *Device) bootsel() bool {
	if d.Vendor == VendorRaspberryPi && (d.Product == ProductRP2350Boot || d.Product == ProductRP2040Boot) {
		return true
	}
	return d.USB == 0x0210 && len(d.Interfaces) <= 2 && slices.ContainsFunc(d.Interfaces, d.isPicoboot) &&
		!slices.ContainsFunc(d.Interfaces, func(i Interface) bool { return i.Class != classStorage && i.Class != classVendor })
}

// isPicoboot recognises PICOBOOT's interface by class and endpoints
// (raspberrypi/pico-bootrom-rp2350: src/nsboot/nsboot_usb_client.c; the RP2040's
// has the same).
func (d *Device) isPicoboot(i Interface) bool {
	return i.Class == classVendor && i.Subclass == 0 && i.Protocol == 0 && len(i.Endpoints) == 2 &&
		i.Endpoint(false, "bulk") == 0x03 && i.Endpoint(true, "bulk") == 0x84
}

// classify sets role, mode and chip; false is a device of no interest.
func (d *Device) classify() bool {
	d.Role, d.Mode = board.RoleBoard, board.ModeRunning
	if d.bootsel() {
		d.Mode = board.ModeBootsel
		d.Chip = "rp2350"
		if d.Product == ProductRP2040Boot {
			d.Chip = "rp2040"
		}
		return true
	}
	if _, ok := d.Find(InterfaceDAP2); ok {
		d.Role, d.Mode = board.RoleProbe, board.ModeProbe
		return true
	}
	if _, ok := d.Find(InterfaceDAP1); ok {
		d.Role, d.Mode = board.RoleProbe, board.ModeProbe
		return true
	}
	if d.Vendor == VendorRaspberryPi {
		switch d.Product {
		case ProductSDK2350:
			d.Chip = "rp2350"
		case ProductSDK2040:
			d.Chip = "rp2040"
		}
	}
	if _, ok := d.Find(InterfaceReset); ok {
		return true
	}
	// Other firmware with Raspberry Pi's number is a board if it has a port to
	// talk to: hubs, keyboards and cameras have the number too.
	_, serial := d.Find(InterfaceSerial)
	return d.Vendor == VendorRaspberryPi && serial
}
