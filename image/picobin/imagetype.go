package picobin

// ImageType is the content of an image type item (0x42): its upper half word.
// Source: picobin.h, PICOBIN_IMAGE_TYPE_*.
type ImageType uint16

// Values of the fields of an ImageType.
const (
	KindExecutable = 1
	KindData       = 2

	SecurityUnspecified = 0
	SecurityNonSecure   = 1
	SecuritySecure      = 2

	CPUArm      = 0
	CPURISCV    = 1
	CPUVarmulet = 2

	ChipRP2040 = 0
	ChipRP2350 = 1
)

// Kind is KindExecutable, KindData or another value.
func (t ImageType) Kind() int { return int(t & 0xf) }

// Security is the security field.
func (t ImageType) Security() int { return int(t >> 4 & 3) }

// CPU is the CPU field.
func (t ImageType) CPU() int { return int(t >> 8 & 7) }

// ExtraSecurity is the extra security bit.
func (t ImageType) ExtraSecurity() bool { return t&0x800 != 0 }

// Chip is the chip field.
func (t ImageType) Chip() int { return int(t >> 12 & 7) }

// TBYB is the try-before-you-buy bit.
func (t ImageType) TBYB() bool { return t&0x8000 != 0 }

// Executable reports whether the image is a program.
func (t ImageType) Executable() bool { return t.Kind() == KindExecutable }

// KindText names the kind field.
func (t ImageType) KindText() string { return pick(t.Kind(), "invalid", "executable", "data") }

// SecurityText names the security field.
func (t ImageType) SecurityText() string {
	return pick(t.Security(), "unspecified", "non-secure", "secure")
}

// CPUText names the CPU field.
func (t ImageType) CPUText() string { return pick(t.CPU(), "ARM", "RISC-V", "varmulet") }

// ChipText names the chip field.
func (t ImageType) ChipText() string { return pick(t.Chip(), "RP2040", "RP2350") }

func pick(i int, names ...string) string {
	if i < len(names) {
		return names[i]
	}
	return "unknown"
}
