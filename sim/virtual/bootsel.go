package virtual

import (
	"fmt"

	"github.com/stem-hw/stem-hw/image/boot"
	"github.com/stem-hw/stem-hw/sim/rp2350"
	"github.com/stem-hw/stem-hw/sim/rp2350/otp"
)

// BootROM is the chip as BOOTSEL mode uses it; rp2350.BootselMode is it.
type BootROM interface {
	Parameters() (flags, gpio uint32)
	OTPFlags() uint32
	Fuses() *otp.Array
	ChipID() uint64
	Options() boot.Options
	Memory() boot.Memory
	Table() *boot.Table
	SysInfo(flags uint32) []uint32
	PartitionInfo(flags uint32) []uint32
	Read(addr uint32, p []byte) bool
	Write(addr uint32, p []byte)
	FlashAllowed(addr, n uint32, write bool) bool
	EraseSector(addr uint32) (picos uint64)
	Program(addr uint32, p []byte) (picos uint64)
	ReadFuse(row int, ecc bool) (v uint32, ok bool)
	WriteFuse(row int, v uint32, ecc bool) rp2350.FuseResult
	Reboot(flags, delay, p0, p1 uint32) bool
}

var _ BootROM = (*rp2350.BootselMode)(nil)

// Endpoints of BOOTSEL mode (pico-bootrom nsboot_usb_client.c).
const (
	epDriveIn     = 0x81
	epDriveOut    = 0x02
	epPicobootOut = 0x03
	epPicobootIn  = 0x84
)

// Requests to the device (Microsoft OS 2.0 descriptors).
const (
	msVendorCode      = 1
	msDescriptorIndex = 7
)

// bootsel is the Function of BOOTSEL mode.
type bootsel struct {
	rom      BootROM
	gadget   *Gadget
	pico     *picoboot // nil if turned off
	drive    *drive    // nil if turned off
	picoItf  uint16
	msSet    []byte
	flash    *flashState
	driveItf uint16
}

// flashState is what PICOBOOT and the drive share.
type flashState struct {
	rom   BootROM
	clock *Clock
	uf2   *boot.Drive
	// byDrive says that the last change of flash or RAM was the drive's.
	byDrive bool
	// rebooting: a restart is under way, nothing is done any more.
	rebooting bool
	// ejected: the drive has no medium.
	ejected bool
}

// NewBootsel returns BOOTSEL mode as the host finds it. clock, which may be nil,
// counts its time.
func NewBootsel(rom BootROM, clock *Clock) *Gadget {
	flags, _ := rom.Parameters()
	off := flags & 3
	if rom.OTPFlags()&(1<<17) != 0 {
		off |= 1
	}
	if rom.OTPFlags()&(1<<18) != 0 {
		off |= 2
	}
	if off == 3 {
		off = 0 // the ROM has no device without interfaces
	}
	f := &flashState{rom: rom, clock: clock, uf2: boot.NewDrive(rom.Memory(), rom.Options(), rom.Table())}
	b := &bootsel{rom: rom, flash: f}
	label := readLabel(rom.Fuses())
	var parts [][]byte
	n := uint8(0)
	if off&1 == 0 {
		b.drive = &drive{flash: f, disk: newDisk(rom, label), halt: b.halt, label: label}
		parts = append(parts, interfaceDescriptor(n, 2, 0x08, 0x06, 0x50, 0),
			endpointDescriptor(epDriveIn, transferBulk, packetSize, 0),
			endpointDescriptor(epDriveOut, transferBulk, packetSize, 0))
		n++
	}
	if off&2 == 0 {
		b.pico = &picoboot{flash: f, halt: b.halt, unhalt: b.unhalt}
		b.picoItf = uint16(n)
		parts = append(parts, interfaceDescriptor(n, 2, 0xff, 0, 0, 0),
			endpointDescriptor(epPicobootOut, transferBulk, packetSize, 0),
			endpointDescriptor(epPicobootIn, transferBulk, packetSize, 0))
		n++
	}
	b.msSet = msDescriptorSet(off != 1)
	power := label.word(labelPower, 0x1980)
	b.gadget = NewGadget(Description{
		Device: deviceDescriptor(deviceFields{
			usb: 0x0210, vendor: label.word(labelVendor, 0x2e8a), product: label.word(labelProduct, 0x000f),
			release: label.word(labelRelease, 0x0100), manufacturer: 1, name: 2, serial: 3,
		}),
		Config:   configDescriptor(n, uint8(power), uint8(power>>8), parts...),
		BOS:      msBOS(uint16(len(b.msSet))),
		Language: label.word(labelLanguage, languageEnglish), EmptyStrings: true,
		Strings: []string{
			label.text(labelManufacturer, "Raspberry Pi", 30),
			label.text(labelName, "RP2350 Boot", 30),
			label.text(labelSerial, fmt.Sprintf("%016X", rom.ChipID()), 30),
		},
	}, b)
	b.gadget.Clock = clock
	return b.gadget
}

func (b *bootsel) halt(address uint8) { b.gadget.Halt(address) }

// unhalt is PICOBOOT's RESET, which lets both of its endpoints go on.
func (b *bootsel) unhalt() {
	b.gadget.clearHalt(epPicobootOut)
	b.gadget.clearHalt(epPicobootIn)
}

// Reset implements Function.
func (b *bootsel) Reset() {
	b.flash.uf2.Reset()
	if b.pico != nil {
		b.pico.reset()
	}
	if b.drive != nil {
		b.drive.reset()
	}
}

// Control implements Function.
func (b *bootsel) Control(s Setup, _ []byte) (reply []byte, ok bool) {
	kind, to := s.Type&kindMask, s.Type&toMask
	switch {
	case kind == kindVendor && to == toDevice:
		if s.In() && s.Request == msVendorCode && s.Index == msDescriptorIndex {
			return b.msSet, true
		}
	case kind == kindVendor && to == toInterface && b.pico != nil && s.Index == b.picoItf:
		return b.pico.control(s)
	case kind == kindClass && to == toInterface && b.drive != nil && s.Index == b.driveItf:
		return b.drive.control(s)
	}
	return nil, false
}

// Out implements Function.
func (b *bootsel) Out(ep uint8, p []byte) Answer {
	if ep == epPicobootOut {
		return b.pico.out(p)
	}
	return b.drive.out(p)
}

// In implements Function.
func (b *bootsel) In(ep uint8) ([]byte, Answer) {
	if ep == epPicobootIn&15 {
		return b.pico.in()
	}
	return b.drive.in()
}

// Cleared implements Function.
func (b *bootsel) Cleared(ep uint8) {
	if b.pico != nil && ep == epPicobootOut {
		b.pico.cleared()
	}
	if b.drive != nil && (ep == epDriveIn || ep == epDriveOut) {
		b.drive.cleared(ep)
	}
}
