package image

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/image/boot"
	"github.com/stem-hw/stem-hw/uf2"
)

// WriteOptions say how an image is written.
type WriteOptions struct {
	// Family is the UF2 family; 0 means the one of the image's CPU.
	Family uint32
	// Fill is the byte of gaps, nil the erased state of the chip: 0xFF, and 0
	// in UF2 files for an RP2040, as its tools write them.
	Fill *byte
	// AbsBlock asks for the block of erratum RP2350-E10 in front, for the
	// address AbsAddr (0: uf2.ErratumBlockAddr).
	AbsBlock bool
	AbsAddr  uint32
}

func (o WriteOptions) fill(family uint32) byte {
	switch {
	case o.Fill != nil:
		return *o.Fill
	case family == uf2.FamilyRP2040:
		return 0
	}
	return 0xff
}

// FamilyFor returns the UF2 family that fits an image, and a remark if that
// is not the obvious one: the CPU of the image definition or ELF file decides,
// never the place where the image begins. Contents without any CPU are
// "absolute": raw flash.
func (im *Image) FamilyFor() (family uint32, note string, err error) {
	if im.Format == FormatUF2 {
		return im.Family, "", nil
	}
	def := im.Definition()
	switch {
	case def != nil && def.Type.Executable() && def.Type.Chip() == 0:
		return uf2.FamilyRP2040, "", nil
	case im.Arch == ArchRISCV:
		return uf2.FamilyRP2350RISCV, "", nil
	case im.Arch == ArchARM && def != nil && def.Type.Security() == 1:
		return uf2.FamilyRP2350ArmNS, "", nil
	case im.Arch == ArchARM && def == nil && im.hasRP2040Boot2():
		return uf2.FamilyRP2040, "", nil
	case im.Arch == ArchARM:
		return uf2.FamilyRP2350ArmS, "", nil
	}
	if im.hasRP2040Boot2() {
		return uf2.FamilyRP2040, "", nil
	}
	lo, _ := im.Bounds()
	if RP2350.IsFlash(lo, 1) {
		return uf2.FamilyAbsolute, "the file does not say which CPU it is for, so it becomes raw flash contents (family absolute)", nil
	}
	return 0, "", badImage(im.Path, "the UF2 family of this file is not known",
		"an image in RAM without an image definition", "a family").
		WithTry("add --family rp2350-arm-s or --family rp2350-riscv")
}

// hasRP2040Boot2 reports whether the image begins with an RP2040's second
// stage boot loader: 252 bytes and their CRC-32 (polynomial 0x04c11db7, not
// reflected, RP2040 data sheet 2.8.1.3.1).
func (im *Image) hasRP2040Boot2() bool {
	var b [256]byte
	if im.ReadAt(b[:], RP2040.FlashBase) != len(b) {
		return false
	}
	crc := ^uint32(0)
	for _, c := range b[:252] {
		crc ^= uint32(c) << 24
		for range 8 {
			if crc&0x80000000 != 0 {
				crc = crc<<1 ^ 0x04c11db7
			} else {
				crc <<= 1
			}
		}
	}
	return crc == binary.LittleEndian.Uint32(b[252:])
}

// WriteUF2 writes the image as one UF2 transfer and returns the number of
// blocks in it.
func (im *Image) WriteUF2(w io.Writer, o WriteOptions) (int, error) {
	family := o.Family
	if family == 0 {
		f, _, err := im.FamilyFor()
		if err != nil {
			return 0, err
		}
		family = f
	}
	m := &RP2350
	if family == uf2.FamilyRP2040 {
		m = &RP2040
	}
	probe := *im
	probe.Format = FormatBIN // the family to be written counts, not the one read
	if im.Format == FormatELF {
		probe.Format = FormatELF
	}
	l, err := probe.Place(m)
	if err != nil {
		return 0, err
	}
	flash := l.Kind == KindFlash
	runs := im.pageRuns(flash)
	total := countPages(runs)
	out := uf2.NewWriter(w, family, total)
	if o.AbsBlock {
		if !flash || family == uf2.FamilyAbsolute || family == uf2.FamilyRP2040 {
			return 0, faults.Usage("the extra block for erratum RP2350-E10 only goes with RP2350 programs in flash, not with family %s in %s",
				uf2.FamilyName(family), l.Kind)
		}
		addr := o.AbsAddr
		if addr == 0 {
			addr = uf2.ErratumBlockAddr
		}
		if addr%uf2.PayloadSize != 0 || !m.IsFlash(addr, uf2.PayloadSize) {
			return 0, faults.Usage("the extra block cannot go to 0x%08x: it needs a page of flash, a multiple of 256", addr)
		}
		b := uf2.ErratumBlock(addr)
		if err := out.WriteBlock(&b); err != nil {
			return 0, err
		}
	}
	if err := im.eachPage(runs, o.fill(family), out.WritePage); err != nil {
		return 0, err
	}
	return int(total), out.Flush()
}

// maxSpan is the largest BIN file that is written: more than all flash of an
// RP2350.
const maxSpan = 64 << 20

// WriteBIN writes the bytes from the lowest to the highest address.
func (im *Image) WriteBIN(w io.Writer, o WriteOptions) (int64, error) {
	lo, end := im.Bounds()
	if end-uint64(lo) > maxSpan {
		return 0, &faults.Fault{Code: faults.CodeImageTooLarge, Status: faults.StatusImage,
			Summary: where(im.Path) + "the parts of the image are too far apart for a BIN file",
			Seen:    fmt.Sprintf("0x%08x to 0x%08x, %d MiB", lo, end, (end-uint64(lo))>>20),
			Wanted:  fmt.Sprintf("at most %d MiB", maxSpan>>20),
			Try:     []string{"convert to .hex, .uf2 or .elf instead: they can have gaps"}}
	}
	bw := bufio.NewWriterSize(w, 16*1024)
	at := uint64(lo)
	fill := o.fill(0)
	var gap [4096]byte
	for i := range gap {
		gap[i] = fill
	}
	for _, s := range im.Segments {
		for at < uint64(s.Addr) {
			n := min(uint64(s.Addr)-at, uint64(len(gap)))
			if _, err := bw.Write(gap[:n]); err != nil {
				return 0, err
			}
			at += n
		}
		if _, err := bw.Write(s.Data); err != nil {
			return 0, err
		}
		at = s.End()
	}
	return int64(end - uint64(lo)), bw.Flush()
}

// WriteHEX writes Intel HEX with 16 bytes a line, type 04 records, and a type
// 05 record if the image has an entry point.
func (im *Image) WriteHEX(w io.Writer) error {
	bw := bufio.NewWriterSize(w, 16*1024)
	const digits = "0123456789ABCDEF"
	var line [64]byte
	record := func(typ byte, offset uint16, data []byte) error {
		b := append(line[:0], ':')
		sum := byte(0)
		put := func(c byte) {
			b = append(b, digits[c>>4], digits[c&15])
			sum += c
		}
		put(byte(len(data)))
		put(byte(offset >> 8))
		put(byte(offset))
		put(typ)
		for _, c := range data {
			put(c)
		}
		put(-sum)
		_, err := bw.Write(append(b, '\n'))
		return err
	}
	upper := -1
	for _, s := range im.Segments {
		for off := 0; off < len(s.Data); {
			addr := s.Addr + uint32(off)
			if u := int(addr >> 16); u != upper {
				upper = u
				if err := record(hexLinear, 0, []byte{byte(u >> 8), byte(u)}); err != nil {
					return err
				}
			}
			// Lines begin at multiples of 16 and stay inside 64 KiB.
			n := min(16-int(addr%16), len(s.Data)-off)
			if err := record(hexData, uint16(addr), s.Data[off:off+n]); err != nil {
				return err
			}
			off += n
		}
	}
	if e, ok := im.entry(); ok {
		if err := record(hexLinearPC, 0, binary.BigEndian.AppendUint32(nil, e)); err != nil {
			return err
		}
	}
	if err := record(hexEOF, 0, nil); err != nil {
		return err
	}
	return bw.Flush()
}

// WriteELF writes an ELF32 file with one loadable segment for each run of
// contents: no sections, no symbols.
func (im *Image) WriteELF(w io.Writer) error {
	machine := map[Arch]uint16{ArchARM: EMachineARM, ArchRISCV: EMachineRISCV}[im.Arch]
	if machine == 0 {
		return badImage(im.Path, "an ELF file names its CPU, and this file does not say which it is for",
			"no image definition and no family", "Arm or RISC-V").
			WithTry("add --family rp2350-arm-s or --family rp2350-riscv")
	}
	entry, ok := im.entry()
	if !ok {
		entry = im.Segments[0].Addr
	}
	flags := uint32(0)
	if im.Arch == ArchARM {
		flags = 0x05000200 // EABI version 5, soft float
	}
	n := len(im.Segments)
	le := binary.LittleEndian
	h := append([]byte(elfMagic), 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	for _, v := range []uint16{2, machine} {
		h = le.AppendUint16(h, v)
	}
	for _, v := range []uint32{1, entry, elfHeaderSize, 0, flags} {
		h = le.AppendUint32(h, v)
	}
	for _, v := range []uint16{elfHeaderSize, elfPhdrSize, uint16(n), 0, 0, 0} {
		h = le.AppendUint16(h, v)
	}
	off := uint64(elfHeaderSize) + uint64(n)*elfPhdrSize
	if n > 0xfffe {
		return badImage(im.Path, "the image has too many parts for an ELF file", fmt.Sprint(n), "at most 65534")
	}
	for _, s := range im.Segments {
		// File offsets keep the address's place in a word, as loaders like it.
		off = (off + 3) &^ 3
		off += uint64(s.Addr) & 3
		size := uint32(len(s.Data))
		perm := uint32(5)
		if !RP2350.IsFlash(s.Addr, uint64(size)) {
			perm = 7
		}
		for _, v := range []uint32{1, uint32(off), s.Addr, s.Addr, size, size, perm, 4} {
			h = le.AppendUint32(h, v)
		}
		off += uint64(size)
	}
	bw := bufio.NewWriterSize(w, 16*1024)
	if _, err := bw.Write(h); err != nil {
		return err
	}
	at := uint64(len(h))
	for i, s := range im.Segments {
		start := uint64(le.Uint32(h[elfHeaderSize+i*elfPhdrSize+4:]))
		for ; at < start; at++ {
			if err := bw.WriteByte(0); err != nil {
				return err
			}
		}
		if _, err := bw.Write(s.Data); err != nil {
			return err
		}
		at += uint64(len(s.Data))
	}
	return bw.Flush()
}

// entry is the entry point to write: the container's own, else the one that
// the boot ROM would use.
func (im *Image) entry() (uint32, bool) {
	if im.HasEntry {
		return im.Entry, true
	}
	w, _ := im.SearchWindow()
	if w.Size == 0 {
		return 0, false
	}
	cpu := boot.Arm
	if im.Arch == ArchRISCV {
		cpu = boot.RISCV
	}
	d := boot.FindInWindow(im.Memory(), w, boot.Options{Chip: boot.A4, CPU: cpu})
	if d.Outcome != boot.OutcomeBoot {
		return 0, false
	}
	return d.Entry.PC, true
}

// Move shifts every address so that the image begins at base.
func (im *Image) Move(base uint32) error {
	lo, end := im.Bounds()
	if uint64(base)+(end-uint64(lo)) > 1<<32 {
		return &faults.Fault{Code: faults.CodeImageTooLarge, Status: faults.StatusImage,
			Summary: where(im.Path) + "the image does not fit behind the offset",
			Seen:    fmt.Sprintf("%d bytes at 0x%08x", end-uint64(lo), base), Wanted: RP2350.Text()}
	}
	delta := base - lo
	for i := range im.Segments {
		im.Segments[i].Addr += delta
	}
	// The program headers move along, so that the entry point still maps.
	for i := range im.Loads {
		im.Loads[i].PAddr += delta
	}
	return nil
}
