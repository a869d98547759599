package image

import (
	"github.com/stem-hw/stem-hw/image/boot"
	"github.com/stem-hw/stem-hw/image/picobin"
)

// memory shows an image as a boot ROM would see it once it is written: flash
// that the image does not cover reads as erased, RAM as zero.
type memory struct{ im *Image }

// ReadAt reads at a bus address.
func (m memory) ReadAt(p []byte, addr int64) (int, error) {
	fill := byte(0)
	if addr >= boot.FlashBase && addr < boot.FlashEnd {
		fill = 0xff
	}
	for i := range p {
		p[i] = fill
	}
	if addr >= 0 && addr < 1<<32 {
		m.im.ReadAt(p, uint32(addr))
	}
	return len(p), nil
}

// Memory returns the image as the boot ROM would read it, for image/boot.
func (im *Image) Memory() boot.Memory { return memory{im} }

// SearchWindow returns where a block loop of the image is looked for: in
// flash from the image's first byte on, of which the first 4 KiB hold the
// first block, in RAM anywhere from its first byte to the end of that memory.
func (im *Image) SearchWindow() (w boot.Window, within uint32) {
	lo, _ := im.Bounds()
	switch {
	case lo >= boot.FlashBase && lo < boot.FlashEnd:
		lo &^= boot.SectorSize - 1
		end := uint32(boot.CS1Base)
		if lo >= end {
			end = boot.FlashEnd
		}
		return boot.Window{Base: lo, Size: end - lo}, boot.SectorSize
	case lo >= boot.XIPSRAMBase && lo < boot.XIPSRAMEnd:
		return boot.Window{Base: lo, Size: boot.XIPSRAMEnd - lo}, boot.XIPSRAMEnd - lo
	case lo >= boot.SRAMBase && lo < boot.SRAMEnd:
		lo &^= 3
		return boot.Window{Base: lo, Size: boot.SRAMEnd - lo}, boot.SRAMEnd - lo
	}
	return boot.Window{}, 0
}

// Loop returns the block loop that the image begins with, as a chip with the
// given CPU sees it; nil if the image lies in no memory that is searched.
func (im *Image) Loop(cpu boot.CPU) *boot.Loop {
	w, within := im.SearchWindow()
	if w.Size == 0 {
		return nil
	}
	return boot.Scan(im.Memory(), w, within, boot.Options{Chip: boot.A4, CPU: cpu})
}

// arch fills Arch from the image definition where the container is silent. A
// file with definitions for both CPUs is for the one that would start it, Arm
// first.
func (im *Image) arch() {
	if im.Arch != ArchUnknown {
		return
	}
	l := im.Loop(boot.Arm)
	if l == nil || l.Image == nil || !l.Image.Type.Executable() {
		return
	}
	archs := map[boot.CPU]Arch{boot.Arm: ArchARM, boot.RISCV: ArchRISCV}
	im.Arch = archs[l.Image.CPU()]
	for _, cpu := range []boot.CPU{boot.Arm, boot.RISCV} {
		d := im.Loop(cpu).Image
		nonSecure := cpu == boot.Arm && d.Type.Security() == picobin.SecurityNonSecure
		if d.Type.Executable() && d.CPU() == cpu && d.Rejected == "" && !nonSecure {
			im.Arch = archs[cpu]
			return
		}
	}
}
