package periph

import (
	"github.com/stem-hw/stem-hw/sim/rp2350/periph/regs"
	"github.com/stem-hw/stem-hw/sim/timebase"
)

// The tick generators, in the order of their registers.
const (
	TickProc0 = iota
	TickProc1
	TickTimer0
	TickTimer1
	TickWatchdog
	TickRISCV
	numTicks
)

// TickGenerators is the TICKS block (datasheet 8.5): six dividers of clk_ref.
type TickGenerators struct {
	storage
	gen [numTicks]tickGenerator
}

// tickGenerator makes one tick every CYCLES cycles of clk_ref while enabled.
type tickGenerator struct {
	ref    *Clock
	cycles uint64 // 0 while it does not run
	start  uint64 // count of clk_ref at which the present run began
	base   uint64 // ticks made before it
	subs   []func()
}

func newTicks(env Env, clocks *Clocks) *TickGenerators {
	t := &TickGenerators{storage: newStorage("TICKS", env, regs.TICKS)}
	ref := clocks.behind(clocks.Ref, gateTicks)
	for i := range t.gen {
		g := &t.gen[i]
		g.ref = ref
		ref.OnChange(g.changed)
	}
	return t
}

// Tick returns generator n (TickRISCV and so on).
func (t *TickGenerators) Tick(n int) Ticks { return &t.gen[n] }

// Rate is the frequency of generator n's ticks.
func (t *TickGenerators) Rate(n int) timebase.Rate {
	g := &t.gen[n]
	if g.cycles == 0 {
		return timebase.Rate{}
	}
	return g.ref.Rate().Scale(1, g.cycles)
}

// Count is the number of ticks so far.
func (g *tickGenerator) Count() uint64 {
	if g.cycles == 0 {
		return g.base
	}
	return g.base + (g.ref.Count()-g.start)/g.cycles
}

// When is the cycle of clk_sys at which Count reaches n.
func (g *tickGenerator) When(n uint64) uint64 {
	if n <= g.base {
		return g.ref.env.Now()
	}
	if g.cycles == 0 || n-g.base > (Never-g.start)/g.cycles {
		return Never
	}
	return g.ref.When(g.start + (n-g.base)*g.cycles)
}

// OnChange calls f after each change of the rate.
func (g *tickGenerator) OnChange(f func()) { g.subs = append(g.subs, f) }

func (g *tickGenerator) changed() {
	for _, f := range g.subs {
		f()
	}
}

// run starts, stops or changes the generator.
func (g *tickGenerator) run(cycles uint64) {
	g.base = g.Count()
	g.start, g.cycles = g.ref.Count(), cycles
	g.changed()
}

// powerUp makes all generators begin to count anew.
func (t *TickGenerators) powerUp() {
	for i := range t.gen {
		g := &t.gen[i]
		g.cycles, g.start, g.base = 0, 0, 0
	}
}

// Reset stops all generators.
func (t *TickGenerators) Reset() {
	t.storage.Reset()
	for i := range t.gen {
		t.gen[i].run(0)
	}
}

// Read returns a register.
func (t *TickGenerators) Read(offset uint32, peek bool) uint32 {
	if n := offset / 12; n < numTicks {
		g := &t.gen[n]
		switch offset % 12 {
		case 0:
			return t.get(offset) | bit(g.cycles != 0 && g.ref.Running(), 1)
		case 8:
			if g.cycles == 0 {
				return 0
			}
			return uint32(g.cycles - (g.ref.Count()-g.start)%g.cycles)
		}
	}
	return t.storage.Read(offset, peek)
}

// Write writes a register. CYCLES 0 counts as the full range of the counter.
func (t *TickGenerators) Write(offset uint32, w Write) {
	n := offset / 12
	if n >= numTicks || offset%12 == 8 {
		return
	}
	t.storage.Write(offset, w)
	var cycles uint64
	if t.get(n*12)&1 != 0 {
		cycles = uint64(t.get(n*12 + 4))
		if cycles == 0 {
			cycles = 512
		}
	}
	if cycles != t.gen[n].cycles {
		t.gen[n].run(cycles)
	}
}
