package rp2350

import (
	"encoding/binary"

	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/image/boot"
	"github.com/stem-hw/stem-hw/sim/rp2350/otp"
)

// otpFlags0 is BOOT_FLAGS0 as the ROM reads it.
func (c *Chip) otpFlags0() uint32 { return c.otp.Majority3(otp.RowBootFlags0) }

// bootOptions describes the chip for a boot decision.
func (c *Chip) bootOptions() boot.Options {
	f := c.otpFlags0()
	crit0, crit1 := c.otp.AnyOf8(otp.RowCrit0), c.otp.AnyOf8(otp.RowCrit1)
	o := boot.Options{
		Chip: boot.Chip(c.opt.Revision), CPU: c.cpuKind(),
		OTP: boot.OTP{
			ArmDisabled: crit0&1 != 0, RISCVDisabled: crit0&2 != 0, SecureBoot: crit1&1 != 0,
			SingleBinary: f&(1<<7) != 0, NoArchSwitch: f&(1<<8) != 0, SignedTable: f&(1<<9) != 0,
			HashedTable: f&(1<<10) != 0, RollbackRequired: f&(1<<11) != 0, NoFlashBoot: f&(1<<12) != 0,
			NoRAMBoot: f&(1<<21) != 0,
			FlashSize: devInfoSize(c.boot.word(btFlashDevInfo&^3) & 0xffff),
		},
	}
	if f&(1<<6) != 0 {
		if v, ok := c.otp.Data(otp.RowSlotSize); ok {
			o.OTP.SlotSize = 4096 * (uint32(v) + 1)
		}
	}
	o.OTP.RollbackVersion = func(rows []uint16) uint32 {
		var n uint32
		for _, row := range rows {
			v := c.otp.Majority3(int(row))
			for ; v&1 != 0; v >>= 1 {
				n++
			}
		}
		return n
	}
	return o
}

// devInfoSize is the size of chip select 0 in FLASH_DEVINFO; code n is 4 KiB
// shifted left by n.
func devInfoSize(v uint32) uint32 {
	if n := v >> 8 & 15; n != 0 {
		return 4096 << n
	}
	return 0
}

func (c *Chip) cpuKind() boot.CPU {
	if c.opt.Arch == image.ArchARM {
		return boot.Arm
	}
	return boot.RISCV
}

// bootMemory is what the ROM reads while it decides: flash by storage address,
// SRAM and pinned XIP SRAM.
type bootMemory struct{ c *Chip }

// ReadAt implements io.ReaderAt by bus address.
func (m bootMemory) ReadAt(p []byte, addr int64) (int, error) {
	c := m.c
	for i := range p {
		a := uint32(addr) + uint32(i)
		switch {
		case a >= xipSRAMBase && a < xipNoCache:
			p[i] = c.xip.data[a-xipSRAMBase]
		case a >= xipBase && a < xipBase+xipCSSize:
			f := c.flash.Bytes()
			p[i] = f[(a-xipBase)&uint32(len(f)-1)]
		case a >= xipBase && a < xipSRAMBase:
			p[i] = 0xff
		case inSRAM(a):
			p[i] = c.sram[a-sramBase]
		default:
			p[i] = 0
		}
	}
	return len(p), nil
}

// bootFlash searches flash and starts what it finds.
func (c *Chip) bootFlash(r *romCall, typ int, p0 uint32) {
	o := c.bootOptions()
	if typ == bootFlashUpdate {
		o.UpdateBase, o.HasUpdate = p0, true
	}
	o.Diagnose = boot.Place(int8(c.boot.word(btBootWord)))
	d := boot.FindImage(bootMemory{c}, o)
	c.table = d.Table
	c.writeTable()
	c.boot.setWord(btDiagnostics, d.Diagnostics)
	c.finishBoot(r, d, typ)
}

// bootRAM starts an image in RAM (or chained) at a window.
func (c *Chip) bootRAM(r *romCall, base, size uint32) {
	d := boot.FindInWindow(bootMemory{c}, boot.Window{Base: base, Size: size}, c.bootOptions())
	c.table = d.Table
	c.writeTable()
	c.finishBoot(r, d, bootRAMImage)
}

func (c *Chip) finishBoot(r *romCall, d *boot.Decision, typ int) {
	switch d.Outcome {
	case boot.OutcomeBoot:
		c.setBootWord(typ, int8(d.Place))
		c.launchImage(r, d)
	case boot.OutcomeSwitch:
		c.otherArch(r, d)
	case boot.OutcomeHang:
		c.crash(r.n, "the boot ROM never comes to an end: "+d.Reason)
	default:
		c.enterBootsel(r, bootselNoImage, d.Reason)
	}
}

// launchImage enters an image: translation, load map, registers.
func (c *Chip) launchImage(r *romCall, d *boot.Decision) {
	if d.Rolled {
		for i, v := range d.ATRANS {
			c.qmi.atrans[i] = v & atransMsk
		}
		c.remap()
	}
	if d.PinXIPSRAM {
		c.xip.pinAll()
	}
	for _, op := range d.Loads {
		c.carryOut(op)
	}
	if d.TBYB {
		c.boot.setWord(btDowngradeAddr, d.EraseOther)
		c.boot.setWord(btTBYBAddr, d.TBYBAddr)
		c.boot.setWord(btBootWord, c.boot.word(btBootWord)|1<<24)
		c.reboot(r, bootNormal, 0xffffff, 0, 0) // 16.7 s to say "buy"
	} else if d.EraseOther != 0 {
		c.flash.Erase(d.EraseOther-xipBase, 4096)
	}
	r.n.cpu.Enter(d.Entry.PC, d.Entry.SP, d.Entry.VTOR)
}

// carryOut performs one step of a load map.
func (c *Chip) carryOut(op boot.LoadOp) {
	buf := make([]byte, op.Size)
	if !op.Clear {
		if !op.Copies() {
			return
		}
		_, _ = bootMemory{c}.ReadAt(buf, int64(op.From))
	}
	c.pokeRAM(op.To, buf)
}

// pokeRAM writes SRAM or XIP SRAM from outside the cores.
func (c *Chip) pokeRAM(addr uint32, p []byte) {
	switch {
	case inSRAM(addr):
		n := copy(c.sram[addr-sramBase:], p)
		c.outsideWrite(addr, uint32(n))
	case addr >= xipSRAMBase && addr < xipNoCache:
		n := copy(c.xip.data[addr-xipSRAMBase:], p)
		c.invalidate(addr, addr+uint32(n))
	}
}

// writeTable keeps the resident partition table where firmware finds it.
func (c *Chip) writeTable() {
	t := c.table
	if t == nil {
		return
	}
	b := c.boot.mem[btPartitionTable:]
	clear(b[:btNSPermissions-btPartitionTable])
	b[0], b[1], b[2] = byte(len(t.Partitions)), byte(len(t.Partitions)), 1
	binary.LittleEndian.PutUint32(b[4:], t.Unpartitioned)
	for i, p := range t.Partitions {
		binary.LittleEndian.PutUint32(b[8+8*i:], p.Location)
		binary.LittleEndian.PutUint32(b[12+8*i:], p.Flags)
	}
	binary.LittleEndian.PutUint32(b[8+8*16:], t.Addr)
}
