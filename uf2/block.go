package uf2

import (
	"encoding/binary"
)

// BlockSize is the size of a block, and of the disk sectors it travels in.
const BlockSize = 512

// PayloadSize is the payload of every block that an RP2040 or RP2350 accepts.
const PayloadSize = 256

// DataSize is the room for payload, tags and MD5 field in a block.
const DataSize = 476

// The three magic words (UF2 specification, "File format").
const (
	MagicStart0 = 0x0a324655
	MagicStart1 = 0x9e5d5157
	MagicEnd    = 0x0ab16f30
)

// Flags of a block (UF2 specification, "Flags").
const (
	FlagNotMainFlash  = 0x00000001 // comment or other content a loader skips
	FlagFileContainer = 0x00001000 // the block holds a part of a file
	FlagFamily        = 0x00002000 // the family field is valid
	FlagMD5           = 0x00004000 // the last 24 bytes of data are an MD5 field
	FlagTags          = 0x00008000 // extension tags follow the payload
)

// Block is one decoded UF2 block.
type Block struct {
	// Flags are the Flag bits.
	Flags uint32
	// Addr is the address of the first payload byte.
	Addr uint32
	// Size is the payload size the block states; it may exceed DataSize in a
	// damaged file.
	Size uint32
	// Number is the block's own number, and Total the stated number of blocks.
	Number, Total uint32
	// Family is the family field: a family with FlagFamily, else a file size.
	Family uint32
	// Data are the payload, the tags and the MD5 field.
	Data [DataSize]byte
}

// HasFamily reports whether the family field is valid.
func (b *Block) HasFamily() bool { return b.Flags&FlagFamily != 0 }

// Payload returns the payload, cut to the room a block has.
func (b *Block) Payload() []byte { return b.Data[:min(b.Size, DataSize)] }

// Magic says which of the magic words of a sector are right.
type Magic struct {
	// Start0, Start1 and End are true where the word is right.
	Start0, Start1, End bool
}

// OK reports whether all three words are right.
func (m Magic) OK() bool { return m.Start0 && m.Start1 && m.End }

// MagicOf checks the magic words of a 512-byte sector; shorter input has none
// of the words that are missing.
func MagicOf(sector []byte) Magic {
	word := func(off int, want uint32) bool {
		return len(sector) >= off+4 && binary.LittleEndian.Uint32(sector[off:]) == want
	}
	return Magic{word(0, MagicStart0), word(4, MagicStart1), word(508, MagicEnd)}
}

// Decode reads the fields of a 512-byte sector, whatever its magic words say.
// It panics if the sector is shorter than BlockSize.
func (b *Block) Decode(sector []byte) {
	_ = sector[BlockSize-1]
	le := binary.LittleEndian
	b.Flags = le.Uint32(sector[8:])
	b.Addr = le.Uint32(sector[12:])
	b.Size = le.Uint32(sector[16:])
	b.Number = le.Uint32(sector[20:])
	b.Total = le.Uint32(sector[24:])
	b.Family = le.Uint32(sector[28:])
	copy(b.Data[:], sector[32:508])
}

// Encode writes the block, with its magic words, into a 512-byte sector.
// It panics if the sector is shorter than BlockSize.
func (b *Block) Encode(sector []byte) {
	_ = sector[BlockSize-1]
	le := binary.LittleEndian
	le.PutUint32(sector[0:], MagicStart0)
	le.PutUint32(sector[4:], MagicStart1)
	le.PutUint32(sector[8:], b.Flags)
	le.PutUint32(sector[12:], b.Addr)
	le.PutUint32(sector[16:], b.Size)
	le.PutUint32(sector[20:], b.Number)
	le.PutUint32(sector[24:], b.Total)
	le.PutUint32(sector[28:], b.Family)
	copy(sector[32:508], b.Data[:])
	le.PutUint32(sector[508:], MagicEnd)
}

// Drop says why the block alone, before any address is looked at, makes an
// RP2350's BOOTSEL drive ignore it. Source: RP2350 boot ROM A2,
// src/nsboot/usb_virtual_disk.c.
func (b *Block) Drop() Reason {
	switch {
	case b.Flags&FlagFamily == 0:
		return ReasonNoFamily
	case b.Flags&FlagNotMainFlash != 0:
		return ReasonNotMainFlash
	case b.Size != PayloadSize:
		return ReasonPayloadSize
	}
	return ReasonNone
}

// Reason is why a sector is ignored, in a few words; empty if it is not.
type Reason string

// The reasons a sector's own fields give.
const (
	ReasonNone         Reason = ""
	ReasonNotUF2       Reason = "not a UF2 block (start magic missing)"
	ReasonEndMagic     Reason = "wrong end magic"
	ReasonShort        Reason = "cut off in the middle of the block"
	ReasonNoFamily     Reason = "no family flag"
	ReasonNotMainFlash Reason = "marked not for main flash"
	ReasonPayloadSize  Reason = "payload is not 256 bytes"
)
