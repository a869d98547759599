package boot

import (
	"crypto/sha256"
	"fmt"

	"github.com/stem-hw/stem-hw/image/picobin"
)

// Block is an image definition or a partition table as the boot ROM sees it.
type Block struct {
	// Addr is the storage address of the block's first word.
	Addr uint32
	// Words are the words before the last item, as read.
	Words []uint32
	// Window is the area it was searched in, Offset its place there.
	Window Window
	Offset uint32

	// Table is true for a partition table, else it is an image definition.
	Table bool
	// Rejected says why the ROM keeps the block but will not use it; "" if it
	// would.
	Rejected string

	// Image definitions: type, and what its items say.
	Type     picobin.ImageType
	TBYB     bool
	VTOR     uint32
	PC, SP   uint32
	SPLimit  uint32
	HasEntry bool
	Roll     int32
	Loads    []LoadEntry
	loadAt   int // word index of the load map's header
	loadAbs  bool

	// Partition tables.
	Singleton bool
	Count     int

	// Version, for the choice between slots and partitions.
	Major, Minor uint16
	HasVersion   bool
	Rollback     uint32
	RollbackRows []uint16

	// Hash and signature.
	HashSHA256 bool
	HashWords  int
	HashValue  []uint32
	PublicKey  []uint32
	Signature  []uint32
	// KeyMatch is true if the signing key is one of the chip's and everything
	// that matters is signed.
	KeyMatch bool

	slotRoll uint32
	verified verdict
	verify   *Verification
}

type verdict int

const (
	unknown verdict = iota
	passed
	failed
)

// CPU returns the CPU field of an executable image definition.
func (b *Block) CPU() CPU { return CPU(b.Type.CPU()) }

// versionText shows the version for messages.
func (b *Block) versionText() string {
	if !b.HasVersion {
		return "no version"
	}
	return fmt.Sprintf("version %d.%d", b.Major, b.Minor)
}

// newer compares versions: rollback version first, then major and minor.
func (b *Block) newer(o *Block) bool {
	if b.Rollback != o.Rollback {
		return b.Rollback > o.Rollback
	}
	return uint32(b.Major)<<16|uint32(b.Minor) > uint32(o.Major)<<16|uint32(o.Minor)
}

// LoadEntry is one entry of a load map, as stored.
type LoadEntry struct {
	Storage, Runtime, Third uint32
}

// parseBlock interprets the block at the front of the scanner's buffer. nil
// means that it is neither of the two kinds and leaves no trace. The ROM means
// to limit image definitions to 0x180 bytes, but compares words with bytes, so
// that only the buffer limits them.
func parseBlock(s *scanner, size int, o *Options) *Block {
	w := s.buf[:size]
	b := &Block{Window: s.win, Offset: 4 * s.base, Addr: s.addr(0), Words: append([]uint32(nil), w...)}
	if size < 2 {
		return nil
	}
	pos := 2
	switch {
	case picobin.ItemType(w[1]) == picobin.ItemPartitionTable && !o.OTP.SingleBinary:
		b.Table = true
		n := picobin.ItemWords(w[1])
		b.Count = int(w[1] >> 24 & 0x7f)
		b.Singleton = w[1]>>31 != 0
		if n < 2 || b.Count > maxPartitions {
			b.Rejected = fmt.Sprintf("a partition table of %d words with %d partitions (at most %d)", n, b.Count, maxPartitions)
			return b
		}
		pos = n + 1
	case uint16(w[1]) == 0x100|picobin.ItemImageType:
		b.Type = picobin.ImageType(w[1] >> 16)
		if b.Type.Executable() {
			b.TBYB = b.Type.TBYB()
			// The ROM clears the flag in its copy, so that hashes ignore it.
			b.Words[1] &^= 0x80000000
			if b.Type.Chip() != picobin.ChipRP2350 {
				b.Rejected = "it is a program for the " + b.Type.ChipText()
				return b
			}
		}
	default:
		return nil
	}
	b.items(b.Words, pos, o)
	return b
}

// items reads the items behind the first one. A wrong item makes the ROM
// reject the block but remember it.
func (b *Block) items(w []uint32, pos int, o *Options) {
	keyMatch, needSigned := false, 0
	for pos < len(w) {
		h := w[pos]
		n := picobin.ItemWords(h)
		if n == 0 || h&0x7f == 0x7f {
			pos++
			break
		}
		var body []uint32
		if pos+n <= len(w) {
			body = w[pos+1 : pos+n]
		}
		skipSigned, why := b.item(h, n, pos, body, &keyMatch, o)
		if why != "" {
			b.Rejected = why
			return
		}
		if !skipSigned {
			needSigned = pos + n
		}
		pos += n
	}
	if pos != len(w) {
		b.Rejected = "the item sizes do not add up"
		return
	}
	if !b.Table && o.OTP.RollbackRequired && b.Rollback == 0 {
		b.Rejected = "this chip only starts images with a rollback version"
		return
	}
	if keyMatch {
		if b.HashWords < needSigned {
			b.Rejected = "the signature does not cover the whole block"
			return
		}
		b.KeyMatch = true
	}
}

// item reads one item. It returns whether the item may stay outside the
// signature, and why the block is rejected, if it is.
func (b *Block) item(h uint32, n, pos int, body []uint32, keyMatch *bool, o *Options) (unsigned bool, why string) {
	wrong := func(name string) (bool, string) { return false, "its " + name + " item has the wrong size" }
	if body == nil && n > 1 {
		return false, "an item reaches beyond the block"
	}
	switch picobin.ItemType(h) {
	case picobin.ItemHashDef:
		if n != 2 {
			return wrong("hash definition")
		}
		if h>>24 == 1 {
			b.HashSHA256 = true
			b.HashWords = int(uint8(body[0]))
		}
	case picobin.ItemHashValue:
		if n < 2 || n > 9 {
			return wrong("hash value")
		}
		b.HashValue = body
		return true, ""
	case picobin.ItemSignature:
		if n != 33 {
			return wrong("signature")
		}
		if h>>24 == 1 {
			b.PublicKey, b.Signature = body[:16], body[16:]
			fp := sha256.Sum256(picobin.Bytes(b.PublicKey))
			for _, k := range o.OTP.KeyHashes {
				*keyMatch = *keyMatch || k == fp
			}
		}
		return true, ""
	case picobin.ItemVersion:
		rows := int(h >> 24)
		want := 2
		if rows > 0 {
			want += (rows + 2) / 2
		}
		if n != want {
			return wrong("version")
		}
		b.Major, b.Minor, b.HasVersion = uint16(body[0]>>16), uint16(body[0]), true
		if rows > 0 {
			return false, b.rollback(body[1:], rows, o)
		}
	default:
		if b.Table {
			return false, ""
		}
		switch picobin.ItemType(h) {
		case picobin.ItemVectorTable:
			if n != 2 {
				return wrong("vector table")
			}
			b.VTOR = body[0]
		case picobin.ItemEntryPoint:
			if n != 3 && n != 4 {
				return wrong("entry point")
			}
			b.PC, b.SP, b.HasEntry = body[0], body[1], true
			if n == 4 {
				b.SPLimit = body[2]
			}
		case picobin.ItemRollingWindow:
			if n != 2 {
				return wrong("rolling window")
			}
			b.Roll = int32(body[0])
		case picobin.ItemLoadMap:
			count := int(h << 1 >> 25)
			if n != 1+3*count {
				return wrong("load map")
			}
			b.Loads, b.loadAt, b.loadAbs = nil, pos, int32(h) < 0
			for i := range count {
				b.Loads = append(b.Loads, LoadEntry{body[3*i], body[3*i+1], body[3*i+2]})
			}
		}
	}
	return false, ""
}

// rollback reads the rollback version behind a version: one half word, then
// the OTP rows that hold the chip's own version as a thermometer.
func (b *Block) rollback(body []uint32, rows int, o *Options) string {
	if b.Table {
		return "only image definitions have a rollback version"
	}
	half := func(i int) uint16 { return uint16(body[i/2] >> (16 * (i % 2))) }
	v := uint32(half(0))
	if v >= uint32(rows)*24 {
		return fmt.Sprintf("rollback version %d does not fit into %d OTP rows", v, rows)
	}
	list := make([]uint16, rows)
	for i := range list {
		list[i] = half(1 + i)
	}
	if o.OTP.SecureBoot {
		chip := uint32(0)
		if o.OTP.RollbackVersion != nil {
			chip = o.OTP.RollbackVersion(list)
		}
		if v < chip {
			return fmt.Sprintf("its rollback version %d is lower than the chip's, %d", v, chip)
		}
	}
	b.Rollback, b.RollbackRows = v, list
	return ""
}

// LoadMapAt returns the address of the load map's item header, from which the
// entries of a relative load map count, and whether the load map is absolute.
func (b *Block) LoadMapAt() (item uint32, absolute bool) {
	return b.Addr + 4*uint32(b.loadAt), b.loadAbs
}
