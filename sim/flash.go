package sim

import (
	"context"

	"github.com/stem-hw/stem-hw/sim/machine"
	"github.com/stem-hw/stem-hw/target"
)

var _ target.Flasher = (*FlashTarget)(nil)

// EraseFlash implements target.Flasher.
func (t *FlashTarget) EraseFlash(ctx context.Context, addr, n uint32) error {
	return t.do(ctx, func() error { return t.m.(machine.Flasher).EraseFlash(addr, n) })
}

// ProgramFlash implements target.Flasher.
func (t *FlashTarget) ProgramFlash(ctx context.Context, addr uint32, p []byte) error {
	return t.do(ctx, func() error { return t.m.(machine.Flasher).ProgramFlash(addr, p) })
}
