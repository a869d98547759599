package image

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sort"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/uf2"
)

// uf2Block is what is kept of one block: where it goes, where its payload is
// in the arena.
type uf2Block struct {
	family, number, total, addr uint32
	index, arena                uint32
}

// uf2File collects the blocks of a stream.
type uf2File struct {
	blocks  []uf2Block
	arena   []byte
	parts   []FamilyPart
	dropped map[uf2.Reason][]uint32
	erratum []uint32
	sectors int
}

// looksLikeUF2 reports whether data is a UF2 file: its first sector has the
// start magic words, or most of its sectors are whole blocks (something else
// may have got in front of them).
func looksLikeUF2(data []byte) bool {
	if m := uf2.MagicOf(data); m.Start0 && m.Start1 {
		return true
	}
	if len(data) < 2*uf2.BlockSize {
		return false
	}
	good, all := 0, 0
	for off := 0; off+uf2.BlockSize <= len(data); off += uf2.BlockSize {
		all++
		if uf2.MagicOf(data[off : off+uf2.BlockSize]).OK() {
			good++
		}
	}
	return good*2 >= all && good > 0
}

// readUF2 reads a UF2 stream of about size bytes. Memory is bounded by half
// the stream, the time is linear but for blocks that are out of order.
func readUF2(path string, r io.Reader, size int64, opt Options) (*Image, error) {
	u := &uf2File{dropped: map[uf2.Reason][]uint32{}}
	if n := size / uf2.BlockSize; n > 0 {
		u.blocks = make([]uf2Block, 0, n)
		u.arena = make([]byte, 0, n*uf2.PayloadSize)
	}
	if err := u.read(path, r); err != nil {
		return nil, err
	}
	family, err := u.choose(path, opt)
	if err != nil {
		return nil, err
	}
	return u.image(path, family)
}

func (u *uf2File) read(path string, r io.Reader) error {
	rd := uf2.NewReader(r)
	for {
		s, err := rd.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return &faults.Fault{Code: faults.CodeFileAccess, Status: faults.StatusImage,
				Summary: where(path) + "cannot read the file", Err: err}
		}
		u.sectors++
		if s.Reason == uf2.ReasonShort {
			return badImage(path, "the UF2 file is cut off in the middle of a block",
				fmt.Sprintf("block %d is not complete", s.Index), "a multiple of 512 bytes").
				WithTry("copy or build the file again")
		}
		if s.Reason != uf2.ReasonNone {
			u.dropped[s.Reason] = append(u.dropped[s.Reason], uint32(s.Index))
			continue
		}
		b := &s.Block
		if b.IsErratumBlock() {
			u.erratum = append(u.erratum, uint32(s.Index))
			continue
		}
		if b.HasIgnoreTag() {
			u.dropped[reasonIgnoreTag] = append(u.dropped[reasonIgnoreTag], uint32(s.Index))
			continue
		}
		u.part(b.Family, s.Index)
		u.blocks = append(u.blocks, uf2Block{b.Family, b.Number, b.Total, b.Addr, uint32(s.Index), uint32(len(u.arena))})
		u.arena = append(u.arena, b.Payload()...)
	}
}

const reasonIgnoreTag uf2.Reason = "tagged to be ignored by flashing tools"

func (u *uf2File) part(family uint32, index int) {
	for i := range u.parts {
		if u.parts[i].Family == family {
			u.parts[i].Blocks++
			return
		}
	}
	// A file of random families must not grow this list without bound.
	if len(u.parts) < 64 {
		u.parts = append(u.parts, FamilyPart{Family: family, Name: uf2.FamilyName(family), Blocks: 1, First: index})
	}
}

// choose picks the family to use: the one asked for, the one of the CPU asked
// for, else the first program for an RP2350, else the first of all.
func (u *uf2File) choose(path string, opt Options) (uint32, error) {
	has := func(f uint32) bool {
		for _, p := range u.parts {
			if p.Family == f {
				return true
			}
		}
		return false
	}
	if len(u.parts) == 0 {
		f := badImage(path, "a board would ignore every block of this UF2 file",
			fmt.Sprintf("%d blocks, none usable", u.sectors), "blocks of 256 bytes with a family")
		f.Details = u.reasons()
		return 0, f
	}
	if opt.Family != 0 {
		if !has(opt.Family) {
			return 0, &faults.Fault{Code: faults.CodeWrongMachine, Status: faults.StatusImage,
				Summary: where(path) + "the UF2 file holds nothing for the family asked for",
				Seen:    u.partNames(), Wanted: uf2.FamilyName(opt.Family)}
		}
		return opt.Family, nil
	}
	switch {
	case opt.Arch == ArchRISCV && has(uf2.FamilyRP2350RISCV):
		return uf2.FamilyRP2350RISCV, nil
	case opt.Arch == ArchARM && has(uf2.FamilyRP2350ArmS):
		return uf2.FamilyRP2350ArmS, nil
	}
	for _, p := range u.parts {
		if p.Family == uf2.FamilyRP2350ArmS || p.Family == uf2.FamilyRP2350RISCV {
			return p.Family, nil
		}
	}
	for _, f := range []uint32{uf2.FamilyRP2350ArmNS, uf2.FamilyAbsolute, uf2.FamilyData} {
		if has(f) {
			return f, nil
		}
	}
	return u.parts[0].Family, nil
}

func (u *uf2File) partNames() string {
	var b bytes.Buffer
	for i, p := range u.parts {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(p.Name)
	}
	return b.String()
}

// reasons lists what was dropped and why.
func (u *uf2File) reasons() []string {
	var out []string
	for r, n := range u.dropped {
		out = append(out, fmt.Sprintf("%s: %s", blockList(n), r))
	}
	sort.Strings(out)
	return out
}

// image builds the image of one family.
func (u *uf2File) image(path string, family uint32) (*Image, error) {
	im := &Image{Path: path, Format: FormatUF2, Family: family}
	switch family {
	case uf2.FamilyRP2350ArmS, uf2.FamilyRP2350ArmNS, uf2.FamilyRP2040:
		im.Arch = ArchARM
	case uf2.FamilyRP2350RISCV:
		im.Arch = ArchRISCV
	}
	blocks := make([]uf2Block, 0, len(u.blocks))
	for _, b := range u.blocks {
		if b.family == family {
			blocks = append(blocks, b)
		}
	}
	for _, p := range u.parts {
		if p.Family != family {
			im.Others = append(im.Others, p)
		}
	}
	if err := u.checkNumbers(path, family, blocks); err != nil {
		return nil, err
	}
	if err := checkAddresses(path, family, blocks); err != nil {
		return nil, err
	}
	var segs []Segment
	for _, b := range blocks {
		data := u.arena[b.arena : b.arena+uf2.PayloadSize : b.arena+uf2.PayloadSize]
		if n := len(segs); n > 0 && segs[n-1].End() == uint64(b.addr) {
			// Neighbours in the arena are joined without a copy.
			p := &segs[n-1]
			start := b.arena - uint32(len(p.Data))
			if int(b.arena) >= len(p.Data) && &u.arena[start] == &p.Data[0] {
				end := b.arena + uf2.PayloadSize
				p.Data = u.arena[start:end:end]
				continue
			}
		}
		segs = append(segs, Segment{Addr: b.addr, Data: data, Name: fmt.Sprintf("block %d", b.index)})
	}
	var err error
	if im.Segments, err = normalise(path, segs); err != nil {
		return nil, err
	}
	im.Segments = joinTouching(im.Segments)
	if len(u.erratum) > 0 {
		im.warn(fmt.Sprintf("%s skipped: the extra page for erratum RP2350-E10; a board with it erases the last 4 KiB of its flash", blockList(u.erratum)))
	}
	for _, r := range u.reasons() {
		im.warn(r + ", so a board ignores it")
	}
	return im, nil
}

// checkNumbers makes sure that a board would see every block of the transfer.
func (u *uf2File) checkNumbers(path string, family uint32, blocks []uf2Block) error {
	total := blocks[0].total
	for _, b := range blocks {
		if b.total != total {
			return badImage(path, "the UF2 file holds several transfers for one family",
				fmt.Sprintf("blocks %d and %d of family %s state %d and %d blocks",
					blocks[0].index, b.index, uf2.FamilyName(family), total, b.total),
				"one count for all").WithTry("flash the files one after the other instead of joining them")
		}
	}
	byNumber := blocks
	if !sort.SliceIsSorted(blocks, func(i, j int) bool { return blocks[i].number < blocks[j].number }) {
		byNumber = append([]uf2Block(nil), blocks...)
		sort.SliceStable(byNumber, func(i, j int) bool { return byNumber[i].number < byNumber[j].number })
	}
	var missing []uint32
	nMissing, next := uint64(0), uint64(0)
	miss := func(from, to uint64) {
		nMissing += to - from
		for n := from; n < to && len(missing) < 64; n++ {
			missing = append(missing, uint32(n))
		}
	}
	for i, b := range byNumber {
		if b.number >= total {
			return badImage(path, "a UF2 block number is beyond the count",
				fmt.Sprintf("block %d is number %d of %d", b.index, b.number, total),
				fmt.Sprintf("a number below %d", total))
		}
		if i > 0 && byNumber[i-1].number == b.number {
			p := byNumber[i-1]
			same := p.addr == b.addr && bytes.Equal(u.arena[p.arena:p.arena+uf2.PayloadSize], u.arena[b.arena:b.arena+uf2.PayloadSize])
			if !same {
				return badImage(path, "two UF2 blocks have the same number but differ",
					fmt.Sprintf("blocks %d and %d are both number %d", p.index, b.index, b.number),
					"each number once (a board takes the first and ignores the other)")
			}
			continue
		}
		if uint64(b.number) > next {
			miss(next, uint64(b.number))
		}
		next = uint64(b.number) + 1
	}
	miss(next, uint64(total))
	if nMissing == 0 {
		return nil
	}
	f := badImage(path, "the UF2 file is not complete: a board would wait for ever",
		fmt.Sprintf("%d of %d blocks", uint64(total)-nMissing, total),
		"all of them")
	if nMissing <= uint64(len(missing)) {
		f.Details = append(f.Details, "missing: "+blockList(missing))
	} else {
		f.Details = append(f.Details, fmt.Sprintf("missing: %s and more, %d in all", blockList(missing), nMissing))
	}
	f.Details = append(f.Details, u.reasons()...)
	f.Try = []string{"copy or build the file again"}
	return f
}

// checkAddresses applies the address rules of an RP2350's drive to the
// families of Raspberry Pi, and to others that addresses do not wrap.
func checkAddresses(path string, family uint32, blocks []uf2Block) error {
	for _, b := range blocks {
		if uint64(b.addr)+uf2.PayloadSize > 1<<32 {
			return &faults.Fault{Code: faults.CodeImageTooLarge, Status: faults.StatusImage,
				Summary: where(path) + "a UF2 block wraps around the end of the address space",
				Seen:    fmt.Sprintf("block %d at 0x%08x", b.index, b.addr), Wanted: "an end at or below 0x100000000"}
		}
	}
	if family < uf2.FamilyRP2040 || family > uf2.FamilyRP2350ArmNS {
		return nil
	}
	mem := RP2350
	if family == uf2.FamilyRP2040 {
		mem = RP2040
	}
	first := blocks[0]
	firstRAM := mem.IsRAM(first.addr, uf2.PayloadSize)
	for _, b := range blocks {
		ram, flash := mem.IsRAM(b.addr, uf2.PayloadSize), mem.IsFlash(b.addr, uf2.PayloadSize)
		switch {
		case !ram && !flash:
			return &faults.Fault{Code: faults.CodeImageTooLarge, Status: faults.StatusImage,
				Summary: where(path) + "a UF2 block lies outside the memories of the chip",
				Seen:    fmt.Sprintf("block %d at 0x%08x", b.index, b.addr), Wanted: mem.Text()}
		case flash && b.addr%uf2.PayloadSize != 0:
			return badImage(path, "a UF2 block is not aligned, so a board ignores it",
				fmt.Sprintf("block %d at 0x%08x", b.index, b.addr), "a multiple of 256")
		case ram != firstRAM:
			return badImage(path, "the UF2 file mixes RAM and flash in one transfer, so a board ignores a part of it",
				fmt.Sprintf("block %d at 0x%08x and block %d at 0x%08x", first.index, first.addr, b.index, b.addr),
				"all blocks in flash, or all in RAM")
		}
	}
	return nil
}
