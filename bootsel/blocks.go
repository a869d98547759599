package bootsel

import (
	"bytes"
	"slices"

	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/target/flashing"
	"github.com/stem-hw/stem-hw/uf2"
)

// blocks is an image as UF2 blocks in the order in which a boot ROM is to get
// them, in pieces: each has to have arrived before the next one is sent.
type blocks struct {
	pieces [][]byte
	count  int
}

// blocksOf makes them. The ROM erases a sector when the first of its pages comes,
// so a page of each sector that decides about what starts comes first, the rest of
// these last, and the page with the block by which a program is found at the very
// end. Block numbers stay what they are in a file.
func blocksOf(im *image.Image) (blocks, error) {
	var b bytes.Buffer
	n, err := im.WriteUF2(&b, image.WriteOptions{})
	if err != nil {
		return blocks{}, err
	}
	all := slices.Collect(slices.Chunk(b.Bytes(), uf2.BlockSize))
	def := im.Definition()
	if def == nil || !image.RP2350.IsFlash(def.Addr, 1) {
		return blocks{[][]byte{b.Bytes()}, n}, nil
	}
	addr := func(b []byte) uint32 {
		var k uf2.Block
		k.Decode(b)
		return k.Addr
	}
	sectorOf := func(a uint32) uint32 { return a &^ (flashing.SectorSize - 1) }
	begin, boot := sectorOf(addr(all[0])), sectorOf(def.Addr)
	// The sector in which the search begins is erased first and completed last.
	critical := []uint32{begin, begin + flashing.SectorSize}
	if !slices.Contains(critical, boot) {
		critical = append(critical, boot)
	}
	lastAddr := uint32(0)
	for _, k := range all {
		if sectorOf(addr(k)) == begin && bytes.Contains(k[32:32+uf2.PayloadSize], []byte{0xd3, 0xde, 0xff, 0xff}) {
			lastAddr = addr(k)
			break
		}
	}
	if boot == begin {
		lastAddr = def.Addr &^ (uf2.PayloadSize - 1)
	}
	var first, rest, late []byte
	var last []byte
	for _, s := range critical {
		began := false
		var behind []byte
		for _, k := range all {
			switch a := addr(k); {
			case sectorOf(a) != s:
			case a == lastAddr:
				last = k
			case !began:
				first, began = append(first, k...), true
			default:
				behind = append(behind, k...)
			}
		}
		late = append(behind, late...)
	}
	for _, k := range all {
		if !slices.Contains(critical, sectorOf(addr(k))) {
			rest = append(rest, k...)
		}
	}
	out := blocks{count: n}
	for _, p := range [][]byte{first, rest, late, last} {
		if len(p) > 0 {
			out.pieces = append(out.pieces, p)
		}
	}
	return out, nil
}
