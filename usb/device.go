package usb

import (
	"fmt"

	"github.com/stem-hw/stem-hw/board"
)

// Device is one board or probe on the USB as the kernel sees it now.
type Device struct {
	// Port is the port path: "3-1.2".
	Port string
	// Syspath is the device's folder below /sys: "devices/pci0000:00/…/3-1.2".
	Syspath string
	// Bus and Num name the device node; Num changes with every plugging in.
	Bus, Num int
	// Vendor, Product and Release are idVendor, idProduct and bcdDevice.
	Vendor, Product, Release uint16
	// USB is bcdUSB.
	USB uint16
	// Manufacturer, Name and Serial are the device's own strings, unescaped.
	Manufacturer, Name, Serial string

	Role board.Role
	Mode board.Mode
	// Chip is "rp2350" or "rp2040" where the device says so, else "".
	Chip string
	// Interfaces are those of the active configuration, in order of number.
	Interfaces []Interface
	// TTYs are its serial ports.
	TTYs []TTY
	// HIDRaw are the nodes of its HID interfaces: "/dev/hidraw3".
	HIDRaw []string
	// Drive is the BOOTSEL drive, nil without one.
	Drive *Drive

	// Node is the device node and who may open it.
	Node Node
	// Holder is who has the board for himself, nil if nobody has.
	Holder *Holder
}

// Interface is one interface of a device.
type Interface struct {
	Number                    int
	Class, Subclass, Protocol uint8
	// Name is the interface's own string, unescaped.
	Name string
	// Driver is the kernel driver that has it, "" without one.
	Driver string
	// Endpoints are addresses of the first alternate setting, in order.
	Endpoints []Endpoint
}

// Endpoint is one endpoint of an interface.
type Endpoint struct {
	// Address has bit 7 set for IN.
	Address uint8
	// Type is "bulk", "interrupt", "isochronous" or "control".
	Type      string
	MaxPacket int
}

// TTY is a serial port of a device.
type TTY struct {
	// Node is "/dev/ttyACM0".
	Node string
	// Interface is the number of the interface it belongs to.
	Interface int
	// Access is who may open it.
	Access Node
}

// Drive is the mass storage that a board shows in BOOTSEL mode.
type Drive struct {
	// Disk is the whole drive ("/dev/sda"), Partition the first one on it, ""
	// without one.
	Disk, Partition string
	// Mount is where it is mounted, "" if it is not.
	Mount string
}

// Node is a device node and who may open it.
type Node struct {
	// Path is "/dev/bus/usb/003/007".
	Path string
	// Owner and Group are names, or numbers where there is no name.
	Owner, Group string
	// Perm are the permission bits.
	Perm uint32
	// Access says that this process may read and write it.
	Access bool
	// Missing is true for a node that is not there.
	Missing bool

	dev, ino uint64
}

// Kinds of interfaces that stem-hw knows.
const (
	// InterfacePicoboot is the boot ROM's own (vendor, RP2350 and RP2040).
	InterfacePicoboot = "picoboot"
	// InterfaceStorage is mass storage.
	InterfaceStorage = "storage"
	// InterfaceReset is the reset interface of the pico-sdk, ff/00/01.
	InterfaceReset = "reset"
	// InterfaceSerial is a CDC ACM port.
	InterfaceSerial = "serial"
	// InterfaceDAP2 is CMSIS-DAP v2 (bulk), InterfaceDAP1 is v1 (HID).
	InterfaceDAP2 = "cmsis-dap-v2"
	InterfaceDAP1 = "cmsis-dap-v1"
)

// Find returns the device's first interface of a kind.
func (d *Device) Find(kind string) (Interface, bool) {
	for _, i := range d.Interfaces {
		if d.KindOf(i) == kind {
			return i, true
		}
	}
	return Interface{}, false
}

// Endpoint returns the address of an interface's first endpoint of a direction
// and type, 0 without one.
func (i Interface) Endpoint(in bool, kind string) uint8 {
	for _, e := range i.Endpoints {
		if (e.Address&0x80 != 0) == in && e.Type == kind {
			return e.Address
		}
	}
	return 0
}

// String names the device for a message.
func (d *Device) String() string {
	return fmt.Sprintf("%04x:%04x at usb %s", d.Vendor, d.Product, d.Port)
}
