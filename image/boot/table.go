package boot

import "github.com/stem-hw/stem-hw/image/picobin"

// maxPartitions is the largest partition table.
const maxPartitions = 16

// Partition is one entry of the partition table the ROM keeps.
type Partition struct {
	// Location and Flags are the two words as stored: permissions in bits 26
	// to 31 of both, sectors in Location, flags in Flags.
	Location, Flags uint32
	ID              uint64
	HasID           bool
	Families        []uint32 // extra families
	Name            string
}

// Start and End are offsets in flash, the end exclusive.
func (p Partition) Start() uint32 { return (p.Location & 0x1fff) * SectorSize }

// End is the offset behind the partition.
func (p Partition) End() uint32 { return ((p.Location>>13)&0x1fff + 1) * SectorSize }

// Permissions are the six permission bits; where the two words differ the
// stricter one counts.
func (p Partition) Permissions() uint32 { return (p.Location & p.Flags) >> 26 }

// LinkType is 0 without a link, LinkA or LinkOwner; Link is the number of the
// other partition.
func (p Partition) LinkType() int { return int(p.Flags >> 1 & 3) }

// Link is the partition that LinkType is about.
func (p Partition) Link() int { return int(p.Flags >> 3 & 15) }

// Link types.
const (
	LinkA     = 1 // this is the B of that A
	LinkOwner = 2 // that partition owns this one
)

// Flag bits of a partition. Source: picobin.h, PICOBIN_PARTITION_FLAGS_*.
const (
	FlagHasID        = 1 << 0
	FlagNoArmBoot    = 1 << 9
	FlagNoRISCVBoot  = 1 << 10
	FlagABAffinity   = 1 << 11
	FlagHasName      = 1 << 12
	FlagNoReboot     = 1 << 13
	FlagRP2040       = 1 << 14
	FlagAbsolute     = 1 << 15
	FlagData         = 1 << 16
	FlagArmS         = 1 << 17
	FlagRISCV        = 1 << 18
	FlagArmNS        = 1 << 19
	familiesLSB      = 14
	permBootWrite    = 1 << 31
	allPermissions   = 0xfc000000
	partitionEndMask = 0x1fff << 13
)

// IsB reports whether the partition is the B of a pair.
func (p Partition) IsB() bool { return p.LinkType() == LinkA }

// Bootable reports whether a CPU's boot looks into the partition.
func (p Partition) Bootable(c CPU) bool { return p.Flags&(FlagNoArmBoot<<c) == 0 }

// bootWritable reports whether the drive and PICOBOOT may write it.
func (p Partition) bootWritable() bool { return p.Location&p.Flags&permBootWrite != 0 }

// Table is the partition table that the ROM keeps in boot RAM. Without one it
// is empty and says what the drive accepts.
type Table struct {
	// Addr is the storage address of the partition table item, 0 without one.
	Addr uint32
	// Block is the block it came from.
	Block *Block
	// Singleton is the flag that keeps the ROM from looking at slot 1.
	Singleton bool
	// Unpartitioned are permissions and flags of the space outside partitions.
	Unpartitioned uint32
	Partitions    []Partition
	// Problem says why a table that is there is not used.
	Problem string
}

// BOf returns the number of the B partition of A, or -1.
func (t *Table) BOf(a int) int {
	for i, p := range t.Partitions {
		if p.IsB() && p.Link() == a {
			return i
		}
	}
	return -1
}

// unpartitionedSpace is the target that stands for all of flash.
func (t *Table) unpartitionedSpace() Partition {
	return Partition{Location: t.Unpartitioned&allPermissions | partitionEndMask, Flags: t.Unpartitioned}
}

// emptyTable is what the ROM keeps without a partition table: absolute, data,
// arm-s and riscv are accepted, but not those of a CPU that is disabled.
func emptyTable(o *Options) *Table {
	u := uint32(allPermissions | FlagAbsolute | FlagData | FlagArmS | FlagRISCV)
	if !o.cpuAllowed(Arm) {
		u &^= FlagArmS
	}
	if !o.cpuAllowed(RISCV) {
		u &^= FlagRISCV
	}
	return &Table{Unpartitioned: u}
}

// tableOf builds the resident table from a verified block.
func tableOf(b *Block, o *Options) *Table {
	bad := func(why string) *Table {
		t := emptyTable(o)
		t.Problem = why
		return t
	}
	if b == nil {
		return emptyTable(o)
	}
	if !b.ok() {
		return bad(b.verify.Reason)
	}
	if t := DecodeTable(b); t != nil {
		return t
	}
	return bad("the partitions do not fill the item that holds them")
}

// DecodeTable reads the partitions of a partition table block, whether it is
// verified or not; nil if they do not fill their item.
func DecodeTable(b *Block) *Table {
	if len(b.Words) < 3 {
		return nil
	}
	w := b.Words[1:]
	n := min(picobin.ItemWords(w[0]), len(w))
	if n < 2 {
		return nil
	}
	parts, used, ok := decodePartitions(w[2:n], b.Count)
	if !ok || used != n-2 {
		return nil
	}
	return &Table{Addr: b.Addr + 4, Block: b, Singleton: b.Singleton, Unpartitioned: w[1], Partitions: parts}
}

func decodePartitions(w []uint32, count int) (parts []Partition, used int, ok bool) {
	for range count {
		if used+2 > len(w) {
			return nil, 0, false
		}
		p := Partition{Location: w[used], Flags: w[used+1]}
		used += 2
		if p.Flags&FlagHasID != 0 {
			if used+2 > len(w) {
				return nil, 0, false
			}
			p.ID, p.HasID = uint64(w[used])|uint64(w[used+1])<<32, true
			used += 2
		}
		fam := int(p.Flags >> 7 & 3)
		if used+fam > len(w) {
			return nil, 0, false
		}
		p.Families = append([]uint32(nil), w[used:used+fam]...)
		used += fam
		if p.Flags&FlagHasName != 0 {
			if used >= len(w) {
				return nil, 0, false
			}
			n := int(w[used] & 0x7f)
			words := (n + 4) / 4
			if used+words > len(w) {
				return nil, 0, false
			}
			p.Name = string(picobin.Bytes(w[used : used+words])[1 : 1+n])
			used += words
		}
		parts = append(parts, p)
	}
	return parts, used, true
}
