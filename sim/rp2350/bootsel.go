package rp2350

import (
	"github.com/stem-hw/stem-hw/image/boot"
	"github.com/stem-hw/stem-hw/sim/rp2350/nor"
	"github.com/stem-hw/stem-hw/sim/rp2350/otp"
)

// BootselMode is the chip as the USB side of its boot ROM sees it. It is good
// from the call of Options.Bootsel until the chip is reset; its methods are for
// the goroutine of Run, between runs.
type BootselMode struct {
	c     *Chip
	flags uint32
	gpio  uint32
}

// BootselMode returns the present stay in BOOTSEL mode, or nil.
func (c *Chip) BootselMode() *BootselMode { return c.bootsel }

// openBootsel begins it: the partition table is loaded, as the ROM does before
// it connects.
func (c *Chip) openBootsel() {
	b := &BootselMode{c: c}
	if c.boot.word(btBootWord)>>8&0xff == bootBootsel {
		b.flags, b.gpio = c.boot.word(btRebootParams), c.boot.word(btRebootParams+4)
	}
	c.table = boot.ResidentTable(bootMemory{c}, c.bootOptions())
	c.writeTable()
	c.bootsel = b
}

// Parameters are the flags and the GPIO that came with the request (pico-sdk
// bootrom_constants.h, BOOTSEL_FLAG_*); 0 if nobody asked.
func (b *BootselMode) Parameters() (flags, gpio uint32) { return b.flags, b.gpio }

// OTPFlags is BOOT_FLAGS0, by which fuses turn interfaces off.
func (b *BootselMode) OTPFlags() uint32 { return b.c.otpFlags0() }

// Fuses are the chip's.
func (b *BootselMode) Fuses() *otp.Array { return b.c.otp }

// ChipID is the 64-bit identity.
func (b *BootselMode) ChipID() uint64 { return b.c.opt.ChipID }

// Options describe the chip for decisions of package boot.
func (b *BootselMode) Options() boot.Options { return b.c.bootOptions() }

// Memory is what the ROM reads, flash by storage address.
func (b *BootselMode) Memory() boot.Memory { return bootMemory{b.c} }

// Table is the resident partition table.
func (b *BootselMode) Table() *boot.Table { return b.c.table }

// ReloadTable looks at flash again.
func (b *BootselMode) ReloadTable() *boot.Table {
	b.c.table = boot.ResidentTable(bootMemory{b.c}, b.c.bootOptions())
	b.c.writeTable()
	return b.c.table
}

func (b *BootselMode) call() *romCall { return &romCall{c: b.c, n: b.c.nodes[0], name: "bootsel"} }

// SysInfo are the words of GET_INFO's system information.
func (b *BootselMode) SysInfo(flags uint32) []uint32 { return b.c.sysInfo(b.call(), flags) }

// PartitionInfo are the words of GET_INFO's partition table.
func (b *BootselMode) PartitionInfo(flags uint32) []uint32 { return partitionInfo(b.c.table, flags) }

// Read reads SRAM, XIP SRAM or ROM.
func (b *BootselMode) Read(addr uint32, p []byte) bool { return b.c.Peek(0, addr, p) == len(p) }

// Write writes SRAM or XIP SRAM.
func (b *BootselMode) Write(addr uint32, p []byte) {
	if !inSRAM(addr) && b.c.xip.pinnedTop == 0 {
		b.c.xip.pinAll()
	}
	b.c.pokeRAM(addr, p)
}

// FlashAllowed applies what the partition table permits to the boot loader.
func (b *BootselMode) FlashAllowed(addr, n uint32, write bool) bool {
	const bootloader = 3
	return b.c.flashAllowed(addr, n, bootloader, write)
}

// EraseSector erases 4 KiB of flash and returns the time in picoseconds.
func (b *BootselMode) EraseSector(addr uint32) uint64 {
	return b.c.eraseRange(addr-xipBase, nor.SectorSize, 0)
}

// Program programs flash and returns the time in picoseconds.
func (b *BootselMode) Program(addr uint32, p []byte) uint64 {
	return b.c.programRange(addr-xipBase, p)
}

// ReadFuse reads an OTP row; ok is false if its page is locked.
func (b *BootselMode) ReadFuse(row int, ecc bool) (v uint32, ok bool) {
	if !b.c.otp.Readable(row, false) {
		return 0, false
	}
	if !ecc {
		return b.c.otp.Raw(row), true
	}
	d, good := b.c.otp.Data(row)
	if !good {
		d = 0xffff
	}
	return uint32(d), true
}

// FuseResult is how programming a row ended.
type FuseResult uint8

const (
	FuseWritten FuseResult = iota
	FuseLocked
	// FuseInTheWay: a bit that is set would have to become clear.
	FuseInTheWay
)

// WriteFuse programs an OTP row.
func (b *BootselMode) WriteFuse(row int, v uint32, ecc bool) FuseResult {
	if !b.c.otp.Readable(row, false) || !b.c.otp.Writable(row, false) {
		return FuseLocked
	}
	old := b.c.otp.Raw(row)
	if ecc {
		raw, fits := otp.EncodeOver(uint16(v), old)
		if !fits {
			return FuseInTheWay
		}
		v = raw
	} else if old&^v != 0 {
		return FuseInTheWay
	}
	b.c.otp.Program(row, v)
	return FuseWritten
}

// Reboot asks the watchdog for a reset after a delay in milliseconds, with what
// REBOOT2 says; false if the CPU asked for is not to be had.
func (b *BootselMode) Reboot(flags, delay, p0, p1 uint32) bool {
	r := b.call()
	if flags&(rebootToArm|rebootToRISCV) != 0 && !b.c.archAvailable(r, flags&rebootToRISCV != 0) {
		r.setWord(regWatchdogCtrl, 0)
		return false
	}
	b.c.reboot(r, flags&0xf, delay, p0, p1)
	return true
}
