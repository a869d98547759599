package symbols

import (
	"debug/elf"
	"encoding/binary"
	"sort"
)

// cie is a Common Information Entry (DWARF 5, 6.4.1).
type cie struct {
	codeAlign uint64
	dataAlign int64
	ra        int
	initial   []byte
	encoding  byte // of pointers in .eh_frame
	augmented bool // "z": FDEs carry augmentation data
}

// fde is a Frame Description Entry.
type fde struct {
	*cie
	lo, hi  uint32
	program []byte
}

// maxFrames bounds the entries that are read of one file.
const maxFrames = 1 << 18

// Pointer encodings of .eh_frame (Linux Standard Base, 10.5.1).
const (
	encAbs    = 0x00
	encULEB   = 0x01
	encData2  = 0x02
	encData4  = 0x03
	encSLEB   = 0x09
	encSData2 = 0x0a
	encSData4 = 0x0b
	encPCRel  = 0x10
	encOmit   = 0xff
)

// loadFrames reads .debug_frame and .eh_frame.
func loadFrames(f *elf.File) []*fde {
	var out []*fde
	for _, name := range []string{".debug_frame", ".eh_frame"} {
		s := f.Section(name)
		if s == nil || s.Type == elf.SHT_NOBITS {
			continue
		}
		data, err := s.Data()
		if err != nil {
			continue
		}
		out = append(out, parseFrames(data, uint32(s.Addr), name == ".eh_frame")...)
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].lo < out[j].lo })
	return out
}

// parseFrames reads one section, which is loaded at addr.
func parseFrames(data []byte, addr uint32, eh bool) []*fde {
	var out []*fde
	cies := map[int]*cie{}
	for off := 0; off+8 <= len(data) && len(out) < maxFrames; {
		n := int(binary.LittleEndian.Uint32(data[off:]))
		start := off + 4
		if n == 0 && eh {
			off = start
			continue
		}
		if n < 4 || n > len(data)-start {
			break
		}
		body := reader{p: data[start : start+n], base: addr + uint32(start)}
		id := body.u32()
		isCIE := id == 0xffffffff
		link := int(id)
		if eh {
			isCIE = id == 0
			link = start - int(id)
		}
		if isCIE {
			if c := parseCIE(&body, eh); c != nil {
				cies[off] = c
			}
		} else if c := cies[link]; c != nil {
			if e := parseFDE(&body, c); e != nil {
				out = append(out, e)
			}
		}
		off = start + n
	}
	return out
}

func parseCIE(r *reader, eh bool) *cie {
	version := r.u8()
	aug := r.cstring()
	if version == 4 {
		if size := r.u8(); size != 4 {
			return nil
		}
		if seg := r.u8(); seg != 0 {
			return nil
		}
	}
	c := &cie{encoding: encAbs}
	c.codeAlign = r.uleb()
	c.dataAlign = r.sleb()
	if version == 1 {
		c.ra = int(r.u8())
	} else {
		c.ra = int(r.uleb())
	}
	if len(aug) > 0 && aug[0] == 'z' {
		c.augmented = true
		n := r.uleb()
		body := reader{p: r.take(n), base: r.base}
		for _, a := range aug[1:] {
			switch a {
			case 'R':
				c.encoding = body.u8()
			case 'P':
				body.pointer(body.u8())
			case 'L':
				body.u8()
			}
		}
	} else if aug != "" {
		return nil
	}
	if r.bad {
		return nil
	}
	c.initial = r.p
	return c
}

func parseFDE(r *reader, c *cie) *fde {
	e := &fde{cie: c}
	e.lo = r.pointer(c.encoding)
	size := r.pointer(c.encoding &^ 0x70)
	if c.augmented {
		r.take(r.uleb())
	}
	if r.bad || size == 0 || e.lo+size < e.lo {
		return nil
	}
	e.hi = e.lo + size
	e.program = r.p
	return e
}

// frameFor finds the entry that covers addr.
func (t *Table) frameFor(addr uint32) *fde {
	i := sort.Search(len(t.frames), func(i int) bool { return t.frames[i].lo > addr })
	for n := 0; i > 0 && n < 16; n++ {
		i--
		if e := t.frames[i]; addr < e.hi {
			return e
		}
	}
	return nil
}
