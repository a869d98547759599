package symbols

import (
	"bytes"
	"debug/dwarf"
	"debug/elf"
	"path"
	"sort"
	"strings"
)

// Frame is one place in the source.
type Frame struct {
	// PC is the address it stands for.
	PC uint32 `json:"pc"`
	// Function is the name of the function, empty if unknown.
	Function string `json:"function,omitempty"`
	// Offset is PC less the start of the function.
	Offset uint32 `json:"offset,omitempty"`
	// File and Line are the place in the source, empty and 0 if unknown.
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
	// Inlined is true if the function was inlined into the next frame's.
	Inlined bool `json:"inlined,omitempty"`
}

// unit is a compilation unit with the ranges it covers.
type unit struct {
	lo, hi uint32
	entry  *dwarf.Entry
}

// Limits on what one question may cost, for files that are not what they seem.
const (
	maxUnits   = 1 << 16
	maxEntries = 1 << 20
	maxInline  = 32
)

// load reads DWARF and the call frames once.
func (t *Table) load() {
	t.once.Do(func() {
		f, err := elf.NewFile(bytes.NewReader(t.raw))
		if err != nil {
			return
		}
		defer f.Close()
		t.frames = loadFrames(f)
		d, err := f.DWARF()
		if err != nil {
			return
		}
		t.dwarf = d
		r := d.Reader()
		for n := 0; n < maxUnits; n++ {
			e, err := r.Next()
			if err != nil || e == nil {
				break
			}
			if e.Tag == dwarf.TagCompileUnit {
				ranges, err := d.Ranges(e)
				if err == nil {
					for _, rg := range ranges {
						if rg[1] > rg[0] {
							t.units = append(t.units, unit{uint32(rg[0]), uint32(rg[1]), e})
						}
					}
				}
			}
			r.SkipChildren()
		}
		sort.SliceStable(t.units, func(i, j int) bool { return t.units[i].lo < t.units[j].lo })
	})
}

// Frames returns what addr stands for: the innermost inlined call first, the
// function that is really there last. There is at least one frame.
func (t *Table) Frames(addr uint32) []Frame {
	out := Frame{PC: addr}
	if t == nil {
		return []Frame{out}
	}
	if s, ok := t.Function(addr); ok {
		out.Function, out.Offset = s.Name, addr-s.Addr
	}
	t.load()
	u := t.unitOf(addr)
	if u == nil {
		return []Frame{out}
	}
	file, line, files := t.line(u, addr)
	calls := t.inlined(u, addr)
	frames := make([]Frame, 0, len(calls)+1)
	for _, c := range calls {
		frames = append(frames, Frame{PC: addr, Function: c.name, File: file, Line: line, Inlined: true})
		file, line = "", c.line
		if c.file >= 0 && c.file < len(files) && files[c.file] != nil {
			file = files[c.file].Name
		}
	}
	out.File, out.Line = file, line
	return append(frames, out)
}

// Line returns the place in the source of addr.
func (t *Table) Line(addr uint32) (file string, line int, ok bool) {
	if t == nil {
		return "", 0, false
	}
	t.load()
	u := t.unitOf(addr)
	if u == nil {
		return "", 0, false
	}
	file, line, _ = t.line(u, addr)
	return file, line, line > 0
}

func (t *Table) unitOf(addr uint32) *unit {
	i := sort.Search(len(t.units), func(i int) bool { return t.units[i].lo > addr })
	for n := 0; i > 0 && n < 16; n++ {
		i--
		if u := &t.units[i]; addr < u.hi {
			return u
		}
	}
	return nil
}

func (t *Table) line(u *unit, addr uint32) (string, int, []*dwarf.LineFile) {
	r, err := t.dwarf.LineReader(u.entry)
	if err != nil || r == nil {
		return "", 0, nil
	}
	var e dwarf.LineEntry
	if err := r.SeekPC(uint64(addr), &e); err != nil || e.File == nil {
		return "", 0, r.Files()
	}
	return e.File.Name, e.Line, r.Files()
}

type inlineCall struct {
	name       string
	file, line int
}

// inlined returns the inlined calls that addr is in, innermost first.
func (t *Table) inlined(u *unit, addr uint32) []inlineCall {
	r := t.dwarf.Reader()
	r.Seek(u.entry.Offset)
	if e, err := r.Next(); err != nil || e == nil || !e.Children {
		return nil
	}
	var calls []inlineCall
	depth := 1
	for n := 0; n < maxEntries && depth > 0; n++ {
		e, err := r.Next()
		if err != nil || e == nil {
			break
		}
		if e.Tag == 0 {
			depth--
			continue
		}
		inside := false
		switch e.Tag {
		case dwarf.TagSubprogram, dwarf.TagInlinedSubroutine:
			inside = t.covers(e, addr)
			if inside && e.Tag == dwarf.TagInlinedSubroutine && len(calls) < maxInline {
				c := inlineCall{name: t.entryName(e), file: -1}
				if v, ok := e.Val(dwarf.AttrCallFile).(int64); ok {
					c.file = int(v)
				}
				if v, ok := e.Val(dwarf.AttrCallLine).(int64); ok {
					c.line = int(v)
				}
				calls = append([]inlineCall{c}, calls...)
			}
		case dwarf.TagLexDwarfBlock, dwarf.TagNamespace:
			inside = true
		}
		if !e.Children {
			continue
		}
		if inside {
			depth++
		} else {
			r.SkipChildren()
		}
	}
	return calls
}

func (t *Table) covers(e *dwarf.Entry, addr uint32) bool {
	ranges, err := t.dwarf.Ranges(e)
	if err != nil {
		return false
	}
	for _, rg := range ranges {
		if uint64(addr) >= rg[0] && uint64(addr) < rg[1] {
			return true
		}
	}
	return false
}

// entryName is the name of a function, through its abstract origin.
func (t *Table) entryName(e *dwarf.Entry) string {
	for n := 0; n < 4; n++ {
		if s, ok := e.Val(dwarf.AttrName).(string); ok {
			return s
		}
		off, ok := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset)
		if !ok {
			off, ok = e.Val(dwarf.AttrSpecification).(dwarf.Offset)
		}
		if !ok {
			break
		}
		r := t.dwarf.Reader()
		r.Seek(off)
		next, err := r.Next()
		if err != nil || next == nil {
			break
		}
		e = next
	}
	return ""
}

// String renders a frame: "0x10000234  main+0x12  blink.c:34".
func (f Frame) String() string {
	var b strings.Builder
	b.WriteString(hex32(f.PC))
	if f.Function != "" {
		b.WriteString("  " + f.Function)
		switch {
		case f.Inlined:
			b.WriteString(" (inlined)")
		case f.Offset != 0:
			b.WriteString("+0x" + hexTrim(f.Offset))
		}
	}
	if f.File != "" {
		b.WriteString("  " + f.Place())
	}
	return b.String()
}

// Place is the file's last element and the line: "blink.c:34".
func (f Frame) Place() string {
	if f.File == "" || f.Line <= 0 {
		return ""
	}
	return path.Base(f.File) + ":" + itoa(f.Line)
}
