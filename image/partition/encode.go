package partition

import (
	"crypto/sha256"
	"fmt"
	"math/bits"

	"github.com/stem-hw/stem-hw/image/boot"
	"github.com/stem-hw/stem-hw/image/picobin"
)

// check finds contradictions between partitions.
func (p parser) check(t *Table) error {
	for i, a := range t.Partitions {
		for k, b := range t.Partitions[:i] {
			if a.Start() < b.End() && b.Start() < a.End() {
				return p.bad(fmt.Sprintf("partitions %d and %d overlap", k, i),
					fmt.Sprintf("%dK-%dK and %dK-%dK", b.Start()>>10, b.End()>>10, a.Start()>>10, a.End()>>10),
					"ranges that do not share a sector")
			}
		}
		if a.LinkType() == 0 {
			continue
		}
		to := a.Link()
		what := label(i)
		switch {
		case to >= len(t.Partitions) || to == i:
			return p.bad(what+" links to no other partition", fmt.Sprint(to), fmt.Sprintf("one of 0 to %d, but not itself", len(t.Partitions)-1))
		case a.LinkType() == boot.LinkA && t.Partitions[to].IsB():
			return p.bad(what+" is the B of a partition that is a B itself", label(to), "an A partition")
		case a.LinkType() == boot.LinkOwner && t.Partitions[to].IsB():
			return p.bad(what+" is owned by a B partition", label(to), "the A partition of the pair")
		}
		if a.LinkType() != boot.LinkA {
			continue
		}
		for k, b := range t.Partitions[:i] {
			if b.IsB() && b.Link() == to {
				return p.bad(fmt.Sprintf("partition %d has two B partitions", to), fmt.Sprintf("%d and %d", k, i), "one")
			}
		}
	}
	t.remarks()
	return nil
}

// remarks warns about layouts that work but surprise.
func (t *Table) remarks() {
	top := uint32(0)
	for i, a := range t.Partitions {
		top = max(top, a.End())
		if a.Start() < 2*sector {
			t.Warnings = append(t.Warnings, fmt.Sprintf("partition %d covers the first 8K, where the boot ROM looks for partition tables", i))
		}
		if a.End() > 16<<20 && a.Flags&(boot.FlagArmS|boot.FlagRISCV) != 0 {
			t.Warnings = append(t.Warnings, fmt.Sprintf("partition %d ends beyond 16384K: the boot ROM does not boot from there", i))
		}
	}
	if top == 0 {
		return
	}
	if size := uint32(1) << bits.Len32(top-1); size-top < 3*sector {
		t.Warnings = append(t.Warnings, fmt.Sprintf(
			"the table reaches into the last 12K of a flash of %dK: the SDK keeps Bluetooth bonds there, and the block against erratum RP2350-E10 erases the last 4K",
			size>>10))
	}
}

// Words returns the table as a metadata block that links to itself, with a
// hash over it if asked for.
func (t *Table) Words(hash bool) ([]uint32, error) {
	p := parser{}
	body := []uint32{t.Unpartitioned}
	for _, a := range t.Partitions {
		body = append(body, partitionWords(a)...)
	}
	var b picobin.Builder
	aux := byte(len(t.Partitions))
	if t.Singleton {
		aux |= 0x80
	}
	if len(body)+1 > 0xff {
		return nil, p.bad("the partition table is too large", fmt.Sprintf("%d words", len(body)+1), "at most 160, names included")
	}
	b.Item(picobin.ItemPartitionTable, aux, body...)
	if t.Version != nil {
		b.Item(picobin.ItemVersion, 0, uint32(t.Version[0])<<16|uint32(t.Version[1]))
	}
	if hash {
		b.Item(picobin.ItemHashDef, 1, uint32(b.Len()+2))
		w, err := b.Words(0)
		if err != nil {
			return nil, p.tooLarge(b.Len())
		}
		sum := sha256.Sum256(picobin.Bytes(w[:b.Len()]))
		b.Item(picobin.ItemHashValue, 0, picobin.Words(sum[:])...)
	}
	w, err := b.Words(0)
	if err != nil {
		return nil, p.tooLarge(b.Len())
	}
	return w, nil
}

func (p parser) tooLarge(words int) error {
	return p.bad("the partition table is too large", fmt.Sprintf("%d bytes", 4*(words+3)),
		fmt.Sprintf("at most %d bytes: shorten the names", picobin.MaxPartitionTableSize))
}

func partitionWords(a boot.Partition) []uint32 {
	w := []uint32{a.Location, a.Flags}
	if a.HasID {
		w = append(w, uint32(a.ID), uint32(a.ID>>32))
	}
	w = append(w, a.Families...)
	if a.Name != "" {
		n := append([]byte{byte(len(a.Name))}, a.Name...)
		for len(n)%4 != 0 {
			n = append(n, 0)
		}
		w = append(w, picobin.Words(n)...)
	}
	return w
}
