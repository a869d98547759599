package flashing

import (
	"bytes"
	"context"
	"fmt"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/image"
)

// Compare checks that the device holds every byte of an image's flash contents.
// A difference is a fault that shows the first one; sectors says how many differ.
func Compare(ctx context.Context, d Device, im *image.Image, progress func(phase string, done, total int)) (checked int, err error) {
	if progress == nil {
		progress = func(string, int, int) {}
	}
	total := 0
	for _, s := range im.Segments {
		total += len(s.Data)
	}
	progress("verifying", 0, total)
	var first *faults.Fault
	wrong := map[uint32]bool{}
	buf := make([]byte, stepSize)
	for _, s := range im.Segments {
		for off := 0; off < len(s.Data); {
			addr := s.Addr + uint32(off)
			n := min(len(s.Data)-off, stepSize-int(addr%stepSize))
			have, want := buf[:n], s.Data[off:off+n]
			if err := ctx.Err(); err != nil {
				return checked, err
			}
			if err := d.ReadFlash(ctx, addr, have); err != nil {
				return checked, err
			}
			if !bytes.Equal(have, want) {
				if first == nil {
					first = mismatch("the board does not hold this image", addr, have, want)
				}
				for i := range n {
					if have[i] != want[i] {
						wrong[(addr+uint32(i))&^(SectorSize-1)] = true
					}
				}
			}
			off += n
			checked += n
			progress("verifying", checked, total)
		}
	}
	if first == nil {
		return checked, nil
	}
	if n := len(wrong); n > 1 {
		first.Details = []string{fmt.Sprintf("%d sectors of %d bytes differ", n, SectorSize)}
	}
	return checked, first
}
