package image

import (
	"fmt"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/image/boot"
	"github.com/stem-hw/stem-hw/uf2"
)

// Layout is where an image lies in the memories of a chip.
type Layout struct {
	// Kind is KindFlash or KindRAM.
	Kind Kind
	// Notes are remarks that stop nothing: second chip select, entry point
	// outside the contents.
	Notes []string
}

// Place checks that an image fits a chip: every byte of contents in one sort
// of memory, for a family the chip takes. Images for flash have no contents
// in RAM, and the other way round, because nothing would load them.
func (im *Image) Place(m *Map) (*Layout, error) {
	if err := im.checkFamily(m); err != nil {
		return nil, err
	}
	l := &Layout{Kind: KindRAM}
	for _, s := range im.Segments {
		if m.KindOf(s.Addr, uint64(len(s.Data))) == KindFlash {
			l.Kind = KindFlash
		}
	}
	for _, s := range im.Segments {
		k := m.KindOf(s.Addr, uint64(len(s.Data)))
		switch {
		case k == KindOther:
			return nil, &faults.Fault{Code: faults.CodeImageTooLarge, Status: faults.StatusImage,
				Summary: where(im.Path) + s.Name + " lies outside the memories of the " + m.Chip,
				Seen:    fmt.Sprintf("0x%08x-0x%08x", s.Addr, s.End()), Wanted: m.Text(),
				Try: []string{"check the memory regions in the linker script"}}
		case k != l.Kind:
			return nil, badImage(im.Path, "an image in flash has initialised data with a load address in RAM",
				fmt.Sprintf("%s at 0x%08x with %d bytes", s.Name, s.Addr, len(s.Data)),
				"a load address in flash, from where the start-up code copies it").
				WithTry("in the linker script, give the section a load address: .data : { ... } > RAM AT > FLASH")
		}
		if l.Kind == KindFlash && s.End() > boot.CS1Base {
			l.Notes = append(l.Notes, fmt.Sprintf("%s lies in the second flash chip (chip select 1)", s.Name))
		}
	}
	if im.Format == FormatELF {
		if _, ok := im.PhysicalEntry(); !ok {
			if l.Kind == KindRAM {
				return nil, badImage(im.Path, "the entry point is not in the part of the image that is loaded",
					fmt.Sprintf("0x%08x", im.Entry), "an address inside a segment with contents").
					WithTry("check ENTRY() in the linker script")
			}
			l.Notes = append(l.Notes, fmt.Sprintf("the entry point 0x%08x is not in the part that is loaded; a chip that boots from flash does not use it", im.Entry))
		}
	}
	return l, nil
}

func (im *Image) checkFamily(m *Map) error {
	if im.Format != FormatUF2 {
		return nil
	}
	is2040 := im.Family == uf2.FamilyRP2040
	known := im.Family >= uf2.FamilyRP2040 && im.Family <= uf2.FamilyRP2350ArmNS
	if known && is2040 == (m.Chip == RP2040.Chip) {
		return nil
	}
	want := "rp2350-arm-s or rp2350-riscv"
	if m.Chip == RP2040.Chip {
		want = "rp2040"
	}
	return &faults.Fault{Code: faults.CodeWrongMachine, Status: faults.StatusImage,
		Summary: where(im.Path) + "this UF2 file is for another chip",
		Seen:    "family " + uf2.FamilyName(im.Family), Wanted: want + " for an " + m.Chip,
		Try: []string{"build it for the board: cmake -DPICO_BOARD=pico2"}}
}

// Definition returns the image definition that a chip with the CPU of the
// image would use, and whether it is for that CPU; nil if there is none.
func (im *Image) Definition() *boot.Block {
	cpu := boot.Arm
	if im.Arch == ArchRISCV {
		cpu = boot.RISCV
	}
	if l := im.Loop(cpu); l != nil {
		return l.Image
	}
	return nil
}

// Contradictions lists what does not fit together: the machine of the ELF
// file or the UF2 family on one side, the image definition on the other.
// Converting such an image is worth a warning, flashing it is refused.
func (im *Image) Contradictions() []string {
	d := im.Definition()
	if d == nil || !d.Type.Executable() || im.Arch == ArchUnknown {
		return nil
	}
	what := "the ELF file is for"
	if im.Format == FormatUF2 {
		what = "the UF2 family " + uf2.FamilyName(im.Family) + " is for"
	}
	var out []string
	if want := map[Arch]int{ArchARM: 0, ArchRISCV: 1}[im.Arch]; d.Type.CPU() != want {
		out = append(out, fmt.Sprintf("%s %s, but the image definition at 0x%08x is for %s",
			what, archName(im.Arch), d.Addr, d.Type.CPUText()))
	}
	if d.Type.Chip() == 0 && im.Format == FormatUF2 && im.Family != uf2.FamilyRP2040 {
		out = append(out, fmt.Sprintf("%s an RP2350, but the image definition at 0x%08x is for the RP2040", what, d.Addr))
	}
	return out
}

func archName(a Arch) string {
	switch a {
	case ArchARM:
		return "Arm"
	case ArchRISCV:
		return "RISC-V"
	}
	return "an unknown CPU"
}
