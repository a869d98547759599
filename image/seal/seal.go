package seal

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/image/boot"
	"github.com/stem-hw/stem-hw/image/picobin"
)

// Options say what to add.
type Options struct {
	// Hash adds the load map and the hash over it.
	Hash bool
	// Version is major and minor; nil keeps the one there is.
	Version *[2]uint16
}

// Result is what was added.
type Result struct {
	// Block is the address of the new block.
	Block uint32
	// Hash is the digest, if one was added.
	Hash []byte
	// ELF is the new ELF file, if the image came from one.
	ELF []byte
}

// maxEntries is how many load map entries fit into a block beside the rest;
// the boot ROM's own limit follows from the size of a block.
const maxEntries = 12

// Seal adds the block to the image in place.
func Seal(im *image.Image, o Options) (*Result, error) {
	l, base, err := findBase(im)
	if err != nil {
		return nil, err
	}
	if o.Hash {
		if err := align(im); err != nil {
			return nil, err
		}
	}
	at, err := place(im)
	if err != nil {
		return nil, err
	}
	first, last := l.Blocks[0], l.Blocks[len(l.Blocks)-1]
	// The last block of the loop leads to the new one, which leads back to
	// the first.
	link := last.Addr + uint32(last.Size) - 8
	patch := int32(at - last.Addr)
	im.Segments = append([]image.Segment(nil), im.Segments...)
	if !poke(im, link, uint32(patch)) {
		return nil, fault(im, "the block loop's last block is not in the contents", fmt.Sprintf("0x%08x", last.Addr), "a block inside the image")
	}
	words, hash, err := build(im, base, at, int32(first.Addr-at), o)
	if err != nil {
		return nil, err
	}
	data := picobin.Bytes(words)
	res := &Result{Block: at, Hash: hash}
	if im.Format == image.FormatELF {
		if res.ELF, err = patchELF(im.ELF, im.Loads, link, uint32(patch), at, data); err != nil {
			return nil, err
		}
	}
	im.Segments = append(im.Segments, image.Segment{Addr: at, Data: data, Name: "seal"})
	return res, verify(im, at, o)
}

func fault(im *image.Image, summary, seen, wanted string) *faults.Fault {
	prefix := ""
	if im.Path != "" {
		prefix = im.Path + ": "
	}
	return &faults.Fault{Code: faults.CodeNotBootable, Status: faults.StatusImage, Summary: prefix + summary, Seen: seen, Wanted: wanted}
}

// findBase returns the block loop and the image definition to repeat.
func findBase(im *image.Image) (*boot.Loop, *boot.Block, error) {
	cpu := boot.Arm
	if im.Arch == image.ArchRISCV {
		cpu = boot.RISCV
	}
	l := im.Loop(cpu)
	switch {
	case l == nil || !l.Valid:
		why := "contents in no memory that the boot ROM searches"
		if l != nil {
			why = l.Problem
		}
		return nil, nil, fault(im, "the image has no block loop to hang a seal into", why, "an image built with the pico-sdk, or with an image definition").
			WithTry("stem-hw info " + im.Path)
	case l.Image == nil:
		return nil, nil, fault(im, "the block loop holds no image definition", "none", "one to seal")
	case l.Image.Rejected != "":
		return nil, nil, fault(im, "the boot ROM does not use the image definition", l.Image.Rejected, "one for the RP2350")
	}
	for _, f := range l.Blocks {
		if b := f.Block; b != nil && (len(b.HashValue) > 0 || len(b.Signature) > 0) {
			return nil, nil, fault(im, "the image is sealed already", fmt.Sprintf("a hash or signature at 0x%08x", b.Addr), "an image as the compiler made it").
				WithTry("seal the file that this one was made of")
		}
	}
	return l, l.Image, nil
}

// align makes every part begin at a word, as load maps need it, and joins
// parts that touch. Where that takes bytes that are not in the file, they are
// what a converter fills gaps with; an ELF file cannot take them.
func align(im *image.Image) error {
	lo, _ := im.Bounds()
	fill := byte(0xff)
	if !image.RP2350.IsFlash(lo, 1) {
		fill = 0
	}
	var out []image.Segment
	invented := uint64(0)
	extend := func(p *image.Segment, gap uint64, data []byte) {
		d := append([]byte(nil), p.Data...)
		for range gap {
			d = append(d, fill)
		}
		p.Data = append(d, data...)
		invented += gap
	}
	for _, s := range im.Segments {
		if n := len(out); n > 0 {
			p := &out[n-1]
			if gap := uint64(s.Addr) - p.End(); gap == 0 || gap < uint64(s.Addr%4)+1 && s.Addr%4 != 0 {
				extend(p, gap, s.Data)
				continue
			}
		}
		if lead := s.Addr % 4; lead != 0 {
			head := image.Segment{Addr: s.Addr - lead, Name: s.Name}
			extend(&head, uint64(lead), s.Data)
			s = head
		}
		out = append(out, s)
	}
	for len(out) > maxEntries {
		best, gap := 0, ^uint64(0)
		for i := 1; i < len(out); i++ {
			if g := uint64(out[i].Addr) - out[i-1].End(); g < gap {
				best, gap = i, g
			}
		}
		if gap > 1<<20 {
			return fault(im, "the image has too many parts far apart for a load map", fmt.Sprint(len(out)), fmt.Sprintf("at most %d", maxEntries))
		}
		extend(&out[best-1], gap, out[best].Data)
		out = append(out[:best], out[best+1:]...)
	}
	if invented > 0 && im.Format == image.FormatELF {
		return fault(im, "the parts of this ELF file cannot be covered by a load map", fmt.Sprintf("%d bytes of gaps between them", invented),
			"parts that begin at whole words, at most 12").WithTry("convert it first: stem-hw uf2 convert " + im.Path + " app.uf2, then seal that")
	}
	im.Segments = out
	return nil
}

// place finds room for the block behind the image. In RAM it lies behind the
// program's own cleared memory where that leaves room.
func place(im *image.Image) (uint32, error) {
	_, end := im.Bounds()
	lo, _ := im.Bounds()
	kind := image.RP2350.KindOf(lo, 1)
	at := (end + 3) &^ 3
	if kind == image.KindRAM {
		top := at
		for _, z := range im.Zones {
			if image.RP2350.KindOf(z.Addr, 1) == image.KindRAM && z.Addr < 0x20080000 {
				top = max(top, (uint64(z.Addr)+uint64(z.Size)+3)&^3)
			}
		}
		if image.RP2350.KindOf(uint32(top), picobin.MaxImageDefSize) == image.KindRAM {
			at = top
		}
	}
	if at > 0xffffffff || image.RP2350.KindOf(uint32(at), picobin.MaxImageDefSize) != kind {
		return 0, &faults.Fault{Code: faults.CodeImageTooLarge, Status: faults.StatusImage,
			Summary: im.Path + ": there is no room for the seal behind the image",
			Seen:    fmt.Sprintf("an image that ends at 0x%08x", end), Wanted: fmt.Sprintf("%d bytes behind it", picobin.MaxImageDefSize)}
	}
	return uint32(at), nil
}

// poke changes a word of the contents, in a copy of its segment.
func poke(im *image.Image, addr, word uint32) bool {
	for i, s := range im.Segments {
		if addr >= s.Addr && uint64(addr)+4 <= s.End() {
			data := append([]byte(nil), s.Data...)
			binary.LittleEndian.PutUint32(data[addr-s.Addr:], word)
			im.Segments[i].Data = data
			return true
		}
	}
	return false
}

// build makes the new block.
func build(im *image.Image, base *boot.Block, at uint32, link int32, o Options) ([]uint32, []byte, error) {
	var b picobin.Builder
	pos := 1
	for pos < len(base.Words) {
		n := picobin.ItemWords(base.Words[pos])
		item := base.Words[pos : pos+n]
		typ := picobin.ItemType(item[0])
		switch {
		case typ == picobin.ItemHashDef, typ == picobin.ItemNextBlock, typ == picobin.ItemIgnored:
		case typ == picobin.ItemLoadMap:
			b.Item(picobin.ItemLoadMap, byte(len(base.Loads)), rebase(base, at+4*uint32(b.Len()))...)
		case typ == picobin.ItemVersion && o.Version != nil && item[0]>>24 == 0:
		case typ == picobin.ItemImageType && base.TBYB:
			b.Raw(item[0] | 0x80000000) // the reader clears the flag
		default:
			b.Raw(item...)
		}
		pos += n
	}
	if o.Version != nil {
		b.Item(picobin.ItemVersion, 0, uint32(o.Version[0])<<16|uint32(o.Version[1]))
	}
	var hash []byte
	if o.Hash {
		if len(base.Loads) == 0 {
			item := at + 4*uint32(b.Len())
			var body []uint32
			for _, s := range im.Segments {
				body = append(body, s.Addr-item, s.Addr, uint32(len(s.Data)))
			}
			b.Item(picobin.ItemLoadMap, byte(len(im.Segments)), body...)
		}
		b.Item(picobin.ItemHashDef, 1, uint32(b.Len()+2))
		hash = digest(im, &b, at, base)
		b.Item(picobin.ItemHashValue, 0, picobin.Words(hash)...)
	}
	w, err := b.Words(link)
	if err != nil || len(w)*4 > picobin.MaxImageDefSize {
		return nil, nil, fault(im, "the image definition has no room for the seal", fmt.Sprintf("%d words of items", b.Len()-1),
			fmt.Sprintf("at most %d bytes in all", picobin.MaxImageDefSize))
	}
	return w, hash, nil
}

// rebase turns the load map of the base block into one relative to a new
// place.
func rebase(base *boot.Block, item uint32) []uint32 {
	var body []uint32
	old, abs := base.LoadMapAt()
	for _, e := range base.Loads {
		storage, third := e.Storage, e.Third
		if abs {
			third -= e.Runtime
		} else if storage != 0 {
			storage += old
		}
		if storage != 0 {
			storage -= item
		}
		body = append(body, storage, e.Runtime, third)
	}
	return body
}

// digest computes the hash over the load map and the block's words so far.
func digest(im *image.Image, b *picobin.Builder, at uint32, base *boot.Block) []byte {
	words, _ := b.Words(0)
	n := b.Len()
	words = append([]uint32(nil), words[:n]...)
	words[1] &^= 0x80000000 // as the boot ROM does
	sum := sha256.New()
	if len(base.Loads) == 0 {
		for _, s := range im.Segments {
			sum.Write(s.Data)
			sum.Write(make([]byte, -len(s.Data)&3))
		}
	} else {
		old, abs := base.LoadMapAt()
		for _, e := range base.Loads {
			storage, size := e.Storage, e.Third
			if abs {
				size -= e.Runtime
			} else if storage != 0 {
				storage += old
			}
			if e.Storage == 0 {
				sum.Write(picobin.Bytes([]uint32{(size + 3) &^ 3}))
				continue
			}
			if size > 64<<20 {
				continue // the check afterwards refuses it
			}
			buf := make([]byte, (size+3)&^3)
			_, _ = im.Memory().ReadAt(buf[:size], int64(storage))
			sum.Write(buf)
		}
	}
	sum.Write(picobin.Bytes(words))
	return sum.Sum(nil)
}

// verify asks the boot ROM's rules whether the seal holds.
func verify(im *image.Image, at uint32, o Options) error {
	_, b, _ := lastBlock(im)
	switch {
	case b == nil || b.Addr != at:
		return fault(im, "the boot ROM would not use the seal", "another image definition wins", "the one added")
	case o.Hash:
		if v := boot.Check(im.Memory(), b, boot.Options{Chip: boot.A4}); !v.OK {
			return fault(im, "the boot ROM would not accept the seal", v.Reason, "a hash that fits")
		}
	}
	return nil
}

func lastBlock(im *image.Image) (*boot.Loop, *boot.Block, bool) {
	cpu := boot.Arm
	if im.Arch == image.ArchRISCV {
		cpu = boot.RISCV
	}
	l := im.Loop(cpu)
	if l == nil {
		return nil, nil, false
	}
	return l, l.Image, l.Valid
}
