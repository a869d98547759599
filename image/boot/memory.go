package boot

import (
	"encoding/binary"
	"io"
)

// Addresses of the windows that the boot ROM knows. Source: pico-sdk,
// src/rp2_common/boot_bootrom_headers/include/boot/bootrom_constants.h.
const (
	FlashBase   = 0x10000000
	FlashEnd    = 0x12000000 // both chip selects
	CS1Base     = 0x11000000
	XIPSRAMBase = 0x13ffc000
	XIPSRAMEnd  = 0x14000000
	SRAMBase    = 0x20000000
	SRAMEnd     = 0x20082000

	SectorSize = 4096
	PageSize   = 256
)

// Memory is what the boot ROM can read: offsets are bus addresses, flash at
// 0x10000000 by its storage address (untranslated), SRAM at 0x20000000. A
// byte that cannot be read reads as whatever ReadAt leaves in the buffer.
type Memory = io.ReaderAt

// Flash is a Memory of flash contents that start at 0x10000000. What lies
// behind them reads as erased, 0xFF, up to the size of the chip, where the
// contents repeat as on real parts.
type Flash struct {
	// Data are the contents from the start of flash.
	Data []byte
	// Size is the size of the part, a power of two; 0 means that it never
	// repeats.
	Size uint32
}

// ReadAt reads at a bus address.
func (f Flash) ReadAt(p []byte, addr int64) (int, error) {
	if addr < FlashBase || addr >= FlashEnd {
		clear(p)
		return len(p), nil
	}
	off := addr - FlashBase
	for i := 0; i < len(p); {
		o := off + int64(i)
		end := int64(len(f.Data))
		if f.Size != 0 {
			o %= int64(f.Size)
			end = min(end, int64(f.Size))
		}
		if o >= end {
			n := len(p) - i
			if f.Size != 0 {
				n = int(min(int64(n), int64(f.Size)-o))
			}
			for k := range n {
				p[i+k] = 0xff
			}
			i += n
			continue
		}
		i += copy(p[i:], f.Data[o:end])
	}
	return len(p), nil
}

// isRAM is the boot ROM's own test: XIP SRAM or main SRAM.
func isRAM(a uint32) bool {
	return a>>14 == XIPSRAMBase>>14 || (a>>25 == 0x10 && a < SRAMEnd)
}

// isXIP is true for both flash chip selects.
func isXIP(a uint32) bool { return a>>25 == FlashBase>>25 }

func isXIPSRAM(a uint32) bool { return a>>14 == XIPSRAMBase>>14 }

// isDriveFlash is the test of the drive and of PICOBOOT; the end counts as
// inside.
func isDriveFlash(a uint32) bool { return a >= FlashBase && a <= FlashEnd }

// readWords reads n words at a bus address.
func readWords(m Memory, addr uint32, n int) []uint32 {
	buf := make([]byte, 4*n)
	_, _ = m.ReadAt(buf, int64(addr))
	out := make([]uint32, n)
	for i := range out {
		out[i] = binary.LittleEndian.Uint32(buf[4*i:])
	}
	return out
}
