package sim

import (
	"context"

	"github.com/stem-hw/stem-hw/target"
)

// ReadMemory implements target.Memory; the cores may run.
func (t *Target) ReadMemory(ctx context.Context, core int, addr uint32, p []byte) error {
	return t.do(ctx, func() error {
		if core < 0 || core >= len(t.cores) {
			return &target.MemoryError{Addr: addr, Why: "no such core"}
		}
		if n := t.m.Peek(core, addr, p); n < len(p) {
			return &target.MemoryError{Addr: addr + uint32(n), Why: "bus fault"}
		}
		return nil
	})
}

// WriteMemory implements target.Memory; the cores may run.
func (t *Target) WriteMemory(ctx context.Context, core int, addr uint32, p []byte) error {
	return t.do(ctx, func() error {
		if core < 0 || core >= len(t.cores) {
			return &target.MemoryError{Addr: addr, Write: true, Why: "no such core"}
		}
		n := t.m.Poke(core, addr, p, false)
		if n == len(p) {
			return nil
		}
		e := &target.MemoryError{Addr: addr + uint32(n), Write: true, Why: "bus fault"}
		for _, r := range t.desc.Memory {
			if e.Addr-r.Base < r.Size {
				switch r.Kind {
				case target.RegionFlash:
					e.Why = "flash, which has to be erased and programmed"
				case target.RegionROM:
					e.Why = "read-only memory"
				}
			}
		}
		return e
	})
}
