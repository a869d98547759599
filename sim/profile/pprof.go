package profile

import (
	"compress/gzip"
	"fmt"
	"io"
	"sort"

	"github.com/stem-hw/stem-hw/symbols"
)

// Pprof writes the profile: cycles and instructions by place and callers, with
// the label core. program names the ELF file, nanos is the simulated time.
func (c *Collector) Pprof(w io.Writer, program string, nanos int64) error {
	p := newProfile(c.syms, program)
	for i, cc := range c.cores {
		p.samples(cc.root, nil, i)
	}
	z := gzip.NewWriter(w)
	if _, err := z.Write(p.encode(nanos)); err != nil {
		return err
	}
	return z.Close()
}

// The numbers of the fields that are written (google/pprof, proto/profile.proto).
const (
	profileSampleType = 1
	profileSample     = 2
	profileMapping    = 3
	profileLocation   = 4
	profileFunction   = 5
	profileStrings    = 6
	profileDuration   = 10
	profilePeriodType = 11
	profilePeriod     = 12
	profileDefault    = 14
)

// profileFile is a profile being made.
type profileFile struct {
	syms    *symbols.Table
	strings map[string]uint64
	list    []string
	funcs   map[[2]string]uint64 // by name and file
	locs    map[location]uint64
	message // everything that needs no order
	program string
	body    message
}

// location is an address; for handlers of interrupts the caller is marked.
type location struct {
	pc uint32
}

func newProfile(syms *symbols.Table, program string) *profileFile {
	p := &profileFile{
		syms: syms, strings: map[string]uint64{"": 0}, list: []string{""},
		funcs: map[[2]string]uint64{}, locs: map[location]uint64{}, program: program,
	}
	return p
}

func (p *profileFile) str(s string) uint64 {
	if n, ok := p.strings[s]; ok {
		return n
	}
	n := uint64(len(p.list))
	p.strings[s] = n
	p.list = append(p.list, s)
	return n
}

// samples writes those of a node and what it called; stack are the locations of
// its callers, innermost first.
func (p *profileFile) samples(n *node, stack []uint64, core int) {
	type executed struct {
		pc uint32
		k  count
	}
	var own []executed
	n.each(func(pc uint32, k count) { own = append(own, executed{pc, k}) })
	sort.Slice(own, func(i, j int) bool { return own[i].pc < own[j].pc })
	for _, e := range own {
		var ids, vals, label, m message
		ids.raw(p.location(e.pc))
		for _, id := range stack {
			ids.raw(id)
		}
		vals.raw(e.k.cycles)
		vals.raw(e.k.times)
		// A number, so that pprof takes "core=1" for what it says: a range.
		label.number(1, p.str("core"))
		label.number(3, uint64(core))
		label.number(4, p.str("core"))
		m.bytes(1, ids.b)
		m.bytes(2, vals.b)
		m.bytes(3, label.b)
		p.body.bytes(profileSample, m.b)
	}
	edges := make([]edge, 0, len(n.children))
	for e := range n.children {
		edges = append(edges, e)
	}
	sort.Slice(edges, func(i, j int) bool {
		a, b := edges[i], edges[j]
		if a.call != b.call {
			return a.call < b.call
		}
		return a.entry < b.entry || a.entry == b.entry && !a.interrupt && b.interrupt
	})
	for _, e := range edges {
		ch := n.children[e]
		next := stack
		switch {
		case e.interrupt:
			// An interrupt is nobody's work: its handler has no callers.
			next = nil
		case e.call != 0:
			next = append([]uint64{p.location(e.call)}, stack...)
		}
		p.samples(ch, next, core)
	}
}

// location returns the number of an address, with the lines inlined there.
func (p *profileFile) location(pc uint32) uint64 {
	if id, ok := p.locs[location{pc}]; ok {
		return id
	}
	id := uint64(len(p.locs) + 1)
	p.locs[location{pc}] = id
	var m message
	m.number(1, id)
	m.number(2, 1)
	m.number(3, uint64(pc))
	for _, fr := range p.syms.Frames(pc) {
		name := fr.Function
		if name == "" {
			name = fmt.Sprintf("%#08x", pc&^0xff)
		}
		var l message
		l.number(1, p.function(name, fr.File))
		l.number(2, uint64(max(fr.Line, 0)))
		m.bytes(4, l.b)
	}
	p.message.bytes(profileLocation, m.b)
	return id
}

func (p *profileFile) function(name, file string) uint64 {
	k := [2]string{name, file}
	if id, ok := p.funcs[k]; ok {
		return id
	}
	id := uint64(len(p.funcs) + 1)
	p.funcs[k] = id
	var m message
	m.number(1, id)
	m.number(2, p.str(name))
	m.number(3, p.str(name))
	m.number(4, p.str(file))
	p.message.bytes(profileFunction, m.b)
	return id
}

// encode puts the parts together.
func (p *profileFile) encode(nanos int64) []byte {
	var out message
	kind := func(field int, name string) {
		var m message
		m.number(1, p.str(name))
		m.number(2, p.str("count"))
		out.bytes(field, m.b)
	}
	kind(profileSampleType, "cycles")
	kind(profileSampleType, "instructions")
	out.b = append(out.b, p.body.b...)
	var m message
	m.number(1, 1)
	m.number(2, 0)
	m.number(3, 1<<32)
	m.number(5, p.str(p.program))
	for f := 7; f <= 10; f++ { // functions, files, lines, inlined calls are known
		m.number(f, 1)
	}
	out.bytes(profileMapping, m.b)
	out.b = append(out.b, p.message.b...)
	kind(profilePeriodType, "cycles")
	out.number(profilePeriod, 1)
	out.number(profileDuration, uint64(nanos))
	out.number(profileDefault, p.str("cycles"))
	for _, s := range p.list {
		out.bytes(profileStrings, []byte(s))
	}
	return out.b
}

// message is a protocol buffer being written.
type message struct{ b []byte }

func (m *message) raw(v uint64) {
	for v >= 0x80 {
		m.b = append(m.b, byte(v)|0x80)
		v >>= 7
	}
	m.b = append(m.b, byte(v))
}

func (m *message) number(field int, v uint64) {
	m.raw(uint64(field) << 3)
	m.raw(v)
}

func (m *message) bytes(field int, p []byte) {
	m.raw(uint64(field)<<3 | 2)
	m.raw(uint64(len(p)))
	m.b = append(m.b, p...)
}
