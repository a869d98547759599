package testbench

import (
	"fmt"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/sim/hazard3"
	"github.com/stem-hw/stem-hw/sim/machine"
	"github.com/stem-hw/stem-hw/target"
)

// Name is the machine's name in Describe and on the command line.
const (
	Hazard3Name    = "hazard3-tb"
	RISCVTestsName = "riscv-tests"
)

const (
	tbRAM = 16 << 20
	tbIO  = 0x80000000
)

// Offsets of the IO registers (Hazard3 test/sim/tb_cxxrtl/tb.cpp).
const (
	ioPrintChar = 0x00
	ioPrintWord = 0x04
	ioExit      = 0x08
	ioSetSoft   = 0x10
	ioClrSoft   = 0x14
	ioMonitor   = 0x18
	ioSetIRQ    = 0x20
	ioClrIRQ    = 0x30
	ioMtime     = 0x100
	ioMtimeh    = 0x104
	ioMtimecmp  = 0x108 // low, high of hart 0, then of hart 1
	ioEnd       = 0x118
)

// Hazard3 is Hazard3's testbench.
type Hazard3 struct{ *board }

// NewHazard3 returns the testbench with one or two harts.
func NewHazard3(harts int) *Hazard3 {
	b := newBoard(Hazard3Name, hazard3.Testbench(), harts, 0, tbRAM)
	b.dev = &tbDevice{b: b}
	b.regions = []target.Region{
		{Name: "ram", Kind: target.RegionRAM, Base: 0, Size: tbRAM},
		{Name: "io", Kind: target.RegionIO, Base: tbIO, Size: 0x1000},
	}
	m := &Hazard3{b}
	m.Reset()
	return m
}

// Load places an image in RAM and resets the machine. The reset vector is 0x40
// whatever entry point the image names.
func (m *Hazard3) Load(img *image.Image) error { return m.load(img) }

// load checks that an image fits into RAM.
func (b *board) load(img *image.Image) error {
	if img.Arch == image.ArchARM {
		return &faults.Fault{
			Code: faults.CodeBadImage, Status: faults.StatusImage,
			Summary: "the machine " + b.name + " runs RISC-V programs",
			Seen:    "an Arm program", Wanted: "a program for rv32imac",
			Try: []string{"stem-hw run --machine rp2350 " + img.Path},
		}
	}
	for _, s := range img.Segments {
		off := uint64(s.Addr) - uint64(b.base)
		if off+uint64(len(s.Data)) > uint64(len(b.ram)) || s.Addr < b.base {
			return &faults.Fault{
				Code: faults.CodeBadImage, Status: faults.StatusImage,
				Summary: "the image does not fit the memory of " + b.name,
				Seen:    fmt.Sprintf("%s: 0x%08x to 0x%08x", s.Name, s.Addr, uint64(s.Addr)+uint64(len(s.Data))-1),
				Wanted:  fmt.Sprintf("0x%08x to 0x%08x", b.base, b.base+uint32(len(b.ram)-1)),
				Try:     []string{"stem-hw run --machine auto " + img.Path},
			}
		}
	}
	b.image = img
	b.Reset()
	return nil
}

// tbDevice is the IO page.
type tbDevice struct {
	b       *board
	offset  uint64 // mtime - cycle
	cmp     [2]uint64
	soft    uint32
	irq     uint32
	monitor bool
}

func (d *tbDevice) reset() {
	*d = tbDevice{b: d.b}
	d.lines()
}

func (d *tbDevice) exclusive() bool { return d.monitor }

func (d *tbDevice) lines() {
	for _, h := range d.b.harts {
		h.SetIRQs(uint64(d.irq))
		h.SetMSIP(d.soft>>h.id&1 != 0)
	}
}

// due is when mtime reaches the hart's mtimecmp.
func (d *tbDevice) due(id int) uint64 {
	h := d.b.harts[id]
	if mtime := h.Cycle + d.offset; mtime >= d.cmp[id] {
		return never
	}
	return d.cmp[id] - d.offset
}

func (d *tbDevice) tick(id int, now uint64) {
	d.b.harts[id].SetMTIP(now+d.offset >= d.cmp[id])
}

func (d *tbDevice) load(now uint64, addr uint32, _ uint8) (uint32, bool) {
	mtime := now + d.offset
	switch off := addr - tbIO; off {
	case ioSetSoft, ioClrSoft:
		return d.soft, true
	case ioSetIRQ, ioClrIRQ:
		return d.irq, true
	case ioMtime:
		return uint32(mtime), true
	case ioMtimeh:
		return uint32(mtime >> 32), true
	default:
		if off >= ioMtimecmp && off < ioEnd && off&3 == 0 {
			i := (off - ioMtimecmp) / 4
			return uint32(d.cmp[i/2] >> (32 * (i & 1))), true
		}
	}
	return 0, false
}

func (d *tbDevice) store(id int, now uint64, addr uint32, size uint8, v uint32) bool {
	// The core repeats narrow data on all byte lanes.
	switch size {
	case 1:
		v *= 0x01010101
	case 2:
		v *= 0x00010001
	}
	mtime := now + d.offset
	switch off := addr - tbIO; off {
	case ioPrintChar:
		d.b.output(byte(v))
	case ioPrintWord:
		for _, c := range []byte(fmt.Sprintf("%08x\n", v)) {
			d.b.output(c)
		}
	case ioExit:
		d.b.report(machine.Event{Kind: machine.EventExit, Core: id, Code: int(int32(v)), How: "testbench exit"})
	case ioSetSoft:
		d.soft |= v
		d.changed(id, now)
	case ioClrSoft:
		d.soft &^= v
		d.changed(id, now)
	case ioMonitor:
		d.monitor = v != 0
	case ioSetIRQ:
		d.irq |= v
		d.changed(id, now)
	case ioClrIRQ:
		d.irq &^= v
		d.changed(id, now)
	case ioMtime:
		d.offset = mtime&^0xffffffff + uint64(v) - now
		d.retime(id, now)
	case ioMtimeh:
		d.offset = mtime&0xffffffff + uint64(v)<<32 - now
		d.retime(id, now)
	default:
		if off < ioMtimecmp || off >= ioEnd || off&3 != 0 {
			return false
		}
		i := (off - ioMtimecmp) / 4
		shift := 32 * (i & 1)
		d.cmp[i/2] = d.cmp[i/2]&^(0xffffffff<<shift) | uint64(v)<<shift
		d.retime(id, now)
	}
	return true
}

// changed passes interrupt lines on after a store by hart id.
func (d *tbDevice) changed(id int, now uint64) {
	d.lines()
	for _, o := range d.b.harts {
		d.b.woken(d.b.harts[id], o, now)
	}
}

// retime passes the timer interrupts on after a store by hart id: MTIP may
// change at once, and the next time it does is another.
func (d *tbDevice) retime(id int, now uint64) {
	by := d.b.harts[id]
	for _, o := range d.b.harts {
		d.tick(o.id, max(o.Cycle, now))
		d.b.woken(by, o, now)
	}
	by.Shorten(d.due(id))
}

func (d *tbDevice) stored(int, uint32, uint8) {}
