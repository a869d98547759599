package boot

import (
	"fmt"

	"github.com/stem-hw/stem-hw/uf2"
)

// Status bits of a UF2 download, as PICOBOOT's GET_INFO reports them. Source:
// boot ROM A2, src/nsboot/usb_virtual_disk.c.
const (
	StatusIgnoredFamily = 0x01
	StatusLocked        = 0x10
	StatusBadAddress    = 0x20
	StatusWriteError    = 0x40
	StatusRebootFailed  = 0x80
)

const (
	maxFlashBlocks = 32 << 20 / PageSize
	maxRAMBlocks   = (SRAMEnd - SRAMBase + XIPSRAMEnd - XIPSRAMBase) / PageSize
)

// Drive is the state in which the boot ROM's USB drive is while UF2 sectors
// are written to it. It decides; whoever owns it writes flash and RAM.
type Drive struct {
	mem   Memory
	opt   Options
	table *Table

	// Locked is true while PICOBOOT has exclusive access: blocks are dropped.
	Locked bool

	active    bool // a transfer is running
	family    uint32
	total     uint32
	ram       bool
	noReboot  bool
	offset    uint32
	limit     uint32
	seen      []uint64
	erased    []uint64
	count     uint32
	lowest    uint32
	status    uint16
	xipExited bool
	target    Target
}

// NewDrive returns a drive that no block was written to yet. The table is what
// ResidentTable returned.
func NewDrive(m Memory, o Options, t *Table) *Drive {
	return &Drive{mem: m, opt: o, table: t}
}

// Reset is a USB bus reset: the running transfer is forgotten.
func (d *Drive) Reset() { d.active, d.total = false, 0 }

// SetTable replaces the partition table, after the ROM loaded it again.
func (d *Drive) SetTable(t *Table) { d.table = t }

// Write is what the drive does with one sector.
type Write struct {
	// Taken is true if a page is written. Reason says why not.
	Taken  bool
	Reason string
	// Duplicate is true if the block number was seen before in this transfer:
	// it is dropped without a status.
	Duplicate bool
	// NewTransfer is true if the block began one; Target is then where it goes
	// (flash only).
	NewTransfer bool
	Target      Target
	// Addr is the address the page goes to, the partition's offset included.
	Addr uint32
	// RAM is true if it goes to RAM.
	RAM bool
	// Erase is the address of the 4 KiB sector to erase first, if HasErase.
	Erase    uint32
	HasErase bool
	// Reboot is set with the last block of a transfer, unless the partition
	// forbids it.
	Reboot *Reboot
	// Done is true with the last block of a transfer.
	Done bool
}

// Reboot is the restart that the drive asks for after a whole file.
type Reboot struct {
	// RAM is a RAM image boot from Base on with Size bytes, else it is a
	// flash-update boot for Base.
	RAM        bool
	Base, Size uint32
	// ForceCPU is true if the family fixes the CPU.
	ForceCPU bool
	CPU      CPU
}

// Info is what GET_INFO type 4 reports.
type Info struct {
	Status        uint16
	RAM, NoReboot bool
	Family        uint32
	Seen, Total   uint32
}

// Info returns the state of the download.
func (d *Drive) Info() Info {
	return Info{d.status, d.ram, d.noReboot, d.family, d.count, d.total}
}

// ExitXIP tells that something went through the flash's command mode, which ends
// erratum RP2350-E10.
func (d *Drive) ExitXIP() { d.xipExited = true }

// WriteFailed records that flash could not be written.
func (d *Drive) WriteFailed() { d.status |= StatusWriteError }

// RebootFailed records that the restart was refused.
func (d *Drive) RebootFailed() { d.status |= StatusRebootFailed }

// Sector decides about a 512-byte sector that was written to the drive.
func (d *Drive) Sector(sector []byte) Write {
	if len(sector) < uf2.BlockSize {
		return Write{Reason: string(uf2.ReasonShort)}
	}
	switch m := uf2.MagicOf(sector); {
	case !m.Start0 || !m.Start1:
		return Write{Reason: string(uf2.ReasonNotUF2)}
	case !m.End:
		return Write{Reason: string(uf2.ReasonEndMagic)}
	}
	var b uf2.Block
	b.Decode(sector)
	return d.Block(&b)
}

// Block decides about one UF2 block whose magic words are right.
func (d *Drive) Block(b *uf2.Block) Write {
	if r := b.Drop(); r != uf2.ReasonNone {
		return Write{Reason: string(r)}
	}
	if d.Locked {
		d.total, d.active = 0, false
		return d.refuse(StatusLocked, "a tool has exclusive access to the board")
	}
	end := b.Addr + PageSize - 1
	ram := isRAM(b.Addr) && isRAM(end)
	flash := isDriveFlash(b.Addr) && isDriveFlash(end)
	w := Write{RAM: ram}
	if !d.active || d.total != b.Total || d.family != b.Family {
		if why := d.begin(b, ram, &w); why != "" {
			return d.refuse(StatusIgnoredFamily, why)
		}
		if limit := d.maxBlocks(); b.Total > limit {
			d.total, d.active = 0, false
			return d.bad(w, "the file states %d blocks, and at most %d fit", b.Total, limit)
		}
		w.NewTransfer = true
		d.total, d.active = b.Total, true
	}
	w.Target = d.target
	switch {
	case ram != d.ram:
		return d.bad(w, "the transfer goes to %s, but this block does not", d.place())
	case !ram && !flash:
		return d.bad(w, "0x%08x is neither in flash nor in RAM", b.Addr)
	case b.Number >= d.total:
		return d.bad(w, "block number %d is beyond the count of %d", b.Number, d.total)
	}
	addr := b.Addr + d.offset
	switch {
	case flash && addr%PageSize != 0:
		return d.bad(w, "0x%08x is not a multiple of 256", b.Addr)
	case addr >= d.limit:
		return d.bad(w, "0x%08x is beyond the end of the partition, 0x%08x", addr, d.limit)
	}
	w.Addr = addr
	if !setBit(d.seen, b.Number) {
		w.Duplicate, w.Reason = true, fmt.Sprintf("block number %d was written before", b.Number)
		return w
	}
	d.accept(addr, &w)
	return w
}

// accept takes a page: sector erase, lowest address, end of the transfer.
func (d *Drive) accept(addr uint32, w *Write) {
	w.Taken = true
	// XIP SRAM lies below main SRAM but does not count as lower.
	nextXIP, lowXIP := addr < SRAMBase, d.lowest < SRAMBase
	if (addr < d.lowest && nextXIP == lowXIP) || (lowXIP && !nextXIP) {
		d.lowest = addr
	}
	if !d.ram {
		d.xipExited = true
		if sector := (addr - FlashBase) / SectorSize; setBit(d.erased, sector) {
			w.Erase, w.HasErase = FlashBase+sector*SectorSize, true
		}
	}
	d.count++
	if d.count != d.total {
		return
	}
	w.Done = true
	if d.noReboot {
		return
	}
	r := &Reboot{RAM: d.ram, Base: FlashBase + d.offset}
	if d.ram {
		r.Base = d.lowest
		r.Size = XIPSRAMEnd - r.Base
		if r.Base >= SRAMBase {
			r.Size = SRAMEnd - r.Base
		}
	}
	switch d.family {
	case uf2.FamilyRP2350ArmS:
		r.ForceCPU, r.CPU = true, Arm
	case uf2.FamilyRP2350RISCV:
		r.ForceCPU, r.CPU = true, RISCV
	}
	w.Reboot = r
}

// begin starts a transfer. It returns why the family is refused; the running
// transfer then stays as it is.
func (d *Drive) begin(b *uf2.Block, ram bool, w *Write) string {
	name := uf2.FamilyName(b.Family)
	var t Target
	switch {
	case ram:
		if b.Family < uf2.FamilyAbsolute || b.Family > uf2.FamilyRP2350RISCV {
			return "family " + name + " is not accepted for RAM"
		}
	case d.blind(b.Family):
		t.Reason = "the chip cannot read its flash yet, so it does not see that the partition table accepts them (erratum RP2350-E10)"
		w.Target = t
		return t.Reason
	default:
		t = TargetFor(d.mem, d.opt, d.table, b.Family)
		if !t.Accepted {
			return t.Reason
		}
	}
	*d = Drive{mem: d.mem, opt: d.opt, table: d.table, xipExited: d.xipExited, family: b.Family, ram: ram,
		target: t, lowest: XIPSRAMEnd}
	if ram {
		d.limit = 0xffffffff
		d.seen = make([]uint64, (maxRAMBlocks+63)/64)
		return ""
	}
	d.offset, d.limit, d.noReboot = t.Offset, t.Limit, t.NoReboot
	d.seen = make([]uint64, maxFlashBlocks/64)
	d.erased = make([]uint64, (FlashEnd-FlashBase)/SectorSize/64)
	return ""
}

// blind is erratum RP2350-E10: after USB came up, flash reads as zero on A2
// until something went through the flash's command mode, so that families
// which need the partition table's contents are refused.
func (d *Drive) blind(family uint32) bool {
	return d.opt.Chip <= A2 && !d.xipExited && len(d.table.Partitions) > 0 && family != uf2.FamilyAbsolute
}

func (d *Drive) maxBlocks() uint32 {
	if d.ram {
		return (maxRAMBlocks + 31) / 32 * 32
	}
	return maxFlashBlocks
}

func (d *Drive) place() string {
	if d.ram {
		return "RAM"
	}
	return "flash"
}

func (d *Drive) refuse(status uint16, why string) Write {
	d.status |= status
	return Write{Reason: why}
}

func (d *Drive) bad(w Write, format string, args ...any) Write {
	d.status |= StatusBadAddress
	w.Reason = fmt.Sprintf(format, args...)
	return w
}

// setBit sets a bit and reports whether it was clear.
func setBit(set []uint64, n uint32) bool {
	i, m := n/64, uint64(1)<<(n%64)
	if int(i) >= len(set) || set[i]&m != 0 {
		return false
	}
	set[i] |= m
	return true
}
