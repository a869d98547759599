package rp2350

import (
	"math/rand/v2"
	"sort"
	"testing"

	"github.com/stem-hw/stem-hw/sim/machine"
	"github.com/stem-hw/stem-hw/sim/rp2350/periph"
	"github.com/stem-hw/stem-hw/sim/timebase"
)

func TestQueueOrder(t *testing.T) {
	var q queue
	rnd := rand.New(rand.NewPCG(1, 2))
	type ev struct {
		periph.Event
		when uint64
		seq  int
	}
	var evs []*ev
	for i := range 500 {
		e := &ev{when: uint64(rnd.IntN(50)), seq: i}
		evs = append(evs, e)
		q.schedule(&e.Event, e.when)
	}
	// Move some, cancel some.
	seq := 500
	var live []*ev
	for i, e := range evs {
		switch i % 5 {
		case 0:
			q.cancel(&e.Event)
			q.cancel(&e.Event)
			continue
		case 1:
			e.when, e.seq = uint64(rnd.IntN(50)), seq
			seq++
			q.schedule(&e.Event, e.when)
		}
		live = append(live, e)
	}
	sort.Slice(live, func(i, j int) bool {
		return live[i].when < live[j].when || live[i].when == live[j].when && live[i].seq < live[j].seq
	})
	for i, want := range live {
		if q.next() != want.when {
			t.Fatalf("event %d is due at %d, want %d", i, q.next(), want.when)
		}
		if got := q.pop(); got != &want.Event {
			t.Fatalf("event %d is out of order", i)
		}
	}
	if q.next() != timebase.Never {
		t.Error("the queue should be empty")
	}
}

func TestSleepingChipJumpsToTheNextEvent(t *testing.T) {
	r := newRig(t, Options{})
	r.program((&asm{}).wfi().back(1))
	var at []uint64
	var e periph.Event
	e.Fire = func(now uint64) { at = append(at, now, r.Chip.now) }
	env{r.Chip}.Schedule(&e, 1_000_000_000)
	if got := r.Run(500); got.Kind != machine.EventLimit || r.Now() != 500 {
		t.Errorf("%+v at %d", got, r.Now())
	}
	if got := r.Run(2_000_000_000); got.Kind != machine.EventAsleep {
		t.Errorf("%+v", got)
	}
	if len(at) != 2 || at[0] != 1_000_000_000 || at[1] != 1_000_000_000 {
		t.Errorf("fired at %v", at)
	}
	r.InputOpen(true)
	if got := r.Run(3_000_000_000); got.Kind != machine.EventLimit || r.Now() != 3_000_000_000 {
		t.Errorf("with input open: %+v at %d", got, r.Now())
	}
}

func TestAccessesSeeEventsThatAreDue(t *testing.T) {
	r := newRig(t, Options{})
	// The program reads a scratch register over and over and stops at 1.
	p := (&asm{}).li(t0, scratch0).lw(t1, t0, 0).emit(0xfe030ee3).li(t2, sramBase+0x800).sw(t1, t2, 0).wfi().back(1)
	r.program(p)
	var e periph.Event
	var fired uint64
	e.Fire = func(now uint64) { fired = now; r.Poke(0, scratch0, []byte{1, 0, 0, 0}, false) }
	env{r.Chip}.Schedule(&e, 777)
	r.Run(100_000)
	if fired != 777 || r.load32(0, sramBase+0x800) != 1 {
		t.Errorf("fired at %d", fired)
	}
}

func TestRunsRepeatToTheCycle(t *testing.T) {
	run := func() (cycles, instr uint64) {
		r := newRig(t, Options{})
		// Both cores count in SIO: core 1 is started by hand.
		p := (&asm{}).li(t0, scratch0).lw(t1, t0, 0).emit(1<<20|t1<<15|t1<<7|0x13).sw(t1, t0, 0).back(3)
		r.program(p)
		r.Run(50)
		n := r.nodes[1]
		n.rom = romNone
		n.cpu.Enter(sramBase, 0, 0)
		r.Run(100_000)
		return uint64(r.load32(0, scratch0)), r.Cores()[0].Instret() + r.Cores()[1].Instret()
	}
	c1, i1 := run()
	c2, i2 := run()
	if c1 != c2 || i1 != i2 || c1 < 1000 {
		t.Errorf("%d and %d counts, %d and %d instructions", c1, c2, i1, i2)
	}
}

func TestCoresStayWithinTheQuantum(t *testing.T) {
	r := newRig(t, Options{})
	r.program((&asm{}).emit(1<<20 | t1<<15 | t1<<7 | 0x13).back(1))
	r.Run(50)
	n := r.nodes[1]
	n.rom = romNone
	n.cpu.Enter(sramBase, 0, 0)
	n.cpu.SetClock(r.Now())
	for i := range uint64(100) {
		r.Run(10_000 + 1000*i)
		a, b := int64(r.nodes[0].clock()), int64(n.clock())
		if d := a - b; d > Quantum+8 || d < -Quantum-8 {
			t.Fatalf("cores are %d cycles apart", d)
		}
	}
}

func TestWakingByDoorbell(t *testing.T) {
	r := newRig(t, Options{})
	// Core 0 counts a while, rings, and goes on; core 1 sleeps in wfi with the
	// doorbell enabled (meiea window 1, bit 10) and then stores mcycle's shadow.
	p := (&asm{}).li(t0, sioBase+sioBellOutSet).li(t1, 1).sw(t1, t0, 0).wfi().back(1)
	for len(p.words) < 16 {
		p.emit(0x13)
	}
	p.li(t0, 0x04000001).emit(0xbe029073) // csrw meiea, t0
	p.li(t0, 0x800).emit(0x30429073)      // csrw mie, t0
	p.wfi().store(scratch0, 1).wfi().back(1)
	r.program(p)
	r.Run(20)
	n := r.nodes[1]
	n.rom = romNone
	n.cpu.Enter(sramBase+0x40, 0, 0)
	r.Run(5000)
	r.want(scratch0, 1)
}

func TestClockFollowsTheFirmwaresClocks(t *testing.T) {
	r := newRig(t, Options{})
	r.program((&asm{}).wfi().back(1))
	r.InputOpen(true)
	r.Run(11_000_000)
	if s := r.Seconds(); s < 0.9 || s > 1.2 {
		t.Errorf("11 million cycles on the ring oscillator took %v s", s)
	}
	// clk_ref to the crystal: XOSC on, then source 2.
	r.store32(0, 0x4004800c, 47)
	r.store32(0, 0x40048000, 0xfabaa0)
	r.Run(r.Now() + 1_000_000)
	r.store32(0, 0x40010030, 2)
	s, c := r.Seconds(), r.Now()
	r.Run(c + 12_000_000)
	if d := r.Seconds() - s; d < 0.999999 || d > 1.000001 {
		t.Errorf("12 million cycles on the crystal took %v s", d)
	}
	if got := r.CycleAt(r.Seconds() + 2); got < r.Now()+24_000_000-2 || got > r.Now()+24_000_000+2 {
		t.Errorf("two seconds later is cycle %d", got-r.Now())
	}
}

func TestDebugHaltOfEveryKindOfCore(t *testing.T) {
	r := newRig(t, Options{})
	r.program((&asm{}).wfi().back(1))
	r.Run(1000)
	for i, c := range r.Cores() { // core 0 sleeps, core 1 waits in the ROM
		c.Halt()
		e := r.Run(r.Now() + 100)
		if e.Kind != machine.EventStop || e.Core != i || !c.Halted() {
			t.Errorf("core %d: %+v, halted %v", i, e, c.Halted())
		}
	}
	r.Cores()[0].SetPC(sramBase)
	r.Cores()[0].Step(true)
	r.Cores()[0].Resume()
	if e := r.Run(r.Now() + 100); e.Kind != machine.EventStop || e.Core != 0 {
		t.Errorf("step: %+v", e)
	}
}

func TestResetForgetsEvents(t *testing.T) {
	r := newRig(t, Options{})
	r.program((&asm{}).wfi().back(1))
	r.Run(100)
	fired := 0
	var a, b periph.Event
	a.Fire = func(uint64) { fired++ }
	b.Fire = func(uint64) { fired += 100 }
	e := env{r.Chip}
	e.Schedule(&a, 5000)
	e.Schedule(&b, 6000)
	r.Reset()
	e.Schedule(&b, 2000)
	e.Cancel(&a)
	r.Run(10_000)
	if fired != 100 {
		t.Errorf("fired %d", fired)
	}
}
