package report

import (
	"github.com/stem-hw/stem-hw/image/boot"
	"github.com/stem-hw/stem-hw/uf2"
)

// board is the memory of a board while a file is played to its drive: only
// sectors that were written take room.
type board struct {
	flash map[uint32]*[boot.SectorSize]byte // by sector address
	ram   map[uint32]*[boot.PageSize]byte   // by page address
	size  uint32                            // of the flash
}

func newBoard(size uint32) *board {
	return &board{map[uint32]*[boot.SectorSize]byte{}, map[uint32]*[boot.PageSize]byte{}, size}
}

// wrap maps an address past the end of the flash onto it, as the chip does.
func (b *board) wrap(addr uint32) uint32 {
	if b.size == 0 {
		return addr
	}
	return boot.FlashBase + (addr-boot.FlashBase)%b.size
}

// ReadAt reads at a bus address.
func (b *board) ReadAt(p []byte, addr int64) (int, error) {
	for i := range p {
		p[i] = b.at(uint32(addr) + uint32(i))
	}
	return len(p), nil
}

func (b *board) at(a uint32) byte {
	if a >= boot.FlashBase && a < boot.FlashEnd {
		a = b.wrap(a)
		if s := b.flash[a&^(boot.SectorSize-1)]; s != nil {
			return s[a%boot.SectorSize]
		}
		return 0xff
	}
	if s := b.ram[a&^(boot.PageSize-1)]; s != nil {
		return s[a%boot.PageSize]
	}
	return 0
}

func (b *board) sector(addr uint32) *[boot.SectorSize]byte {
	a := b.wrap(addr) &^ (boot.SectorSize - 1)
	s := b.flash[a]
	if s == nil {
		s = new([boot.SectorSize]byte)
		b.flash[a] = s
		erase(s)
	}
	return s
}

func erase(s *[boot.SectorSize]byte) {
	for i := range s {
		s[i] = 0xff
	}
}

// apply carries out what the drive decided about a block.
func (b *board) apply(w boot.Write, blk *uf2.Block) {
	if !w.Taken {
		return
	}
	data := blk.Data[:boot.PageSize]
	if w.RAM {
		for i, c := range data {
			a := w.Addr + uint32(i)
			p := b.ram[a&^(boot.PageSize-1)]
			if p == nil {
				p = new([boot.PageSize]byte)
				b.ram[a&^(boot.PageSize-1)] = p
			}
			p[a%boot.PageSize] = c
		}
		return
	}
	if w.HasErase {
		erase(b.sector(w.Erase))
	}
	s := b.sector(w.Addr)
	off := b.wrap(w.Addr) % boot.SectorSize
	for i, c := range data {
		s[off+uint32(i)] &= c // programming only clears bits
	}
}

// load writes contents as if they had always been there.
func (b *board) load(addr uint32, data []byte) {
	for i, c := range data {
		a := addr + uint32(i)
		b.sector(a)[b.wrap(a)%boot.SectorSize] = c
	}
}
