package testbench

import (
	"bytes"
	"debug/elf"
	"fmt"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/sim/bus"
	"github.com/stem-hw/stem-hw/sim/hazard3"
	"github.com/stem-hw/stem-hw/sim/machine"
	"github.com/stem-hw/stem-hw/target"
)

const (
	rtBase = 0x80000000
	rtRAM  = 16 << 20
)

// RISCVTests is the platform of riscv-tests: RAM at 0x80000000, and a program
// that ends by a store to the word named tohost.
type RISCVTests struct{ *board }

// NewRISCVTests returns the platform with one hart.
func NewRISCVTests() *RISCVTests {
	cfg := hazard3.Testbench()
	cfg.ResetPC, cfg.ResetMtvec = rtBase, rtBase
	b := newBoard(RISCVTestsName, cfg, 1, rtBase, rtRAM)
	b.dev = &hostDevice{b: b}
	b.regions = []target.Region{{Name: "ram", Kind: target.RegionRAM, Base: rtBase, Size: rtRAM}}
	m := &RISCVTests{b}
	m.Reset()
	return m
}

// Load places an ELF file with a symbol tohost in RAM and resets the machine.
func (m *RISCVTests) Load(img *image.Image) error {
	d := m.dev.(*hostDevice)
	tohost, fromhost, ok := hostSymbols(img.ELF)
	if !ok {
		return &faults.Fault{
			Code: faults.CodeBadImage, Status: faults.StatusImage,
			Summary: "the machine " + m.name + " needs a program that says where it reports its end",
			Seen:    "no symbol tohost", Wanted: "an ELF file with a symbol tohost",
			Try: []string{"stem-hw run --machine auto " + img.Path},
		}
	}
	for _, a := range []uint32{tohost, fromhost} {
		if m.word(a) == nil && a != 0 {
			return &faults.Fault{
				Code: faults.CodeBadImage, Status: faults.StatusImage,
				Summary: "tohost and fromhost must lie in memory",
				Seen:    fmt.Sprintf("0x%08x", a), Wanted: fmt.Sprintf("0x%08x to 0x%08x", rtBase, uint32(rtBase+rtRAM-1)),
			}
		}
	}
	d.tohost, d.fromhost = tohost, fromhost
	return m.load(img)
}

// HasTohost reports whether an ELF file names a tohost: whether it is a
// program for this platform.
func HasTohost(file []byte) bool {
	_, _, ok := hostSymbols(file)
	return ok
}

// hostSymbols finds tohost and fromhost (0 if there is none).
func hostSymbols(file []byte) (tohost, fromhost uint32, ok bool) {
	f, err := elf.NewFile(bytes.NewReader(file))
	if err != nil {
		return 0, 0, false
	}
	syms, err := f.Symbols()
	if err != nil {
		return 0, 0, false
	}
	for _, s := range syms {
		switch s.Name {
		case "tohost":
			tohost, ok = uint32(s.Value), true
		case "fromhost":
			fromhost = uint32(s.Value)
		}
	}
	return tohost, fromhost, ok
}

// hostDevice is the other end of tohost and fromhost, the protocol of Berkeley's
// host-target interface as riscv-tests use it.
type hostDevice struct {
	b                *board
	tohost, fromhost uint32
}

func (d *hostDevice) reset() {
	if d.tohost != 0 {
		d.b.flags[(d.tohost-rtBase)/bus.LineSize] |= bus.LineWatched
	}
}

func (d *hostDevice) exclusive() bool                           { return true }
func (d *hostDevice) due(int) uint64                            { return never }
func (d *hostDevice) tick(int, uint64)                          {}
func (d *hostDevice) load(uint64, uint32, uint8) (uint32, bool) { return 0, false }
func (d *hostDevice) store(int, uint64, uint32, uint8, uint32) bool {
	return false
}

// stored acts on a store to the low word of tohost: an odd value is the end,
// any other the address of a system call.
func (d *hostDevice) stored(id int, addr uint32, size uint8) {
	if addr != d.tohost || size != 4 {
		return
	}
	v := get(d.b.word(addr))
	switch {
	case v == 0:
	case v&1 != 0:
		d.b.report(machine.Event{Kind: machine.EventExit, Core: id, Code: int(v >> 1), How: "tohost"})
	default:
		d.call(id, v)
	}
}

// The system calls: Linux numbers; each argument is a doubleword.
const (
	sysWrite = 64
	sysExit  = 93
)

func (d *hostDevice) call(id int, block uint32) {
	var arg [4]uint32
	for i := range arg {
		p := d.b.word(block + uint32(8*i))
		if p == nil {
			return
		}
		arg[i] = get(p)
	}
	result := uint32(0xffffffff)
	switch arg[0] {
	case sysWrite:
		result = 0
		off, n := arg[2]-rtBase, arg[3]
		if off < rtRAM {
			n = min(n, rtRAM-off)
			for _, c := range d.b.ram[off : off+n] {
				d.b.output(c)
			}
			result = n
		}
	case sysExit:
		d.b.report(machine.Event{Kind: machine.EventExit, Core: id, Code: int(int32(arg[1])), How: "tohost"})
	}
	put(d.b.word(block), result)
	put(d.b.word(block+4), uint32(int32(result)>>31))
	put(d.b.word(d.tohost), 0)
	if d.fromhost != 0 {
		put(d.b.word(d.fromhost), 1)
	}
}
