package debugport

import (
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/sim/bus"
)

func isArm(c Chip, core int) bool { return c.Arch(core) == image.ArchARM }

// Registers of a MEM-AP version 2 (IHI 0074, C2.6).
const (
	regCSW  = 0xd00
	regTAR  = 0xd04
	regDRW  = 0xd0c
	regBD0  = 0xd10
	regTRR  = 0xd30
	regCFG  = 0xdf4
	regBASE = 0xdf8
	regIDR  = 0xdfc
)

// Bits of CSW.
const (
	cswSize      uint32 = 7
	cswInc       uint32 = 3 << 4
	cswDeviceEn  uint32 = 1 << 6
	cswSDeviceEn uint32 = 1 << 23
	cswPriv      uint32 = 1 << 25
	cswNonSecure uint32 = 1 << 30
	// cswWritable: increment, size, mode and protection; bits 29 and 31 read
	// back as 0 on silicon.
	cswWritable uint32 = 0x5f000f37
)

// resetCSW is CSW as silicon was seen with it after power-up (probe-rs pull
// request 3005): Non-secure, so that a debugger has to write it first.
const resetCSW = cswNonSecure | 3<<24 | 2

// memory is what a MEM-AP reaches.
type memory interface {
	// enabled says whether the port works at all, secure whether Secure
	// accesses are allowed.
	enabled() (device, secure bool)
	// narrow reports whether 8 and 16 bits, and packed transfers of them, are
	// supported.
	narrow() bool
	load(addr uint32, size uint8, a bus.Access) (uint32, bool)
	store(addr uint32, size uint8, v uint32, a bus.Access) bool
}

// memAP is a MEM-AP.
type memAP struct {
	idr, base, cfg, part uint32
	csw, tar, trr        uint32
	mem                  memory
}

func newMemAP(idr, base, cfg, part uint32, m memory) *memAP {
	return &memAP{idr: idr, base: base, cfg: cfg, part: part, csw: resetCSW, mem: m}
}

// reset is a power-on reset of the port.
func (p *memAP) reset() { p.csw, p.tar, p.trr = resetCSW, 0, 0 }

// target is the address that an access of a register accesses.
func (p *memAP) target(off uint32) (addr uint32, ok bool) {
	switch {
	case off < 0x400:
		return p.tar&^0x3ff | off, true
	case off == regDRW:
		return p.tar, true
	case off >= regBD0 && off < regBD0+16:
		return p.tar&^0xf | off&0xc, true
	}
	return 0, false
}

func (p *memAP) read(off uint32, t Trouble) (uint32, bool) {
	switch {
	case off < 0x400:
		return p.transfer(p.tar&^0x3ff|off, 4, false, 0, t)
	case off == regCSW:
		v := p.csw & cswWritable
		device, secure := p.mem.enabled()
		if device {
			v |= cswDeviceEn
			if secure {
				v |= cswSDeviceEn
			}
		}
		return v, true
	case off == regTAR:
		return p.tar, true
	case off == regDRW:
		return p.data(false, 0, t)
	case off >= regBD0 && off < regBD0+16:
		return p.transfer(p.tar&^0xf|off&0xc, 4, false, 0, t)
	case off == regTRR:
		return p.trr, true
	case off == regCFG:
		return p.cfg, true
	case off == regBASE:
		return p.base, true
	case off == regIDR:
		return p.idr, true
	case off == 0xfbc:
		return 0x47700a17, true // DEVARCH: MEM-AP
	}
	return coresightID(off, 9, designerArm, p.part), true
}

func (p *memAP) write(off, v uint32, t Trouble) bool {
	ok := true
	switch {
	case off < 0x400:
		_, ok = p.transfer(p.tar&^0x3ff|off, 4, true, v, t)
	case off == regCSW:
		p.csw = v & cswWritable
		if !p.mem.narrow() || p.csw&cswSize > 2 {
			p.csw = p.csw&^cswSize | 2
		}
		if inc := p.csw & cswInc; inc == cswInc || inc == 2<<4 && !p.mem.narrow() {
			p.csw &^= cswInc
		}
	case off == regTAR:
		p.tar = v
	case off == regDRW:
		_, ok = p.data(true, v, t)
	case off >= regBD0 && off < regBD0+16:
		_, ok = p.transfer(p.tar&^0xf|off&0xc, 4, true, v, t)
	case off == regTRR:
		p.trr &^= v & 1
	}
	return ok
}

// size is the size of an access through DRW in bytes.
func (p *memAP) size() uint8 {
	switch p.csw & cswSize {
	case 0:
		return 1
	case 1:
		return 2
	}
	return 4
}

// data serves DRW: one access at TAR, or several packed into a word, then the
// increment, which wraps within 1 KiB.
func (p *memAP) data(write bool, v uint32, t Trouble) (r uint32, ok bool) {
	size := p.size()
	inc := p.csw & cswInc >> 4
	n := uint32(size)
	if inc == 2 && size < 4 {
		n = 4
	}
	ok = true
	for done := uint32(0); done < n && ok; done += uint32(size) {
		addr := p.tar + done
		lane := 8 * (addr & 3)
		var part uint32
		part, ok = p.transfer(addr, size, write, v>>lane, t)
		r |= part << lane
	}
	if ok && inc != 0 {
		p.tar = p.tar&^0x3ff | (p.tar+n)&0x3ff
	}
	return r, ok
}

// transfer makes one access. What is refused sets the log in TRR.
func (p *memAP) transfer(addr uint32, size uint8, write bool, v uint32, t Trouble) (uint32, bool) {
	device, secure := p.mem.enabled()
	a := bus.Debug
	if p.csw&cswPriv != 0 {
		a |= bus.Privileged
	}
	if p.csw&cswNonSecure != 0 {
		a |= bus.NonSecure
	}
	ok := device && (secure || a&bus.NonSecure != 0) && !t.MemoryFaults && addr&uint32(size-1) == 0
	if ok && write {
		ok = p.mem.store(addr, size, v&mask(size), a)
	} else if ok {
		v, ok = p.mem.load(addr, size, a)
	}
	if !ok {
		p.trr |= 1
		return 0, false
	}
	return v & mask(size), true
}

// ahbMemory is the bus as one Cortex-M33 sees it.
type ahbMemory struct {
	chip Chip
	core int
}

func (m *ahbMemory) enabled() (device, secure bool) {
	auth := m.chip.Auth()
	return auth.Debug[m.core] && isArm(m.chip, m.core), auth.Secure[m.core]
}
func (m *ahbMemory) narrow() bool { return true }
func (m *ahbMemory) load(addr uint32, size uint8, a bus.Access) (uint32, bool) {
	return m.chip.Load(m.core, addr, size, a)
}
func (m *ahbMemory) store(addr uint32, size uint8, v uint32, a bus.Access) bool {
	return m.chip.Store(m.core, addr, size, v, a)
}

// apbMemory is the Debug Module, four bytes a register.
type apbMemory struct {
	chip Chip
	dm   *DM
}

func (m *apbMemory) enabled() (device, secure bool) {
	on := m.chip.Auth().DM
	return on, on
}
func (m *apbMemory) narrow() bool { return false }
func (m *apbMemory) load(addr uint32, _ uint8, _ bus.Access) (uint32, bool) {
	return m.dm.Read(addr >> 2 & 0x7f), true
}
func (m *apbMemory) store(addr uint32, _ uint8, v uint32, _ bus.Access) bool {
	m.dm.Write(addr>>2&0x7f, v)
	return true
}

// mask covers the bits of an access of size bytes.
func mask(size uint8) uint32 { return uint32(1<<(8*uint64(size)) - 1) }
