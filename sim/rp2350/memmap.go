package rp2350

import "github.com/stem-hw/stem-hw/sim/rp2350/periph"

// The memory map (datasheet 2.2; pico-sdk addressmap.h).
const (
	romSize = 0x8000
	ppbBase = 0xe0000000 // Arm alone

	xipBase         = 0x10000000
	xipNoCache      = 0x14000000
	xipMaintenance  = 0x18000000
	xipNoTranslate  = 0x1c000000
	xipEnd          = 0x20000000
	xipCSSize       = 0x01000000 // address space of one chip select
	xipSRAMBase     = 0x13ffc000
	cacheSize       = 0x4000
	sramBase        = 0x20000000
	sramSize        = 0x82000
	scratchXBase    = 0x20080000
	scratchYBase    = 0x20081000
	apbBase         = 0x40000000
	apbSlots        = 0x168000 >> 15
	ahbBase         = 0x50000000
	ahbSlots        = 0x800000 >> 16
	bootRAMBase     = 0x400e0000
	sioBase         = 0xd0000000
	sioNonSecure    = 0xd0020000
	sioWindowMask   = 0x1ff
	otpDataBase     = 0x40130000
	watchdogScratch = 0x400d800c
)

// slot is one peripheral on the APB or AHB.
type slot struct {
	name     string
	base     uint32
	block    periph.Block // nil: decoded, not modelled
	refuser  periph.Refuser
	resetBit int // bit of RESETS.RESET, -1 for none
	access   int // offset of its ACCESSCTRL register, 0 for none
	// flat: no alias pages; offsets reach over the whole window.
	flat bool
	// window: the access ports, for self-hosted debug.
	window bool
	// readWait and writeWait are stall cycles; aliasWait more for an alias.
	readWait, writeWait, aliasWait uint32
	noticed                        bool
	// gate is the bit of CLOCKS.WAKE_EN1:WAKE_EN0 that lets its bus clock run.
	gate uint64
	// holes knows where the block has registers; nil if it does not say.
	holes interface{ Has(offset uint32) bool }
}

// held reports whether RESETS keeps the block in reset.
func (c *Chip) held(s *slot) bool {
	return s.resetBit >= 0 && c.heldBlocks>>uint(s.resetBit)&1 != 0
}

// find returns the peripheral that decodes addr and the offset within it, or
// nil for a hole.
func (c *Chip) find(addr uint32) (s *slot, offset uint32) {
	switch addr >> 28 {
	case apbBase >> 28:
		i := (addr - apbBase) >> 15
		if i >= apbSlots || c.apb[i] == nil {
			return nil, 0
		}
		return c.apb[i], addr & 0x7fff
	case ahbBase >> 28:
		i := (addr - ahbBase) >> 16
		if i >= ahbSlots || c.ahb[i] == nil {
			return nil, 0
		}
		return c.ahb[i], addr & 0xffff
	}
	return nil, 0
}
