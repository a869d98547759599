package report

import (
	"sort"

	"github.com/stem-hw/stem-hw/image"
)

// Region is the use of one memory.
type Region struct {
	Name string `json:"name"`
	Base Addr   `json:"base"`
	// Size is the size of the memory; of flash it is that of a Pico 2.
	Size uint32 `json:"size"`
	// Used is what the program occupies, with what is cleared or reserved at
	// run time; Contents is the part with bytes in the file.
	Used     uint64 `json:"used"`
	Contents uint64 `json:"contents"`
}

// pico2Flash is the flash of a Pico 2.
const pico2Flash = 4 << 20

type span struct{ lo, hi uint64 }

// memory sums up the use of each memory. Ranges that overlap count once.
func (r *Info) memory() {
	var used, contents []span
	add := func(list *[]span, addr uint32, n uint64) {
		*list = append(*list, span{uint64(addr), uint64(addr) + n})
	}
	for _, s := range r.im.Segments {
		add(&used, s.Addr, uint64(len(s.Data)))
		add(&contents, s.Addr, uint64(len(s.Data)))
	}
	for _, l := range r.im.Loads {
		add(&used, l.VAddr, uint64(l.MemSize))
	}
	used, contents = union(used), union(contents)
	noRAM := r.im.Format != image.FormatELF && r.Place == string(image.KindFlash)
	for _, m := range image.RP2350.Regions {
		g := Region{Name: m.Name, Base: Addr(m.Base), Size: m.Size, Used: within(used, m), Contents: within(contents, m)}
		if m.Kind == image.KindFlash {
			g.Size = pico2Flash
		}
		if m.Name == "XIP SRAM" && g.Used == 0 || noRAM && m.Kind == image.KindRAM {
			continue
		}
		r.Memory = append(r.Memory, g)
	}
	if noRAM {
		r.MemoryNote = "only an ELF file says how much RAM a program uses"
	}
}

func union(s []span) []span {
	sort.Slice(s, func(i, j int) bool { return s[i].lo < s[j].lo })
	var out []span
	for _, x := range s {
		if n := len(out); n > 0 && x.lo <= out[n-1].hi {
			out[n-1].hi = max(out[n-1].hi, x.hi)
			continue
		}
		out = append(out, x)
	}
	return out
}

func within(s []span, m image.Region) uint64 {
	n := uint64(0)
	lo, hi := uint64(m.Base), uint64(m.Base)+uint64(m.Size)
	for _, x := range s {
		a, b := max(x.lo, lo), min(x.hi, hi)
		if a < b {
			n += b - a
		}
	}
	return n
}

func regionName(addr uint32) string {
	if r := image.RP2350.RegionAt(addr); r != nil {
		return r.Name
	}
	return "elsewhere"
}
