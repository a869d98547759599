package uf2

import (
	"crypto/md5"
	"encoding/binary"
	"encoding/hex"
	"fmt"
)

// Types of extension tags (UF2 specification, "Extension tags"; the last one
// is Raspberry Pi's: a flashing tool should ignore the block).
const (
	TagVersion     = 0x9fc7bc
	TagDescription = 0x650d9d
	TagPageSize    = 0x0be9f7
	TagSHA2        = 0xb46db0
	TagDeviceType  = 0xc8a729
	TagIgnoreBlock = 0x9957e3
)

// Tag is one extension tag.
type Tag struct {
	Type uint32
	Data []byte
}

// Text shows a tag for people.
func (t Tag) Text() string {
	switch t.Type {
	case TagVersion:
		return "firmware version " + printable(t.Data)
	case TagDescription:
		return "device " + printable(t.Data)
	case TagPageSize:
		return "page size " + uintText(t.Data)
	case TagSHA2:
		return "SHA-2 checksum " + hex.EncodeToString(t.Data)
	case TagDeviceType:
		return "device type 0x" + reverseHex(t.Data)
	case TagIgnoreBlock:
		return "ignore this block"
	}
	return fmt.Sprintf("tag 0x%06x, %d bytes", t.Type, len(t.Data))
}

func printable(b []byte) string { return fmt.Sprintf("%q", string(b)) }

func uintText(b []byte) string {
	var v uint64
	for i := min(len(b), 8) - 1; i >= 0; i-- {
		v = v<<8 | uint64(b[i])
	}
	return fmt.Sprint(v)
}

func reverseHex(b []byte) string {
	r := make([]byte, len(b))
	for i, c := range b {
		r[len(b)-1-i] = c
	}
	return hex.EncodeToString(r)
}

// Tags returns the extension tags of a block, as far as they are well formed.
func (b *Block) Tags() []Tag {
	if b.Flags&FlagTags == 0 || b.Size > DataSize {
		return nil
	}
	end := DataSize
	if b.Flags&FlagMD5 != 0 {
		end -= 24
	}
	var tags []Tag
	for off := int(b.Size+3) &^ 3; off+4 <= end; {
		word := binary.LittleEndian.Uint32(b.Data[off:])
		n := int(word & 0xff)
		if word == 0 || n < 4 || off+n > end {
			break
		}
		tags = append(tags, Tag{word >> 8, append([]byte(nil), b.Data[off+4:off+n]...)})
		off += (n + 3) &^ 3
	}
	return tags
}

// SetTags writes extension tags behind the payload and sets the flag. It
// reports whether they fit.
func (b *Block) SetTags(tags ...Tag) bool {
	off := int(b.Size+3) &^ 3
	for _, t := range tags {
		n := 4 + len(t.Data)
		if n > 255 || off+(n+3)&^3 > DataSize {
			return false
		}
		binary.LittleEndian.PutUint32(b.Data[off:], t.Type<<8|uint32(n))
		copy(b.Data[off+4:], t.Data)
		off += (n + 3) &^ 3
	}
	b.Flags |= FlagTags
	return true
}

// HasIgnoreTag reports whether the block tells flashing tools to ignore it.
func (b *Block) HasIgnoreTag() bool {
	for _, t := range b.Tags() {
		if t.Type == TagIgnoreBlock {
			return true
		}
	}
	return false
}

// MD5Field is the checksum field of a block with FlagMD5: a loader may skip
// the region if its contents already have this digest.
type MD5Field struct {
	Start, Size uint32
	Digest      [md5.Size]byte
}

// MD5 returns the checksum field, and false if the block has none.
func (b *Block) MD5() (MD5Field, bool) {
	if b.Flags&FlagMD5 == 0 {
		return MD5Field{}, false
	}
	f := MD5Field{
		Start: binary.LittleEndian.Uint32(b.Data[DataSize-24:]),
		Size:  binary.LittleEndian.Uint32(b.Data[DataSize-20:]),
	}
	copy(f.Digest[:], b.Data[DataSize-16:])
	return f, true
}

// IsErratumBlock reports whether the block is the absolute-family block that
// goes first in files for RP2350 A2 boards with a partition table (erratum
// RP2350-E10): one page of 0xEF in the last page of 16 MiB, number 0 of 2,
// with or without its ignore tag. Readers skip it. Source: picotool,
// elf2uf2/elf2uf2.cpp, and boot ROM A2, src/nsboot/usb_virtual_disk.c.
func (b *Block) IsErratumBlock() bool {
	if b.Family != FamilyAbsolute || !b.HasFamily() || b.Number != 0 || b.Total != 2 || b.Size != PayloadSize {
		return false
	}
	if b.HasIgnoreTag() {
		return true
	}
	for _, c := range b.Payload() {
		if c != 0xef {
			return false
		}
	}
	return true
}

// ErratumBlockAddr is where the erratum block goes by default: the last page
// of the largest flash. On a smaller flash the address wraps around and the
// chip erases the last 4 KiB sector.
const ErratumBlockAddr = 0x10ffff00

// ErratumBlock returns the block of erratum RP2350-E10 for an address.
func ErratumBlock(addr uint32) Block {
	b := Block{Flags: FlagFamily, Addr: addr, Size: PayloadSize, Total: 2, Family: FamilyAbsolute}
	for i := range b.Data[:PayloadSize] {
		b.Data[i] = 0xef
	}
	b.SetTags(Tag{Type: TagIgnoreBlock})
	return b
}
