package virtual

import (
	"encoding/binary"
	"unicode/utf16"
)

// Descriptor types (USB 2.0, table 9-5; USB 3.2, 9.6).
const (
	descDevice        = 1
	descConfiguration = 2
	descString        = 3
	descInterface     = 4
	descEndpoint      = 5
	descAssociation   = 11
	descBOS           = 15
	descCapability    = 16
	descCSInterface   = 0x24
)

// languageEnglish is English (United States).
const languageEnglish = 0x0409

// deviceFields are what differs between device descriptors.
type deviceFields struct {
	usb                      uint16
	class, subclass, proto   uint8
	vendor, product, release uint16
	// manufacturer, name and serial are indices of strings.
	manufacturer, name, serial uint8
}

// deviceDescriptor is the 18 bytes of USB 2.0, table 9-8.
func deviceDescriptor(f deviceFields) []byte {
	le := binary.LittleEndian
	b := []byte{18, descDevice}
	b = le.AppendUint16(b, f.usb)
	b = append(b, f.class, f.subclass, f.proto, packetSize)
	b = le.AppendUint16(b, f.vendor)
	b = le.AppendUint16(b, f.product)
	b = le.AppendUint16(b, f.release)
	return append(b, f.manufacturer, f.name, f.serial, 1)
}

// configDescriptor puts a configuration's header before its parts. power is in
// units of 2 mA.
func configDescriptor(interfaces, attributes, power uint8, parts ...[]byte) []byte {
	b := []byte{9, descConfiguration, 0, 0, interfaces, 1, 0, attributes, power}
	for _, p := range parts {
		b = append(b, p...)
	}
	binary.LittleEndian.PutUint16(b[2:], uint16(len(b)))
	return b
}

// interfaceDescriptor is USB 2.0, table 9-12.
func interfaceDescriptor(number, endpoints, class, subclass, proto, name uint8) []byte {
	return []byte{9, descInterface, number, 0, endpoints, class, subclass, proto, name}
}

// Transfer types of endpoints.
const (
	transferBulk      = 2
	transferInterrupt = 3
)

// endpointDescriptor is USB 2.0, table 9-13.
func endpointDescriptor(address, transfer uint8, size uint16, interval uint8) []byte {
	return []byte{7, descEndpoint, address, transfer, byte(size), byte(size >> 8), interval}
}

// stringDescriptor is a text in UTF-16.
func stringDescriptor(s string) []byte {
	u := utf16.Encode([]rune(s))
	if len(u) > 126 {
		u = u[:126]
	}
	b := []byte{byte(2 + 2*len(u)), descString}
	for _, c := range u {
		b = binary.LittleEndian.AppendUint16(b, c)
	}
	return b
}

// endpoint is what a configuration says of one.
type endpoint struct {
	address, iface uint8
	transfer       uint8
	size           int
}

// parsed is what is looked up in a configuration descriptor.
type parsed struct {
	endpoints  []endpoint
	interfaces [][3]uint8 // class, subclass, protocol of alternate setting 0
}

// parseConfig reads a configuration descriptor; what does not parse is left out.
func parseConfig(b []byte) (p parsed) {
	iface := uint8(0)
	for len(b) >= 2 && b[0] >= 2 && int(b[0]) <= len(b) {
		d := b[:b[0]]
		b = b[b[0]:]
		switch {
		case d[1] == descInterface && len(d) >= 9:
			iface = d[2]
			if d[3] == 0 {
				p.interfaces = append(p.interfaces, [3]uint8{d[5], d[6], d[7]})
			}
		case d[1] == descEndpoint && len(d) >= 7:
			size := int(binary.LittleEndian.Uint16(d[4:]) & 0x7ff)
			p.endpoints = append(p.endpoints, endpoint{d[2], iface, d[3] & 3, size})
		}
	}
	return p
}
