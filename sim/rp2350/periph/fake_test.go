package periph

import (
	"sort"
	"testing"

	"github.com/stem-hw/stem-hw/sim/timebase"
)

// fakeChip is an Env and a System with a clock that tests advance.
type fakeChip struct {
	now                         uint64
	queue                       []*Event
	irq                         [52]bool
	coreIRQ                     [2][52]bool
	notices                     []string
	rate                        timebase.Rate
	line                        timebase.Timeline
	held                        uint32
	cores                       [2]bool
	resets                      []fakeReset
	set                         *Peripherals
	mem                         map[uint32]byte
	counting, dormant, down, up bool
	lost                        MemoryDomain
}

// DMARead and DMAWrite reach a sparse RAM at 0x2xxxxxxx and the blocks.
func (f *fakeChip) DMARead(addr uint32, size uint8, o Origin) (v, wait uint32, ok bool) {
	if addr>>28 == 2 {
		for i := range uint32(size) {
			v |= uint32(f.mem[addr+i]) << (8 * i)
		}
		return v, 0, true
	}
	for _, a := range f.set.Attachments() {
		if addr&^0xfff == a.Base {
			v = a.Block.Read(addr&0xffc, false) >> (8 * (addr & 3))
			if size < 4 {
				v &= 1<<(8*size) - 1
			}
			return v, 0, true
		}
	}
	return 0, 0, false
}

func (f *fakeChip) DMARefusal(addr uint32, write bool, o Origin) string { return "nothing is there" }

func (f *fakeChip) DMAWrite(addr uint32, size uint8, v uint32, o Origin) (wait uint32, ok bool) {
	if addr>>28 == 2 {
		for i := range uint32(size) {
			f.mem[addr+i] = byte(v >> (8 * i))
		}
		return 0, true
	}
	for _, a := range f.set.Attachments() {
		if addr&^0x3fff == a.Base {
			switch size {
			case 1:
				v = v & 0xff * 0x01010101
			case 2:
				v = v & 0xffff * 0x00010001
			}
			a.Block.Write(addr&0xffc, Write{Raw: v, Op: Op(addr >> 12 & 3), Size: size, Lane: uint8(addr & 3)})
			return 0, true
		}
	}
	return 0, false
}

func (f *fakeChip) poke(addr uint32, p []byte) {
	for i, b := range p {
		f.mem[addr+uint32(i)] = b
	}
}

func (f *fakeChip) peek(addr uint32, n int) []byte {
	p := make([]byte, n)
	for i := range p {
		p[i] = f.mem[addr+uint32(i)]
	}
	return p
}

type fakeReset struct {
	cause ResetCause
	psm   uint32
}

func (f *fakeChip) Now() uint64 { return f.now }

func (f *fakeChip) Schedule(e *Event, when uint64) {
	f.Cancel(e)
	e.When, e.Index = when, 1
	f.queue = append(f.queue, e)
}

func (f *fakeChip) Cancel(e *Event) {
	for i, q := range f.queue {
		if q == e {
			f.queue = append(f.queue[:i], f.queue[i+1:]...)
			break
		}
	}
	e.Index = 0
}

func (f *fakeChip) SetIRQ(n int, level bool)           { f.irq[n] = level }
func (f *fakeChip) SetCoreIRQ(core, n int, level bool) { f.coreIRQ[core][n] = level }
func (f *fakeChip) Core() int                          { return 0 }

func (f *fakeChip) Notice(text string) {
	for _, n := range f.notices {
		if n == text {
			return
		}
	}
	f.notices = append(f.notices, text)
}

func (f *fakeChip) SysClock(r timebase.Rate)     { f.rate = r; f.line.SetRate(f.now, r) }
func (f *fakeChip) SysRate() timebase.Rate       { return f.rate }
func (f *fakeChip) HoldCore(core int, held bool) { f.cores[core] = held }
func (f *fakeChip) CountBus(on bool)             { f.counting = on }
func (f *fakeChip) Dormant()                     { f.dormant = true }
func (f *fakeChip) PowerDown()                   { f.down = true }
func (f *fakeChip) PowerUp()                     { f.up = true }
func (f *fakeChip) Memories(lost MemoryDomain)   { f.lost |= lost }
func (f *fakeChip) Reset(c ResetCause, psm uint32) {
	f.resets = append(f.resets, fakeReset{c, psm})
}

func (f *fakeChip) HoldBlocks(mask uint32) {
	newly := mask &^ f.held
	f.held = mask
	if f.set == nil {
		return
	}
	for _, a := range f.set.Attachments() {
		if a.ResetBit >= 0 && newly>>a.ResetBit&1 != 0 {
			a.Block.Reset()
		}
	}
}

// advance runs events up to cycle.
func (f *fakeChip) advance(cycle uint64) {
	for {
		sort.SliceStable(f.queue, func(i, j int) bool { return f.queue[i].When < f.queue[j].When })
		if len(f.queue) == 0 || f.queue[0].When > cycle {
			break
		}
		e := f.queue[0]
		f.now = max(f.now, e.When)
		f.Cancel(e)
		e.Fire(f.now)
	}
	f.now = max(f.now, cycle)
}

// run advances by n cycles, and micros by so many microseconds.
func (f *fakeChip) run(n uint64)    { f.advance(f.now + n) }
func (f *fakeChip) micros(n uint64) { f.advance(f.line.After(f.now, n*1_000_000)) }

// newFake returns a chip in its power-up state with all blocks out of reset.
func newFake(t *testing.T) (*fakeChip, *Peripherals) {
	t.Helper()
	return newFakeWith(t, Config{})
}

func newFakeWith(t *testing.T, cfg Config) (*fakeChip, *Peripherals) {
	t.Helper()
	f := &fakeChip{mem: map[uint32]byte{}}
	cfg.Memory = f
	pins := NewPins(f.Notice)
	if cfg.Identity.ChipID == 0 {
		cfg.Identity = Identity{ChipID: 0x20004927, QFN60: true}
	}
	s := NewAll(f, f, pins, cfg)
	f.set = s
	s.PowerUp()
	put(s.Resets, resetsReset, 0)
	return f, s
}

func put(b Block, offset, v uint32) { b.Write(offset, Write{Raw: v, Size: 4}) }
func putOp(b Block, offset, v uint32, op Op) {
	b.Write(offset, Write{Raw: v, Op: op, Size: 4})
}
func read(b Block, offset uint32) uint32 { return b.Read(offset, false) }

// sdkClocks does what an SDK program does at its start: crystal, PLLs at 150 and
// 48 MHz, clk_sys, clk_ref, clk_peri, ticks at 1 MHz.
func sdkClocks(t *testing.T, f *fakeChip, s *Peripherals) {
	t.Helper()
	put(s.XOSC, xoscCtrl, 0xaa0)
	put(s.XOSC, xoscStartup, 282)
	putOp(s.XOSC, xoscCtrl, oscEnable<<12, Set)
	f.micros(6100)
	if read(s.XOSC, xoscStatus)&oscStable == 0 {
		t.Fatal("the crystal is not stable")
	}
	for _, x := range []struct {
		p    *PLL
		f    uint32
		prim uint32
	}{{s.PLLSys, 125, 5<<16 | 2<<12}, {s.PLLUSB, 100, 5<<16 | 5<<12}} {
		put(x.p, pllCS, 1)
		put(x.p, pllFBDIV, x.f)
		putOp(x.p, pllPWR, pllPD|pllVCOPD, Clear)
		if read(x.p, pllCS)>>31 == 0 {
			t.Fatal("the PLL does not lock")
		}
		put(x.p, pllPRIM, x.prim)
		putOp(x.p, pllPWR, pllPostdivPD, Clear)
	}
	put(s.Clocks, clkRefCtrl, 2)
	put(s.Clocks, clkSysCtrl, 0)
	putOp(s.Clocks, clkSysCtrl, 1, Set)
	put(s.Clocks, clkUSBCtrl, genEnable)
	put(s.Clocks, clkADCCtrl, genEnable)
	put(s.Clocks, clkPeriCtrl, genEnable)
	for n := range uint32(numTicks) {
		put(s.Ticks, n*12+4, 12)
		put(s.Ticks, n*12, 1)
	}
	if f.rate != timebase.Hertz(150_000_000) {
		t.Fatalf("clk_sys = %v", f.rate)
	}
}
