package gdbserver

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/stem-hw/stem-hw/target"
)

// flashJob gathers what gdb's load wants in flash until vFlashDone, so that
// the whole can be done in the order that never leaves a bootable mixture: the
// first sector (the one with the image definition) is erased first and written
// last, and a sector that holds the right bytes already is left alone.
type flashJob struct {
	// sectors maps a sector's address to its new contents; a sector that is
	// only erased is all ones.
	sectors map[uint32][]byte
}

// sectorOf returns the flash region and the sector size at addr.
func (c *conn) sectorOf(addr uint32) (target.Region, bool) {
	for _, r := range c.describe().Memory {
		if r.Kind == target.RegionFlash && addr-r.Base < r.Size && r.Sector > 0 {
			return r, true
		}
	}
	return target.Region{}, false
}

// flashErase serves vFlashErase:addr,length.
func (c *conn) flashErase(arg string) error {
	addr, n, ok := parseRange(arg)
	if !ok {
		return c.sendString("E01")
	}
	r, ok := c.sectorOf(addr)
	if !ok || c.s.flasher == nil {
		return c.sendString(fmt.Sprintf("E.no flash at %#x", addr))
	}
	if n == 0 || n > r.Size-(addr-r.Base) || (addr-r.Base)%r.Sector != 0 || n%r.Sector != 0 {
		return c.sendString("E.the range to erase is not made of whole sectors")
	}
	if c.flash.sectors == nil {
		c.flash.sectors = make(map[uint32][]byte)
	}
	for a := addr; a < addr+n; a += r.Sector {
		c.flash.sectors[a] = bytes.Repeat([]byte{0xff}, int(r.Sector))
	}
	return c.sendString("OK")
}

// flashWrite serves vFlashWrite:addr:data.
func (c *conn) flashWrite(arg string) error {
	at, data, found := strings.Cut(arg, ":")
	addr64, ok := parseHex(at, 32)
	if !found || !ok {
		return c.sendString("E01")
	}
	addr := uint32(addr64)
	for len(data) > 0 {
		r, ok := c.sectorOf(addr)
		if !ok {
			return c.sendString("E.memtype")
		}
		base := addr - (addr-r.Base)%r.Sector
		sector, erased := c.flash.sectors[base]
		if !erased {
			return c.sendString(fmt.Sprintf("E.flash at %#x was not erased", base))
		}
		n := copy(sector[addr-base:], data)
		addr += uint32(n)
		data = data[n:]
	}
	return c.sendString("OK")
}

// flashDone serves vFlashDone: everything gathered is now done.
func (c *conn) flashDone(ctx context.Context) error {
	job := c.flash.sectors
	c.flash.sectors = nil
	var changed []uint32
	for base, want := range job {
		have := make([]byte, len(want))
		if err := c.s.memory.ReadMemory(ctx, 0, base, have); err != nil || !bytes.Equal(have, want) {
			changed = append(changed, base)
		}
	}
	slices.Sort(changed)
	for i, base := range changed {
		if err := c.s.flasher.EraseFlash(ctx, base, uint32(len(job[base]))); err != nil {
			return c.sendString(fmt.Sprintf("E.erase failed at %#x, %d of %d sectors erased, the board will not boot: %v", base, i, len(changed), err))
		}
	}
	slices.Reverse(changed)
	for i, base := range changed {
		if blank(job[base]) {
			continue
		}
		if err := c.s.flasher.ProgramFlash(ctx, base, job[base]); err != nil {
			return c.sendString(fmt.Sprintf("E.programming failed at %#x, %d of %d sectors written, the board will not boot: %v", base, i, len(changed), err))
		}
	}
	c.s.opt.Notify(fmt.Sprintf("flash: %d of %d sectors changed and written", len(changed), len(job)))
	return c.sendString("OK")
}

func blank(p []byte) bool {
	for _, b := range p {
		if b != 0xff {
			return false
		}
	}
	return true
}
