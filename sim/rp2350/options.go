package rp2350

import (
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/sim/hazard3"
	"github.com/stem-hw/stem-hw/sim/rp2350/otp"
)

// Package is the chip's package.
type Package uint8

const (
	// QFN60 is the RP2350A of the Pico 2: 30 GPIOs.
	QFN60 Package = iota
	// QFN80 is the RP2350B: 48 GPIOs.
	QFN80
)

// Defaults of Options.
const (
	DefaultFlashSize = 4 << 20
	DefaultChipID    = 0x7a3c_51e8_0b29_d4f6
	maxFlashSize     = 16 << 20
)

// Options describe the chip to build. The zero value is the Pico 2: silicon A2,
// RISC-V, QFN60, 4 MiB of flash.
type Options struct {
	// Revision is the silicon revision; 0 is A2.
	Revision hazard3.Revision
	// Arch is the architecture of the cores after reset; unknown is RISC-V.
	Arch image.Arch
	// Package is QFN60 or QFN80.
	Package Package
	// FlashSize is a power of two from 64 KiB to 16 MiB; 0 is 4 MiB.
	FlashSize uint32
	// ChipID is the 64-bit identity in OTP rows 0..3; 0 is a fixed default. It
	// is also the flash chip's unique id.
	ChipID uint64
	// OTP are fuses to start with, for boards that persist; nil is a new chip.
	OTP *otp.Array
	// BootselPin is the level of QSPI CSn as the BOOTSEL button pulls it: true
	// holds the button down at reset.
	BootselPin bool
	// Bootsel takes over when the boot ROM enters BOOTSEL mode: it is the USB
	// side of the ROM. Without it that is reported as a crash, "bootsel".
	Bootsel func(c *Chip)
}

func (o Options) withDefaults() Options {
	if o.Revision == 0 {
		o.Revision = hazard3.A2
	}
	if o.Arch == image.ArchUnknown {
		o.Arch = image.ArchRISCV
	}
	if o.FlashSize == 0 {
		o.FlashSize = DefaultFlashSize
	}
	if o.FlashSize > maxFlashSize {
		o.FlashSize = maxFlashSize
	}
	if o.ChipID == 0 {
		o.ChipID = DefaultChipID
	}
	return o
}
