package boot

// CPU is one of the two kinds of cores of an RP2350.
type CPU int

// The CPUs, numbered as in an image definition.
const (
	Arm   CPU = 0
	RISCV CPU = 1
)

// String is the CPU's name for people.
func (c CPU) String() string {
	if c == RISCV {
		return "RISC-V"
	}
	return "Arm"
}

// Other is the other CPU.
func (c CPU) Other() CPU { return c ^ 1 }

// Chip is the revision of the RP2350.
type Chip int

// Revisions. A3 and A4 have the boot ROM fixes of errata RP2350-E10 and E13.
const (
	A2 Chip = 2
	A3 Chip = 3
	A4 Chip = 4
)

// String is the name, as --chip takes it.
func (c Chip) String() string {
	switch c {
	case A3:
		return "rp2350-a3"
	case A4:
		return "rp2350-a4"
	}
	return "rp2350-a2"
}

// ParseChip reads a chip revision such as "rp2350-a2" or "a4".
func ParseChip(s string) (Chip, bool) {
	switch s {
	case "rp2350-a2", "a2", "A2":
		return A2, true
	case "rp2350-a3", "a3", "A3":
		return A3, true
	case "rp2350-a4", "a4", "A4":
		return A4, true
	}
	return 0, false
}

// OTP are the fuses that boot decisions depend on. The zero value is a chip
// fresh from the factory. Source: pico-sdk,
// src/rp2350/hardware_regs/include/hardware/regs/otp_data.h.
type OTP struct {
	ArmDisabled   bool // CRIT0 bit 0
	RISCVDisabled bool // CRIT0 bit 1
	SecureBoot    bool // CRIT1 bit 0

	SingleBinary     bool // BOOT_FLAGS0 bit 7: partition tables are not looked for
	NoArchSwitch     bool // BOOT_FLAGS0 bit 8
	SignedTable      bool // BOOT_FLAGS0 bit 9: partition table must be signed (secure chips)
	HashedTable      bool // BOOT_FLAGS0 bit 10: partition table must have a hash
	RollbackRequired bool // BOOT_FLAGS0 bit 11
	NoFlashBoot      bool // BOOT_FLAGS0 bit 12
	NoRAMBoot        bool // BOOT_FLAGS0 bit 21

	// SlotSize is the distance of slot 1 from the start of flash in bytes;
	// 0 means 4096 (row 0x55 with BOOT_FLAGS0 bit 6: 4096 * (v + 1)).
	SlotSize uint32
	// FlashSize is the size of chip select 0 in bytes as FLASH_DEVINFO states
	// it; 0 means 16 MiB, what the ROM assumes without that row.
	FlashSize uint32
	// KeyHashes are the SHA-256 fingerprints of the boot keys that are valid.
	KeyHashes [][32]byte
	// RollbackVersion returns the version that the given thermometer rows
	// hold; nil means 0.
	RollbackVersion func(rows []uint16) uint32
}

// Options describe the chip at the moment of the decision. The zero value is
// not useful: Chip must be set.
type Options struct {
	Chip Chip
	// CPU is the one that runs the boot ROM.
	CPU CPU
	OTP OTP
	// UpdateBase is the address of the slot or partition that a flash-update
	// boot prefers, HasUpdate whether this is one.
	UpdateBase uint32
	HasUpdate  bool
	// Diagnose is the partition whose diagnostics are recorded, with the
	// numbers of Place; the ROM takes it from a reboot's first parameter.
	Diagnose Place
}

func (o *Options) flashSize() uint32 {
	if o.OTP.FlashSize != 0 {
		return min(o.OTP.FlashSize, 1<<24)
	}
	return 1 << 24
}

func (o *Options) slotSize() uint32 {
	if o.OTP.SlotSize != 0 {
		return o.OTP.SlotSize
	}
	return SectorSize
}

// cpuAllowed reports whether the chip can run a CPU at all: RISC-V also ends
// with secure boot.
func (o *Options) cpuAllowed(c CPU) bool {
	if c == RISCV {
		return !o.OTP.RISCVDisabled && !o.OTP.SecureBoot
	}
	return !o.OTP.ArmDisabled
}

// Place is where an image was booted from: a partition number, or one of the
// negative numbers that the ROM reports in GET_INFO's boot information.
type Place int8

// Places that are not partitions.
const (
	PlaceNone   Place = -1
	PlaceSlot0  Place = -2
	PlaceSlot1  Place = -3
	PlaceWindow Place = -4
)
