package picobin

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Markers and size limits of a block. Source: pico-sdk,
// src/common/boot_picobin_headers/include/boot/picobin.h.
const (
	MarkerStart = 0xffffded3
	MarkerEnd   = 0xab123579

	MaxBlockSize          = 0x280 // bytes, of any block
	MaxImageDefSize       = 0x180 // bytes, of an image definition
	MaxPartitionTableSize = 0x280 // bytes, of a partition table
)

// Item types, without the size bit (bit 7). Source: picobin.h.
const (
	ItemNextBlock      = 0x41 // obsolete
	ItemImageType      = 0x42
	ItemVectorTable    = 0x03
	ItemEntryPoint     = 0x44
	ItemRollingWindow  = 0x05
	ItemLoadMap        = 0x06
	ItemHashDef        = 0x47
	ItemVersion        = 0x48
	ItemSignature      = 0x09
	ItemPartitionTable = 0x0a
	ItemHashValue      = 0x4b
	ItemSalt           = 0x0c
	ItemIgnored        = 0x7e
	ItemLast           = 0x7f
)

// ItemType returns the type of an item from its header word, without the bit
// that tells the size of the size field.
func ItemType(header uint32) byte { return byte(header) & 0x7f }

// ItemWords returns the number of words an item header states, itself
// included.
func ItemWords(header uint32) int {
	if header&0x80 != 0 {
		return int(uint16(header >> 8))
	}
	return int(uint8(header >> 8))
}

// Item is one item of a block.
type Item struct {
	// Type is the type without the size bit.
	Type byte
	// Index is the word index of the header in the block.
	Index int
	// Words are the item's words, the header first.
	Words []uint32
}

// Aux is byte 3 of the header: a count or a subtype.
func (it Item) Aux() byte { return byte(it.Words[0] >> 24) }

// Block is one block whose structure is sound.
type Block struct {
	// Words are all words from start to end marker.
	Words []uint32
	// Items are the items before the last one.
	Items []Item
	// Link is the signed byte offset from this block to the next.
	Link int32
}

// Errors about a block's structure.
var (
	ErrStart    = errors.New("start marker missing")
	ErrZeroSize = errors.New("an item of size 0")
	ErrSize     = errors.New("the item sizes do not add up")
	ErrEnd      = errors.New("end marker missing")
	ErrCut      = errors.New("the block is cut off")
)

// Parse reads the block at the beginning of words.
func Parse(words []uint32) (*Block, error) {
	if len(words) == 0 || words[0] != MarkerStart {
		return nil, ErrStart
	}
	var items []Item
	for pos := 1; ; {
		if pos >= len(words) || pos*4 >= MaxBlockSize {
			return nil, ErrCut
		}
		h := words[pos]
		n := ItemWords(h)
		if n == 0 && byte(h) != 0xff {
			return nil, ErrZeroSize
		}
		if byte(h) == 0xff {
			if n != pos-1 {
				return nil, ErrSize
			}
			if pos+2 >= len(words) {
				return nil, ErrCut
			}
			if words[pos+2] != MarkerEnd {
				return nil, ErrEnd
			}
			return &Block{Words: words[:pos+3], Items: items, Link: int32(words[pos+1])}, nil
		}
		if pos+n > len(words) {
			return nil, ErrCut
		}
		items = append(items, Item{Type: ItemType(h), Index: pos, Words: words[pos : pos+n]})
		pos += n
	}
}

// Find returns the first item of a type, or nil.
func (b *Block) Find(typ byte) *Item {
	for i := range b.Items {
		if b.Items[i].Type == typ {
			return &b.Items[i]
		}
	}
	return nil
}

// Size is the block's size in bytes.
func (b *Block) Size() int { return 4 * len(b.Words) }

// LastIndex is the word index of the last item: what the boot ROM calls the
// block's size.
func (b *Block) LastIndex() int { return len(b.Words) - 3 }

// Bytes encodes words.
func Bytes(words []uint32) []byte {
	out := make([]byte, 4*len(words))
	for i, w := range words {
		binary.LittleEndian.PutUint32(out[4*i:], w)
	}
	return out
}

// Words decodes bytes; a rest of less than a word is dropped.
func Words(b []byte) []uint32 {
	out := make([]uint32, len(b)/4)
	for i := range out {
		out[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return out
}

// Builder builds a block item by item.
type Builder struct {
	words []uint32
}

// Item appends an item: its type, byte 3 of the header, and its content. A
// block has at most 160 words, so that the one-byte size always suffices.
func (b *Builder) Item(typ, aux byte, content ...uint32) *Builder {
	if len(b.words) == 0 {
		b.words = []uint32{MarkerStart}
	}
	n := uint32(len(content) + 1)
	b.words = append(b.words, uint32(aux)<<24|n<<8|uint32(typ))
	b.words = append(b.words, content...)
	return b
}

// Raw appends words as they are: whole items.
func (b *Builder) Raw(words ...uint32) *Builder {
	if len(b.words) == 0 {
		b.words = []uint32{MarkerStart}
	}
	b.words = append(b.words, words...)
	return b
}

// Len is the number of words so far, the start marker included.
func (b *Builder) Len() int { return max(len(b.words), 1) }

// Words finishes the block with a link.
func (b *Builder) Words(link int32) ([]uint32, error) {
	n := b.Len() - 1
	if n == 0 {
		return nil, errors.New("picobin: a block needs an item")
	}
	w := append(append([]uint32(nil), b.words...), 0xff|uint32(n)<<8, uint32(link), MarkerEnd)
	if len(w)*4 > MaxBlockSize {
		return nil, fmt.Errorf("picobin: block of %d bytes, at most %d are allowed", len(w)*4, MaxBlockSize)
	}
	return w, nil
}
