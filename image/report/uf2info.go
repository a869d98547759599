package report

import (
	"errors"
	"fmt"
	"io"
	"sort"
	"strings"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/uf2"
	"github.com/stem-hw/stem-hw/ui"
)

// UF2 is what is in a UF2 file, block by block but summed up.
type UF2 struct {
	File    string `json:"file"`
	Sectors int    `json:"sectors"`
	// Transfers are the blocks that a board may take, by family and count.
	Transfers []Transfer `json:"transfers"`
	// Dropped are sectors that every RP2350 ignores.
	Dropped []Dropped `json:"dropped"`
	// Erratum are the sectors with the block of erratum RP2350-E10.
	Erratum []uint32 `json:"erratum_e10_blocks,omitempty"`
}

// Transfer is a set of blocks with one family and one count.
type Transfer struct {
	Family   string   `json:"family"`
	ID       Addr     `json:"family_id"`
	Text     string   `json:"family_text,omitempty"`
	Blocks   int      `json:"blocks"`
	Total    uint32   `json:"total"`
	Complete bool     `json:"complete"`
	Missing  string   `json:"missing,omitempty"`
	Beyond   int      `json:"numbers_beyond_total,omitempty"`
	Repeated int      `json:"repeated,omitempty"`
	Ranges   []Range  `json:"ranges"`
	Tags     []string `json:"tags,omitempty"`
	MD5      int      `json:"md5_fields,omitempty"`
	InOrder  bool     `json:"in_order"`
	first    int
	seen     []uint64
	last     int64
	lo, hi   uint64
}

// Range is an address range; End is exclusive.
type Range struct {
	Start Addr `json:"start"`
	End   Addr `json:"end"`
}

// Dropped is a set of sectors that are ignored for one reason.
type Dropped struct {
	Reason  string   `json:"reason"`
	Count   int      `json:"count"`
	Sectors []uint32 `json:"-"`
	Which   string   `json:"sectors"`
}

// Kind is "uf2-info".
func (*UF2) Kind() string { return "uf2-info" }

const (
	maxTransfers = 64
	maxTracked   = 1 << 20 // block numbers kept per transfer: 256 MiB
	maxRanges    = 64
	maxTags      = 16
)

// ReadUF2 reads a UF2 stream of any length with a bounded amount of memory.
func ReadUF2(name string, r io.Reader) (*UF2, error) {
	u := &UF2{File: name, Transfers: []Transfer{}, Dropped: []Dropped{}}
	rd := uf2.NewReader(r)
	for {
		s, err := rd.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, &faults.Fault{Code: faults.CodeFileAccess, Status: faults.StatusImage, Summary: name + ": cannot read the file", Err: err}
		}
		u.Sectors++
		switch {
		case s.Reason != uf2.ReasonNone:
			u.drop(string(s.Reason), uint32(s.Index))
		case s.Block.IsErratumBlock():
			if len(u.Erratum) < maxRanges {
				u.Erratum = append(u.Erratum, uint32(s.Index))
			}
		default:
			u.add(&s.Block, s.Index)
		}
	}
	if len(u.Transfers) == 0 && len(u.Erratum) == 0 && u.only(string(uf2.ReasonNotUF2)) {
		return nil, &faults.Fault{Code: faults.CodeBadImage, Status: faults.StatusImage,
			Summary: name + ": this is not a UF2 file", Seen: "no UF2 block", Wanted: "512-byte blocks that begin with \"UF2\"",
			Try: []string{"stem-hw uf2 convert " + name + " out.uf2", "stem-hw info " + name}}
	}
	for i := range u.Transfers {
		u.Transfers[i].finish()
	}
	for i := range u.Dropped {
		d := &u.Dropped[i]
		d.Which = numbers(d.Sectors, d.Count)
	}
	return u, nil
}

func (u *UF2) only(reason string) bool {
	for _, d := range u.Dropped {
		if d.Reason != reason {
			return false
		}
	}
	return true
}

func (u *UF2) drop(reason string, index uint32) {
	for i := range u.Dropped {
		if d := &u.Dropped[i]; d.Reason == reason {
			d.Count++
			if len(d.Sectors) < 4096 {
				d.Sectors = append(d.Sectors, index)
			}
			return
		}
	}
	u.Dropped = append(u.Dropped, Dropped{Reason: reason, Count: 1, Sectors: []uint32{index}})
}

func (u *UF2) add(b *uf2.Block, index int) {
	var t *Transfer
	for i := range u.Transfers {
		if x := &u.Transfers[i]; uint32(x.ID) == b.Family && x.Total == b.Total {
			t = x
		}
	}
	if t == nil {
		if len(u.Transfers) == maxTransfers {
			u.drop("one of too many transfers in a file", uint32(index))
			return
		}
		u.Transfers = append(u.Transfers, Transfer{Family: uf2.FamilyName(b.Family), ID: Addr(b.Family), first: index,
			Text: uf2.FamilyText(b.Family), Total: b.Total, InOrder: true, last: -1, Ranges: []Range{}})
		t = &u.Transfers[len(u.Transfers)-1]
	}
	t.Blocks++
	if int64(b.Number) <= t.last {
		t.InOrder = false
	}
	t.last = int64(b.Number)
	switch {
	case b.Number >= b.Total:
		t.Beyond++
	case b.Number < maxTracked:
		for int(b.Number/64) >= len(t.seen) {
			t.seen = append(t.seen, 0)
		}
		if t.seen[b.Number/64]>>(b.Number%64)&1 != 0 {
			t.Repeated++
		}
		t.seen[b.Number/64] |= 1 << (b.Number % 64)
	}
	t.address(uint64(b.Addr), uint64(b.Addr)+uint64(b.Size))
	if b.Flags&uf2.FlagMD5 != 0 {
		t.MD5++
	}
	for _, tag := range b.Tags() {
		s := tag.Text()
		if len(t.Tags) < maxTags && !contains(t.Tags, s) {
			t.Tags = append(t.Tags, s)
		}
	}
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// address adds a range; the running one grows as long as blocks follow each
// other.
func (t *Transfer) address(lo, hi uint64) {
	switch {
	case t.hi == 0:
		t.lo, t.hi = lo, hi
	case lo == t.hi:
		t.hi = hi
	default:
		t.flush()
		t.lo, t.hi = lo, hi
	}
}

func (t *Transfer) flush() {
	t.Ranges = append(t.Ranges, Range{Addr(t.lo), Addr(uint32(t.hi))})
	if len(t.Ranges) > 2*maxRanges {
		t.Ranges = joinRanges(t.Ranges)
		if len(t.Ranges) > maxRanges {
			t.Ranges = []Range{{t.Ranges[0].Start, t.Ranges[len(t.Ranges)-1].End}}
		}
	}
}

func joinRanges(in []Range) []Range {
	sort.Slice(in, func(i, j int) bool { return in[i].Start < in[j].Start })
	out := in[:0]
	for _, r := range in {
		if n := len(out); n > 0 && r.Start <= out[n-1].End {
			out[n-1].End = max(out[n-1].End, r.End)
			continue
		}
		out = append(out, r)
	}
	return out
}

func (t *Transfer) finish() {
	if t.hi != 0 {
		t.flush()
	}
	t.Ranges = joinRanges(t.Ranges)
	var missing []uint32
	n := 0
	limit := min(t.Total, maxTracked)
	for i := range limit {
		if int(i/64) < len(t.seen) && t.seen[i/64]>>(i%64)&1 != 0 {
			continue
		}
		n++
		if len(missing) < 4096 {
			missing = append(missing, i)
		}
	}
	n += int(t.Total - limit)
	t.Complete = n == 0
	if n > 0 {
		t.Missing = numbers(missing, n)
	}
}

// numbers writes ascending numbers as "3, 5-9"; count is how many there are in
// all.
func numbers(list []uint32, count int) string {
	var parts []string
	shown := 0
	for i := 0; i < len(list) && len(parts) < 8; {
		j := i
		for j+1 < len(list) && list[j+1] == list[j]+1 {
			j++
		}
		if j > i {
			parts = append(parts, fmt.Sprintf("%d-%d", list[i], list[j]))
		} else {
			parts = append(parts, fmt.Sprint(list[i]))
		}
		shown += j - i + 1
		i = j + 1
	}
	s := strings.Join(parts, ", ")
	if shown < count {
		s += fmt.Sprintf(" and %d more", count-shown)
	}
	return s
}

// AllTransfers returns the transfers, that of the erratum block included.
func (u *UF2) AllTransfers() []Transfer {
	if len(u.Erratum) == 0 {
		return u.Transfers
	}
	e := Transfer{Family: uf2.FamilyName(uf2.FamilyAbsolute), ID: uf2.FamilyAbsolute, Blocks: len(u.Erratum), Total: 2}
	return append([]Transfer{e}, u.Transfers...)
}

// Text is a table of transfers, then what is wrong or unusual.
func (u *UF2) Text(t *ui.Text) {
	t.Heading(fmt.Sprintf("%s: %d blocks of 512 bytes", u.File, u.Sectors))
	t.Head("  family", "blocks", "complete", "addresses", "for")
	for _, x := range u.Transfers {
		complete := "yes"
		if !x.Complete {
			complete = "NO"
		}
		for i, r := range x.Ranges {
			if i == 0 {
				t.Row("  "+x.Family, fmt.Sprintf("%d of %d", x.Blocks, x.Total), complete, r.Start.String()+"-"+r.End.String(), x.Text)
			} else {
				t.Row("", "", "", r.Start.String()+"-"+r.End.String())
			}
		}
	}
	for _, x := range u.Transfers {
		if x.Missing != "" {
			t.Linef("note: family %s: block number %s is missing; a board would wait for ever", x.Family, x.Missing)
		}
		if x.Beyond > 0 {
			t.Linef("note: family %s: %d block numbers are beyond the count of %d", x.Family, x.Beyond, x.Total)
		}
		if x.Repeated > 0 {
			t.Linef("note: family %s: %d block numbers come twice; a board takes the first of each", x.Family, x.Repeated)
		}
		if !x.InOrder {
			t.Linef("note: family %s: the blocks are not in order, which a board accepts", x.Family)
		}
		if x.MD5 > 0 {
			t.Linef("note: family %s: %d blocks carry an MD5 field, which a board does not look at", x.Family, x.MD5)
		}
		for _, tag := range x.Tags {
			t.Linef("note: family %s: %s", x.Family, tag)
		}
	}
	for _, d := range u.Dropped {
		t.Linef("note: %s ignored by every RP2350: %s", blocks(d.Which, d.Count), d.Reason)
	}
	if len(u.Erratum) > 0 {
		t.Linef("note: %s for erratum RP2350-E10: erases the last 4 KiB of a smaller flash", blocks(numbers(u.Erratum, len(u.Erratum)), len(u.Erratum)))
	}
}

func blocks(which string, n int) string {
	if n == 1 {
		return "block " + which
	}
	return "blocks " + which
}
