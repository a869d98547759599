package rp2350

import "github.com/stem-hw/stem-hw/sim/rp2350/nor"

// romConnectFlash gives the QSPI pads to the flash: a reset of their IO and pad
// controls, function 0, isolation off. On RP2350 all six have it as reset
// value, so ISO is what is left to do.
func romConnectFlash(c *Chip, r *romCall) {
	const blocks = 1<<7 | 1<<10 // IO_QSPI, PADS_QSPI
	r.setWord(regResetsSet, blocks)
	r.setWord(regResetsClear, blocks)
	for i := uint32(0); i < 6; i++ {
		r.setWord(regIOQSPI+8*i+0x14, 0)
		r.setWord(regPadsQSPIClear+4+4*i, 1<<8)
	}
	r.cycles = 400
}

const (
	regResetsSet = 0x40022000
	regIOQSPI    = 0x40030000
)

func romResetATRANS(c *Chip, r *romCall) { c.qmi.resetATRANS() }

// romExitXIP makes the flash take serial commands again, and XIP read with 03h.
// It takes the four 50 us waits of the ROM's sequence.
func romExitXIP(c *Chip, r *romCall) {
	c.leaveDirectMode()
	c.flash.Select(false)
	for _, b := range [][]byte{{0xff, 0xff, 0xff, 0xff}, {0xf5}, {0xff, 0xff}, {0xff}} {
		c.flash.Select(true)
		for _, v := range b {
			c.flash.Transfer(v)
		}
		c.flash.Select(false)
	}
	c.readMode(0, 6)
	r.cycles = 100 * 23
}

// leaveDirectMode ends what a program began in direct mode, and what a function
// of the ROM began there that a reset of its core has cut off.
func (c *Chip) leaveDirectMode() {
	was := c.qmi.direct()
	c.qmi.romBusy = false
	c.qmi.csr &^= csrEN | csrAssertCS0 | csrAssertCS1
	c.qmi.rx = c.qmi.rx[:0]
	if was {
		c.remap()
	}
}

// xipModes are M0_RFMT and M0_RCMD of the ROM's read modes: 03h, 0Bh, BBh, EBh.
var xipModes = [4][2]uint32{
	{0x00001000, 0x03}, {0x00021000, 0x0b}, {0x00009155, 0xbb}, {0x000492a8, 0xeb},
}

// readMode sets the registers of both chip selects up.
func (c *Chip) readMode(mode, clkdiv uint32) {
	m := xipModes[mode&3]
	for i := range 2 {
		c.qmi.mem[5*i] = 1<<30 | 2<<28 | 7<<12 | 2<<8 | clkdiv&0xff
		c.qmi.mem[5*i+1] = m[0]
		c.qmi.mem[5*i+2] = m[1]
	}
}

func romEnterCmdXIP(c *Chip, r *romCall) {
	c.leaveDirectMode()
	c.readMode(0, 6)
}

func romSelectXIPMode(c *Chip, r *romCall) {
	c.leaveDirectMode()
	c.readMode(r.arg(0), r.arg(1))
}

// romFlushCache invalidates every line, pinned ones too.
func romFlushCache(c *Chip, r *romCall) {
	for i := range uint32(len(c.xip.pin)) {
		c.xip.unpin(i)
	}
	r.cycles = cacheSize / 8 * 3
}

// romRangeErase erases sectors from an offset, with the block command where it
// fits (datasheet 5.4.8.13).
func romRangeErase(c *Chip, r *romCall) {
	c.flashOp(r, c.eraseRange(r.arg(0), r.arg(1), r.arg(2)))
}

// eraseRange erases and returns the time it takes in picoseconds. A block size
// that is no power of two above a sector means that there is no block command.
func (c *Chip) eraseRange(addr, n, block uint32) (picos uint64) {
	end := min(uint64(addr)+uint64(n), xipCSSize) // beyond is no flash
	for a := uint64(addr); a < end; {
		step := uint64(nor.SectorSize)
		if b := uint64(block); b > step && b&(b-1) == 0 && b <= uint64(c.flash.Size()) && a&(b-1) == 0 && end-a >= b {
			step = b
		}
		c.flash.Erase(uint32(a)&^(nor.SectorSize-1), uint32(step))
		picos += c.flash.EraseTime(uint32(step))
		a += step
	}
	return picos
}

// romRangeProgram programs pages from memory.
func romRangeProgram(c *Chip, r *romCall) {
	data := r.readBytes(r.arg(1), r.arg(2))
	c.flashOp(r, c.programRange(r.arg(0), data))
}

// programRange programs page by page, as the ROM does; the page buffer of the
// flash wraps, so an address that is not aligned wraps too. Beyond the first
// chip select there is no flash.
func (c *Chip) programRange(addr uint32, data []byte) (picos uint64) {
	for len(data) > 0 {
		n := min(len(data), nor.PageSize)
		var page [nor.PageSize]byte
		for i := range page {
			page[i] = 0xff
		}
		for i, b := range data[:n] {
			page[(addr+uint32(i))%nor.PageSize] &= b
		}
		if addr < xipCSSize {
			c.flash.Program(addr&^(nor.PageSize-1), page[:])
		}
		picos += nor.ProgramTime
		addr += uint32(n)
		data = data[n:]
	}
	return picos
}

// flashOp lets a flash operation take its time: the core is busy, and XIP is
// detached for everybody.
func (c *Chip) flashOp(r *romCall, picos uint64) {
	c.qmi.romBusy = true
	c.remap()
	end := c.line.After(c.now, picos) + romCallCycles
	env{c}.Schedule(&c.flashDone, end)
	r.cycles = end - c.now
}

// endFlashOp attaches XIP again.
func (c *Chip) endFlashOp() {
	c.qmi.romBusy = false
	c.remap()
}

// Fields of flash_op's flags (pico-sdk bootrom_constants.h, CFLASH_*).
const (
	cflashFlags   = 0x00070301
	cflashRuntime = 1 << 0
	cflashErase   = 0
	cflashProgram = 1
	cflashRead    = 2
)

// romFlashOp erases, programs or reads flash with the checks of the partition
// table's permissions.
func romFlashOp(c *Chip, r *romCall) {
	flags, addr, size, buf := r.arg(0), r.arg(1), r.arg(2), r.arg(3)
	if !r.lock(bootLockFlash) {
		return
	}
	level, op := flags>>8&3, flags>>16&7
	if flags&^uint32(cflashFlags) != 0 || level == 0 || op > cflashRead {
		r.ret(romInvalidArg)
		return
	}
	var picos uint64
	do := func(storage, n, buf uint32) bool {
		if !c.flashAllowed(storage, n, level, op != cflashRead) {
			r.ret(romNotPermitted)
			return false
		}
		align := [...]uint32{nor.SectorSize - 1, nor.PageSize - 1, 0}[op]
		if (storage|n)&align != 0 {
			r.ret(romBadAlignment)
			return false
		}
		off := storage - xipBase
		switch op {
		case cflashErase:
			block := ^uint32(0)
			if c.boot.word(btFlashDevInfo)&(1<<7) != 0 {
				block = nor.BlockSize
			}
			picos += c.eraseRange(off, n, block)
		case cflashProgram:
			picos += c.programRange(off, r.readBytes(buf, n))
		case cflashRead:
			p := make([]byte, n)
			_, _ = bootMemory{c}.ReadAt(p, int64(storage))
			r.writeBytes(buf, p)
			picos += uint64(n) * 100_000
		}
		return true
	}
	if !c.eachPiece(r, flags&cflashRuntime != 0, addr, size, buf, do) || r.gone {
		return
	}
	c.flashOp(r, picos)
	r.ret(romOK)
}

// eachPiece splits a range of runtime addresses where translation panes meet.
func (c *Chip) eachPiece(r *romCall, runtime bool, addr, size, buf uint32, do func(storage, n, buf uint32) bool) bool {
	if !runtime {
		return do(addr, size, buf)
	}
	end := uint64(addr) + uint64(size)
	if addr < xipBase || end > xipBase+2*xipCSSize {
		r.ret(romInvalidAddress)
		return false
	}
	for a := uint64(addr); a < end; {
		n := min(end, a&^(paneSize-1)+paneSize) - a
		phys, ok := c.qmi.translate(uint32(a) & xipWindowMask)
		if _, ok2 := c.qmi.translate(uint32(a+n-1) & xipWindowMask); !ok || !ok2 {
			r.ret(romNotPermitted)
			return false
		}
		storage := xipBase + phys + uint32(a)&xipCSSize
		if !do(storage, uint32(n), buf+uint32(a)-addr) {
			return false
		}
		a += n
	}
	return true
}

// flashAllowed checks the permissions of every partition that a range of
// storage addresses touches. level is 1 secure, 2 Non-secure, 3 bootloader.
func (c *Chip) flashAllowed(addr, n, level uint32, write bool) bool {
	end := uint64(addr) + uint64(n)
	limit := devInfoSize(c.boot.word(btFlashDevInfo&^3) & 0xffff)
	if n == 0 || addr < xipBase || end > uint64(xipBase+limit) {
		return false
	}
	bit := uint32(1) << (26 + 2*(level-1))
	if write {
		bit <<= 1
	}
	for a := uint64(addr) &^ (nor.SectorSize - 1); a < end; a += nor.SectorSize {
		if c.permissionsAt(uint32(a)-xipBase)&bit == 0 {
			return false
		}
	}
	return true
}

// romRuntimeToStorage translates an address of the cached window to where it is
// stored.
func romRuntimeToStorage(c *Chip, r *romCall) {
	a := r.arg(0)
	if a < xipBase || a >= xipBase+2*xipCSSize {
		r.ret(romInvalidAddress)
		return
	}
	phys, ok := c.qmi.translate(a & xipWindowMask)
	if !ok {
		r.ret(romInvalidAddress)
		return
	}
	r.result = xipBase + phys + a&xipCSSize
}
