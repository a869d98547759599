package board

import (
	"context"
	"fmt"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/sim/rp2350/nor"
)

const flashBase = 0x10000000

// ReadFlash implements flashing.Device on a board that is off.
func (c *Contents) ReadFlash(_ context.Context, addr uint32, p []byte) error {
	off, err := c.place(addr, uint32(len(p)))
	if err == nil {
		copy(p, c.Flash[off:])
	}
	return err
}

// EraseFlash implements flashing.Device.
func (c *Contents) EraseFlash(_ context.Context, addr, n uint32) error {
	off, err := c.place(addr, n)
	if err != nil {
		return err
	}
	if off%nor.SectorSize != 0 || n%nor.SectorSize != 0 {
		return fmt.Errorf("flash is erased in sectors of %d bytes, not %d at 0x%08x", nor.SectorSize, n, addr)
	}
	for i := off; i < off+n; i++ {
		c.Flash[i] = 0xff
	}
	return nil
}

// ProgramFlash implements flashing.Device.
func (c *Contents) ProgramFlash(_ context.Context, addr uint32, p []byte) error {
	off, err := c.place(addr, uint32(len(p)))
	if err != nil {
		return err
	}
	for i, b := range p {
		c.Flash[off+uint32(i)] &= b
	}
	return nil
}

// place turns a bus address into an offset.
func (c *Contents) place(addr, n uint32) (uint32, error) {
	if addr < flashBase || uint64(addr)+uint64(n) > flashBase+uint64(len(c.Flash)) {
		return 0, outsideFlash(addr, n, uint32(len(c.Flash)))
	}
	return addr - flashBase, nil
}

// Clone returns a copy that can be changed.
func (c *Contents) Clone() *Contents {
	d := *c
	d.Flash = append([]byte(nil), c.Flash...)
	return &d
}

func outsideFlash(addr, n, size uint32) error {
	return &faults.Fault{
		Code: faults.CodeImageTooLarge, Status: faults.StatusImage, Summary: "address range outside the flash of the board",
		Seen:   fmt.Sprintf("0x%08x, %d bytes", addr, n),
		Wanted: fmt.Sprintf("within 0x%08x to 0x%08x", uint32(flashBase), flashBase+size),
	}
}
