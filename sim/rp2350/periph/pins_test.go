package periph

import "testing"

func TestPadsStartIsolatedAndPulledDown(t *testing.T) {
	_, s := newFake(t)
	if s.Pins.Driven() != 0 {
		t.Errorf("driven: %#x", s.Pins.Driven())
	}
	in := s.Pins.Inputs()
	if in>>PinQSPISS&1 != 1 {
		t.Error("QSPI CSn must read 1, or the ROM enters BOOTSEL")
	}
	if in>>(PinQSPISD0+1)&1 != 0 {
		t.Error("QSPI SD1 must read 0")
	}
	if in&(1<<48-1) != 0 {
		t.Errorf("GPIOs read %#x", in)
	}
}

func TestSIOReachesThePin(t *testing.T) {
	_, s := newFake(t)
	p := s.Pins
	p.DriveSIO(1<<25, 1<<25)
	if p.Levels() != p.Levels()&^(1<<25) {
		t.Error("an unselected function drives")
	}
	put(s.IOBank0, 8*25+4, FuncSIO)
	if p.Levels()>>25&1 != 0 {
		t.Error("an isolated pad follows")
	}
	if st := read(s.IOBank0, 8*25); st&(1<<9|1<<13) != 1<<9|1<<13 {
		t.Errorf("STATUS = %#x", st)
	}
	putOp(s.PadsBank0, 4+4*25, padISO, Clear)
	if p.Levels()>>25&1 != 1 {
		t.Error("the level does not reach the pin")
	}
	if p.Inputs()>>25&1 != 0 {
		t.Error("reads 1 with the input disabled")
	}
	putOp(s.PadsBank0, 4+4*25, padIE, Set)
	if p.Inputs()>>25&1 != 1 {
		t.Error("reads 0 with the input enabled")
	}
	// ISO freezes what is there.
	putOp(s.PadsBank0, 4+4*25, padISO, Set)
	p.DriveSIO(0, 0)
	if p.Levels()>>25&1 != 1 {
		t.Error("the isolated pad does not hold its level")
	}
	putOp(s.PadsBank0, 4+4*25, padISO, Clear)
	if p.Levels()>>25&1 != 0 {
		t.Error("the pad does not follow again")
	}
}

func TestOverridesAndOutputDisable(t *testing.T) {
	_, s := newFake(t)
	p := s.Pins
	selectFunc(s, 3, FuncSIO)
	p.DriveSIO(0, 1<<3)
	ctrl := uint32(8*3 + 4)
	for _, c := range []struct {
		over uint32
		want uint64
	}{{1 << 12, 1}, {2 << 12, 0}, {3 << 12, 1}, {0, 0}} {
		put(s.IOBank0, ctrl, FuncSIO|c.over)
		if got := p.Levels() >> 3 & 1; got != c.want {
			t.Errorf("OUTOVER %d: level %d", c.over>>12, got)
		}
	}
	put(s.IOBank0, ctrl, FuncSIO|1<<16)
	if p.Inputs()>>3&1 != 1 || p.Levels()>>3&1 != 0 {
		t.Error("INOVER does not invert what SIO reads")
	}
	put(s.IOBank0, ctrl, FuncSIO|3<<12|2<<14)
	if p.Driven()>>3&1 != 0 {
		t.Error("OEOVER low does not disable")
	}
	put(s.IOBank0, ctrl, FuncSIO|3<<12|3<<14)
	putOp(s.PadsBank0, 4+4*3, padOD, Set)
	if p.Driven()>>3&1 != 0 || read(s.IOBank0, 8*3)>>13&1 != 1 {
		t.Error("OD does not win over the output enable, or shows in STATUS")
	}
}

func TestPullsKeeperAndTheWorldOutside(t *testing.T) {
	f, s := newFake(t)
	p := s.Pins
	pad := uint32(4 + 4*7)
	level := func() uint64 { return p.Inputs() >> 7 & 1 }
	put(s.PadsBank0, pad, padIE|padPUE)
	if level() != 1 {
		t.Error("pull-up")
	}
	p.Drive(7, DriveLow)
	if level() != 0 {
		t.Error("a button to ground")
	}
	put(s.PadsBank0, pad, padIE|padPUE|padPDE)
	p.Drive(7, DriveHigh)
	p.Drive(7, DriveNone)
	if level() != 1 {
		t.Error("the bus keeper forgets a 1")
	}
	p.Drive(7, DriveLow)
	p.Drive(7, DriveNone)
	if level() != 0 {
		t.Error("the bus keeper forgets a 0")
	}
	put(s.PadsBank0, pad, padIE|padPDE)
	p.Drive(7, DriveWeakHigh)
	if level() != 1 {
		t.Error("a resistor outside loses against the pad's pull")
	}
	if len(f.notices) != 0 {
		t.Errorf("notices %q", f.notices)
	}
	selectFunc(s, 7, FuncSIO)
	p.DriveSIO(1<<7, 1<<7)
	p.Drive(7, DriveLow)
	if len(f.notices) != 1 || p.Levels()>>7&1 != 0 {
		t.Errorf("a short circuit: %q", f.notices)
	}
}

func TestGPIOInterrupts(t *testing.T) {
	f, s := newFake(t)
	b, p := s.IOBank0, s.Pins
	const pin = 10 // register 1, bits 8 to 11
	put(s.PadsBank0, 4+4*pin, padIE)
	inte := func(core uint32) uint32 { return 0x248 + core*0x48 + 4 }
	put(b, inte(0), 1<<11) // rising edge
	put(b, inte(1), 1<<9)  // high level
	p.Drive(pin, DriveHigh)
	if !f.coreIRQ[0][21] || !f.coreIRQ[1][21] || f.coreIRQ[0][22] {
		t.Error("an edge and a level do not interrupt their cores")
	}
	if got := read(b, 0x278+4); got != 1<<11 {
		t.Errorf("PROC0_INTS1 = %#x", got)
	}
	if got := read(b, 0x200); got != 1<<pin {
		t.Errorf("IRQSUMMARY_PROC0_SECURE0 = %#x", got)
	}
	p.Drive(pin, DriveLow)
	if !f.coreIRQ[0][21] || f.coreIRQ[1][21] {
		t.Error("the edge is not latched, or the level is")
	}
	if got := read(b, 0x234) >> 8 & 15; got != 0xd {
		t.Errorf("raw events = %#x, want low level and both edges", got)
	}
	put(b, 0x234, 1<<11)
	if f.coreIRQ[0][21] || read(b, 0x234)>>8&15 != 5 {
		t.Error("writing INTR does not clear the edge alone")
	}
	// Force.
	putOp(b, 0x260+4, 1<<11, Set)
	if !f.coreIRQ[0][21] {
		t.Error("INTF does not interrupt")
	}
	putOp(b, 0x260+4, 1<<11, Clear)
	// The last register, GPIO47.
	put(s.PadsBank0, 4+4*47, padIE)
	put(b, 0x248+4*5, 1<<30)
	p.Drive(47, DriveHigh)
	p.Drive(47, DriveLow)
	if !f.coreIRQ[0][21] || read(b, 0x204) != 1<<15 {
		t.Errorf("GPIO47's falling edge: summary %#x", read(b, 0x204))
	}
}

func TestNonSecurePinsInterruptApart(t *testing.T) {
	var mask uint64
	f, s := newFakeWith(t, Config{NonSecurePins: func() uint64 { return mask }})
	mask = 1 << 2
	put(s.PadsBank0, 4+4*2, padIE)
	put(s.IOBank0, 0x248, 1<<11)
	s.Pins.Drive(2, DriveHigh)
	if f.coreIRQ[0][21] || !f.coreIRQ[0][22] || read(s.IOBank0, 0x208) != 1<<2 {
		t.Error("a Non-secure pin does not raise the Non-secure interrupt")
	}
}

func TestQSPIBankInterrupts(t *testing.T) {
	f, s := newFake(t)
	put(s.IOQSPI, 0x21c, 1<<(4*3)) // CSn low
	if f.coreIRQ[0][23] {
		t.Error("CSn is not high")
	}
	s.Pins.Drive(PinQSPISS, DriveLow)
	if !f.coreIRQ[0][23] || read(s.IOQSPI, 0x200) != 1<<3 {
		t.Errorf("CSn low: summary %#x", read(s.IOQSPI, 0x200))
	}
}

func TestInputFunctionsAreORed(t *testing.T) {
	_, s := newFake(t)
	selectFunc(s, 1, FuncUART)
	selectFunc(s, 13, FuncUART)
	s.Pins.Drive(1, DriveLow)
	s.Pins.Drive(13, DriveHigh)
	if high, none := s.Pins.inputOf(FuncUART, 1<<1|1<<13); !high || none {
		t.Error("one high pin of two does not read high")
	}
}
