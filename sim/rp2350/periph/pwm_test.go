package periph

import "testing"

// sl is the offset of a register of a slice.
func sl(n int, reg uint32) uint32 { return uint32(n)*pwmStride + reg }

// edges records the times of level changes of a pin.
func edges(f *fakeChip, p *Pins, pin int) *[]uint64 {
	var at []uint64
	p.Watch(1<<pin, func(c PinChange) {
		if (c.Level^c.OldLevel)>>pin&1 != 0 {
			at = append(at, f.now)
		}
	})
	return &at
}

func TestPWMOutput(t *testing.T) {
	f, s := newFake(t)
	selectFunc(s, 0, FuncPWM)
	selectFunc(s, 1, FuncPWM)
	a, b := edges(f, s.Pins, 0), edges(f, s.Pins, 1)
	put(s.PWM, sl(0, pwmTOP), 3)
	put(s.PWM, sl(0, pwmCC), 3<<16|1)
	start := f.now
	put(s.PWM, sl(0, pwmCSR), csrEN)
	f.run(12)
	want := func(got []uint64, offs ...uint64) {
		t.Helper()
		if len(got) != len(offs) {
			t.Fatalf("edges at %v from %d, want %v", got, start, offs)
		}
		for i, o := range offs {
			if got[i]-start != o {
				t.Errorf("edge %d after %d cycles, want %d", i, got[i]-start, o)
			}
		}
	}
	// Both were high before the slice ran: counter 0 is below CC.
	want(*a, 0, 1, 4, 5, 8, 9, 12)
	want(*b, 0, 3, 4, 7, 8, 11, 12)
}

func TestPWMDutyExtremesAndDoubleBuffering(t *testing.T) {
	f, s := newFake(t)
	selectFunc(s, 2, FuncPWM)
	at := edges(f, s.Pins, 2)
	put(s.PWM, sl(1, pwmTOP), 9)
	put(s.PWM, sl(1, pwmCC), 10)
	put(s.PWM, sl(1, pwmCSR), csrEN)
	f.run(100)
	if len(*at) != 1 {
		t.Errorf("100%% duty: edges at %v", *at)
	}
	f.run(3)
	put(s.PWM, sl(1, pwmCC), 0)
	if s.Pins.Levels()>>2&1 != 1 {
		t.Error("CC takes effect before the wrap")
	}
	f.run(7)
	if s.Pins.Levels()>>2&1 != 0 {
		t.Error("CC takes no effect at the wrap")
	}
	f.run(100)
	if len(*at) != 2 {
		t.Errorf("0%% duty: edges at %v", *at)
	}
	put(s.PWM, sl(1, pwmTOP), 4)
	f.run(5)
	if got := read(s.PWM, sl(1, pwmCTR)); got != 5 {
		t.Errorf("TOP takes effect before the wrap: CTR %d", got)
	}
	f.run(6)
	if got := read(s.PWM, sl(1, pwmCTR)); got != 1 {
		t.Errorf("CTR = %d after the wrap", got)
	}
	f.run(5)
	if got := read(s.PWM, sl(1, pwmCTR)); got != 1 {
		t.Errorf("CTR = %d a short period later", got)
	}
}

func TestPWMPhaseCorrect(t *testing.T) {
	f, s := newFake(t)
	put(s.PWM, sl(3, pwmTOP), 3)
	put(s.PWM, sl(3, pwmCSR), csrEN|csrPhase)
	var got []uint32
	for range 10 {
		got = append(got, read(s.PWM, sl(3, pwmCTR)))
		f.run(1)
	}
	for i, want := range []uint32{0, 1, 2, 3, 3, 2, 1, 0, 0, 1} {
		if got[i] != want {
			t.Fatalf("counts %v", got)
		}
	}
	// The pulse is centred: high while the count is below CC, both ways.
	selectFunc(s, 22, FuncPWM)
	put(s.PWM, sl(3, pwmCC), 2)
	put(s.PWM, sl(3, pwmCTR), 0)
	f.run(8)
	s.Pins.Levels()
	at := edges(f, s.Pins, 22)
	start := f.now
	f.run(16)
	for i, o := range []uint64{2, 6, 10, 14} {
		if (*at)[i]-start != o {
			t.Fatalf("edges %v from %d", *at, start)
		}
	}
}

func TestPWMDividerWrapInterruptAndRequest(t *testing.T) {
	f, s := newFake(t)
	put(s.PWM, sl(9, pwmDIV), 2<<4|8) // 2.5
	put(s.PWM, sl(9, pwmTOP), 99)
	put(s.PWM, sl(9, pwmCSR), csrEN)
	put(s.PWM, pwmINTE1, 1<<9)
	s.Requests.Watch(DREQPWMWrap0+9, true)
	f.run(249)
	if f.irq[9] || s.Requests.High(DREQPWMWrap0+9) {
		t.Error("the wrap is early")
	}
	f.run(1)
	if !f.irq[9] || f.irq[8] || !s.Requests.High(DREQPWMWrap0+9) || read(s.PWM, pwmINTS1) != 1<<9 {
		t.Errorf("wrap: irq %v, INTS1 %#x", f.irq[8:10], read(s.PWM, pwmINTS1))
	}
	put(s.PWM, pwmINTR, 1<<9)
	if f.irq[9] {
		t.Error("INTR does not clear")
	}
	f.run(250)
	if !f.irq[9] {
		t.Error("the next wrap does not interrupt")
	}
	s.Requests.Take(DREQPWMWrap0 + 9)
	s.Requests.Take(DREQPWMWrap0 + 9)
	if s.Requests.High(DREQPWMWrap0 + 9) {
		t.Error("more requests than wraps")
	}
	put(s.PWM, sl(9, pwmDIV), 0) // 256
	put(s.PWM, sl(9, pwmCTR), 0)
	f.run(2560)
	if got := read(s.PWM, sl(9, pwmCTR)); got < 9 || got > 10 {
		t.Errorf("divider 256: CTR %d after 2560 cycles", got)
	}
}

func TestPWMMeasuresItsInput(t *testing.T) {
	f, s := newFake(t)
	selectFunc(s, 5, FuncPWM) // slice 2 B
	put(s.PWM, sl(2, pwmCSR), csrEN|divHigh<<4)
	for range 4 {
		s.Pins.Drive(5, DriveHigh)
		f.run(30)
		s.Pins.Drive(5, DriveLow)
		f.run(70)
	}
	if got := read(s.PWM, sl(2, pwmCTR)); got != 120 {
		t.Errorf("high for %d cycles, want 120", got)
	}
	for mode, want := range map[uint32]uint32{divRise: 3, divFall: 3} {
		put(s.PWM, sl(2, pwmCSR), csrEN|mode<<4)
		put(s.PWM, sl(2, pwmCTR), 0)
		for range 3 {
			s.Pins.Drive(5, DriveHigh)
			f.run(3)
			s.Pins.Drive(5, DriveLow)
			f.run(4)
		}
		if got := read(s.PWM, sl(2, pwmCTR)); got != want {
			t.Errorf("mode %d counted %d edges", mode, got)
		}
	}
}

func TestPWMWithoutAnObserverMakesNoEvents(t *testing.T) {
	f, s := newFake(t)
	selectFunc(s, 25, FuncPWM)
	put(s.PWM, sl(4, pwmTOP), 3)
	put(s.PWM, sl(4, pwmCC), 2<<16|2)
	put(s.PWM, pwmEN, 1<<4)
	if len(f.queue) != 0 {
		t.Errorf("%d events for a pin that nobody watches", len(f.queue))
	}
	var high int
	for range 400 {
		high += int(s.Pins.Levels() >> 25 & 1)
		f.run(1)
	}
	if high != 200 {
		t.Errorf("high at %d of 400 looks", high)
	}
	// Edges are latched although none had an event.
	f.run(100)
	if raw := read(s.IOBank0, 0x230+4*3) >> 4 & 0xc; raw != 0xc {
		t.Errorf("edges latched: %#x", raw)
	}
}

// TestPWMPhase: PH_ADV and PH_RET move a running slice by one count.
func TestPWMPhase(t *testing.T) {
	f, s := newFake(t)
	put(s.PWM, sl(1, pwmTOP), 99)
	put(s.PWM, sl(1, pwmCSR), csrEN)
	put(s.PWM, sl(2, pwmTOP), 99)
	put(s.PWM, sl(2, pwmCSR), csrEN)
	f.run(50)
	diff := func() int { return int(read(s.PWM, sl(1, pwmCTR))) - int(read(s.PWM, sl(2, pwmCTR))) }
	start := diff()
	putOp(s.PWM, sl(1, pwmCSR), csrAdvance, Set)
	putOp(s.PWM, sl(1, pwmCSR), csrAdvance, Set)
	if got := diff() - start; got != 2 {
		t.Errorf("advanced by %d counts", got)
	}
	for range 5 {
		putOp(s.PWM, sl(1, pwmCSR), csrRetard, Set)
	}
	if got := diff() - start; got != -3 {
		t.Errorf("then %d counts behind", -got)
	}
	if csr := read(s.PWM, sl(1, pwmCSR)); csr&(csrAdvance|csrRetard) != 0 {
		t.Errorf("CSR = %#x: the bits do not clear themselves", csr)
	}
}
