package image

import (
	"bytes"
	"encoding/binary"
	"sort"
)

// Symbol is one symbol of an ELF file that has a size.
type Symbol struct {
	// Name is the symbol's name as the compiler wrote it.
	Name string
	// Addr is its run-time address, Size its size in bytes.
	Addr, Size uint32
	// Func is true for code, else it is data.
	Func bool
}

// Symbols returns the functions and objects of an ELF file's symbol table,
// largest first, each address and name once. A file without sections or
// symbols has none.
func (im *Image) Symbols() []Symbol {
	d := im.ELF
	if len(d) < elfHeaderSize {
		return nil
	}
	le := binary.LittleEndian
	shoff, shsize, shnum := uint64(le.Uint32(d[32:])), uint64(le.Uint16(d[46:])), uint64(le.Uint16(d[48:]))
	if shoff == 0 || shsize < 40 || shoff+shnum*shsize > uint64(len(d)) {
		return nil
	}
	section := func(i uint64) (typ, link uint32, body []byte) {
		h := d[shoff+i*shsize:][:40]
		off, n := uint64(le.Uint32(h[16:])), uint64(le.Uint32(h[20:]))
		typ, link = le.Uint32(h[4:]), le.Uint32(h[24:])
		if off+n > uint64(len(d)) {
			return typ, link, nil
		}
		return typ, link, d[off : off+n]
	}
	var out []Symbol
	for i := range shnum {
		typ, link, tab := section(i)
		if typ != 2 || uint64(link) >= shnum { // SHT_SYMTAB
			continue
		}
		_, _, names := section(uint64(link))
		for ; len(tab) >= 16; tab = tab[16:] {
			kind := tab[12] & 15
			size := le.Uint32(tab[8:])
			if size == 0 || (kind != 1 && kind != 2) { // STT_OBJECT, STT_FUNC
				continue
			}
			s := Symbol{Addr: le.Uint32(tab[4:]), Size: size, Func: kind == 2}
			if s.Func && im.Arch == ArchARM {
				s.Addr &^= 1
			}
			if n := le.Uint32(tab); uint64(n) < uint64(len(names)) {
				name := names[n:]
				if e := bytes.IndexByte(name, 0); e >= 0 {
					name = name[:e]
				}
				s.Name = string(name[:min(len(name), 512)])
			}
			out = append(out, s)
		}
	}
	sort.Slice(out, func(i, j int) bool {
		a, b := out[i], out[j]
		switch {
		case a.Size != b.Size:
			return a.Size > b.Size
		case a.Addr != b.Addr:
			return a.Addr < b.Addr
		}
		return a.Name < b.Name
	})
	uniq := out[:0]
	for _, s := range out {
		if n := len(uniq); n > 0 && uniq[n-1] == s {
			continue
		}
		uniq = append(uniq, s)
	}
	return uniq
}
