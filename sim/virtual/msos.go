package virtual

import (
	"encoding/binary"
	"unicode/utf16"
)

// Fields of Microsoft OS 2.0 descriptors.
const (
	msWindows81 = 0x06030000

	msSetHeader      = 0
	msFunctionSubset = 2
	msCompatibleID   = 3
	msRegistry       = 4

	msMultiString = 1

	// bootselGUID is the device interface of PICOBOOT on Windows (pico-bootrom
	// nsboot_usb_client.c).
	bootselGUID = "{bc7398c1-73cd-4cb7-98b8-913a8fca7bf6}"
	// picobootFunction is PICOBOOT's interface in a composite device.
	picobootFunction = 1
)

// msDescriptorSet makes Windows use WinUSB for PICOBOOT.
func msDescriptorSet(composite bool) []byte {
	le := binary.LittleEndian
	halves := func(v ...uint16) (b []byte) {
		for _, h := range v {
			b = le.AppendUint16(b, h)
		}
		return b
	}
	text := func(s string) []byte { return halves(append(utf16.Encode([]rune(s)), 0)...) }
	compatible := append(halves(20, msCompatibleID), make([]byte, 16)...)
	copy(compatible[4:], "WINUSB")
	name, value := text("DeviceInterfaceGUID"), text(bootselGUID)
	registry := halves(uint16(10+len(name)+len(value)), msRegistry, msMultiString, uint16(len(name)))
	registry = append(append(append(registry, name...), halves(uint16(len(value)))...), value...)
	body := append(compatible, registry...)
	if composite {
		body = append(halves(8, msFunctionSubset, picobootFunction, uint16(8+len(body))), body...)
	}
	set := le.AppendUint32(halves(10, msSetHeader), msWindows81)
	return append(append(set, halves(uint16(10+len(body)))...), body...)
}

// msPlatform is the UUID of the platform capability, as it is sent.
var msPlatform = [16]byte{
	0xdf, 0x60, 0xdd, 0xd8, 0x89, 0x45, 0xc7, 0x4c, 0x9c, 0xd2, 0x65, 0x9d, 0x9e, 0x64, 0x8a, 0x9f,
}

// msBOS is the binary object store that points to a descriptor set.
func msBOS(size uint16) []byte {
	le := binary.LittleEndian
	const platform = 5
	b := []byte{5, descBOS, 33, 0, 1, 28, descCapability, platform, 0}
	b = append(b, msPlatform[:]...)
	b = le.AppendUint32(b, msWindows81)
	b = le.AppendUint16(b, size)
	return append(b, msVendorCode, 0)
}
