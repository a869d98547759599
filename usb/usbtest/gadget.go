package usbtest

import (
	"encoding/binary"
	"fmt"
	"path"
	"strings"
)

// Interface is one interface of a gadget.
type Interface struct {
	Class, Subclass, Protocol uint8
	Name, Driver              string
	// Endpoints are pairs of address and attributes.
	Endpoints [][2]uint8
	// TTY, HIDRaw and Disk are what a driver made of it: "ttyACM0", "hidraw0",
	// "sda".
	TTY, HIDRaw, Disk string
}

// Gadget is one device on the USB.
type Gadget struct {
	// Port is "1-2", or "1-2.3" behind a hub; Num the device number.
	Port string
	Num  int

	Vendor, Product            uint16
	Manufacturer, Name, Serial string
	Interfaces                 []Interface
	// Unconfigured leaves out the configuration, as just behind plugging in.
	Unconfigured bool
}

// Parts of boards, by what they are for.
var (
	storage  = Interface{Class: 8, Subclass: 6, Protocol: 0x50, Driver: "usb-storage", Endpoints: [][2]uint8{{0x81, 2}, {0x02, 2}}}
	picoboot = Interface{Class: 0xff, Endpoints: [][2]uint8{{0x03, 2}, {0x84, 2}}}
	cdcData  = Interface{Class: 0x0a, Driver: "cdc_acm", Endpoints: [][2]uint8{{0x02, 2}, {0x82, 2}}}
	reset    = Interface{Class: 0xff, Protocol: 1, Name: "Reset"}
)

func cdc(tty string) Interface {
	return Interface{Class: 2, Subclass: 2, Driver: "cdc_acm", Endpoints: [][2]uint8{{0x81, 3}}, TTY: tty}
}

// Bootsel is an RP2350 in BOOTSEL mode; disk may be "".
func Bootsel(port string, num int, serial, disk string) Gadget {
	s := storage
	s.Disk = disk
	return Gadget{
		Port: port, Num: num, Vendor: 0x2e8a, Product: 0x000f,
		Manufacturer: "Raspberry Pi", Name: "RP2350 Boot", Serial: serial, Interfaces: []Interface{s, picoboot},
	}
}

// Stdio is a program with the pico-sdk's serial port and reset interface.
func Stdio(port string, num int, serial, tty string) Gadget {
	return Gadget{
		Port: port, Num: num, Vendor: 0x2e8a, Product: 0x0009,
		Manufacturer: "Raspberry Pi", Name: "Pico", Serial: serial, Interfaces: []Interface{cdc(tty), cdcData, reset},
	}
}

// Probe is a Debug Probe (CMSIS-DAP v2).
func Probe(port string, num int, serial, tty string) Gadget {
	return Gadget{
		Port: port, Num: num, Vendor: 0x2e8a, Product: 0x000c,
		Manufacturer: "Raspberry Pi", Name: "Debug Probe (CMSIS-DAP)", Serial: serial,
		Interfaces: []Interface{
			{Class: 0xff, Name: "CMSIS-DAP v2 Interface", Endpoints: [][2]uint8{{0x04, 2}, {0x85, 2}}},
			cdc(tty), cdcData,
		},
	}
}

// HIDProbe is a probe of another maker that speaks CMSIS-DAP v1.
func HIDProbe(port string, num int, serial, hidraw string) Gadget {
	return Gadget{
		Port: port, Num: num, Vendor: 0x0d28, Product: 0x0204,
		Manufacturer: "Arm", Name: "DAPLink CMSIS-DAP", Serial: serial,
		Interfaces: []Interface{{Class: 3, Name: "CMSIS-DAP v1", Driver: "usbhid", Endpoints: [][2]uint8{{0x81, 3}, {0x01, 3}}, HIDRaw: hidraw}},
	}
}

// entry is a folder of sysfs.
type entry struct {
	path       string // below /devices
	node       string // below /dev
	data       []byte // contents of the node
	properties [][2]string
	attributes [][2]string
	binary     map[string][]byte
}

// controller is the host controller that all gadgets hang on.
const controller = "/devices/pci0000:00/0000:00:14.0"

// Syspath is the gadget's folder, below /sys.
func (g Gadget) Syspath() string {
	bus, ports, _ := strings.Cut(g.Port, "-")
	dir := controller + "/usb" + bus
	parts := strings.Split(ports, ".")
	for i := range parts {
		dir = path.Join(dir, bus+"-"+strings.Join(parts[:i+1], "."))
	}
	return dir
}

func (g Gadget) bus() (n int) {
	_, _ = fmt.Sscanf(g.Port, "%d-", &n)
	return n
}

// Node is the gadget's device node, below /dev.
func (g Gadget) Node() string { return fmt.Sprintf("bus/usb/%03d/%03d", g.bus(), g.Num) }

// Descriptors are the device descriptor and the configuration behind it.
func (g Gadget) Descriptors() []byte {
	le := binary.LittleEndian
	b := []byte{18, 1, 0x10, 0x02, 0, 0, 0, 64}
	b = le.AppendUint16(b, g.Vendor)
	b = le.AppendUint16(b, g.Product)
	b = append(b, 0, 1, 1, 2, 3, 1)
	c := []byte{9, 2, 0, 0, uint8(len(g.Interfaces)), 1, 0, 0x80, 50}
	for n, i := range g.Interfaces {
		c = append(c, 9, 4, uint8(n), 0, uint8(len(i.Endpoints)), i.Class, i.Subclass, i.Protocol, 0)
		for _, e := range i.Endpoints {
			c = append(c, 7, 5, e[0], e[1], 64, 0, 0)
		}
	}
	le.PutUint16(c[2:], uint16(len(c)))
	return append(b, c...)
}

func (g Gadget) entries() []entry {
	d := entry{path: g.Syspath(), node: g.Node(), data: g.Descriptors(), binary: map[string][]byte{"descriptors": g.Descriptors()}}
	config := "1"
	if g.Unconfigured {
		config = ""
	}
	minor := (g.bus()-1)*128 + g.Num - 1
	d.properties = [][2]string{
		{"DEVNAME", "/dev/" + g.Node()}, {"DEVTYPE", "usb_device"}, {"SUBSYSTEM", "usb"}, {"DRIVER", "usb"},
		{"BUSNUM", fmt.Sprintf("%03d", g.bus())}, {"DEVNUM", fmt.Sprintf("%03d", g.Num)},
		{"MAJOR", "189"}, {"MINOR", fmt.Sprint(minor)}, {"PRODUCT", fmt.Sprintf("%x/%x/100", g.Vendor, g.Product)},
	}
	d.attributes = [][2]string{
		{"bConfigurationValue", config}, {"bcdDevice", "0100"}, {"busnum", fmt.Sprint(g.bus())}, {"devnum", fmt.Sprint(g.Num)},
		{"idVendor", fmt.Sprintf("%04x", g.Vendor)}, {"idProduct", fmt.Sprintf("%04x", g.Product)},
		{"manufacturer", g.Manufacturer}, {"product", g.Name}, {"serial", g.Serial}, {"speed", "12"}, {"version", " 2.10"},
		{"dev", fmt.Sprintf("189:%d", minor)}, {"bDeviceClass", "00"}, {"bNumInterfaces", fmt.Sprintf("%2d", len(g.Interfaces))},
	}
	out := []entry{d}
	if g.Unconfigured {
		return out
	}
	for n, i := range g.Interfaces {
		dir := fmt.Sprintf("%s/%s:1.%d", g.Syspath(), g.Port, n)
		e := entry{path: dir, properties: [][2]string{{"DEVTYPE", "usb_interface"}, {"SUBSYSTEM", "usb"}}}
		if i.Driver != "" {
			e.properties = append(e.properties, [2]string{"DRIVER", i.Driver})
		}
		e.attributes = [][2]string{
			{"bInterfaceNumber", fmt.Sprintf("%02x", n)}, {"bInterfaceClass", fmt.Sprintf("%02x", i.Class)},
			{"bInterfaceSubClass", fmt.Sprintf("%02x", i.Subclass)}, {"bInterfaceProtocol", fmt.Sprintf("%02x", i.Protocol)},
		}
		if i.Name != "" {
			e.attributes = append(e.attributes, [2]string{"interface", i.Name})
		}
		out = append(out, e)
		out = append(out, children(dir, g, i)...)
	}
	return out
}

// children are what drivers made of an interface.
func children(dir string, g Gadget, i Interface) (out []entry) {
	if i.TTY != "" {
		var n int
		_, _ = fmt.Sscanf(strings.TrimPrefix(i.TTY, "ttyACM"), "%d", &n)
		out = append(out, entry{
			path: dir + "/tty/" + i.TTY, node: i.TTY,
			properties: [][2]string{{"DEVNAME", "/dev/" + i.TTY}, {"SUBSYSTEM", "tty"}, {"MAJOR", "166"}, {"MINOR", fmt.Sprint(n)}},
			attributes: [][2]string{{"dev", fmt.Sprintf("166:%d", n)}},
		})
	}
	if i.HIDRaw != "" {
		hid := fmt.Sprintf("%s/0003:%04X:%04X.0001", dir, g.Vendor, g.Product)
		out = append(out,
			entry{path: hid, properties: [][2]string{{"SUBSYSTEM", "hid"}}},
			entry{
				path: hid + "/hidraw/" + i.HIDRaw, node: i.HIDRaw,
				properties: [][2]string{{"DEVNAME", "/dev/" + i.HIDRaw}, {"SUBSYSTEM", "hidraw"}, {"MAJOR", "240"}, {"MINOR", "0"}},
			})
	}
	if i.Disk != "" {
		host := dir + "/host6/target6:0:0/6:0:0:0/block/" + i.Disk
		out = append(out,
			entry{
				path: host, node: i.Disk, attributes: [][2]string{{"dev", "8:0"}, {"size", "262144"}},
				properties: [][2]string{{"DEVNAME", "/dev/" + i.Disk}, {"DEVTYPE", "disk"}, {"SUBSYSTEM", "block"}, {"MAJOR", "8"}, {"MINOR", "0"}},
			},
			entry{
				path: host + "/" + i.Disk + "1", node: i.Disk + "1", attributes: [][2]string{{"dev", "8:1"}, {"partition", "1"}},
				properties: [][2]string{{"DEVNAME", "/dev/" + i.Disk + "1"}, {"DEVTYPE", "partition"}, {"SUBSYSTEM", "block"}, {"MAJOR", "8"}, {"MINOR", "1"}},
			})
	}
	return out
}

// Paths are the gadget's folders with those of its parts, below /sys, each one
// before those inside it.
func (g Gadget) Paths() (out []string) {
	for _, e := range g.entries() {
		out = append(out, e.path)
	}
	return out
}
