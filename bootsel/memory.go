package bootsel

import (
	"bytes"
	"context"
	"fmt"

	"github.com/stem-hw/stem-hw/image/boot"
	"github.com/stem-hw/stem-hw/target"
	"github.com/stem-hw/stem-hw/target/flashing"
	"github.com/stem-hw/stem-hw/usb/picoboot"
)

// Sizes of flash. A Pico 2 has 4 MiB; the boot ROM takes 16 MiB for granted.
const (
	assumedSize = 4 << 20
	minSize     = 512 << 10
	maxSize     = 16 << 20
)

// FlashSize finds the size of the flash: an address beyond it is one in it again.
// sure is false where flash is so empty that nothing can be told.
func (t *Target) FlashSize(ctx context.Context) (size uint32, sure bool, err error) {
	if err := t.alive(ctx); err != nil {
		return 0, false, err
	}
	if t.size != 0 {
		return t.size, t.sure, nil
	}
	first := make([]byte, 4*picoboot.PageSize)
	if err := t.ReadFlash(ctx, boot.FlashBase, first); err != nil {
		return 0, false, err
	}
	t.size, t.sure = assumedSize, false
	if flashing.Blank(first) {
		return t.size, false, nil
	}
	again := make([]byte, len(first))
	for n := uint32(minSize); n < maxSize; n *= 2 {
		if err := t.ReadFlash(ctx, boot.FlashBase+n, again); err != nil {
			t.size = 0
			return 0, false, err
		}
		if bytes.Equal(first, again) {
			t.size, t.sure = n, true
			return n, true, nil
		}
	}
	t.size, t.sure = maxSize, true
	return t.size, true, nil
}

// ReadFlash implements flashing.Device. The ROM reads from page boundaries on.
func (t *Target) ReadFlash(ctx context.Context, addr uint32, p []byte) error {
	if err := t.alive(ctx); err != nil {
		return err
	}
	if addr%picoboot.PageSize == 0 && len(p)%picoboot.PageSize == 0 {
		return t.fault(t.pico.ReadMemory(ctx, addr, p))
	}
	lead := addr % picoboot.PageSize
	buf := make([]byte, (int(lead)+len(p)+picoboot.PageSize-1)&^(picoboot.PageSize-1))
	if err := t.fault(t.pico.ReadMemory(ctx, addr-lead, buf)); err != nil {
		return err
	}
	copy(p, buf[lead:])
	return nil
}

// EraseFlash implements flashing.Device and target.Flasher.
func (t *Target) EraseFlash(ctx context.Context, addr, n uint32) error {
	if err := t.alive(ctx); err != nil {
		return err
	}
	if addr%flashing.SectorSize != 0 || n%flashing.SectorSize != 0 {
		return fmt.Errorf("0x%x bytes at 0x%08x are not whole sectors", n, addr)
	}
	if !isFlash(addr, uint64(n)) {
		return &target.MemoryError{Addr: addr, Write: true, Why: "no flash there"}
	}
	return t.fault(t.pico.Erase(ctx, addr, n))
}

// ProgramFlash implements flashing.Device and target.Flasher. Pages are programmed
// whole: ones in what is not asked for change nothing.
func (t *Target) ProgramFlash(ctx context.Context, addr uint32, p []byte) error {
	if err := t.alive(ctx); err != nil {
		return err
	}
	if !isFlash(addr, uint64(len(p))) {
		return &target.MemoryError{Addr: addr, Write: true, Why: "no flash there"}
	}
	lead := addr % picoboot.PageSize
	if lead != 0 || len(p)%picoboot.PageSize != 0 {
		whole := bytes.Repeat([]byte{0xff}, (int(lead)+len(p)+picoboot.PageSize-1)&^(picoboot.PageSize-1))
		copy(whole[lead:], p)
		addr, p = addr-lead, whole
	}
	return t.fault(t.pico.WriteMemory(ctx, addr, p))
}

func isFlash(addr uint32, n uint64) bool {
	return addr >= boot.FlashBase && uint64(addr)+n <= boot.FlashEnd
}

// region is a memory that can be read, or written, over PICOBOOT.
type region struct {
	base, end uint64
	write     bool
	flash     bool
}

var regions = []region{
	{0, romSize, false, false},
	{boot.FlashBase, boot.XIPSRAMBase, false, true},
	{boot.XIPSRAMBase, boot.XIPSRAMEnd, true, false},
	{boot.SRAMBase, boot.SRAMEnd, true, false},
}

// check finds the region of an access.
func check(core int, addr uint32, n int, write bool) (region, error) {
	if core != 0 && core != 1 {
		return region{}, fmt.Errorf("there is no core %d", core)
	}
	for _, r := range regions {
		if uint64(addr) < r.base || uint64(addr) >= r.end {
			continue
		}
		switch {
		case write && r.flash:
			return r, &target.MemoryError{Addr: addr, Write: true, Why: "flash"}
		case write && !r.write:
			return r, &target.MemoryError{Addr: addr, Write: true, Why: "ROM"}
		case uint64(addr)+uint64(n) > r.end:
			return r, &target.MemoryError{Addr: uint32(r.end), Write: write, Why: "the boot ROM gives no access there"}
		}
		return r, nil
	}
	return region{}, &target.MemoryError{Addr: addr, Write: write, Why: "the boot ROM gives no access there"}
}

// ReadMemory implements target.Memory.
func (t *Target) ReadMemory(ctx context.Context, core int, addr uint32, p []byte) error {
	if err := t.alive(ctx); err != nil {
		return err
	}
	r, err := check(core, addr, len(p), false)
	switch {
	case err != nil:
		return err
	case len(p) == 0:
		return nil
	case r.flash:
		return t.ReadFlash(ctx, addr, p)
	}
	return t.fault(t.pico.ReadMemory(ctx, addr, p))
}

// WriteMemory implements target.Memory.
func (t *Target) WriteMemory(ctx context.Context, core int, addr uint32, p []byte) error {
	if err := t.alive(ctx); err != nil {
		return err
	}
	if _, err := check(core, addr, len(p), true); err != nil {
		return err
	}
	if len(p) == 0 {
		return nil
	}
	return t.fault(t.pico.WriteMemory(ctx, addr, p))
}
