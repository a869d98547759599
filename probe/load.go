package probe

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/target"
	"github.com/stem-hw/stem-hw/target/flashing"
)

// ramProgram is a program in RAM, which the boot ROM knows nothing of.
type ramProgram struct {
	segments []image.Segment
	pc, sp   uint32
	vectors  uint32 // Arm: where its vector table is, 0 without one
}

// Load implements target.Target: contents for flash are flashed, where they
// differ, contents for RAM are placed there, and both cores are halted at their
// reset vector, in the program's architecture.
func (t *Target) Load(ctx context.Context, img *image.Image) error {
	flash, ram, err := t.split(img)
	if err != nil {
		return err
	}
	if flash {
		if _, err := t.Flash(ctx, flashing.NewPlan(img), flashing.Options{Verify: true}); err != nil {
			return err
		}
	}
	return t.do(ctx, func() error {
		t.ram = ram
		if err := t.dropFlash(ctx); err != nil {
			return err
		}
		arch := t.eng.arch()
		if img.Arch != image.ArchUnknown {
			arch = img.Arch
		}
		if err := t.dropSoft(ctx); err != nil {
			return err
		}
		if err := t.switchArch(ctx, arch); err != nil {
			return err
		}
		return t.enterRAM(ctx)
	})
}

// dropSoft forgets software breakpoints: other code comes to where they are.
func (t *Target) dropSoft(ctx context.Context) error {
	for at, old := range t.soft {
		delete(t.soft, at)
		var err error
		if isFlash(at) {
			err = t.stopped(ctx, func() error { return t.unpin(ctx, at) })
		} else {
			err = t.memoryError(t.eng.write(ctx, 0, at, old, t.run == 0))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// split finds out what of an image is for flash and what for RAM.
func (t *Target) split(img *image.Image) (flash bool, ram *ramProgram, err error) {
	bad := func(s image.Segment) error {
		return &faults.Fault{
			Code: faults.CodeImageTooLarge, Status: faults.StatusImage,
			Summary: "the image has contents outside the memories of the chip",
			Seen:    fmt.Sprintf("%s: 0x%08x to 0x%08x", s.Name, s.Addr, s.End()),
			Wanted: fmt.Sprintf("flash from 0x%08x, RAM 0x%08x to 0x%08x",
				uint32(flashBase), uint32(sramBase), uint32(sramBase+sramSize)),
		}
	}
	if len(img.Segments) == 0 {
		return false, nil, &faults.Fault{
			Code: faults.CodeBadImage, Status: faults.StatusImage, Summary: "the image has no contents to load",
		}
	}
	r := &ramProgram{}
	for _, s := range img.Segments {
		lo, end := uint64(s.Addr), s.End()
		switch {
		case lo >= flashBase && end <= xipSRAM:
			flash = true
		case lo >= sramBase && end <= sramBase+sramSize, lo >= xipSRAM && end <= xipSRAM+xipSize:
			r.segments = append(r.segments, s)
		default:
			return false, nil, bad(s)
		}
	}
	inFlash := img.Entry >= flashBase && img.Entry < xipSRAM
	if len(r.segments) == 0 || flash && (!img.HasEntry || inFlash) {
		return flash, nil, nil
	}
	r.find(img)
	return flash, r, nil
}

// find says where a program in RAM starts: where its image definition says, else
// at its entry point, on Arm through a vector table if there is one.
func (r *ramProgram) find(img *image.Image) {
	first := r.segments[0]
	r.pc, r.sp = first.Addr, sramBase+sramSize
	if img.HasEntry {
		r.pc = img.Entry
	}
	if img.Arch == image.ArchARM && len(first.Data) >= 8 {
		sp, pc := binary.LittleEndian.Uint32(first.Data), binary.LittleEndian.Uint32(first.Data[4:])
		if sp >= sramBase && sp <= sramBase+sramSize && sp%4 == 0 && pc&1 != 0 && inRAM(pc) {
			r.vectors, r.sp = first.Addr, sp
			if !img.HasEntry {
				r.pc = pc
			}
		}
	}
	if d := img.Definition(); d != nil {
		if d.HasEntry {
			r.pc = d.PC
			if inRAM(d.SP - 4) {
				r.sp = d.SP
			}
		}
		if d.VTOR != 0 {
			r.vectors = d.VTOR
		}
	}
}

// enterRAM places a program in RAM on cores that are halted at their reset
// vector, and lets core 0 begin there. Core 1 waits in the boot ROM, as always.
func (t *Target) enterRAM(ctx context.Context) error {
	r := t.ram
	if r == nil {
		return nil
	}
	for _, s := range r.segments {
		if err := t.eng.write(ctx, 0, s.Addr, s.Data, true); err != nil {
			return t.memoryError(err)
		}
	}
	for at, old := range t.soft {
		if isFlash(at) {
			continue
		}
		if err := t.eng.read(ctx, 0, at, old, true); err != nil {
			return t.memoryError(err)
		}
		if err := t.eng.write(ctx, 0, at, t.eng.breakpoint(uint32(len(old))), true); err != nil {
			return t.memoryError(err)
		}
	}
	if err := t.startRAM(ctx, r); err != nil {
		return err
	}
	t.stop = target.Stop{Reason: target.StopHalt, PC: r.pc &^ 1}
	return nil
}

// regVTOR is where an Arm core finds its vectors.
const regVTOR = 0xe000ed08

func (t *Target) startRAM(ctx context.Context, r *ramProgram) error {
	if t.eng.arch() == image.ArchARM {
		if r.vectors != 0 {
			if err := t.poke(ctx, regVTOR, r.vectors); err != nil {
				return err
			}
		}
		const armSP = 13
		if err := t.eng.setRegister(ctx, 0, armSP, uint64(r.sp)); err != nil {
			return err
		}
	} else {
		const riscvSP = 2
		if err := t.eng.setRegister(ctx, 0, riscvSP, uint64(r.sp)); err != nil {
			return err
		}
	}
	return t.eng.setPC(ctx, 0, r.pc)
}

// Start implements target.Target.
func (t *Target) Start(ctx context.Context) error {
	return t.do(ctx, func() error {
		if t.run != 0 || t.flash != nil {
			if err := t.dropFlash(ctx); err != nil {
				return err
			}
			if err := t.resetHalted(ctx, t.systemReset); err != nil {
				return err
			}
			if err := t.enterRAM(ctx); err != nil {
				return err
			}
		}
		return t.resume(ctx, allContinue())
	})
}

// StartFlash starts what is in flash, in the architecture that it is for.
func (t *Target) StartFlash(ctx context.Context, arch image.Arch) error {
	return t.do(ctx, func() error {
		if err := t.dropFlash(ctx); err != nil {
			return err
		}
		if arch == image.ArchUnknown {
			arch = t.eng.arch()
		}
		t.ram = nil
		if err := t.switchArch(ctx, arch); err != nil {
			return err
		}
		return t.resume(ctx, allContinue())
	})
}

// Flash writes a plan into the flash; the chip is left for Reset, halted.
func (t *Target) Flash(ctx context.Context, p *flashing.Plan, o flashing.Options) (flashing.Result, error) {
	size, err := t.PrepareFlash(ctx)
	if err != nil {
		return flashing.Result{}, err
	}
	if _, end := p.Bounds(); end > uint64(flashBase)+uint64(size) {
		return flashing.Result{}, &faults.Fault{
			Code: faults.CodeImageTooLarge, Status: faults.StatusImage,
			Summary: "the image reaches beyond the flash of the board",
			Seen:    fmt.Sprintf("an end at 0x%08x", end), Wanted: fmt.Sprintf("at most 0x%08x", flashBase+size),
		}
	}
	return p.Write(ctx, t, o)
}
