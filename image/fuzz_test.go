package image

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/image/boot"
	"github.com/stem-hw/stem-hw/image/picobin"
	"github.com/stem-hw/stem-hw/uf2"
)

// smallELF is an ELF file of a few hundred bytes with the given program
// headers: type, offset, vaddr, paddr, filesz, memsz.
func smallELF(machine uint16, entry uint32, phdrs ...[6]uint32) []byte {
	le := binary.LittleEndian
	b := append([]byte(elfMagic), 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	b = le.AppendUint16(b, 2)
	b = le.AppendUint16(b, machine)
	for _, v := range []uint32{1, entry, elfHeaderSize, 0, 0} {
		b = le.AppendUint32(b, v)
	}
	for _, v := range []uint16{elfHeaderSize, elfPhdrSize, uint16(len(phdrs)), 0, 0, 0} {
		b = le.AppendUint16(b, v)
	}
	for _, p := range phdrs {
		for _, v := range []uint32{p[0], p[1], p[2], p[3], p[4], p[5], 5, 4} {
			b = le.AppendUint32(b, v)
		}
	}
	return append(b, smallBlock()...)
}

// smallBlock is an image definition for RISC-V that links to itself.
func smallBlock() []byte {
	return picobin.Bytes([]uint32{picobin.MarkerStart, 0x11010142, 0x344, 0x10000100, 0x20001000, 0x4ff, 0, picobin.MarkerEnd})
}

// smallUF2 is a UF2 file of a few blocks.
func smallUF2(family uint32, addrs ...uint32) []byte {
	var b bytes.Buffer
	w := uf2.NewWriter(&b, family, uint32(len(addrs)))
	page := make([]byte, uf2.PayloadSize)
	copy(page, smallBlock())
	for _, a := range addrs {
		_ = w.WritePage(a, page)
	}
	_ = w.Flush()
	return b.Bytes()
}

// properties of every image that a parser lets through.
func properties(t *testing.T, format Format, data []byte) {
	im, err := Parse("x", data, Options{Format: format})
	if err != nil {
		if f := faults.Of(err); f == nil || f.Status != faults.StatusImage {
			t.Fatalf("not a fault about the image: %v", err)
		}
		return
	}
	end := uint64(0)
	for i, s := range im.Segments {
		if len(s.Data) == 0 || s.End() > 1<<32 || i > 0 && uint64(s.Addr) < end {
			t.Fatalf("segment %d: 0x%x-0x%x after 0x%x", i, s.Addr, s.End(), end)
		}
		end = s.End()
	}
	// Several program headers may share bytes of an ELF file.
	if im.Size() > len(data) && format != FormatELF {
		t.Fatalf("%d bytes of contents from a file of %d", im.Size(), len(data))
	}
	im.Symbols()
	im.PhysicalEntry()
	im.Contradictions()
	if _, err := im.Place(&RP2350); err != nil {
		return
	}
	var b bytes.Buffer
	if _, err := im.WriteUF2(&b, WriteOptions{Family: 0xe48bff59}); err != nil {
		t.Fatalf("fits, but cannot be written: %v", err)
	}
	back, err := Parse("x", b.Bytes(), Options{})
	if err != nil {
		t.Fatalf("what was written cannot be read: %v", err)
	}
	for _, s := range im.Segments {
		p := make([]byte, len(s.Data))
		if back.ReadAt(p, s.Addr) != len(p) || !bytes.Equal(p, s.Data) {
			t.Fatalf("contents at 0x%08x differ after a round trip", s.Addr)
		}
	}
}

func FuzzELF(f *testing.F) {
	f.Add(smallELF(EMachineRISCV, 0x10000000, [6]uint32{1, 84, 0x10000000, 0x10000000, 32, 32}))
	f.Add(smallELF(EMachineARM, 0x20000001, [6]uint32{1, 116, 0x20000000, 0x20000000, 32, 64}, [6]uint32{1, 116, 0x20000010, 0x20000010, 16, 16}))
	f.Add(smallELF(EMachineRISCV, 0x10000000, [6]uint32{1, 116, 0x10000000, 0x10000000, 30, 32}, [6]uint32{1, 116, 0x20000000, 0x1000001e, 2, 0x2000}))
	f.Fuzz(func(t *testing.T, data []byte) { properties(t, FormatELF, data) })
}

func FuzzHEX(f *testing.F) {
	f.Add([]byte(":020000041000EA\n:04000000D3DEFFFF4D\n:00000001FF\n"))
	f.Add([]byte(":020000021000EC\r\n:10FFF800000102030405060708090A0B0C0D0E0F81\r\n:0400000510000201E4\n"))
	f.Fuzz(func(t *testing.T, data []byte) { properties(t, FormatHEX, data) })
}

func FuzzUF2(f *testing.F) {
	f.Add(smallUF2(uf2.FamilyRP2350RISCV, 0x10000000, 0x10000100))
	f.Add(smallUF2(uf2.FamilyRP2350ArmS, 0x20000000))
	f.Add(smallUF2(0xada52840, 0xffffff80))
	e := uf2.ErratumBlock(uf2.ErratumBlockAddr)
	sector := make([]byte, uf2.BlockSize)
	e.Encode(sector)
	f.Add(append(sector, smallUF2(uf2.FamilyAbsolute, 0x10000000)...))
	f.Fuzz(func(t *testing.T, data []byte) {
		properties(t, FormatUF2, data)
		o := boot.Options{Chip: boot.A2}
		d := boot.NewDrive(boot.Flash{}, o, boot.ResidentTable(boot.Flash{}, o))
		for ; len(data) >= uf2.BlockSize; data = data[uf2.BlockSize:] {
			w := d.Sector(data[:uf2.BlockSize])
			if w.Taken && !w.RAM && (w.Addr < boot.FlashBase || w.Addr >= boot.FlashEnd || w.Addr%256 != 0) {
				t.Fatalf("a page goes to 0x%08x", w.Addr)
			}
		}
	})
}
