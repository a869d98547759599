package image

// Format is the container an image was read from.
type Format string

const (
	FormatELF Format = "elf"
	FormatBIN Format = "bin"
	FormatHEX Format = "hex"
	FormatUF2 Format = "uf2"
)

// Arch is the instruction set of an image.
type Arch string

const (
	ArchUnknown Arch = ""
	ArchRISCV   Arch = "riscv"
	ArchARM     Arch = "arm"
)

// Segment is a run of bytes with the address it is loaded at (the physical
// address of an ELF program header).
type Segment struct {
	// Addr is the load address of Data[0].
	Addr uint32
	// Data are the bytes of the file; zero-initialised memory is not part of it.
	Data []byte
	// Name says where the segment came from, for messages: "segment 2",
	// "line 14", "block 7".
	Name string
}

// Image is a firmware image, whatever file format it came from.
type Image struct {
	// Path is the file it was read from, for messages; may be empty.
	Path string
	// Format is the container format.
	Format Format
	// Arch is the instruction set as far as the container or the image
	// definition says, else ArchUnknown.
	Arch Arch
	// Segments are sorted by address and do not overlap.
	Segments []Segment
	// Entry is the container's entry point (ELF e_entry, HEX type 05); HasEntry
	// says whether there is one. For a flash image the boot ROM does not use
	// it: see image/boot.
	Entry    uint32
	HasEntry bool
	// ELF holds the raw ELF file when Format is FormatELF, for symbols and
	// DWARF; nil otherwise.
	ELF []byte
	// Warnings are remarks about the file that do not stop its use.
	Warnings []string
}
