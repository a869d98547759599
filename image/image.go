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

// End is the address behind the last byte, as a number that cannot wrap.
func (s Segment) End() uint64 { return uint64(s.Addr) + uint64(len(s.Data)) }

// Zone is memory that the program uses at run time without contents in the
// file (.bss, heap, stack): an ELF program header's part beyond its file size.
type Zone struct {
	Addr, Size uint32
	Name       string
}

// FamilyPart is the share of one UF2 family in a file.
type FamilyPart struct {
	// Family is the UF2 family, Name its name.
	Family uint32
	Name   string
	// Blocks is the number of blocks of that family, and First the index in
	// the file of the first one.
	Blocks, First int
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
	// Zones are memory ranges without contents, in the order of the file.
	Zones []Zone
	// Entry is the container's entry point (ELF e_entry, HEX type 05); HasEntry
	// says whether there is one. For a flash image the boot ROM does not use
	// it: see image/boot.
	Entry    uint32
	HasEntry bool
	// Family is the UF2 family the contents were taken from; 0 unless Format
	// is FormatUF2.
	Family uint32
	// Others are the UF2 families in the file that were not taken.
	Others []FamilyPart
	// ELF holds the raw ELF file when Format is FormatELF, for symbols and
	// DWARF; nil otherwise.
	ELF []byte
	// Loads are the loadable program headers when Format is FormatELF, as the
	// file states them.
	Loads []Load
	// Warnings are remarks about the file that do not stop its use.
	Warnings []string
}

// Load is one loadable ELF program header.
type Load struct {
	// Index is its number among all program headers.
	Index int
	// VAddr and PAddr are the run-time and load addresses.
	VAddr, PAddr uint32
	// FileSize and MemSize are the bytes in the file and in memory.
	FileSize, MemSize uint32
	// Flags are PF_X 1, PF_W 2, PF_R 4.
	Flags uint32
}

// Size is the number of bytes of contents.
func (im *Image) Size() int {
	n := 0
	for _, s := range im.Segments {
		n += len(s.Data)
	}
	return n
}

// Bounds returns the lowest address and the address behind the highest byte;
// both are 0 for an image without contents.
func (im *Image) Bounds() (lo uint32, end uint64) {
	if len(im.Segments) == 0 {
		return 0, 0
	}
	return im.Segments[0].Addr, im.Segments[len(im.Segments)-1].End()
}

// ReadAt copies contents from address addr on and returns how many of the
// bytes of p lie inside segments. Other bytes of p are left as they are.
func (im *Image) ReadAt(p []byte, addr uint32) int {
	n := 0
	end := uint64(addr) + uint64(len(p))
	for i := im.find(addr); i < len(im.Segments); i++ {
		s := &im.Segments[i]
		if uint64(s.Addr) >= end {
			break
		}
		lo, hi := max(uint64(s.Addr), uint64(addr)), min(s.End(), end)
		n += copy(p[lo-uint64(addr):hi-uint64(addr)], s.Data[lo-uint64(s.Addr):])
	}
	return n
}

// find returns the index of the first segment that ends behind addr.
func (im *Image) find(addr uint32) int {
	lo, hi := 0, len(im.Segments)
	for lo < hi {
		m := (lo + hi) / 2
		if im.Segments[m].End() <= uint64(addr) {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return lo
}

// warn adds a remark.
func (im *Image) warn(text string) { im.Warnings = append(im.Warnings, text) }
