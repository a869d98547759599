package image

import (
	"encoding/binary"
	"fmt"

	"github.com/stem-hw/stem-hw/faults"
)

const (
	elfHeaderSize = 52
	elfPhdrSize   = 32
	elfMagic      = "\x7fELF"

	// EMachineARM and EMachineRISCV are the ELF machine numbers of the two
	// architectures (System V ABI, e_machine).
	EMachineARM   = 40
	EMachineRISCV = 243
)

// parseELF reads an ELF32 file by its program headers alone: section headers
// may be missing, the program headers may be anywhere and in any order.
func parseELF(path string, data []byte) (*Image, error) {
	bad := func(summary, seen, wanted string) *faults.Fault {
		return badImage(path, summary, seen, wanted)
	}
	if len(data) < elfHeaderSize {
		if len(data) >= 5 && data[4] == 2 {
			return nil, wrongMachine(path, data)
		}
		return nil, bad("ELF file cut off in its header", fmt.Sprintf("%d bytes", len(data)), "at least 52")
	}
	le := binary.LittleEndian
	machine := le.Uint16(data[18:])
	if data[4] != 1 || data[5] != 1 || (machine != EMachineARM && machine != EMachineRISCV) {
		return nil, wrongMachine(path, data)
	}
	if data[6] != 1 {
		return nil, bad("unknown ELF version", fmt.Sprint(data[6]), "1")
	}
	if hs := le.Uint16(data[40:]); hs != elfHeaderSize {
		return nil, bad("unusual ELF header size", fmt.Sprint(hs), "52")
	}
	switch typ := le.Uint16(data[16:]); typ {
	case 1:
		return nil, bad("the file is an object file that is not linked yet", "ELF type REL", "an executable").
			WithTry("link it: riscv32-unknown-elf-gcc -o app.elf app.o")
	case 4:
		return nil, bad("the file is a core dump", "ELF type CORE", "an executable")
	}
	phoff, phnum := uint64(le.Uint32(data[28:])), int(le.Uint16(data[44:]))
	if phnum == 0 {
		return nil, bad("the ELF file has no program headers", "none", "at least one segment to load")
	}
	if ps := le.Uint16(data[42:]); ps != elfPhdrSize {
		return nil, bad("unusual ELF program header size", fmt.Sprint(ps), "32")
	}
	if phoff+uint64(phnum)*elfPhdrSize > uint64(len(data)) {
		return nil, bad("the ELF program headers reach beyond the end of the file",
			fmt.Sprintf("%d headers at offset %d in a file of %d bytes", phnum, phoff, len(data)),
			"headers inside the file").WithTry("copy or build the file again: it looks cut off or damaged")
	}
	im := &Image{Path: path, Format: FormatELF, ELF: data, Entry: le.Uint32(data[24:]), HasEntry: true, Arch: ArchARM}
	if machine == EMachineRISCV {
		im.Arch = ArchRISCV
	}
	var segs []Segment
	for i := range phnum {
		ph := data[phoff+uint64(i)*elfPhdrSize:][:elfPhdrSize]
		if le.Uint32(ph[0:]) != 1 { // PT_LOAD
			continue
		}
		l := Load{
			Index: i, VAddr: le.Uint32(ph[8:]), PAddr: le.Uint32(ph[12:]),
			FileSize: le.Uint32(ph[16:]), MemSize: le.Uint32(ph[20:]), Flags: le.Uint32(ph[24:]),
		}
		off := uint64(le.Uint32(ph[4:]))
		if l.MemSize == 0 {
			continue
		}
		name := fmt.Sprintf("segment %d", i)
		n := min(l.FileSize, l.MemSize)
		if off+uint64(n) > uint64(len(data)) {
			return nil, bad("the ELF file is cut off",
				fmt.Sprintf("%s at offset %d with %d bytes in a file of %d bytes", name, off, n, len(data)),
				"all contents inside the file").WithTry("copy or build the file again")
		}
		for _, a := range []uint32{l.PAddr, l.VAddr} {
			if uint64(a)+uint64(l.MemSize) > 1<<32 {
				return nil, &faults.Fault{
					Code: faults.CodeImageTooLarge, Status: faults.StatusImage,
					Summary: where(path) + name + " wraps around the end of the address space",
					Seen:    fmt.Sprintf("0x%08x with %d bytes", a, l.MemSize),
					Wanted:  "an end at or below 0x100000000",
				}
			}
		}
		im.Loads = append(im.Loads, l)
		if n > 0 {
			segs = append(segs, Segment{Addr: l.PAddr, Data: data[off : off+uint64(n) : off+uint64(n)], Name: name})
		}
		if l.MemSize > n {
			im.Zones = append(im.Zones, Zone{Addr: l.VAddr + n, Size: l.MemSize - n, Name: name})
		}
	}
	var err error
	if im.Segments, err = normalise(path, segs); err != nil {
		return nil, err
	}
	if len(im.Segments) == 0 {
		return nil, bad("the ELF file has nothing to load", "no segment with contents", "code or data").
			WithTry("check that the linker script keeps the program's sections (--gc-sections, KEEP)")
	}
	return im, nil
}

// PhysicalEntry maps the ELF entry point to its load address through the
// segment whose contents hold it; false if none does.
func (im *Image) PhysicalEntry() (uint32, bool) {
	if !im.HasEntry {
		return 0, false
	}
	e := im.Entry
	if im.Arch == ArchARM {
		e &^= 1
	}
	if im.Format != FormatELF {
		return e, true
	}
	for _, l := range im.Loads {
		if n := min(l.FileSize, l.MemSize); e >= l.VAddr && e-l.VAddr < n {
			return e - l.VAddr + l.PAddr, true
		}
	}
	return 0, false
}

var machineNames = map[uint16]string{
	2: "SPARC", 3: "x86", 8: "MIPS", 20: "PowerPC", 21: "PowerPC64", 40: "Arm", 42: "SuperH",
	62: "x86-64", 83: "AVR", 94: "Xtensa", 183: "AArch64", 243: "RISC-V", 247: "BPF", 258: "LoongArch",
}

// wrongMachine describes an ELF file of another kind of machine.
func wrongMachine(path string, data []byte) error {
	class, order := "an ELF file of unknown class", ""
	switch data[4] {
	case 1:
		class = "32-bit"
	case 2:
		class = "64-bit"
	}
	var m uint16
	if len(data) >= 20 {
		switch data[5] {
		case 1:
			order, m = "little-endian", binary.LittleEndian.Uint16(data[18:])
		case 2:
			order, m = "big-endian", binary.BigEndian.Uint16(data[18:])
		}
	}
	name := machineNames[m]
	if name == "" {
		name = fmt.Sprintf("machine %d", m)
	}
	f := &faults.Fault{
		Code: faults.CodeWrongMachine, Status: faults.StatusImage,
		Summary: where(path) + "this ELF file is for another machine",
		Seen:    fmt.Sprintf("%s %s %s", class, order, name),
		Wanted:  "32-bit little-endian Arm or RISC-V",
	}
	switch {
	case m == 62 || m == 3 || m == 183:
		f.Try = []string{"build for the board, not for this computer: cmake -DPICO_PLATFORM=rp2350-riscv (or rp2350-arm-s)"}
	case m == EMachineRISCV && data[4] == 2:
		f.Try = []string{"compile with -march=rv32imac_zicsr_zifencei -mabi=ilp32"}
	}
	return f
}

// badImage is a fault about a file that cannot be used.
func badImage(path, summary, seen, wanted string) *faults.Fault {
	return &faults.Fault{Code: faults.CodeBadImage, Status: faults.StatusImage,
		Summary: where(path) + summary, Seen: seen, Wanted: wanted}
}
