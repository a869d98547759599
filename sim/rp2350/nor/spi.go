package nor

import "math/bits"

// Commands (W25Q32JV data sheet, instruction set tables).
const (
	cmdWriteStatus1 = 0x01
	cmdPageProgram  = 0x02
	cmdRead         = 0x03
	cmdWriteDisable = 0x04
	cmdReadStatus1  = 0x05
	cmdWriteEnable  = 0x06
	cmdFastRead     = 0x0b
	cmdWriteStatus3 = 0x11
	cmdReadStatus3  = 0x15
	cmdErase4K      = 0x20
	cmdWriteStatus2 = 0x31
	cmdQuadProgram  = 0x32
	cmdReadStatus2  = 0x35
	cmdDualRead     = 0x3b
	cmdUniqueID     = 0x4b
	cmdWriteEnableV = 0x50
	cmdErase32K     = 0x52
	cmdSFDP         = 0x5a
	cmdChipErase2   = 0x60
	cmdEnableReset  = 0x66
	cmdQuadRead     = 0x6b
	cmdManufacturer = 0x90
	cmdReset        = 0x99
	cmdJEDEC        = 0x9f
	cmdReleasePower = 0xab
	cmdPowerDown    = 0xb9
	cmdDualIORead   = 0xbb
	cmdChipErase    = 0xc7
	cmdErase64K     = 0xd8
	cmdQuadIORead   = 0xeb
)

// Status register bits.
const (
	statusBusy = 1 << 0 // register 1
	statusWEL  = 1 << 1
	statusQE   = 1 << 1 // register 2
)

// manufacturerID and the type bytes of a W25Q…JV.
const (
	manufacturerID = 0xef
	memoryType     = 0x40
)

// spi is the state of one transaction and the little that outlives it.
type spi struct {
	selected bool
	n        int // bytes since select
	cmd      uint8
	addr     uint32
	page     []byte // data of a page program
	status   []byte // data of a status write

	continuous uint8 // command of a continuous read that goes on at the next select
	asleep     bool  // power-down
	resetArmed bool  // 66h seen
	volatileWE bool  // 50h seen
}

// Select drives the chip select; raising it ends the transaction and starts
// what was asked for.
func (f *Flash) Select(on bool) {
	s := &f.spi
	if on == s.selected {
		return
	}
	s.selected = on
	if !on {
		f.finish()
		return
	}
	s.n, s.cmd, s.addr, s.page, s.status = 0, 0, 0, s.page[:0], s.status[:0]
	if s.continuous != 0 {
		s.cmd, s.n = s.continuous, 1
	}
}

// Transfer shifts one byte in and returns the byte shifted out meanwhile.
func (f *Flash) Transfer(in byte) (out byte) {
	s := &f.spi
	if !s.selected {
		return 0xff
	}
	s.n++
	if s.n == 1 {
		s.cmd = in
		return 0xff
	}
	if s.asleep && s.cmd != cmdReleasePower {
		return 0xff
	}
	if f.Busy() && s.cmd != cmdReadStatus1 && s.cmd != cmdReadStatus2 && s.cmd != cmdReadStatus3 {
		return 0xff
	}
	return f.data(s.n-2, in)
}

// data serves byte i after the command byte.
func (f *Flash) data(i int, in byte) byte {
	s := &f.spi
	switch s.cmd {
	case cmdReadStatus1:
		v := f.status[0]
		if f.Busy() {
			v |= statusBusy | statusWEL
		}
		return v
	case cmdReadStatus2:
		return f.status[1]
	case cmdReadStatus3:
		return f.status[2]
	case cmdWriteStatus1, cmdWriteStatus2, cmdWriteStatus3:
		s.status = append(s.status, in)
	case cmdRead:
		return f.read(i, in, 0, false)
	case cmdFastRead, cmdDualRead, cmdQuadRead:
		return f.read(i, in, 1, false)
	case cmdDualIORead:
		return f.read(i, in, 1, true)
	case cmdQuadIORead:
		return f.read(i, in, 3, true)
	case cmdPageProgram, cmdQuadProgram:
		if i < 3 {
			s.addr = s.addr<<8 | uint32(in)
		} else if len(s.page) < 4*PageSize {
			s.page = append(s.page, in)
		} else { // more than the buffer holds: the oldest are replaced
			s.page[len(s.page)-4*PageSize+(i-3)%PageSize] = in
		}
	case cmdErase4K, cmdErase32K, cmdErase64K:
		if i < 3 {
			s.addr = s.addr<<8 | uint32(in)
		}
	case cmdUniqueID:
		if i >= 4 {
			return byte(f.uid >> (56 - 8*uint((i-4)%8)))
		}
	case cmdJEDEC:
		return [3]byte{manufacturerID, memoryType, f.capacity()}[i%3]
	case cmdManufacturer:
		if i < 3 {
			s.addr = s.addr<<8 | uint32(in)
			return 0xff
		}
		if (uint32(i-3)+s.addr)&1 == 0 {
			return manufacturerID
		}
		return f.capacity() - 1
	case cmdReleasePower:
		if i >= 3 {
			return f.capacity() - 1
		}
	case cmdSFDP:
		if i < 3 {
			s.addr = s.addr<<8 | uint32(in)
		} else if i >= 4 {
			return f.sfdp(s.addr + uint32(i-4))
		}
	}
	return 0xff
}

// read serves a read command with a 24-bit address, then dummy bytes of which
// the first holds the mode bits if mode is set, then data.
func (f *Flash) read(i int, in byte, dummies int, mode bool) byte {
	s := &f.spi
	switch {
	case i < 3:
		s.addr = s.addr<<8 | uint32(in)
	case i < 3+dummies:
		if i == 3 && mode {
			// M5-4 = 10 keeps the command for the next transaction.
			s.continuous = 0
			if in&0x30 == 0x20 {
				s.continuous = s.cmd
			}
		}
	default:
		b := f.mem[s.addr&(f.Size()-1)]
		s.addr++
		return b
	}
	return 0xff
}

// finish performs what a transaction asked for when the select ends.
func (f *Flash) finish() {
	s := &f.spi
	if s.n == 0 {
		return
	}
	if s.asleep {
		if s.cmd == cmdReleasePower {
			s.asleep = false
		}
		return
	}
	if f.Busy() {
		return
	}
	armed, volatileWE := s.resetArmed, s.volatileWE
	s.resetArmed, s.volatileWE = false, false
	switch s.cmd {
	case cmdWriteEnable:
		f.status[0] |= statusWEL
	case cmdWriteDisable:
		f.status[0] &^= statusWEL
	case cmdWriteEnableV:
		s.volatileWE = true
	case cmdPowerDown:
		s.asleep = true
	case cmdEnableReset:
		s.resetArmed = true
	case cmdReset:
		if armed {
			f.restart()
		}
	case cmdWriteStatus1, cmdWriteStatus2, cmdWriteStatus3:
		f.writeStatus(volatileWE)
	case cmdPageProgram, cmdQuadProgram:
		f.finishProgram()
	case cmdErase4K:
		f.finishErase(SectorSize, 4)
	case cmdErase32K:
		f.finishErase(HalfBlock, 4)
	case cmdErase64K:
		f.finishErase(BlockSize, 4)
	case cmdChipErase, cmdChipErase2:
		f.finishErase(f.Size(), 1)
	}
}

func (f *Flash) writeStatus(volatileWE bool) {
	s := &f.spi
	if len(s.status) == 0 || f.status[0]&statusWEL == 0 && !volatileWE {
		return
	}
	const writable1 = 0xfc
	switch s.cmd {
	case cmdWriteStatus1:
		f.status[0] = f.status[0]&^writable1 | s.status[0]&writable1
		if len(s.status) > 1 {
			f.status[1] = s.status[1]
		}
	case cmdWriteStatus2:
		f.status[1] = s.status[0]
	case cmdWriteStatus3:
		f.status[2] = s.status[0]
	}
	f.status[0] &^= statusWEL
	if !volatileWE {
		f.start(StatusTime)
	}
}

// finishProgram writes the page buffer; it wraps within the page, and of more
// than 256 bytes the last ones count.
func (f *Flash) finishProgram() {
	s := &f.spi
	if f.status[0]&statusWEL == 0 || len(s.page) == 0 {
		return
	}
	f.status[0] &^= statusWEL
	base := s.addr &^ (PageSize - 1) & (f.Size() - 1)
	var buf [PageSize]byte
	for i := range buf {
		buf[i] = 0xff
	}
	for i, b := range s.page {
		buf[(s.addr+uint32(i))%PageSize] = b
	}
	f.Program(base, buf[:])
	f.start(ProgramTime)
}

func (f *Flash) finishErase(n uint32, want int) {
	s := &f.spi
	if f.status[0]&statusWEL == 0 || s.n < want {
		return
	}
	f.status[0] &^= statusWEL
	f.Erase(s.addr&^(n-1), n)
	f.start(f.EraseTime(n))
}

func (f *Flash) start(d uint64) { f.busyUntil = f.now() + d }

func (f *Flash) capacity() byte { return byte(bits.TrailingZeros32(f.Size())) }
