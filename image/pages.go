package image

import (
	"github.com/stem-hw/stem-hw/image/boot"
	"github.com/stem-hw/stem-hw/uf2"
)

// pageRuns lists the pages that a UF2 file of the image has, as runs of
// neighbouring pages: every page with contents, and in flash every page of
// the sectors they lie in, up to the last page of the whole image. The ROM of
// an RP2040 erases by block number and would leave the rest of a sector that
// is not written whole damaged.
func (im *Image) pageRuns(flash bool) []pageRun {
	const page = uf2.PayloadSize
	_, end := im.Bounds()
	last := (end - 1) &^ (page - 1) // start of the last page
	unit := uint64(page)
	if flash {
		unit = boot.SectorSize
	}
	var runs []pageRun
	for _, s := range im.Segments {
		from := uint64(s.Addr) &^ (unit - 1)
		to := (s.End() + unit - 1) &^ (unit - 1)
		to = min(to, last+page)
		if n := len(runs); n > 0 && from <= runs[n-1].end {
			runs[n-1].end = max(runs[n-1].end, to)
			continue
		}
		runs = append(runs, pageRun{from, to})
	}
	return runs
}

// pageRun is a range of whole pages; numbers that cannot wrap.
type pageRun struct{ start, end uint64 }

// eachPage calls fn for every page of the runs with its contents. The page is
// valid during the call.
func (im *Image) eachPage(runs []pageRun, fill byte, fn func(addr uint32, page []byte) error) error {
	var page [uf2.PayloadSize]byte
	seg := 0
	for _, r := range runs {
		for a := r.start; a < r.end; a += uf2.PayloadSize {
			for seg < len(im.Segments) && im.Segments[seg].End() <= a {
				seg++
			}
			p := page[:]
			// Most pages lie inside one segment: no copy.
			if seg < len(im.Segments) {
				s := &im.Segments[seg]
				if a >= uint64(s.Addr) && a+uf2.PayloadSize <= s.End() {
					off := a - uint64(s.Addr)
					p = s.Data[off : off+uf2.PayloadSize]
					if err := fn(uint32(a), p); err != nil {
						return err
					}
					continue
				}
			}
			for i := range p {
				p[i] = fill
			}
			for i := seg; i < len(im.Segments) && uint64(im.Segments[i].Addr) < a+uf2.PayloadSize; i++ {
				s := &im.Segments[i]
				lo, hi := max(a, uint64(s.Addr)), min(a+uf2.PayloadSize, s.End())
				if lo < hi {
					copy(p[lo-a:hi-a], s.Data[lo-uint64(s.Addr):])
				}
			}
			if err := fn(uint32(a), p); err != nil {
				return err
			}
		}
	}
	return nil
}

func countPages(runs []pageRun) uint32 {
	n := uint64(0)
	for _, r := range runs {
		n += (r.end - r.start) / uf2.PayloadSize
	}
	return uint32(n)
}
