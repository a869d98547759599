package card

import "github.com/stem-hw/stem-hw/image"

// The targets that a card can be built for.
const (
	RP2350RV    = "rp2350-rv"
	RP2350Arm   = "rp2350-arm"
	NativeAMD64 = "native-amd64"
)

// Targets are all of them.
func Targets() []string { return []string{RP2350RV, RP2350Arm, NativeAMD64} }

// TargetOf is the target that an image's architecture is for; "" is unknown.
func TargetOf(a image.Arch) string {
	switch a {
	case image.ArchRISCV:
		return RP2350RV
	case image.ArchARM:
		return RP2350Arm
	}
	return ""
}

// Toolchain is a compiler for a target.
type Toolchain struct {
	// Programs are the compilers that do, best first; Package is Debian's.
	Programs []string
	Package  string
}

// ToolchainFor names the compilers of a target.
func ToolchainFor(target string) Toolchain {
	switch target {
	case RP2350RV:
		return Toolchain{[]string{"riscv64-unknown-elf-gcc", "riscv32-unknown-elf-gcc", "riscv-none-elf-gcc"}, "gcc-riscv64-unknown-elf"}
	case RP2350Arm:
		return Toolchain{[]string{"arm-none-eabi-gcc"}, "gcc-arm-none-eabi"}
	}
	return Toolchain{[]string{"gcc", "clang"}, "gcc"}
}
