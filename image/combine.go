package image

import (
	"errors"
	"fmt"
	"io"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/uf2"
)

// Part is one transfer of a combined UF2 file.
type Part struct {
	Family uint32
	Image  *Image
	// From are the files it was made of.
	From []string
}

// Combine groups images by UF2 family: those of one family become one
// transfer, each other family follows as a transfer of its own. Images of one
// family may not disagree about a byte.
func Combine(images []*Image, families []uint32) ([]Part, error) {
	var parts []Part
	for i, im := range images {
		at := -1
		for k := range parts {
			if parts[k].Family == families[i] {
				at = k
			}
		}
		if at < 0 {
			c := *im
			c.Path = ""
			c.Segments = named(im)
			parts = append(parts, Part{families[i], &c, []string{im.Path}})
			continue
		}
		p := &parts[at]
		segs := append(append([]Segment(nil), p.Image.Segments...), named(im)...)
		merged, err := normalise("", segs)
		if err != nil {
			return nil, err
		}
		p.Image.Segments, p.Image.Format = merged, FormatBIN
		p.Image.ELF, p.Image.Loads = nil, nil
		p.From = append(p.From, im.Path)
	}
	return parts, nil
}

// named copies the segments with the file's name in front of their names.
func named(im *Image) []Segment {
	out := make([]Segment, len(im.Segments))
	for i, s := range im.Segments {
		out[i] = Segment{Addr: s.Addr, Data: s.Data, Name: s.Name + " of " + im.Path}
	}
	return out
}

// CombineWarnings says where a combined file will not do what people hope.
func CombineWarnings(parts []Part) []string {
	programs := 0
	for _, p := range parts {
		if p.Family == uf2.FamilyRP2350ArmS || p.Family == uf2.FamilyRP2350RISCV {
			programs++
		}
	}
	if programs > 1 {
		return []string{"an RP2350 accepts both program families, restarts after the first, and may miss the second: use partitions, or one file for each CPU"}
	}
	return nil
}

// SplitUF2 copies the blocks of each family of a UF2 stream to a writer of its
// own, as they are. open is called once for each family, in the order of the
// file. Blocks that no board takes are left out; their number is returned.
func SplitUF2(r io.Reader, open func(family uint32) (io.Writer, error)) (dropped int, err error) {
	rd := uf2.NewReader(r)
	out := map[uint32]io.Writer{}
	var buf [uf2.BlockSize]byte
	for {
		s, err := rd.Next()
		if errors.Is(err, io.EOF) {
			return dropped, nil
		}
		if err != nil {
			return dropped, err
		}
		if s.Reason == uf2.ReasonShort {
			return dropped, badImage("", "the UF2 file is cut off in the middle of a block", fmt.Sprintf("block %d is not complete", s.Index), "a multiple of 512 bytes")
		}
		if s.Reason != uf2.ReasonNone {
			dropped++
			continue
		}
		w := out[s.Block.Family]
		if w == nil {
			if len(out) == 16 {
				return dropped, &faults.Fault{Code: faults.CodeBadImage, Status: faults.StatusImage,
					Summary: "the UF2 file holds too many families to split", Seen: "more than 16", Wanted: "at most 16"}
			}
			if w, err = open(s.Block.Family); err != nil {
				return dropped, err
			}
			out[s.Block.Family] = w
		}
		s.Block.Encode(buf[:])
		if _, err := w.Write(buf[:]); err != nil {
			return dropped, err
		}
	}
}
