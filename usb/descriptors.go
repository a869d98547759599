package usb

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Descriptor types (USB 2.0, table 9-5).
const (
	descDevice        = 1
	descConfiguration = 2
	descInterface     = 4
	descEndpoint      = 5
)

var transferTypes = [4]string{"control", "isochronous", "bulk", "interrupt"}

// maxParsed bounds interfaces and endpoints; USB has at most 32 of each.
const maxParsed = 64

// parseDescriptors reads what the kernel keeps in a device's file descriptors:
// the device descriptor and behind it every configuration. It returns the
// interfaces of one configuration, each with its first alternate setting.
func parseDescriptors(b []byte, configuration uint8) (version uint16, out []Interface, err error) {
	if len(b) < 18 || b[0] < 18 || b[1] != descDevice {
		return 0, nil, errors.New("no device descriptor")
	}
	version = binary.LittleEndian.Uint16(b[2:])
	b = b[b[0]:]
	var inside, skip bool
	for len(b) >= 2 {
		n := int(b[0])
		if n < 2 || n > len(b) {
			return version, out, fmt.Errorf("a descriptor of %d bytes where %d are left", n, len(b))
		}
		d := b[:n]
		b = b[n:]
		switch {
		case d[1] == descConfiguration && n >= 9:
			inside = d[5] == configuration
		case !inside:
		case d[1] == descInterface && n >= 9:
			if skip = d[3] != 0; skip || len(out) == maxParsed {
				continue
			}
			out = append(out, Interface{Number: int(d[2]), Class: d[5], Subclass: d[6], Protocol: d[7]})
		case d[1] == descEndpoint && n >= 7 && len(out) > 0 && !skip:
			i := &out[len(out)-1]
			if len(i.Endpoints) < maxParsed {
				i.Endpoints = append(i.Endpoints, Endpoint{
					Address: d[2], Type: transferTypes[d[3]&3], MaxPacket: int(binary.LittleEndian.Uint16(d[4:]) & 0x7ff),
				})
			}
		}
	}
	return version, out, nil
}
