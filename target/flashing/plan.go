package flashing

import (
	"bytes"
	"context"
	"slices"

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

// differing reads the device and returns what has to be changed. If that is
// anything, the bootable sector is part of it.
func (p *Plan) differing(ctx context.Context, d Device, tell func(n int)) ([]job, error) {
	var jobs []job
	buf := make([]byte, stepSize)
	for i := 0; i < len(p.sectors); {
		n := 1
		for i+n < len(p.sectors) && n < stepSize/SectorSize && p.sectors[i+n].addr == p.sectors[i].addr+uint32(n)*SectorSize {
			n++
		}
		have := buf[:n*SectorSize]
		if err := d.ReadFlash(ctx, p.sectors[i].addr, have); err != nil {
			return nil, err
		}
		for k := range n {
			s, h := p.sectors[i+k], have[k*SectorSize:][:SectorSize]
			if !bytes.Equal(s.want, h) {
				jobs = append(jobs, job{s, Blank(h)})
			}
		}
		i += n
		tell(n * SectorSize)
	}
	if len(jobs) == 0 || !p.hasBoot {
		return jobs, nil
	}
	base := p.boot &^ (SectorSize - 1)
	at, there := slices.BinarySearchFunc(jobs, base, func(j job, a uint32) int { return int(int64(j.addr) - int64(a)) })
	if !there {
		i := slices.IndexFunc(p.sectors, func(s sector) bool { return s.addr == base })
		if i >= 0 {
			jobs = slices.Insert(jobs, at, job{p.sectors[i], false})
		}
	}
	return jobs, nil
}

// all returns every sector as a job.
func (p *Plan) all() []job {
	jobs := make([]job, len(p.sectors))
	for i, s := range p.sectors {
		jobs[i] = job{s, false}
	}
	return jobs
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
