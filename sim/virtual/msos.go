package virtual

import (
	"encoding/binary"
	"unicode/utf16"
)

// Fields of Microsoft OS 2.0 descriptors.
const (
	msWindows81 = 0x06030000

	msSetHeader      = 0
	msConfigSubset   = 1
	msFunctionSubset = 2
	msCompatibleID   = 3
	msRegistry       = 4

	msString      = 1
	msMultiString = 7

	// bootselGUID is the device interface of PICOBOOT on Windows (pico-bootrom
	// nsboot_usb_client.c).
	bootselGUID = "{bc7398c1-73cd-4cb7-98b8-913a8fca7bf6}"
	// dapGUID is that of CMSIS-DAP v2 (Arm, CMSIS-DAP: WinUSB).
	dapGUID = "{CDB3B5AD-293B-4663-AA36-1AAE46463776}"
	// picobootFunction is PICOBOOT's interface in a composite device.
	picobootFunction = 1
)

// halves appends 16-bit values.
func halves(b []byte, v ...uint16) []byte {
	for _, h := range v {
		b = binary.LittleEndian.AppendUint16(b, h)
	}
	return b
}

// wide is a text in UTF-16.
func wide(s string) []byte { return halves(nil, utf16.Encode([]rune(s))...) }

// msWinUSB is a compatible ID and the registry property with a device
// interface's GUID.
func msWinUSB(kind uint16, name, guid string) []byte {
	b := append(halves(nil, 20, msCompatibleID), make([]byte, 16)...)
	copy(b[4:], "WINUSB")
	n, v := wide(name), wide(guid)
	b = append(halves(b, uint16(10+len(n)+len(v)), msRegistry, kind, uint16(len(n))), n...)
	return append(halves(b, uint16(len(v))), v...)
}

// msSet puts the header before a set.
func msSet(body []byte) []byte {
	set := binary.LittleEndian.AppendUint32(halves(nil, 10, msSetHeader), msWindows81)
	return append(halves(set, uint16(10+len(body))), body...)
}

// msDescriptorSet makes Windows use WinUSB for PICOBOOT.
func msDescriptorSet(composite bool) []byte {
	body := msWinUSB(msString, "DeviceInterfaceGUID\x00", bootselGUID+"\x00")
	if composite {
		body = append(halves(nil, 8, msFunctionSubset, picobootFunction, uint16(8+len(body))), body...)
	}
	return msSet(body)
}

// probeDescriptorSet does so for CMSIS-DAP v2, interface 0 of a probe.
func probeDescriptorSet() []byte {
	body := msWinUSB(msMultiString, "DeviceInterfaceGUIDs\x00", dapGUID+"\x00\x00")
	body = append(halves(nil, 8, msFunctionSubset, 0, uint16(8+len(body))), body...)
	return msSet(append(halves(nil, 8, msConfigSubset, 0, uint16(8+len(body))), body...))
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
