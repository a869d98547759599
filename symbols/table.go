package symbols

import (
	"bytes"
	"debug/dwarf"
	"debug/elf"
	"fmt"
	"sort"
	"strings"
	"sync"
)

// Symbol is one entry of the symbol table.
type Symbol struct {
	Name string
	Addr uint32
	// Size in bytes; 0 for a label.
	Size uint32
	// Func is true for code.
	Func bool

	rank uint8 // which of several at one address is shown
}

// Table knows the names of one ELF file. It may be used by several goroutines.
type Table struct {
	machine elf.Machine
	raw     []byte

	code   []Symbol // functions and code labels, sorted by address
	data   []Symbol
	byName map[string]Symbol
	exec   []span // executable sections

	once   sync.Once
	dwarf  *dwarf.Data
	units  []unit
	frames []*fde // sorted by address
}

type span struct{ lo, hi uint32 }

// Load reads the symbol table of a 32-bit little-endian ELF file.
func Load(raw []byte) (*Table, error) {
	f, err := elf.NewFile(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("reading symbols: %w", err)
	}
	defer f.Close()
	if f.Class != elf.ELFCLASS32 || f.Data != elf.ELFDATA2LSB {
		return nil, fmt.Errorf("reading symbols: %v %v, need a 32-bit little-endian file", f.Class, f.Data)
	}
	t := &Table{machine: f.Machine, raw: raw, byName: map[string]Symbol{}}
	for _, s := range f.Sections {
		if s.Flags&elf.SHF_EXECINSTR != 0 && s.Flags&elf.SHF_ALLOC != 0 {
			t.exec = append(t.exec, span{uint32(s.Addr), uint32(s.Addr + s.Size)})
		}
	}
	syms, err := f.Symbols()
	if err != nil {
		// A file without a symbol table has no names, which is no error.
		syms = nil
	}
	for _, s := range syms {
		t.add(f, s)
	}
	for _, list := range [][]Symbol{t.code, t.data} {
		sort.SliceStable(list, func(i, j int) bool {
			if list[i].Addr != list[j].Addr {
				return list[i].Addr < list[j].Addr
			}
			return list[i].rank < list[j].rank
		})
	}
	return t, nil
}

// add takes one symbol into the table.
func (t *Table) add(f *elf.File, s elf.Symbol) {
	typ := elf.ST_TYPE(s.Info)
	if s.Name == "" || s.Section == elf.SHN_UNDEF || typ == elf.STT_FILE || typ == elf.STT_SECTION {
		return
	}
	// Mapping symbols and assembler locals say nothing to a person.
	if strings.HasPrefix(s.Name, "$") || strings.HasPrefix(s.Name, ".L") {
		return
	}
	sym := Symbol{Name: s.Name, Addr: uint32(s.Value), Size: uint32(s.Size)}
	bind := elf.ST_BIND(s.Info)
	if bind == elf.STB_LOCAL {
		sym.rank += 2
	}
	if bind == elf.STB_WEAK {
		sym.rank++
	}
	inCode := false
	if s.Section < elf.SHN_LORESERVE && int(s.Section) < len(f.Sections) {
		sec := f.Sections[s.Section]
		inCode = sec.Flags&elf.SHF_EXECINSTR != 0
	}
	switch {
	case typ == elf.STT_FUNC:
		sym.Func = true
		if f.Machine == elf.EM_ARM {
			sym.Addr &^= 1
		}
	case typ == elf.STT_NOTYPE && inCode:
		sym.Func = true
		sym.rank += 4
	}
	if old, ok := t.byName[sym.Name]; !ok || sym.rank < old.rank {
		t.byName[sym.Name] = sym
	}
	switch {
	case sym.Func:
		t.code = append(t.code, sym)
	case typ == elf.STT_OBJECT:
		t.data = append(t.data, sym)
	}
}

// Lookup finds a symbol by name.
func (t *Table) Lookup(name string) (Symbol, bool) {
	if t == nil {
		return Symbol{}, false
	}
	s, ok := t.byName[name]
	return s, ok
}

// Function finds the function, or the code label, that covers addr.
func (t *Table) Function(addr uint32) (Symbol, bool) {
	if t == nil {
		return Symbol{}, false
	}
	end, ok := t.sectionEnd(addr)
	if !ok {
		return Symbol{}, false
	}
	i := sort.Search(len(t.code), func(i int) bool { return t.code[i].Addr > addr })
	var label *Symbol
	// A few steps back: labels inside a function come before it.
	for n := 0; i > 0 && n < 64; n++ {
		i--
		s := &t.code[i]
		// Of several at one address the first is the best.
		for i > 0 && t.code[i-1].Addr == s.Addr {
			i--
			s = &t.code[i]
		}
		if s.Size > 0 {
			if addr-s.Addr < s.Size {
				return *s, true
			}
			break
		}
		if label == nil {
			label = s
		}
	}
	if label == nil || label.Addr >= end {
		return Symbol{}, false
	}
	return *label, true
}

// Object finds the data object that covers addr.
func (t *Table) Object(addr uint32) (Symbol, bool) {
	if t == nil {
		return Symbol{}, false
	}
	i := sort.Search(len(t.data), func(i int) bool { return t.data[i].Addr > addr })
	for n := 0; i > 0 && n < 16; n++ {
		i--
		if s := t.data[i]; addr-s.Addr < s.Size {
			return s, true
		}
	}
	return Symbol{}, false
}

// Format renders an address as "name+0x12", or "" if no name is known.
func (t *Table) Format(addr uint32) string {
	s, ok := t.Function(addr)
	if !ok {
		s, ok = t.Object(addr)
	}
	if !ok {
		return ""
	}
	if addr == s.Addr {
		return s.Name
	}
	return fmt.Sprintf("%s+%#x", s.Name, addr-s.Addr)
}

// sectionEnd returns the end of the executable section that holds addr.
func (t *Table) sectionEnd(addr uint32) (uint32, bool) {
	for _, s := range t.exec {
		if addr >= s.lo && addr < s.hi {
			return s.hi, true
		}
	}
	return 0, false
}
