package image

import (
	"bytes"
	"fmt"
	"sort"

	"github.com/stem-hw/stem-hw/faults"
)

// normalise sorts segments, drops empty ones, joins touching ones that came
// from one place, and merges overlaps. Overlaps with different bytes are an
// error that names both.
func normalise(path string, segs []Segment) ([]Segment, error) {
	in := segs[:0]
	for _, s := range segs {
		if len(s.Data) > 0 {
			in = append(in, s)
		}
	}
	sort.SliceStable(in, func(i, j int) bool { return in[i].Addr < in[j].Addr })
	var out []Segment
	for _, s := range in {
		// Earlier segments may reach over this one: trim what is equal.
		for len(out) > 0 {
			p := &out[len(out)-1]
			if uint64(s.Addr) >= p.End() {
				break
			}
			n := min(p.End(), s.End()) - uint64(s.Addr)
			a, b := p.Data[uint64(s.Addr)-uint64(p.Addr):][:n], s.Data[:n]
			if !bytes.Equal(a, b) {
				i := 0
				for a[i] == b[i] {
					i++
				}
				return nil, &faults.Fault{
					Code: faults.CodeBadImage, Status: faults.StatusImage,
					Summary: where(path) + "two parts of the file disagree about the same memory",
					Seen: fmt.Sprintf("%s and %s with different bytes at 0x%08x (0x%02x and 0x%02x)",
						p.Name, s.Name, uint64(s.Addr)+uint64(i), a[i], b[i]),
					Wanted: "one content for each address",
					Try:    []string{"check the linker script for overlapping sections (ld --no-check-sections hides this)"},
				}
			}
			s.Data = s.Data[n:]
			s.Addr += uint32(n)
			break
		}
		if len(s.Data) > 0 {
			out = append(out, s)
		}
	}
	return out, nil
}

// join merges segments that touch into larger ones, for formats whose records
// are small (UF2 blocks, HEX lines).
type joiner struct {
	segs []Segment
}

// add appends data at addr; data is copied.
func (j *joiner) add(addr uint32, data []byte, name string) {
	if n := len(j.segs); n > 0 {
		p := &j.segs[n-1]
		if p.End() == uint64(addr) {
			p.Data = append(p.Data, data...)
			return
		}
	}
	j.segs = append(j.segs, Segment{Addr: addr, Data: append([]byte(nil), data...), Name: name})
}

// where is the prefix of a message about a file.
func where(path string) string {
	if path == "" {
		return ""
	}
	return path + ": "
}
