package symbols

import "debug/dwarf"

// Row is one row of the line table that begins a statement: code from Addr up
// to End belongs to a line.
type Row struct {
	Addr, End uint32
	File      string
	Line      int
}

// maxRows bounds what a line table may give.
const maxRows = 1 << 22

// Rows calls f for every row of the line tables that covers code and begins a
// statement, in the order of the file.
func (t *Table) Rows(f func(Row)) {
	if t == nil {
		return
	}
	t.load()
	done := map[dwarf.Offset]bool{}
	n := 0
	for i := range t.units {
		u := &t.units[i]
		if done[u.entry.Offset] {
			continue
		}
		done[u.entry.Offset] = true
		r, err := t.dwarf.LineReader(u.entry)
		if err != nil || r == nil {
			continue
		}
		var last dwarf.LineEntry
		open := false
		for ; n < maxRows; n++ {
			var e dwarf.LineEntry
			if err := r.Next(&e); err != nil { // io.EOF too
				break
			}
			if open && e.Address > last.Address && last.File != nil && last.Line > 0 {
				f(Row{Addr: uint32(last.Address), End: uint32(e.Address), File: last.File.Name, Line: last.Line})
			}
			// Rows that begin no statement belong to the row before.
			switch {
			case e.EndSequence:
				open = false
			case e.IsStmt || !open:
				last, open = e, true
			}
		}
	}
}

// Functions calls f for every function of the symbol table, by address.
func (t *Table) Functions(f func(Symbol)) {
	if t == nil {
		return
	}
	for _, s := range t.code {
		if s.Func && s.Size > 0 {
			f(s)
		}
	}
}
