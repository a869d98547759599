package sim

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/sim/machine"
	"github.com/stem-hw/stem-hw/target"
)

// fake is a small machine for tests: two cores that execute the part of RV32I
// that tests need, one cycle an instruction, RAM, flash, and a few registers.
// The conformance suite checks it like the real machines.
type fake struct {
	name  string
	ram   []byte
	flash []byte
	cores [2]*fakeCore
	now   uint64
	hooks machine.Hooks
	img   *image.Image
	in    []byte
	event *machine.Event
	// refuseInput makes Input take nothing.
	refuseInput bool
	runs        int
}

const (
	fakeRAM    = 0x20000000
	fakeFlash  = 0x10000000
	fakeSector = 4096
	fakeHertz  = 1_000_000

	// Registers of the fake.
	fakePut   = 0x80000000 // prints a character
	fakeExit  = 0x80000008 // ends with a status
	fakeGet   = 0x8000000c // the next character, or all ones
	fakeReset = 0x80000010 // resets the machine
)

func newFake(name string) *fake {
	m := &fake{name: name, ram: make([]byte, 64<<10), flash: make([]byte, 64<<10)}
	for i := range m.flash {
		m.flash[i] = 0xff
	}
	for i := range m.cores {
		m.cores[i] = &fakeCore{m: m, id: i}
	}
	return m
}

func (m *fake) Describe() target.Description {
	d := target.Description{
		Name: m.name, Simulated: true, Arch: image.ArchRISCV, Breakpoints: -1, Watchpoints: -1,
		Memory: []target.Region{
			{Name: "flash", Kind: target.RegionFlash, Base: fakeFlash, Size: uint32(len(m.flash)), Sector: fakeSector},
			{Name: "ram", Kind: target.RegionRAM, Base: fakeRAM, Size: uint32(len(m.ram))},
		},
	}
	for i := range m.cores {
		d.Cores = append(d.Cores, target.Core{ID: i, Name: fmt.Sprintf("hart %d", i)})
	}
	for i := range 33 {
		r := target.Register{Num: i, Name: fmt.Sprintf("x%d", i), Bits: 32, Feature: "org.gnu.gdb.riscv.cpu", Save: true}
		if i == 32 {
			r.Name = "pc"
		}
		d.Registers = append(d.Registers, r)
	}
	for _, csr := range []int{csrMtvec, csrMepc, csrMcause} {
		d.Registers = append(d.Registers, target.Register{Num: csrBase + csr, Name: fmt.Sprintf("csr%d", csr), Bits: 32, Feature: "org.gnu.gdb.riscv.csr"})
	}
	return d
}

func (m *fake) Load(img *image.Image) error {
	for _, s := range img.Segments {
		if m.mem(s.Addr, uint32(len(s.Data))) == nil {
			return errors.New("no memory there")
		}
	}
	m.img = img
	m.Reset()
	return nil
}

func (m *fake) Reset() {
	clear(m.ram)
	for _, s := range m.img.Segments {
		copy(m.mem(s.Addr, uint32(len(s.Data))), s.Data)
	}
	m.event, m.in = nil, nil
	m.boot()
}

func (m *fake) boot() {
	for i, c := range m.cores {
		c.x, c.pc, c.csr = [32]uint32{}, m.img.Entry, map[int]uint32{}
		c.asleep = i == 1
		c.ebreak = false
	}
}

// mem returns the memory at addr, or nil.
func (m *fake) mem(addr, n uint32) []byte {
	for _, r := range []struct {
		base uint32
		mem  []byte
	}{{fakeRAM, m.ram}, {fakeFlash, m.flash}} {
		if off := addr - r.base; off < uint32(len(r.mem)) && uint32(len(r.mem))-off >= n {
			return r.mem[off : off+n]
		}
	}
	return nil
}

func (m *fake) Cores() []machine.Core { return []machine.Core{m.cores[0], m.cores[1]} }

func (m *fake) Run(limit uint64) machine.Event {
	m.runs++
	for m.now < limit {
		ran := false
		for _, c := range m.cores {
			if c.halted || c.asleep {
				continue
			}
			ran = true
			if !c.step() {
				return machine.Event{Kind: machine.EventStop, Core: c.id}
			}
			if e := m.event; e != nil {
				m.event = nil
				m.now++
				return *e
			}
		}
		if !ran {
			if !m.cores[0].halted && !m.cores[1].halted {
				return machine.Event{Kind: machine.EventAsleep}
			}
			m.now = limit
			break
		}
		m.now++
	}
	return machine.Event{Kind: machine.EventLimit}
}

func (m *fake) Now() uint64              { return m.now }
func (m *fake) Seconds() float64         { return float64(m.now) / fakeHertz }
func (m *fake) CycleAt(s float64) uint64 { return uint64(s * fakeHertz) }
func (m *fake) InputOpen(bool)           {}
func (m *fake) SetHooks(h machine.Hooks) { m.hooks = h }
func (m *fake) Peek(_ int, addr uint32, p []byte) int {
	for i := range p {
		b := m.mem(addr+uint32(i), 1)
		if b == nil {
			return i
		}
		p[i] = b[0]
	}
	return len(p)
}

func (m *fake) Poke(_ int, addr uint32, p []byte, force bool) int {
	for i := range p {
		b := m.mem(addr+uint32(i), 1)
		if b == nil || addr+uint32(i) < fakeRAM && !force {
			return i
		}
		b[0] = p[i]
	}
	return len(p)
}

func (m *fake) Input(p []byte) int {
	if m.refuseInput {
		return 0
	}
	m.in = append(m.in, p...)
	m.cores[0].asleep = false
	return len(p)
}

func (m *fake) EraseFlash(addr, n uint32) error {
	b := m.mem(addr, n)
	if b == nil || addr >= fakeRAM || addr%fakeSector != 0 || n%fakeSector != 0 {
		return errors.New("no whole sectors of flash")
	}
	for i := range b {
		b[i] = 0xff
	}
	return nil
}

func (m *fake) ProgramFlash(addr uint32, p []byte) error {
	b := m.mem(addr, uint32(len(p)))
	if b == nil || addr >= fakeRAM {
		return errors.New("no flash there")
	}
	for i := range p {
		b[i] &= p[i]
	}
	return nil
}

// fakeCore is one of its cores.
type fakeCore struct {
	m              *fake
	id             int
	x              [32]uint32
	pc             uint32
	csr            map[int]uint32
	halted, asleep bool
	stepping       bool
	ebreak         bool // ebreak stops instead of raising an exception
	pass           bool // no point stops the next instruction
	points         []target.Point
	reason         target.Stop
	count          uint64
}

func (c *fakeCore) Halted() bool                { return c.halted }
func (c *fakeCore) Halt()                       { c.stop(target.Stop{Reason: target.StopHalt}) }
func (c *fakeCore) Resume()                     { c.pass, c.halted = c.halted, false }
func (c *fakeCore) Step(on bool)                { c.stepping = on }
func (c *fakeCore) PC() uint32                  { return c.pc }
func (c *fakeCore) SetPC(pc uint32)             { c.pc = pc }
func (c *fakeCore) SetPoints(ps []target.Point) { c.points = slices.Clone(ps) }
func (c *fakeCore) StopReason() target.Stop     { return c.reason }
func (c *fakeCore) Asleep() bool                { return c.asleep }
func (c *fakeCore) Instret() uint64             { return c.count }
func (c *fakeCore) StopOnEbreak(on bool)        { c.ebreak = on }

func (c *fakeCore) ReadReg(n int) (uint64, bool) {
	switch {
	case n >= 0 && n < 32:
		return uint64(c.x[n]), true
	case n == 32:
		return uint64(c.pc), true
	case n == csrBase+csrMtvec, n == csrBase+csrMepc, n == csrBase+csrMcause:
		return uint64(c.csr[n-csrBase]), true
	}
	return 0, false
}

func (c *fakeCore) WriteReg(n int, v uint64) bool {
	switch {
	case n == 0:
	case n > 0 && n < 32:
		c.x[n] = uint32(v)
	case n == 32:
		c.pc = uint32(v)
	case n == csrBase+csrMtvec:
		c.csr[csrMtvec] = uint32(v)
	default:
		return false
	}
	return true
}

func (c *fakeCore) stop(s target.Stop) {
	s.Core, s.PC = c.id, c.pc
	c.halted, c.reason = true, s
}

func (c *fakeCore) at(addr uint32, kinds ...target.PointKind) *target.Point {
	for i, p := range c.points {
		if slices.Contains(kinds, p.Kind) && addr >= p.Addr && addr < p.Addr+max(p.Len, 1) {
			return &c.points[i]
		}
	}
	return nil
}

// step executes one instruction; false means that the core stopped.
func (c *fakeCore) step() bool {
	pass := c.pass
	c.pass = false
	if !pass && c.at(c.pc, target.PointSoftware, target.PointHardware) != nil {
		c.stop(target.Stop{Reason: target.StopBreakpoint})
		return false
	}
	if c.m.hooks.Trace != nil {
		c.m.hooks.Trace(c.id, c.pc)
	}
	code := c.m.mem(c.pc, 4)
	if code == nil {
		return c.trap(1)
	}
	w := binary.LittleEndian.Uint32(code)
	if w == 0x00100073 {
		return c.breakpoint()
	}
	if w&0x5f == 0x03 { // a load or a store
		if !pass && c.watched(w) {
			return false
		}
	}
	if !c.exec(w) {
		return c.trap(2)
	}
	return c.done()
}

// done counts an instruction and ends a step.
func (c *fakeCore) done() bool {
	c.x[0] = 0
	c.count++
	if c.stepping {
		c.stop(target.Stop{Reason: target.StopStep})
		return false
	}
	return true
}

func (c *fakeCore) trap(cause uint32) bool {
	c.csr[csrMcause], c.csr[csrMepc] = cause, c.pc
	c.pc = c.csr[csrMtvec] &^ 3
	return c.done()
}

func (c *fakeCore) breakpoint() bool {
	if b := c.m.mem(c.pc-4, 12); c.m.hooks.Semihost != nil && b != nil &&
		binary.LittleEndian.Uint32(b) == 0x01f01013 && binary.LittleEndian.Uint32(b[8:]) == 0x40705013 {
		if e, stop := c.m.hooks.Semihost(c.id); stop {
			c.m.event = &e
		}
		c.pc += 4
		return c.done()
	}
	if c.ebreak {
		c.stop(target.Stop{Reason: target.StopBreakpoint})
		return false
	}
	return c.trap(3)
}

func immI(w uint32) uint32 { return uint32(int32(w) >> 20) }
func immS(w uint32) uint32 { return uint32(int32(w)>>25<<5) | w>>7&31 }

func (c *fakeCore) watched(w uint32) bool {
	addr, kinds := c.x[w>>15&31]+immI(w), []target.PointKind{target.PointRead, target.PointAccess}
	if w&0x7f == 0x23 {
		addr, kinds = c.x[w>>15&31]+immS(w), []target.PointKind{target.PointWrite, target.PointAccess}
	}
	if p := c.at(addr, kinds...); p != nil {
		c.stop(target.Stop{Reason: target.StopWatchpoint, Point: *p, Addr: addr})
		return true
	}
	return false
}

// exec executes lui, auipc, jal, jalr, beq, bne, lw, sw, addi, wfi and csrw.
func (c *fakeCore) exec(w uint32) bool {
	rd, rs1, rs2, f3 := w>>7&31, w>>15&31, w>>20&31, w>>12&7
	next := c.pc + 4
	switch op := w & 0x7f; {
	case w == 0x10500073:
		c.asleep = true
	case op == 0x37:
		c.x[rd] = w & 0xfffff000
	case op == 0x17:
		c.x[rd] = c.pc + w&0xfffff000
	case op == 0x6f:
		c.x[rd] = next
		o := w>>31&1<<20 | w>>21&0x3ff<<1 | w>>20&1<<11 | w>>12&0xff<<12
		next = c.pc + uint32(int32(o<<11)>>11)
	case op == 0x67:
		to := c.x[rs1] + immI(w)
		c.x[rd], next = next, to&^1
	case op == 0x63 && f3 < 2:
		if (c.x[rs1] == c.x[rs2]) == (f3 == 0) {
			o := w>>31&1<<12 | w>>7&1<<11 | w>>25&0x3f<<5 | w>>8&0xf<<1
			next = c.pc + uint32(int32(o<<19)>>19)
		}
	case op == 0x03 && f3 == 2:
		v, ok := c.load(c.x[rs1] + immI(w))
		if !ok {
			return false
		}
		c.x[rd] = v
	case op == 0x23 && f3 == 2:
		addr := c.x[rs1] + immS(w)
		if !c.store(addr, c.x[rs2]) {
			return false
		}
		if addr == fakeReset {
			return true // the machine has set pc
		}
	case op == 0x13 && rd == 0: // the markers of semihosting
	case op == 0x13 && f3 == 0:
		c.x[rd] = c.x[rs1] + immI(w)
	case op == 0x73 && f3 == 1:
		c.csr[int(w>>20)] = c.x[rs1]
	default:
		return false
	}
	c.pc = next
	return true
}

func (c *fakeCore) load(addr uint32) (uint32, bool) {
	if addr == fakeGet {
		if len(c.m.in) == 0 {
			return 0xffffffff, true
		}
		b := c.m.in[0]
		c.m.in = c.m.in[1:]
		return uint32(b), true
	}
	b := c.m.mem(addr, 4)
	if b == nil {
		return 0, false
	}
	return binary.LittleEndian.Uint32(b), true
}

func (c *fakeCore) store(addr, v uint32) bool {
	switch addr {
	case fakePut:
		if c.m.hooks.Output != nil {
			c.m.hooks.Output("tb", byte(v))
		}
		return true
	case fakeExit:
		c.m.event = &machine.Event{Kind: machine.EventExit, Core: c.id, Code: int(int32(v)), How: "fake exit"}
		return true
	case fakeReset:
		c.m.boot()
		c.m.event = &machine.Event{Kind: machine.EventReset, Core: c.id}
		return true
	}
	b := c.m.mem(addr, 4)
	if b == nil || addr < fakeRAM {
		return false
	}
	binary.LittleEndian.PutUint32(b, v)
	return true
}
