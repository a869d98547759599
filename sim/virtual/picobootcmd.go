package virtual

import (
	"encoding/binary"

	"github.com/stem-hw/stem-hw/image/boot"
	"github.com/stem-hw/stem-hw/sim/rp2350"
	"github.com/stem-hw/stem-hw/sim/rp2350/otp"
)

// argumentSizes are the sizes of the commands' arguments, by command number
// without the direction.
var argumentSizes = [...]uint8{0, 1, 12, 8, 8, 8, 0, 0, 4, 4, 16, 16, 5, 5}

// romEnd is where ROM ends that PICOBOOT may read.
const romEnd = 0x7e00

// begin takes a command packet.
func (p *picoboot) begin(b []byte) {
	c, ok := parseCommand(b)
	if !ok {
		p.fail(p.status)
		return
	}
	p.cmd, p.inProgress = c, false
	p.fill, p.sent, p.done = 0, 0, 0
	n := int(c.id & 0x7f)
	if n == 0 || n >= len(argumentSizes) {
		p.fail(pbUnknownCommand)
		return
	}
	if c.size != argumentSizes[n] {
		p.fail(pbCommandLength)
		return
	}
	if c.length != p.wantedLength() {
		p.fail(pbTransferLength)
		return
	}
	if c.id == cmdReboot2 {
		p.reboot()
		return
	}
	p.inProgress = true
	switch {
	case c.length == 0:
		if s := p.execute(0); s != pbOK {
			p.fail(s)
			return
		}
		p.acknowledge()
	case c.id&0x80 != 0:
		p.phase = pbDataIn
	default:
		p.phase = pbDataOut
	}
}

// wantedLength is the transfer length that goes with the arguments.
func (p *picoboot) wantedLength() uint32 {
	switch p.cmd.id & 0x7f {
	case cmdRead & 0x7f, cmdWrite:
		return p.cmd.word(1)
	case cmdGetInfo & 0x7f:
		return min(p.cmd.length, pageSize)
	case cmdOTPRead & 0x7f, cmdOTPWrite:
		_, count, ecc := p.cmd.otp()
		if ecc {
			return uint32(2 * count)
		}
		return uint32(4 * count)
	}
	return 0
}

// reboot is REBOOT2. A jump to an address is for secure callers alone, and the
// USB side of the ROM is not one.
func (p *picoboot) reboot() {
	const (
		pcSP       = 0xd
		noReturn   = 0x100
		knownTypes = 1<<0 | 1<<2 | 1<<3 | 1<<4
	)
	flags := p.cmd.word(0) &^ noReturn
	if p.flash.rebooting {
		p.fail(pbRebooting)
		return
	}
	if flags&0xf == pcSP || knownTypes>>(flags&0xf)&1 == 0 ||
		!p.flash.rom.Reboot(flags, p.cmd.word(1), p.cmd.word(2), p.cmd.word(3)) {
		p.fail(pbNotPermitted)
		return
	}
	p.status, p.flash.rebooting = pbOK, true
	p.acknowledge()
}

// execute does what is to be done for the next n bytes of the transfer, or all
// of a command without data. Data is in the buffer, or is left there.
func (p *picoboot) execute(n int) picobootStatus {
	if p.flash.rebooting {
		return pbRebooting
	}
	p.status = pbOK
	switch p.cmd.id & 0x7f {
	case cmdReboot, cmdExec, cmdVectorizeFlash:
		return pbUnknownCommand
	case cmdExclusive:
		p.flash.uf2.Locked = p.cmd.args[0] != 0
		if p.cmd.args[0] == 2 {
			p.flash.ejected = true
		}
	case cmdExitXIP:
		p.flash.uf2.ExitXIP()
	case cmdFlashErase:
		return p.erase()
	case cmdRead & 0x7f:
		return p.read(n)
	case cmdWrite:
		return p.write(n)
	case cmdGetInfo & 0x7f:
		return p.info(n)
	case cmdOTPRead & 0x7f, cmdOTPWrite:
		return p.fuses(n)
	}
	return pbOK
}

// isFlash takes the end of flash for flash, as the ROM does.
func isFlash(a uint64) bool { return a >= boot.FlashBase && a <= boot.FlashEnd }

// isMemory reports whether a range is in one of the RAMs.
func isMemory(a uint64, n int) bool {
	end := a + uint64(n)
	return a >= boot.SRAMBase && end <= boot.SRAMEnd || a >= boot.XIPSRAMBase && end <= boot.XIPSRAMEnd
}

func (p *picoboot) erase() picobootStatus {
	addr, size := uint64(p.cmd.word(0)), uint64(p.cmd.word(1))
	p.flash.byDrive = false
	switch {
	case addr%boot.SectorSize != 0 || size%boot.SectorSize != 0:
		return pbAlignment
	case !isFlash(addr) || !isFlash(addr+size):
		return pbAddress
	}
	for a := addr; a < addr+size; a += boot.SectorSize {
		if !p.flash.rom.FlashAllowed(uint32(a), boot.SectorSize, true) {
			return pbNotPermitted
		}
		p.flash.clock.erased(p.flash.rom.EraseSector(uint32(a)))
	}
	p.flash.uf2.ExitXIP()
	return pbOK
}

func (p *picoboot) read(n int) picobootStatus {
	addr := uint64(p.cmd.word(0)) + uint64(p.done)
	end := addr + uint64(n)
	switch {
	case isMemory(addr, n), end < romEnd:
		if !p.flash.rom.Read(uint32(addr), p.buf[:n]) {
			return pbAddress
		}
		return pbOK
	case !isFlash(addr) || !isFlash(end):
		return pbAddress
	case addr%pageSize != 0:
		return pbAlignment
	case !p.flash.rom.FlashAllowed(uint32(addr), pageSize, false):
		return pbNotPermitted
	}
	_, _ = p.flash.rom.Memory().ReadAt(p.buf[:], int64(addr))
	p.flash.clock.read()
	return pbOK
}

func (p *picoboot) write(n int) picobootStatus {
	addr := uint64(p.cmd.word(0)) + uint64(p.done)
	if p.done > 0 && p.flash.byDrive {
		return pbInterleaved
	}
	p.flash.byDrive = false
	switch {
	case isMemory(addr, n):
		p.flash.rom.Write(uint32(addr), p.buf[:n])
		return pbOK
	case !isFlash(addr) || !isFlash(addr+uint64(n)):
		return pbAddress
	case addr%pageSize != 0:
		return pbAlignment
	case !p.flash.rom.FlashAllowed(uint32(addr), pageSize, true):
		return pbNotPermitted
	}
	p.flash.clock.programmed(p.flash.rom.Program(uint32(addr), p.buf[:])) // a whole page, always
	p.flash.uf2.ExitXIP()
	return pbOK
}

// Kinds of GET_INFO.
const (
	infoSystem     = 1
	infoPartitions = 2
	infoUF2Target  = 3
	infoUF2Status  = 4
)

// info is GET_INFO: the number of words, then they.
func (p *picoboot) info(n int) picobootStatus {
	arg := p.cmd.word(1)
	var out []uint32
	switch p.cmd.args[0] {
	case infoSystem:
		out = p.flash.rom.SysInfo(arg)
	case infoPartitions:
		out = p.flash.rom.PartitionInfo(arg)
	case infoUF2Target:
		out = p.target(arg)
	case infoUF2Status:
		i := p.flash.uf2.Info()
		w := uint32(i.Status)
		if i.RAM {
			w |= 1 << 16
		}
		if i.NoReboot {
			w |= 1 << 24
		}
		out = []uint32{w, i.Family, i.Seen, i.Total}
	default:
		return pbArgument
	}
	if n < 4*(len(out)+1) {
		return pbBufferTooSmall
	}
	clear(p.buf[:])
	binary.LittleEndian.PutUint32(p.buf[:], uint32(len(out)))
	for i, w := range out {
		binary.LittleEndian.PutUint32(p.buf[4+4*i:], w)
	}
	return pbOK
}

// target is where a UF2 family goes: the partition, 0xff without partitions, all
// ones for nowhere; and what it permits and is.
func (p *picoboot) target(family uint32) []uint32 {
	const allOfFlash, nowhere = 0xff, 0xffffffff
	rom := p.flash.rom
	table := rom.Table()
	t := boot.TargetFor(rom.Memory(), rom.Options(), table, family)
	switch {
	case !t.Accepted:
		return []uint32{nowhere, 0, 0}
	case t.Partition < 0:
		return []uint32{allOfFlash, table.Unpartitioned&0xfc000000 | 0x1fff<<13, table.Unpartitioned}
	}
	part := table.Partitions[t.Partition]
	return []uint32{uint32(t.Partition), part.Location, part.Flags}
}

// fuses reads or programs the OTP rows of the next n bytes.
func (p *picoboot) fuses(n int) picobootStatus {
	row, _, ecc := p.cmd.otp()
	unit := 4
	if ecc {
		unit = 2
	}
	row += int(p.done) / unit
	if row > 0xffff {
		return pbAddress
	}
	if row+n/unit > otp.Rows {
		return pbArgument
	}
	write := p.cmd.id == cmdOTPWrite
	for i := 0; i < n; i += unit {
		var v uint32
		if unit == 2 {
			v = uint32(binary.LittleEndian.Uint16(p.buf[i:]))
		} else {
			v = binary.LittleEndian.Uint32(p.buf[i:])
		}
		if write {
			p.flash.clock.fused()
			switch p.flash.rom.WriteFuse(row+i/unit, v, ecc) {
			case rp2350.FuseLocked:
				return pbNotPermitted
			case rp2350.FuseInTheWay:
				return pbUnsupportedEdit
			case rp2350.FuseWritten:
			}
			continue
		}
		v, ok := p.flash.rom.ReadFuse(row+i/unit, ecc)
		if !ok {
			return pbNotPermitted
		}
		if unit == 2 {
			binary.LittleEndian.PutUint16(p.buf[i:], uint16(v))
		} else {
			binary.LittleEndian.PutUint32(p.buf[i:], v)
		}
	}
	return pbOK
}
