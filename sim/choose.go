package sim

import (
	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/symbols"
)

// The machines by name.
const (
	MachineAuto       = "auto"
	MachineRP2350     = "rp2350"
	MachineHazard3TB  = "hazard3-tb"
	MachineRISCVTests = "riscv-tests"
)

// Machines are the names that may be chosen, MachineAuto first.
func Machines() []string {
	return []string{MachineAuto, MachineRP2350, MachineHazard3TB, MachineRISCVTests}
}

// riscvTestsBase is where programs of riscv-tests are linked.
const riscvTestsBase = 0x80000000

// Choose picks the machine for an image and says why. An ELF at address 0 is
// for Hazard3's testbench, an ELF at 0x80000000 with the symbol tohost for the
// riscv-tests platform, everything else for the RP2350. A name other than
// "auto" is taken as it is.
func Choose(name string, img *image.Image, syms *symbols.Table) (chosen, why string, err error) {
	switch name {
	case MachineRP2350, MachineHazard3TB, MachineRISCVTests:
		return name, "named", nil
	case MachineAuto, "":
	default:
		f := faults.Usage("there is no machine %q", name)
		f.Wanted = "auto, rp2350, hazard3-tb or riscv-tests"
		return "", "", f
	}
	if img.Format == image.FormatELF && len(img.Segments) > 0 && img.Arch == image.ArchRISCV {
		switch img.Segments[0].Addr {
		case 0:
			return MachineHazard3TB, "an ELF file at address 0", nil
		case riscvTestsBase:
			if _, ok := syms.Lookup("tohost"); ok {
				return MachineRISCVTests, "an ELF file at 0x80000000 with the symbol tohost", nil
			}
		}
	}
	return MachineRP2350, "the usual machine for " + formatName(img.Format), nil
}

func formatName(f image.Format) string {
	switch f {
	case image.FormatELF:
		return "an ELF file"
	case image.FormatUF2:
		return "a UF2 file"
	case image.FormatHEX:
		return "an Intel HEX file"
	}
	return "a raw binary"
}
