package image

import "fmt"

// Region is one memory of a chip.
type Region struct {
	// Name is a short name: "flash", "RAM", "scratch X".
	Name string
	// Base and Size are the address range.
	Base, Size uint32
	// Kind is what sort of memory it is.
	Kind Kind
}

// Kind is the sort of a memory or of an image.
type Kind string

// The kinds of memory that an image can have contents in.
const (
	KindFlash Kind = "flash"
	KindRAM   Kind = "ram"
	KindOther Kind = "other"
)

// Map is the memory map of a chip, as far as images care.
type Map struct {
	// Chip is its name.
	Chip string
	// Regions are its memories.
	Regions []Region
	// FlashBase and FlashSize are the window through which flash is seen.
	FlashBase, FlashSize uint32
}

// RP2350 is the memory map of the RP2350: pico-sdk,
// src/rp2350/hardware_regs/include/hardware/regs/addressmap.h, and
// bootrom_constants.h for the windows that the boot ROM accepts.
var RP2350 = Map{
	Chip: "RP2350", FlashBase: 0x10000000, FlashSize: 0x02000000,
	Regions: []Region{
		{"flash", 0x10000000, 0x02000000, KindFlash},
		{"XIP SRAM", 0x13ffc000, 0x4000, KindRAM},
		{"RAM", 0x20000000, 0x80000, KindRAM},
		{"scratch X", 0x20080000, 0x1000, KindRAM},
		{"scratch Y", 0x20081000, 0x1000, KindRAM},
	},
}

// RP2040 is the memory map of the RP2040.
var RP2040 = Map{
	Chip: "RP2040", FlashBase: 0x10000000, FlashSize: 0x01000000,
	Regions: []Region{
		{"flash", 0x10000000, 0x01000000, KindFlash},
		{"XIP SRAM", 0x15000000, 0x4000, KindRAM},
		{"RAM", 0x20000000, 0x40000, KindRAM},
		{"scratch X", 0x20040000, 0x1000, KindRAM},
		{"scratch Y", 0x20041000, 0x1000, KindRAM},
	},
}

// KindOf returns the kind of memory that holds all of a range; ranges may
// cross from one memory into the next one of the same kind. It is KindOther
// if a part of the range is in none.
func (m *Map) KindOf(addr uint32, size uint64) Kind {
	kind := Kind("")
	end := uint64(addr) + size
	for a := uint64(addr); a < end || kind == ""; {
		r := m.region(a)
		if r == nil || (kind != "" && r.Kind != kind) {
			return KindOther
		}
		kind = r.Kind
		a = uint64(r.Base) + uint64(r.Size)
	}
	return kind
}

func (m *Map) region(a uint64) *Region {
	for i := range m.Regions {
		r := &m.Regions[i]
		if a >= uint64(r.Base) && a < uint64(r.Base)+uint64(r.Size) {
			return r
		}
	}
	return nil
}

// RegionAt returns the memory that holds an address, or nil.
func (m *Map) RegionAt(addr uint32) *Region { return m.region(uint64(addr)) }

// IsFlash reports whether all of a range is flash.
func (m *Map) IsFlash(addr uint32, size uint64) bool { return m.KindOf(addr, size) == KindFlash }

// IsRAM reports whether all of a range is memory that a program can be loaded
// into without flash.
func (m *Map) IsRAM(addr uint32, size uint64) bool { return m.KindOf(addr, size) == KindRAM }

// Text lists the memories for a message.
func (m *Map) Text() string {
	f := m.Regions[0]
	ram, end := m.Regions[2], m.Regions[4]
	x := m.Regions[1]
	return fmt.Sprintf("flash 0x%08x-0x%08x, RAM 0x%08x-0x%08x or XIP SRAM 0x%08x-0x%08x",
		f.Base, f.Base+f.Size, ram.Base, end.Base+end.Size, x.Base, x.Base+x.Size)
}
