package bootsel

import (
	"context"
	"fmt"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/image/boot"
	"github.com/stem-hw/stem-hw/target/flashing"
	"github.com/stem-hw/stem-hw/uf2"
	"github.com/stem-hw/stem-hw/usb/picoboot"
)

// CheckArch refuses a program for cores that the chip's fuses switch off.
func (t *Target) CheckArch(arch image.Arch) error {
	if arch == image.ArchARM && t.system.ArmOff() || arch == image.ArchRISCV && t.system.RISCVOff() {
		return &faults.Fault{
			Code: faults.CodeWrongMachine, Status: faults.StatusImage,
			Summary: "the fuses of this chip switch off the cores that the program is for", Seen: "a program for " + string(arch),
			Try: []string{"build it for the other architecture"},
		}
	}
	return nil
}

// Plan lays an image out in the board's flash, in the partition that the board
// would put it in, and says with what Start starts it. It refuses what does not
// fit. Nothing is written.
func (t *Target) Plan(ctx context.Context, im *image.Image) (*flashing.Plan, error) {
	if err := t.alive(ctx); err != nil {
		return nil, err
	}
	if err := t.CheckArch(im.Arch); err != nil {
		return nil, err
	}
	p := flashing.NewPlan(im)
	def := im.Definition()
	has, _, err := t.pico.Table(ctx)
	if err != nil {
		return nil, t.fault(err)
	}
	end := uint64(boot.FlashEnd)
	t.offset, t.next.kind, t.next.p0, t.next.p1 = 0, picoboot.RebootNormal, 0, 0
	if has {
		if end, err = t.partition(ctx, im, p); err != nil {
			return nil, err
		}
	} else if def != nil && def.Type.TBYB() {
		t.next.kind, t.next.p0, t.next.p1 = picoboot.RebootFlashUpdate, boot.FlashBase, 0
	}
	size, sure, err := t.FlashSize(ctx)
	if err != nil {
		return nil, err
	}
	if sure {
		end = min(end, uint64(boot.FlashBase)+uint64(size))
	}
	if _, last := p.Bounds(); last > end {
		return nil, &faults.Fault{
			Code: faults.CodeImageTooLarge, Status: faults.StatusImage,
			Summary: "the image reaches beyond the flash of the board", Seen: fmt.Sprintf("an end at 0x%08x", last),
			Wanted: fmt.Sprintf("at most 0x%08x", end),
		}
	}
	return p, nil
}

// partition moves a plan into the partition that the ROM names, and returns
// where it ends.
func (t *Target) partition(ctx context.Context, im *image.Image, p *flashing.Plan) (end uint64, err error) {
	family, _, err := im.FamilyFor()
	if err != nil {
		return 0, err
	}
	tg, err := t.pico.Target(ctx, family)
	if err != nil {
		return 0, t.fault(err)
	}
	if !tg.Accepted {
		return 0, &faults.Fault{
			Code: faults.CodeWrongMachine, Status: faults.StatusImage,
			Summary: "the board's partition table has no place for this program", Seen: "family " + uf2.FamilyName(family),
			Try: []string{"stem-hw info -b usb:" + t.device.Port, "stem-hw erase --all to start anew"},
		}
	}
	if tg.Partition < 0 || family == uf2.FamilyAbsolute {
		return boot.FlashEnd, nil
	}
	by := tg.First * flashing.SectorSize
	p.Shift(by)
	t.offset = by
	t.opt.Say("the board's partition %d takes it, from 0x%08x", tg.Partition, uint32(boot.FlashBase)+by)
	t.next.kind, t.next.p0, t.next.p1 = picoboot.RebootFlashUpdate, boot.FlashBase+by, 0
	return boot.FlashBase + uint64(tg.Last+1)*flashing.SectorSize, nil
}
