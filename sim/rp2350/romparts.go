package rp2350

import (
	"github.com/stem-hw/stem-hw/image/boot"
	"github.com/stem-hw/stem-hw/sim/rp2350/nor"
)

// workAreaSize is what partition functions need (pico-bootrom varm_boot_path.h,
// A2).
const workAreaSize = 3064

// workArea checks the buffer that a partition function was given.
func (r *romCall) workArea(addr, size uint32) bool {
	switch {
	case addr&3 != 0:
		r.ret(romBadAlignment)
	case size < workAreaSize:
		r.ret(romBufferTooSmall)
	default:
		return r.lock(bootLockSHA256)
	}
	return false
}

// permissionsAt are the permission bits (31:26) of a flash offset, by the table
// in boot RAM: firmware adds regions to it at run time (pico-sdk bootrom.c,
// rom_add_flash_runtime_partition).
func (c *Chip) permissionsAt(off uint32) uint32 {
	count := min(c.boot.word(btPartitionTable)>>8&0xff, 16)
	for i := range count {
		p := boot.Partition{
			Location: c.boot.word(btPartitionTable + 8 + 8*i),
			Flags:    c.boot.word(btPartitionTable + 12 + 8*i),
		}
		if off >= p.Start() && off < p.End() {
			return p.Location & p.Flags
		}
	}
	return c.boot.word(btPartitionTable + 4)
}

// romLoadPartitionTable loads the resident table if it is not loaded or is to
// be loaded again.
func romLoadPartitionTable(c *Chip, r *romCall) {
	if !r.workArea(r.arg(0), r.arg(1)) {
		return
	}
	if c.table == nil || r.arg(2) != 0 {
		c.table = boot.ResidentTable(bootMemory{c}, c.bootOptions())
		c.writeTable()
	}
	r.cycles = 20_000
	r.ret(romOK)
}

// Flags of get_partition_table_info (pico-sdk bootrom_constants.h, PT_INFO_*).
const (
	ptInfo      = 0x0001
	ptLocations = 0x0010
	ptIDs       = 0x0020
	ptFamilies  = 0x0040
	ptNames     = 0x0080
	ptSingle    = 0x8000
)

// romPartitionInfo fills a buffer with what the resident table says.
func romPartitionInfo(c *Chip, r *romCall) {
	buf, size, flags := r.arg(0), r.arg(1), r.arg(2)
	t := c.table
	switch {
	case t == nil:
		r.ret(romPreconditionNotMet)
		return
	case buf&3 != 0:
		r.ret(romBadAlignment)
		return
	case !r.lock(bootLockSHA256):
		return
	}
	out := partitionInfo(t, flags)
	if uint32(len(out)) > size {
		r.ret(romBufferTooSmall)
		return
	}
	for i, v := range out {
		r.setWord(buf+4*uint32(i), v)
	}
	r.ret(int32(len(out)))
}

// partitionInfo are the items asked for, behind the flags that are known.
func partitionInfo(t *boot.Table, flags uint32) []uint32 {
	out := []uint32{flags & (ptInfo | ptLocations | ptIDs | ptFamilies | ptNames | ptSingle)}
	if flags&ptInfo != 0 {
		n := uint32(len(t.Partitions))
		if t.Addr != 0 {
			n |= 1 << 8
		}
		out = append(out, n, t.Unpartitioned&0xfc000000|0x1fff<<13, t.Unpartitioned)
	}
	for i, p := range t.Partitions {
		if flags&ptSingle != 0 && uint32(i) != flags>>24 {
			continue
		}
		out = append(out, partitionWords(p, flags)...)
	}
	return out
}

// partitionWords are the items of one partition, as in the table itself.
func partitionWords(p boot.Partition, flags uint32) (out []uint32) {
	if flags&ptLocations != 0 {
		out = append(out, p.Location, p.Flags)
	}
	if flags&ptIDs != 0 && p.HasID {
		out = append(out, uint32(p.ID), uint32(p.ID>>32))
	}
	if flags&ptFamilies != 0 {
		out = append(out, p.Families...)
	}
	if flags&ptNames != 0 && p.Flags&boot.FlagHasName != 0 {
		b := append([]byte{byte(len(p.Name))}, p.Name...)
		for len(b)%4 != 0 {
			b = append(b, 0)
		}
		for i := 0; i < len(b); i += 4 {
			out = append(out, uint32(b[i])|uint32(b[i+1])<<8|uint32(b[i+2])<<16|uint32(b[i+3])<<24)
		}
	}
	return out
}

// romGetB returns the number of the B partition of A.
func romGetB(c *Chip, r *romCall) {
	switch {
	case c.table == nil:
		r.ret(romPreconditionNotMet)
	default:
		if b := c.table.BOf(int(r.arg(0))); b >= 0 {
			r.ret(int32(b))
			return
		}
		r.ret(romNotFound)
	}
}

// romPickAB decides which partition of a pair would boot.
func romPickAB(c *Chip, r *romCall) {
	if !r.workArea(r.arg(0), r.arg(1)) {
		return
	}
	switch a := r.arg(2); {
	case c.table == nil:
		r.ret(romPreconditionNotMet)
	case a >= uint32(len(c.table.Partitions)):
		r.ret(romInvalidArg)
	default:
		r.ret(int32(boot.PickAB(bootMemory{c}, c.bootOptions(), c.table, int(a), r.arg(3))))
		r.cycles = 20_000
	}
}

// romUF2Target decides which partition takes a UF2 family: its number, 255 for
// absolute space, or an error.
func romUF2Target(c *Chip, r *romCall) {
	if !r.workArea(r.arg(0), r.arg(1)) {
		return
	}
	if c.table == nil {
		r.ret(romPreconditionNotMet)
		return
	}
	t := boot.TargetFor(bootMemory{c}, c.bootOptions(), c.table, r.arg(2))
	r.cycles = 20_000
	if !t.Accepted {
		r.ret(romNotPermitted)
		return
	}
	out := r.arg(3)
	if t.Partition < 0 {
		r.setWord(out, c.table.Unpartitioned&0xfc000000|0x1fff<<13)
		r.setWord(out+4, c.table.Unpartitioned)
		r.ret(0xff)
		return
	}
	p := c.table.Partitions[t.Partition]
	r.setWord(out, p.Location)
	r.setWord(out+4, p.Flags)
	r.ret(int32(t.Partition))
}

// romChainImage starts another image from within a program; it returns only
// when there is none.
func romChainImage(c *Chip, r *romCall) {
	if !r.workArea(r.arg(0), r.arg(1)) {
		return
	}
	base, size := r.arg(2), r.arg(3)
	o := c.bootOptions()
	if int32(base) < 0 {
		base = -base
		o.UpdateBase, o.HasUpdate = base, true
	}
	d := boot.FindInWindow(bootMemory{c}, boot.Window{Base: base, Size: size}, o)
	if d.Outcome != boot.OutcomeBoot {
		r.ret(romNotFound)
		return
	}
	w := c.boot.word(btBootWord)
	c.boot.setWord(btBootWord, w|bootChained<<8)
	r.gone = true
	c.launchImage(r, d)
}

// romExplicitBuy keeps an image that was booted on trial: the watchdog stops,
// its flag is cleared in flash, and the older version is erased.
func romExplicitBuy(c *Chip, r *romCall) {
	buf, size := r.arg(0), r.arg(1)
	r.setWord(regWatchdogCtrl+aliasClear, watchdogEnable)
	c.boot.setWord(btBootWord, c.boot.word(btBootWord)&0xffffff)
	var picos uint64
	if at := c.boot.word(btTBYBAddr); at != 0 {
		if size < nor.SectorSize {
			r.ret(romBufferTooSmall)
			return
		}
		base := (at - xipBase) & (c.flash.Size() - 1) &^ (nor.SectorSize - 1)
		p := append([]byte(nil), c.flash.Bytes()[base:base+nor.SectorSize]...)
		p[at&(nor.SectorSize-4)+3] &^= 0x80 // TBYB in the upper byte of the flags
		r.writeBytes(buf, p)
		picos += c.eraseRange(base, nor.SectorSize, 0)
		picos += c.programRange(base, p)
		c.boot.setWord(btTBYBAddr, 0)
	}
	if at := c.boot.word(btDowngradeAddr); at != 0 && at&0x7ff == 0 {
		picos += c.eraseRange(at-xipBase, nor.SectorSize, 0)
		c.boot.setWord(btDowngradeAddr, 0)
	}
	r.ret(romOK)
	if picos > 0 {
		c.flashOp(r, picos)
	}
}

const aliasClear = 0x3000
