package flashing

import (
	"bytes"
	"context"

	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/image/boot"
)

// Device is flash that can be read, erased and programmed by bus address.
type Device interface {
	// ReadFlash fills p from addr on.
	ReadFlash(ctx context.Context, addr uint32, p []byte) error
	// EraseFlash erases whole sectors.
	EraseFlash(ctx context.Context, addr, n uint32) error
	// ProgramFlash programs bytes of one page or more into erased flash.
	ProgramFlash(ctx context.Context, addr uint32, p []byte) error
}

// Sizes of flash (datasheets of the parts on RP2350 boards): the smallest
// erase, the unit of programming, and the largest step that keeps progress and
// cancelling lively.
const (
	SectorSize = boot.SectorSize
	PageSize   = boot.PageSize
	stepSize   = 64 << 10
)

// sector is one sector with what it has to hold.
type sector struct {
	addr uint32
	want []byte
}

// Plan is what is to be written.
type Plan struct {
	sectors []sector // by address
	// boot is the address of the image definition, hasBoot whether there is one.
	boot    uint32
	hasBoot bool
}

// NewPlan lays an image out in sectors. Contents outside flash are left out.
func NewPlan(im *image.Image) *Plan {
	p := &Plan{}
	var cur *sector
	for _, s := range im.Segments {
		if !image.RP2350.IsFlash(s.Addr, uint64(len(s.Data))) {
			continue
		}
		for off := 0; off < len(s.Data); {
			at := s.Addr + uint32(off)
			base := at &^ (SectorSize - 1)
			if cur == nil || cur.addr != base {
				p.sectors = append(p.sectors, sector{base, bytes.Repeat([]byte{0xff}, SectorSize)})
				cur = &p.sectors[len(p.sectors)-1]
			}
			off += copy(cur.want[at-base:], s.Data[off:])
		}
	}
	if d := im.Definition(); d != nil && image.RP2350.IsFlash(d.Addr, 1) {
		p.boot, p.hasBoot = d.Addr, true
	}
	return p
}

// Shift moves the plan by whole sectors, into a partition: a program is linked
// for the beginning of flash, wherever it is kept.
func (p *Plan) Shift(by uint32) {
	for i := range p.sectors {
		p.sectors[i].addr += by
	}
	p.boot += by
}

// Sectors is the number of sectors the image lies in.
func (p *Plan) Sectors() int { return len(p.sectors) }

// Bounds returns the first address and the one behind the last sector.
func (p *Plan) Bounds() (lo uint32, end uint64) {
	if len(p.sectors) == 0 {
		return 0, 0
	}
	return p.sectors[0].addr, uint64(p.sectors[len(p.sectors)-1].addr) + SectorSize
}

// job is a sector that has to be changed.
type job struct {
	sector
	blank bool // needs no erase
}

// Blank reports whether p is erased flash.
func Blank(p []byte) bool {
	for _, b := range p {
		if b != 0xff {
			return false
		}
	}
	return true
}
