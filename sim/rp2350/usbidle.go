package rp2350

import (
	"encoding/binary"

	"github.com/stem-hw/stem-hw/sim/rp2350/periph"
	"github.com/stem-hw/stem-hw/sim/rp2350/periph/regs"
)

// usbIdle is the USB controller of a board whose connector is empty: registers
// keep what they are given, and no host ever shows up.
type usbIdle struct {
	*periph.Storage
	c *Chip
}

func newUSBIdle(c *Chip) usbIdle {
	return usbIdle{periph.NewStorage("USB", env{c}, regs.USB, ""), c}
}

const (
	usbMainCtrl = 0x40
	usbEnable   = 1 << 0 // CONTROLLER_EN
)

// Write implements periph.Block.
func (u usbIdle) Write(off uint32, w periph.Write) {
	u.Storage.Write(off, w)
	if off == usbMainCtrl && u.Storage.Read(off, true)&usbEnable != 0 {
		u.c.notice("the USB controller was enabled, but nothing is plugged in: no host will see this board", 0x50110000+off)
	}
}

// dpram is the USB controller's memory: 4 KiB with byte strobes.
type dpram struct{ mem [4096]byte }

// Name implements periph.Block.
func (d *dpram) Name() string { return "USB DPRAM" }

// Reset implements periph.Block; memory keeps its contents.
func (d *dpram) Reset() {}

// Read implements periph.Block.
func (d *dpram) Read(off uint32, _ bool) uint32 {
	if off >= uint32(len(d.mem)) {
		return 0
	}
	return binary.LittleEndian.Uint32(d.mem[off:])
}

// Write implements periph.Block.
func (d *dpram) Write(off uint32, w periph.Write) {
	if off >= uint32(len(d.mem)) {
		return
	}
	binary.LittleEndian.PutUint32(d.mem[off:], w.Field(d.Read(off, true), strobes(w)))
}

// strobes is the mask of the bytes that a write drives, for memories.
func strobes(w periph.Write) uint32 {
	switch w.Size {
	case 1:
		return 0xff << (8 * w.Lane)
	case 2:
		return 0xffff << (8 * (w.Lane & 2))
	}
	return 0xffffffff
}
