package rp2350

import (
	"fmt"
	"strings"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/image/boot"
	"github.com/stem-hw/stem-hw/sim/rp2350/nor"
)

// ramImage is an image that lives in RAM: what a debugger loads after a reset.
type ramImage struct {
	segments []image.Segment
	// start says that the image also starts in RAM, at entry.
	start bool
	entry uint32
	sp    uint32
	// vector is the vector table that an image definition names, for Arm.
	vector uint32
}

// Load implements machine.Machine. Contents for flash are erased and programmed
// there; contents for RAM are placed after every power-up. An image that has
// its entry in RAM, or nothing in flash, starts there.
func (c *Chip) Load(img *image.Image) error {
	if err := c.checkImage(img); err != nil {
		return err
	}
	if err := c.startAs(img.Arch); err != nil {
		return err
	}
	var ram []image.Segment
	flash := false
	for _, s := range img.Segments {
		if isFlashAddr(s.Addr) {
			flash = true
		} else {
			ram = append(ram, s)
		}
	}
	r := &ramImage{segments: ram}
	r.start = len(ram) > 0 && (!flash || img.HasEntry && !isFlashAddr(img.Entry))
	if r.start {
		if err := r.findEntry(c, img); err != nil {
			return err
		}
	}
	if flash {
		c.programImage(img)
		if !r.start {
			if err := c.checkBoots(img); err != nil {
				return err
			}
		}
	}
	c.ramImage = r
	c.Reset()
	return nil
}

func isFlashAddr(a uint32) bool { return a >= xipBase && a < xipBase+2*xipCSSize }

// checkImage refuses what cannot live on this chip.
func (c *Chip) checkImage(img *image.Image) error {
	if len(img.Segments) == 0 {
		return &faults.Fault{
			Code: faults.CodeBadImage, Status: faults.StatusImage,
			Summary: imageName(img) + " has no contents to load",
		}
	}
	var bad []string
	for _, s := range img.Segments {
		if !c.lives(s) {
			bad = append(bad, fmt.Sprintf("%s: %#08x to %#08x", s.Name, s.Addr, s.End()))
		}
	}
	if len(bad) == 0 {
		return nil
	}
	return &faults.Fault{
		Code: faults.CodeImageTooLarge, Status: faults.StatusImage,
		Summary: imageName(img) + " has contents outside the memories of the chip",
		Seen:    bad[0],
		Wanted: fmt.Sprintf("flash %#08x-%#08x, RAM %#08x-%#08x or XIP SRAM %#08x-%#08x",
			uint32(xipBase), xipBase+c.flash.Size(), uint32(sramBase), uint32(sramBase+sramSize),
			uint32(xipSRAMBase), uint32(xipNoCache)),
		Details: bad[1:],
	}
}

func imageName(img *image.Image) string {
	if img.Path != "" {
		return img.Path
	}
	return "the image"
}

// lives reports whether a segment fits one memory.
func (c *Chip) lives(s image.Segment) bool {
	lo, hi := uint64(s.Addr), s.End()
	within := func(base, size uint32) bool { return lo >= uint64(base) && hi <= uint64(base)+uint64(size) }
	return within(xipBase, c.flash.Size()) || within(sramBase, sramSize) || within(xipSRAMBase, cacheSize)
}

// programImage erases the sectors that an image touches and programs them.
func (c *Chip) programImage(img *image.Image) {
	erased := map[uint32]bool{}
	for _, s := range img.Segments {
		if !isFlashAddr(s.Addr) {
			continue
		}
		off := s.Addr - xipBase
		for a := off &^ (nor.SectorSize - 1); a < off+uint32(len(s.Data)); a += nor.SectorSize {
			if !erased[a] {
				erased[a] = true
				c.flash.Erase(a, nor.SectorSize)
			}
		}
		c.flash.Program(off, s.Data)
	}
}

// checkBoots asks the boot ROM's decision whether flash can be booted now.
func (c *Chip) checkBoots(img *image.Image) error {
	d := boot.FindImage(bootMemory{c}, c.bootOptions())
	switch d.Outcome {
	case boot.OutcomeBoot:
		return nil
	case boot.OutcomeSwitch:
		if c.opt.Arch == image.ArchARM {
			return c.startAs(image.ArchRISCV)
		}
		return c.startAs(image.ArchARM)
	}
	return &faults.Fault{
		Code: faults.CodeNotBootable, Status: faults.StatusImage,
		Summary: imageName(img) + " would not boot",
		Seen:    strings.TrimSuffix(d.Reason, "."),
		Wanted:  "an image definition that the boot ROM accepts in the first 4 KiB of flash",
		Try:     []string{"stem-hw uf2 explain " + imageName(img)},
	}
}

// findEntry decides where a RAM image starts: at its entry point, or where its
// image definition says.
func (r *ramImage) findEntry(c *Chip, img *image.Image) error {
	r.entry, r.sp = img.Entry, boot.InvalidSP
	if img.HasEntry {
		return nil
	}
	old := append([]byte(nil), c.sram...)
	defer copy(c.sram, old)
	for _, s := range r.segments {
		c.pokeRAM(s.Addr, s.Data)
	}
	lo := r.segments[0].Addr
	size := sramBase + sramSize - lo
	if !inSRAM(lo) {
		size = xipNoCache - lo
	}
	d := boot.FindInWindow(bootMemory{c}, boot.Window{Base: lo, Size: size}, c.bootOptions())
	if d.Outcome != boot.OutcomeBoot {
		return &faults.Fault{
			Code: faults.CodeNotBootable, Status: faults.StatusImage,
			Summary: imageName(img) + " lies in RAM and does not say where it starts",
			Seen:    d.Reason, Wanted: "an entry point or an image definition",
		}
	}
	r.entry, r.sp, r.vector = d.Entry.PC, d.Entry.SP, d.Entry.VTOR
	return nil
}

// restoreRAMImage places a RAM image after power-up.
func (c *Chip) restoreRAMImage() {
	if c.ramImage == nil {
		return
	}
	for _, s := range c.ramImage.segments {
		if !inSRAM(s.Addr) && c.xip.pinnedTop == 0 {
			c.xip.pinAll()
		}
		c.pokeRAM(s.Addr, s.Data)
	}
}

// EraseFlash implements machine.Flasher.
func (c *Chip) EraseFlash(addr, n uint32) error {
	if err := c.checkFlash(addr, n); err != nil {
		return err
	}
	if addr%nor.SectorSize != 0 || n%nor.SectorSize != 0 {
		return fmt.Errorf("flash is erased in sectors of %d bytes, not %d at %#08x", nor.SectorSize, n, addr)
	}
	c.flash.Erase(addr-xipBase, n)
	return nil
}

// ProgramFlash implements machine.Flasher.
func (c *Chip) ProgramFlash(addr uint32, p []byte) error {
	if err := c.checkFlash(addr, uint32(len(p))); err != nil {
		return err
	}
	c.flash.Program(addr-xipBase, p)
	return nil
}

func (c *Chip) checkFlash(addr, n uint32) error {
	if addr < xipBase || uint64(addr)+uint64(n) > uint64(xipBase)+uint64(c.flash.Size()) {
		return &faults.Fault{
			Code: faults.CodeImageTooLarge, Status: faults.StatusImage,
			Summary: "address range outside flash",
			Seen:    fmt.Sprintf("%#08x, %d bytes", addr, n),
			Wanted:  fmt.Sprintf("within %#08x to %#08x", uint32(xipBase), xipBase+c.flash.Size()),
		}
	}
	return nil
}
