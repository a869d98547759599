package binaryinfo

import (
	"bytes"
	"encoding/binary"
	"sort"
)

const (
	markerStart = 0x7188ebf2
	markerEnd   = 0xe71aa390

	// Tag is Raspberry Pi's tag, 'R' 'P'.
	Tag = 0x5052

	maxPointers = 4096
	maxString   = 1024
	maxCopies   = 256
)

// Entry types, from structure.h.
const (
	typeIDInt     = 5
	typeIDString  = 6
	typeBlockDev  = 7
	typePins      = 8
	typePinNames  = 9
	typeGroup     = 10
	typePtrInt    = 11
	typePtrString = 12
	typePins64    = 13
	typePinName64 = 14
)

// IDs under Tag, from structure.h.
const (
	idName       = 0x02031c86
	idVersion    = 0x11a9bc3a
	idDate       = 0x9da22254
	idEnd        = 0x68f465de
	idURL        = 0x1856239a
	idText       = 0xb6a07c19
	idFeature    = 0xa1f4b453
	idAttribute  = 0x4275f0d3
	idSDK        = 0x5360b3ab
	idBoard      = 0xb63cffbb
	idBoot2      = 0x7f8882e1
	groupIfEmpty = 1
	groupCommas  = 2
	groupSort    = 4
)

// Info is what a program says about itself.
type Info struct {
	// Header is the address of the header.
	Header uint32 `json:"-"`

	Name            string        `json:"name,omitempty"`
	Version         string        `json:"version,omitempty"`
	URL             string        `json:"url,omitempty"`
	Description     string        `json:"description,omitempty"`
	Features        []string      `json:"features,omitempty"`
	Groups          []Group       `json:"groups,omitempty"`
	BinaryEnd       uint32        `json:"-"`
	Devices         []BlockDevice `json:"embedded_drives,omitempty"`
	Pins            []Pin         `json:"pins,omitempty"`
	SDKVersion      string        `json:"sdk_version,omitempty"`
	Board           string        `json:"pico_board,omitempty"`
	Boot2           string        `json:"boot2_name,omitempty"`
	BuildDate       string        `json:"build_date,omitempty"`
	BuildAttributes []string      `json:"build_attributes,omitempty"`
	// Unreadable counts entries that could not be read or have an unknown type.
	Unreadable int `json:"unreadable,omitempty"`
}

// Group is a named group of values.
type Group struct {
	Label  string  `json:"label"`
	Commas bool    `json:"-"`
	Values []Value `json:"values"`
}

// Value is one value of a group. Label is empty for a plain string.
type Value struct {
	Label string  `json:"label,omitempty"`
	Int   *int32  `json:"int,omitempty"`
	Text  *string `json:"text,omitempty"`
}

// BlockDevice is a file system or other area the program keeps in flash.
type BlockDevice struct {
	Name    string `json:"name"`
	Address uint32 `json:"address"`
	Size    uint32 `json:"size"`
	Read    bool   `json:"read"`
	Write   bool   `json:"write"`
	Format  bool   `json:"reformat"`
	// Scheme is "mbr", "gpt", "none", or "" if it is not known.
	Scheme string `json:"partition_scheme,omitempty"`
}

// Pin is what the program does with one pin.
type Pin struct {
	GPIO  int      `json:"gpio"`
	Names []string `json:"names"`
}

// ReadFunc copies memory at an address into p and reports whether all of it
// was there.
type ReadFunc func(p []byte, addr uint32) bool

type copyRow struct{ from, to, end uint32 }

type reader struct {
	read   ReadFunc
	copies []copyRow
	info   *Info
	pins   map[int][]string
	groups map[groupKey]*Group
	order  []groupKey
	flags  map[groupKey]uint16
}

type groupKey struct {
	tag uint16
	id  uint32
}

// Find looks for a header in the first words of a program and reads all
// entries; nil if there is no header.
func Find(read ReadFunc, start uint32, words int) *Info {
	buf := make([]byte, 4)
	word := func(i int) (uint32, bool) {
		if !read(buf, start+uint32(4*i)) {
			return 0, false
		}
		return binary.LittleEndian.Uint32(buf), true
	}
	for i := 0; i+5 <= words; i++ {
		if w, ok := word(i); !ok || w != markerStart {
			continue
		}
		var h [5]uint32
		for k := range h {
			h[k], _ = word(i + k)
		}
		if h[4] != markerEnd || h[2] < h[1] || (h[2]-h[1])%4 != 0 {
			continue
		}
		r := &reader{read: read, info: &Info{Header: start + uint32(4*i)},
			pins: map[int][]string{}, groups: map[groupKey]*Group{}, flags: map[groupKey]uint16{}}
		r.copyTable(h[3])
		r.all(h[1], h[2])
		return r.info
	}
	return nil
}

func (r *reader) copyTable(addr uint32) {
	if addr == 0 {
		return
	}
	var row [12]byte
	for range maxCopies {
		if !r.read(row[:], addr) {
			return
		}
		le := binary.LittleEndian
		c := copyRow{le.Uint32(row[0:]), le.Uint32(row[4:]), le.Uint32(row[8:])}
		if c.from == 0 {
			return
		}
		r.copies = append(r.copies, c)
		addr += 12
	}
}

// bytes reads memory by run-time address.
func (r *reader) bytes(p []byte, addr uint32) bool {
	for _, c := range r.copies {
		if addr >= c.to && addr < c.end {
			return r.read(p, addr-c.to+c.from)
		}
	}
	return r.read(p, addr)
}

func (r *reader) words(addr uint32, n int) ([]uint32, bool) {
	b := make([]byte, 4*n)
	if !r.bytes(b, addr) {
		return nil, false
	}
	out := make([]uint32, n)
	for i := range out {
		out[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return out, true
}

func (r *reader) text(addr uint32, limit int) string {
	if addr == 0 {
		return ""
	}
	var out []byte
	var piece [32]byte
	for len(out) < limit {
		p := piece[:]
		if !r.bytes(p, addr) {
			// The end of memory may be near: byte by byte.
			p = piece[:1]
			if !r.bytes(p, addr) {
				break
			}
		}
		if i := bytes.IndexByte(p, 0); i >= 0 {
			out = append(out, p[:i]...)
			break
		}
		out = append(out, p...)
		addr += uint32(len(p))
	}
	if len(out) > limit {
		out = out[:limit]
	}
	return string(bytes.ToValidUTF8(out, []byte("\ufffd")))
}

// all reads the entries twice: groups first, because values name them.
func (r *reader) all(start, end uint32) {
	n := min(int((end-start)/4), maxPointers)
	ptrs, ok := r.words(start, n)
	if !ok {
		r.info.Unreadable = n
		return
	}
	for _, p := range ptrs {
		if h, ok := r.words(p, 1); ok && h[0]&0xffff == typeGroup {
			r.group(p, uint16(h[0]>>16))
		}
	}
	for _, p := range ptrs {
		if !r.entry(p) {
			r.info.Unreadable++
		}
	}
	r.finish()
}

func (r *reader) group(addr uint32, tag uint16) {
	w, ok := r.words(addr, 5)
	// Only groups of program features are shown, as everyone does.
	if !ok || tag != Tag || w[1] != idFeature {
		return
	}
	k := groupKey{uint16(w[2] >> 16), w[3]}
	if r.groups[k] == nil {
		r.order = append(r.order, k)
	}
	r.flags[k] = uint16(w[2])
	r.groups[k] = &Group{Label: r.text(w[4], maxString), Commas: w[2]&groupCommas != 0, Values: []Value{}}
}

func (r *reader) entry(addr uint32) bool {
	h, ok := r.words(addr, 1)
	if !ok {
		return false
	}
	typ, tag := uint16(h[0]), uint16(h[0]>>16)
	size := map[uint16]int{typeIDInt: 3, typeIDString: 3, typeBlockDev: 6, typePins: 2, typePinNames: 3,
		typeGroup: 5, typePtrInt: 4, typePtrString: 5, typePins64: 3, typePinName64: 4}[typ]
	if size == 0 {
		return false
	}
	w, ok := r.words(addr, size)
	if !ok {
		return false
	}
	switch typ {
	case typeIDInt:
		r.number(tag, w[1], int32(w[2]))
	case typeIDString:
		r.str(tag, w[1], r.text(w[2], maxString))
	case typePtrInt:
		if v, ok := r.words(w[2], 1); ok {
			n := int32(v[0])
			r.value(groupKey{tag, w[1]}, Value{Label: r.text(w[3], maxString), Int: &n})
		}
	case typePtrString:
		s := r.text(w[2], int(min(w[4], maxString)))
		r.value(groupKey{tag, w[1]}, Value{Label: r.text(w[3], maxString), Text: &s})
	case typeBlockDev:
		r.device(w)
	case typePins:
		r.pinsFunc(uint64(w[1]), 5, 4, 7, 5)
	case typePins64:
		r.pinsFunc(uint64(w[1])|uint64(w[2])<<32, 8, 5, 8, 7)
	case typePinNames:
		r.pinNames(uint64(w[1]), r.text(w[2], maxString))
	case typePinName64:
		r.pinNames(uint64(w[1])|uint64(w[2])<<32, r.text(w[3], maxString))
	}
	return true
}

func (r *reader) value(k groupKey, v Value) {
	if g := r.groups[k]; g != nil {
		g.Values = append(g.Values, v)
	}
}

func (r *reader) number(tag uint16, id uint32, v int32) {
	if tag == Tag && id == idEnd {
		r.info.BinaryEnd = uint32(v)
	}
}

func (r *reader) str(tag uint16, id uint32, s string) {
	if k := (groupKey{tag, id}); r.groups[k] != nil {
		r.value(k, Value{Text: &s})
		return
	}
	if tag != Tag {
		return
	}
	i := r.info
	one := map[uint32]*string{idName: &i.Name, idVersion: &i.Version, idDate: &i.BuildDate, idURL: &i.URL,
		idText: &i.Description, idSDK: &i.SDKVersion, idBoard: &i.Board, idBoot2: &i.Boot2}[id]
	switch {
	case one != nil:
		*one = s
	case id == idFeature:
		i.Features = append(i.Features, s)
	case id == idAttribute:
		i.BuildAttributes = append(i.BuildAttributes, s)
	}
}

func (r *reader) device(w []uint32) {
	f := w[5]
	d := BlockDevice{Name: r.text(w[1], maxString), Address: w[2], Size: w[3],
		Read: f&1 != 0, Write: f&2 != 0, Format: f&4 != 0}
	d.Scheme = []string{"", "mbr", "gpt", "none"}[f>>4&3]
	r.info.Devices = append(r.info.Devices, d)
}

func (r *reader) finish() {
	for _, k := range r.order {
		g := r.groups[k]
		if len(g.Values) == 0 && r.flags[k]&groupIfEmpty == 0 {
			continue
		}
		if r.flags[k]&groupSort != 0 {
			sort.SliceStable(g.Values, func(a, b int) bool { return g.Values[a].key() < g.Values[b].key() })
		}
		r.info.Groups = append(r.info.Groups, *g)
	}
	for n, names := range r.pins {
		sort.Strings(names)
		r.info.Pins = append(r.info.Pins, Pin{n, names})
	}
	sort.Slice(r.info.Pins, func(a, b int) bool { return r.info.Pins[a].GPIO < r.info.Pins[b].GPIO })
}

func (v Value) key() string {
	if v.Label == "" && v.Text != nil {
		return *v.Text
	}
	return v.Label
}
