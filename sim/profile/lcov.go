package profile

import (
	"bufio"
	"fmt"
	"io"
	"sort"

	"github.com/stem-hw/stem-hw/symbols"
)

// totals is how often each instruction was executed, and its cycles, by core.
func (c *Collector) totals(core int) map[uint32]count {
	all := map[uint32]count{}
	var walk func(n *node)
	walk = func(n *node) {
		n.each(func(pc uint32, k count) {
			t := all[pc]
			t.times += k.times
			t.cycles += k.cycles
			all[pc] = t
		})
		for _, ch := range n.children {
			walk(ch)
		}
	}
	walk(c.cores[core].root)
	return all
}

// each calls f for every instruction of a node that was executed.
func (n *node) each(f func(pc uint32, k count)) {
	for i, k := range n.counts {
		if k.times > 0 {
			f(n.lo+2*uint32(i), k)
		}
	}
	for pc, k := range n.others {
		f(pc, *k)
	}
}

// sourceFile is what is known of one file.
type sourceFile struct {
	lines map[int]uint64
	funcs []sourceFunc
}

type sourceFunc struct {
	name  string
	line  int
	count uint64
}

// Coverage writes how often each line of the program was executed, by all cores,
// as an lcov trace file. It reports false if the program has no line table.
func (c *Collector) Coverage(w io.Writer) (lines bool, err error) {
	times := map[uint32]uint64{}
	for i := range c.cores {
		for pc, k := range c.totals(i) {
			times[pc] += k.times
		}
	}
	files := map[string]*sourceFile{}
	file := func(name string) *sourceFile {
		f := files[name]
		if f == nil {
			f = &sourceFile{lines: map[int]uint64{}}
			files[name] = f
		}
		return f
	}
	c.syms.Rows(func(r symbols.Row) {
		f := file(r.File)
		f.lines[r.Line] = max(f.lines[r.Line], times[r.Addr])
	})
	if len(files) == 0 {
		return false, nil
	}
	c.syms.Functions(func(s symbols.Symbol) {
		if name, line, ok := c.syms.Line(s.Addr); ok {
			f := file(name)
			f.funcs = append(f.funcs, sourceFunc{s.Name, line, times[s.Addr]})
		}
	})
	b := bufio.NewWriter(w)
	names := make([]string, 0, len(files))
	for n := range files {
		names = append(names, n)
	}
	sort.Strings(names)
	for _, n := range names {
		files[n].write(b, n)
	}
	return true, b.Flush()
}

func (f *sourceFile) write(w *bufio.Writer, name string) {
	// Errors stay in the bufio.Writer until Flush.
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(w, format, args...) }
	say("TN:\nSF:%s\n", name)
	sort.Slice(f.funcs, func(i, j int) bool {
		a, b := f.funcs[i], f.funcs[j]
		return a.line < b.line || a.line == b.line && a.name < b.name
	})
	hit := 0
	for _, fn := range f.funcs {
		say("FN:%d,%s\n", fn.line, fn.name)
	}
	for _, fn := range f.funcs {
		say("FNDA:%d,%s\n", fn.count, fn.name)
		if fn.count > 0 {
			hit++
		}
	}
	say("FNF:%d\nFNH:%d\n", len(f.funcs), hit)
	lines := make([]int, 0, len(f.lines))
	for l := range f.lines {
		lines = append(lines, l)
	}
	sort.Ints(lines)
	hit = 0
	for _, l := range lines {
		say("DA:%d,%d\n", l, f.lines[l])
		if f.lines[l] > 0 {
			hit++
		}
	}
	say("LF:%d\nLH:%d\nend_of_record\n", len(lines), hit)
}
