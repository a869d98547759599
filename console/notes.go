package console

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"

	"github.com/stem-hw/stem-hw/symbols"
)

// Notes finds addresses of a program in what it prints, and says where they are in
// its source: a panic, a fault handler or a back trace prints numbers.
type Notes struct {
	table *symbols.Table
	line  []byte
	// long says that the line is too long to be looked at.
	long bool
}

// maxNoteLine bounds a line that is looked at.
const maxNoteLine = 4096

// NewNotes returns notes for a program with these symbols.
func NewNotes(t *symbols.Table) *Notes { return &Notes{table: t} }

// hexNumber is an address as programs print it: eight digits, with or without 0x.
var hexNumber = regexp.MustCompile(`\b(?:0[xX])?([0-9a-fA-F]{8})\b`)

// Put takes what was printed and returns the notes on the lines that ended.
func (n *Notes) Put(p []byte) (notes []string) {
	for len(p) > 0 {
		i := bytes.IndexAny(p, "\r\n")
		part := p
		if i >= 0 {
			part = p[:i]
		}
		if len(n.line)+len(part) > maxNoteLine {
			n.long, n.line = true, nil
		}
		if !n.long {
			n.line = append(n.line, part...)
		}
		if i < 0 {
			return notes
		}
		notes = append(notes, n.look(string(n.line))...)
		n.line, n.long = n.line[:0], false
		p = p[i+1:]
	}
	return notes
}

// look notes the addresses of one line.
func (n *Notes) look(line string) (notes []string) {
	seen := map[uint32]bool{}
	for _, m := range hexNumber.FindAllStringSubmatch(line, -1) {
		v, err := strconv.ParseUint(m[1], 16, 32)
		addr := uint32(v) &^ 1 // the Thumb bit of a code address
		if err != nil || seen[addr] {
			continue
		}
		seen[addr] = true
		fn, ok := n.table.Function(addr)
		if !ok {
			continue
		}
		text := fmt.Sprintf("0x%08x: %s", addr, fn.Name)
		if off := addr - fn.Addr; off > 0 {
			text += fmt.Sprintf("+0x%x", off)
		}
		if file, row, ok := n.table.Line(addr); ok {
			text += fmt.Sprintf(" at %s:%d", file, row)
		}
		notes = append(notes, text)
	}
	return notes
}
