package testbench

import (
	"fmt"

	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/sim/bus"
	"github.com/stem-hw/stem-hw/sim/hazard3"
	"github.com/stem-hw/stem-hw/sim/machine"
	"github.com/stem-hw/stem-hw/target"
)

// Hertz is the frequency that these machines' clocks are said to have: that of
// an RP2350 after start-up. Nothing in the machines depends on it.
const Hertz = 150_000_000

// quantum is the number of cycles of a hart's turn while others run too.
// Accesses that others can notice wait for them whatever the quantum
// (bus.Bus.Ready).
const quantum = 1000

// device is what a platform adds to RAM: registers, and what happens in time.
type device interface {
	// load and store access what is not RAM.
	load(now uint64, addr uint32, size uint8) (uint32, bool)
	store(hart int, now uint64, addr uint32, size uint8, v uint32) bool
	// stored hears of stores to watched lines.
	stored(hart int, addr uint32, size uint8)
	// due is the next cycle at which something happens to a hart, and tick
	// makes happen what is due at now.
	due(hart int) uint64
	tick(hart int, now uint64)
	reset()
	// exclusive says whether the monitor is on.
	exclusive() bool
}

// never is a cycle that does not come.
const never = ^uint64(0)

// board is RAM, harts, and their scheduling.
type board struct {
	name    string
	base    uint32
	ram     []byte
	flags   []uint8
	harts   []*hart
	dev     device
	regions []target.Region
	hooks   machine.Hooks
	image   *image.Image
	now     uint64
	dirty   bool // RAM may hold something else than zeros
	event   machine.Event
	pending bool // event is to be reported
}

// hart is a core with its port to the board: its bus.
type hart struct {
	*hazard3.Core
	b  *board
	id int
	// dead: it repeats itself for ever.
	dead bool
	// waits: an access at cycle want must wait for the other harts.
	waits bool
	want  uint64
	// res is the granule of its reservation.
	res   uint32
	resOK bool
}

func newBoard(name string, cfg hazard3.Config, harts int, base uint32, size int) *board {
	b := &board{name: name, base: base, ram: make([]byte, size), flags: make([]uint8, size/bus.LineSize)}
	for i := range harts {
		h := &hart{b: b, id: i}
		h.Core = hazard3.New(cfg, i, h, b)
		if i > 0 {
			h.ShareCode(b.harts[0].Core)
		}
		b.harts = append(b.harts, h)
	}
	for _, h := range b.harts {
		h.Map([]bus.Window{{Base: base, Mem: b.ram, Flags: b.flags, Writable: true, Executable: true}})
	}
	return b
}

// Describe says what the machine is.
func (b *board) Describe() target.Description {
	d := target.Description{
		Name: b.name, Simulated: true, Arch: image.ArchRISCV,
		Memory: b.regions, Breakpoints: -1, Watchpoints: -1,
		Registers: b.harts[0].Registers(),
	}
	for i := range b.harts {
		d.Cores = append(d.Cores, target.Core{ID: i, Name: fmt.Sprintf("hart %d", i)})
	}
	return d
}

// place puts the loaded image into cleared RAM.
func (b *board) place() {
	if b.dirty {
		clear(b.ram)
		clear(b.flags)
	}
	b.dirty = false
	if b.image != nil {
		b.dirty = true
		for _, s := range b.image.Segments {
			copy(b.ram[s.Addr-b.base:], s.Data)
		}
	}
	b.harts[0].InvalidateCode(b.base, b.base+uint32(len(b.ram)))
}

// Reset puts the machine into its power-up state with the image in RAM.
func (b *board) Reset() {
	b.place()
	b.now = 0
	b.event, b.pending = machine.Event{}, false
	for _, h := range b.harts {
		h.Cycle = 0
		h.dead, h.resOK, h.waits = false, false, false
		h.Reset()
	}
	b.dev.reset()
	for i := range b.harts {
		b.dev.tick(i, 0)
	}
}

// Cores returns the harts.
func (b *board) Cores() []machine.Core {
	cs := make([]machine.Core, len(b.harts))
	for i, h := range b.harts {
		cs[i] = h
	}
	return cs
}

// Now is the clock.
func (b *board) Now() uint64 { return b.now }

// Seconds is Now over Hertz.
func (b *board) Seconds() float64 { return float64(b.now) / Hertz }

// CycleAt is the inverse of Seconds.
func (b *board) CycleAt(seconds float64) uint64 { return uint64(seconds * Hertz) }

// Peek and Poke access RAM; registers have side effects and are refused.
func (b *board) Peek(_ int, addr uint32, p []byte) int {
	if off := addr - b.base; off < uint32(len(b.ram)) {
		return copy(p, b.ram[off:])
	}
	return 0
}

// Poke writes RAM.
func (b *board) Poke(_ int, addr uint32, p []byte, _ bool) int {
	off := addr - b.base
	if off >= uint32(len(b.ram)) {
		return 0
	}
	b.dirty = true
	n := copy(b.ram[off:], p)
	b.harts[0].InvalidateCode(addr, addr+uint32(n))
	return n
}

// Input and InputOpen: these machines have no input.
func (b *board) Input([]byte) int { return 0 }

// InputOpen is ignored.
func (b *board) InputOpen(bool) {}

// SetHooks installs the callbacks.
func (b *board) SetHooks(h machine.Hooks) {
	b.hooks = h
	for i, c := range b.harts {
		c.Semihost, c.Tracer = nil, nil
		if h.Semihost != nil {
			c.Semihost = func() bool {
				if e, stop := h.Semihost(i); stop {
					b.report(e)
				}
				return true
			}
		}
		if h.Trace != nil {
			c.Tracer = func(pc uint32) { h.Trace(i, pc) }
		}
	}
}

func (b *board) output(c byte) {
	if b.hooks.Output != nil {
		b.hooks.Output("tb", c)
	}
}

// report ends Run with e.
func (b *board) report(e machine.Event) {
	if b.pending {
		return
	}
	b.event, b.pending = e, true
	for _, h := range b.harts {
		h.Stop()
	}
}

// LineStored hears from a core that it stored into a flagged line.
func (b *board) LineStored(id int, addr uint32, size uint8, flags uint8) {
	if flags&bus.LineReserved != 0 && b.dev.exclusive() {
		b.clearReservations(id, addr)
	}
	if flags&bus.LineWatched != 0 {
		b.dev.stored(id, addr, size)
	}
}
