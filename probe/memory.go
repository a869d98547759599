package probe

import (
	"context"
	"errors"

	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/probe/mem"
	"github.com/stem-hw/stem-hw/probe/riscvdm"
	"github.com/stem-hw/stem-hw/target"
)

const archARM = image.ArchARM

// memoryError turns a refused access into the target's kind of error.
func (t *Target) memoryError(err error) error {
	var me *mem.Error
	if !errors.As(err, &me) {
		return err
	}
	return &target.MemoryError{Addr: me.Addr, Write: me.Write, Why: "bus fault"}
}

// ReadMemory implements target.Memory; the cores may run.
func (t *Target) ReadMemory(ctx context.Context, core int, addr uint32, p []byte) error {
	return t.do(ctx, func() error { return t.readMemory(ctx, core, addr, p) })
}

func (t *Target) readMemory(ctx context.Context, core int, addr uint32, p []byte) error {
	if core < 0 || core >= cores {
		return &target.MemoryError{Addr: addr, Why: "no such core"}
	}
	if err := t.endFlash(ctx); err != nil {
		return err
	}
	err := t.eng.read(ctx, core, addr, p, t.run == 0)
	if errors.Is(err, riscvdm.ErrStalled) {
		return err
	}
	if err != nil {
		return t.memoryError(err)
	}
	for at, old := range t.soft { // breakpoints do not show
		overlay(addr, p, at, old)
	}
	return nil
}

// overlay copies what of old, which lies at at, falls into p at addr.
func overlay(addr uint32, p []byte, at uint32, old []byte) {
	for i, b := range old {
		if off := at + uint32(i) - addr; off < uint32(len(p)) {
			p[off] = b
		}
	}
}

// WriteMemory implements target.Memory; the cores may run. One-time-programmable
// memory and its registers are refused.
func (t *Target) WriteMemory(ctx context.Context, core int, addr uint32, p []byte) error {
	return t.do(ctx, func() error {
		if core < 0 || core >= cores {
			return &target.MemoryError{Addr: addr, Write: true, Why: "no such core"}
		}
		if why, at := refusal(addr, len(p)); why != "" {
			return &target.MemoryError{Addr: at, Write: true, Why: why}
		}
		if err := t.endFlash(ctx); err != nil {
			return err
		}
		t.touched = t.touched || len(p) > 0
		if err := t.eng.write(ctx, core, addr, p, t.run == 0); err != nil {
			return t.memoryError(err)
		}
		return t.rewritten(ctx, core, addr, p)
	})
}

// refusal says why a range is not written, and where that begins.
func refusal(addr uint32, n int) (why string, at uint32) {
	for _, r := range []struct {
		lo, end uint64
		why     string
	}{
		{otpControl, otpLimit, "one-time-programmable memory: what is burnt there stays for ever"},
		{romBase, romBase + romSize, "read-only memory"},
		{flashBase, xipSRAM, "flash, which has to be erased and programmed"},
		{xipNoCache, 0x18000000, "flash, which has to be erased and programmed"},
		{xipNoTranslate, 0x20000000, "flash, which has to be erased and programmed"},
	} {
		lo, end := uint64(addr), uint64(addr)+uint64(n)
		if lo < r.end && end > r.lo {
			return r.why, uint32(max(lo, r.lo))
		}
	}
	return "", 0
}

// rewritten puts software breakpoints back that a write covered.
func (t *Target) rewritten(ctx context.Context, core int, addr uint32, p []byte) error {
	for at, old := range t.soft {
		if uint64(at) >= uint64(addr)+uint64(len(p)) || uint64(at)+uint64(len(old)) <= uint64(addr) {
			continue
		}
		for i := range old {
			if off := at + uint32(i) - addr; off < uint32(len(p)) {
				old[i] = p[off]
			}
		}
		if err := t.eng.write(ctx, core, at, t.eng.breakpoint(uint32(len(old))), t.run == 0); err != nil {
			return t.memoryError(err)
		}
	}
	return nil
}
