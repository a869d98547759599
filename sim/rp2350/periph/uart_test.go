package periph

import (
	"bytes"
	"testing"
)

// uartRig is a chip whose UART0 is set up as the SDK does, 115200 8N1 on GPIO0
// and 1, with what it sends.
type uartRig struct {
	*fakeChip
	s    *Peripherals
	u    *UART
	sent bytes.Buffer
	at   []uint64
}

func newUARTRig(t *testing.T) *uartRig {
	t.Helper()
	r := &uartRig{}
	r.fakeChip, r.s = newFakeWith(t, Config{Output: func(n int, b byte) {
		r.sent.WriteByte(b)
		r.at = append(r.at, r.now)
	}})
	sdkClocks(t, r.fakeChip, r.s)
	r.u = r.s.UART[0]
	r.pin(0, FuncUART)
	r.pin(1, FuncUART)
	put(r.u, uartIBRD, 81)
	put(r.u, uartFBRD, 24)
	put(r.u, uartLCRH, 0x70)
	put(r.u, uartCR, 0x301)
	put(r.u, uartDMACR, 3)
	return r
}

// pin selects a function as gpio_set_function does.
func (r *uartRig) pin(n int, fn uint32) { selectFunc(r.s, n, fn) }

func selectFunc(s *Peripherals, n int, fn uint32) {
	off := 4*uint32(n) + 4
	put(s.PadsBank0, off, read(s.PadsBank0, off)&^padOD|padIE)
	put(s.IOBank0, 8*uint32(n)+4, fn)
	putOp(s.PadsBank0, off, padISO, Clear)
}

// bitCycles is the length of 100 bits in clk_peri cycles: 1600*(81+24/64).
const bitCycles = 1302

func TestUARTSendsAtItsBaudRate(t *testing.T) {
	r := newUARTRig(t)
	if fr := read(r.u, uartFR); fr != 0x90 {
		t.Errorf("FR = %#x at rest, want 0x90", fr)
	}
	if rate := r.u.Rate(); rate < 115206 || rate > 115208 {
		t.Errorf("%.1f baud, want 115207: 150 MHz over 16*(81+24/64)", rate)
	}
	start := r.now
	put(r.u, uartDR, 'H')
	put(r.u, uartDR, 'i')
	if fr := read(r.u, uartFR); fr&(frBUSY|frTXFE) != frBUSY {
		t.Errorf("FR = %#x while sending", fr)
	}
	r.run(13019)
	if r.sent.Len() != 0 {
		t.Error("a byte is out before its ten bits")
	}
	r.run(1)
	if r.sent.String() != "H" {
		t.Errorf("sent %q after ten bits", r.sent.String())
	}
	r.run(13020)
	if r.sent.String() != "Hi" || read(r.u, uartFR) != 0x90 {
		t.Errorf("sent %q FR %#x", r.sent.String(), read(r.u, uartFR))
	}
	// 160*(81+24/64) = 13020 cycles a byte.
	if r.at[0]-start != 13020 || r.at[1]-r.at[0] != 13020 {
		t.Errorf("times %v from %d", r.at, start)
	}
	if len(r.notices) != 0 {
		t.Errorf("notices: %q", r.notices)
	}
}

func TestUARTFollowsClkPeri(t *testing.T) {
	r := newUARTRig(t)
	start := r.now
	put(r.u, uartDR, 'x')
	r.run(6510)
	put(r.s.Clocks, clkSysCtrl+4, 2<<16) // 75 MHz, clk_peri with it
	r.run(6510)
	if r.sent.Len() != 1 || r.at[0]-start != 13020 {
		t.Errorf("clk_peri follows clk_sys, so the byte takes as many cycles: %v", r.at)
	}
	// From the crystal it takes 12.5 times as many cycles of clk_sys.
	put(r.s.Clocks, clkSysCtrl+4, 1<<16)
	put(r.s.Clocks, clkPeriCtrl, genEnable|4<<5)
	r.at = nil
	start = r.now
	put(r.u, uartDR, 'y')
	r.run(13020*25/2 + 20)
	if len(r.at) != 1 || r.at[0]-start < 162700 || r.at[0]-start > 162760 {
		t.Errorf("from 12 MHz: %v after %d", r.at, start)
	}
}

func TestUARTDivisorIsLatchedByLCRH(t *testing.T) {
	r := newUARTRig(t)
	put(r.u, uartIBRD, 8)
	put(r.u, uartFBRD, 0)
	put(r.u, uartDR, 'a')
	r.run(13020)
	if r.sent.Len() != 1 {
		t.Error("IBRD took effect without a write of LCR_H")
	}
	putOp(r.u, uartLCRH, 0, Xor)
	put(r.u, uartDR, 'b')
	r.run(1280)
	if r.sent.String() != "ab" {
		t.Error("IBRD took no effect with a write of LCR_H")
	}
}

func TestUARTSaysWhyNothingIsSeen(t *testing.T) {
	for _, c := range []struct {
		name   string
		break_ func(r *uartRig)
		want   string
	}{
		{"no pin", func(r *uartRig) { put(r.s.IOBank0, 4, 0x1f) }, "no pin"},
		{"isolated", func(r *uartRig) { putOp(r.s.PadsBank0, 4, padISO, Set) }, "does not leave"},
		{"output disabled", func(r *uartRig) { putOp(r.s.PadsBank0, 4, padOD, Set) }, "does not leave"},
		{"inverted", func(r *uartRig) { putOp(r.s.IOBank0, 4, 1<<12, Set) }, "does not leave"},
		{"no clock", func(r *uartRig) { put(r.s.Clocks, clkPeriCtrl, 0) }, "clk_peri"},
		{"no divisor", func(r *uartRig) { put(r.u, uartIBRD, 0); put(r.u, uartLCRH, 0x70) }, "divisor"},
		{"disabled", func(r *uartRig) { put(r.u, uartCR, 0x300) }, "UARTEN"},
		{"flow control", func(r *uartRig) { put(r.u, uartCR, 0x301|crCTSEN) }, "CTS"},
	} {
		r := newUARTRig(t)
		c.break_(r)
		put(r.u, uartDR, 'x')
		r.run(20000)
		if r.sent.Len() != 0 {
			t.Errorf("%s: the byte is seen", c.name)
		}
		if len(r.notices) != 1 || !bytes.Contains([]byte(r.notices[0]), []byte(c.want)) {
			t.Errorf("%s: notices %q, want one with %q", c.name, r.notices, c.want)
		}
	}
}

func TestUARTFIFOAndTransmitInterrupt(t *testing.T) {
	r := newUARTRig(t)
	put(r.u, uartIMSC, intTX)
	if r.irq[33] {
		t.Error("an empty FIFO alone raises the transmit interrupt")
	}
	for i := range 33 { // one goes to the shift register at once
		put(r.u, uartDR, uint32('A'+i%26))
	}
	if read(r.u, uartFR)&frTXFF == 0 || r.s.Requests.High(DREQUART0TX) {
		t.Error("the FIFO is not full after 33 bytes")
	}
	put(r.u, uartDR, '!')
	if len(r.notices) != 1 {
		t.Errorf("an overflow is not said: %q", r.notices)
	}
	r.run(13020 * 15) // IFLS 0x12: half full
	if r.irq[33] {
		t.Error("the interrupt comes above the level")
	}
	r.run(13020)
	if !r.irq[33] || read(r.u, uartMIS) != intTX {
		t.Errorf("no interrupt at the level, FIFO holds %d", r.u.tx.fifo.len())
	}
	put(r.u, uartICR, intTX)
	if r.irq[33] {
		t.Error("ICR does not clear it")
	}
	r.run(13020 * 40)
	if r.irq[33] || r.sent.Len() != 33 {
		t.Errorf("the interrupt comes again below the level; %d sent", r.sent.Len())
	}
}

func TestUARTReceivesFromTheHost(t *testing.T) {
	r := newUARTRig(t)
	put(r.u, uartIMSC, intRX|intRT)
	if n := r.u.Input([]byte("abcdefghijklmnopq")); n != 17 {
		t.Errorf("took %d", n)
	}
	r.run(13019)
	if read(r.u, uartFR)&frRXFE == 0 {
		t.Error("a byte is there before its time")
	}
	r.run(1)
	if read(r.u, uartFR)&frRXFE != 0 || !r.s.Requests.High(DREQUART0TX+1) {
		t.Error("no byte after its time")
	}
	r.run(13020 * 14)
	if r.irq[33] {
		t.Error("interrupt below the level")
	}
	r.run(13020)
	if !r.irq[33] || read(r.u, uartMIS) != intRX {
		t.Errorf("MIS %#x at half full", read(r.u, uartMIS))
	}
	for i := range 10 {
		if got := read(r.u, uartDR); got != uint32('a'+i) {
			t.Errorf("byte %d = %#x", i, got)
		}
	}
	if r.irq[33] {
		t.Error("reading below the level does not clear RXRIS")
	}
	r.run(13020)
	r.run(bitCycles*32 - 2)
	if r.irq[33] {
		t.Error("receive timeout too early")
	}
	r.run(4)
	if read(r.u, uartMIS) != intRT || !r.irq[33] {
		t.Errorf("no receive timeout: MIS %#x", read(r.u, uartMIS))
	}
	for range 7 {
		read(r.u, uartDR)
	}
	if r.irq[33] || read(r.u, uartFR)&frRXFE == 0 {
		t.Error("emptying the FIFO does not clear the timeout")
	}
}

func TestUARTInputWaitsForThePin(t *testing.T) {
	r := newUARTRig(t)
	put(r.s.IOBank0, 8+4, 0x1f)
	r.u.Input([]byte("x"))
	r.run(50000)
	if read(r.u, uartFR)&frRXFE == 0 || r.u.InputPending() != 1 {
		t.Error("a byte came through a pin without the function")
	}
	if len(r.notices) != 1 {
		t.Errorf("notices %q", r.notices)
	}
	r.pin(1, FuncUART)
	r.run(13020)
	if read(r.u, uartDR) != 'x' {
		t.Error("the byte is lost")
	}
}

func TestUARTOverrun(t *testing.T) {
	r := newUARTRig(t)
	r.u.Input(bytes.Repeat([]byte("z"), 34))
	r.run(13020 * 34)
	if read(r.u, uartRSR) != 1<<3 || read(r.u, uartRIS)&intOE == 0 {
		t.Errorf("RSR %#x RIS %#x", read(r.u, uartRSR), read(r.u, uartRIS))
	}
	if v := read(r.u, uartDR); v != 'z'|1<<11 {
		t.Errorf("DR = %#x", v)
	}
	put(r.u, uartRSR, 0)
	if read(r.u, uartRSR) != 0 {
		t.Error("ECR does not clear")
	}
}

func TestUARTLoopback(t *testing.T) {
	r := newUARTRig(t)
	put(r.u, uartCR, 0x301|crLBE)
	put(r.u, uartDR, 0xa5)
	put(r.u, uartDR, 0x00)
	r.run(13020 * 2)
	if a, b := read(r.u, uartDR), read(r.u, uartDR); a != 0xa5 || b != 0 {
		t.Errorf("looped back %#x %#x", a, b)
	}
}

func TestUARTFormatsOverAWire(t *testing.T) {
	// UART1's transmitter on GPIO4 is wired to UART0's receiver on GPIO1.
	for _, lcr := range []uint32{0x70, 0x70 | lcrPEN, 0x70 | lcrPEN | lcrEPS, 0x70 | lcrPEN | lcrSPS,
		0x70 | lcrPEN | lcrEPS | lcrSPS, 0x10 | lcrSTP, 0x30, 0x50 | lcrPEN} {
		r := newUARTRig(t)
		wire(r.s.Pins, 4, 1)
		u1 := r.s.UART[1]
		r.pin(4, FuncUART)
		for _, u := range []*UART{r.u, u1} {
			put(u, uartIBRD, 81)
			put(u, uartFBRD, 24)
			put(u, uartLCRH, lcr)
			put(u, uartCR, 0x301)
		}
		put(u1, uartDR, 0x5a)
		put(u1, uartDR, 0x13)
		r.run(13020 * 3)
		mask := uint32(1)<<(5+lcr>>5&3) - 1
		if a, b := read(r.u, uartDR), read(r.u, uartDR); a != 0x5a&mask || b != 0x13&mask {
			t.Errorf("format %#x: received %#x %#x", lcr, a, b)
		}
	}
}

func TestUARTErrorsAndBreak(t *testing.T) {
	r := newUARTRig(t)
	wire(r.s.Pins, 4, 1)
	u1 := r.s.UART[1]
	r.pin(4, FuncUART)
	put(u1, uartIBRD, 81)
	put(u1, uartFBRD, 24)
	put(u1, uartLCRH, 0x70|lcrPEN)
	put(u1, uartCR, 0x301)
	put(r.u, uartLCRH, 0x70|lcrPEN|lcrEPS)
	put(u1, uartDR, 0x41)
	r.run(13020 * 2)
	if v := read(r.u, uartDR); v != 0x41|1<<9 {
		t.Errorf("parity error: DR %#x", v)
	}
	if read(r.u, uartRSR) != 1<<1 || read(r.u, uartRIS)&intPE == 0 {
		t.Errorf("parity error: RSR %#x RIS %#x", read(r.u, uartRSR), read(r.u, uartRIS))
	}
	// A slower sender makes a framing error.
	put(r.u, uartRSR, 0)
	put(r.u, uartLCRH, 0x70)
	put(u1, uartIBRD, 162)
	put(u1, uartLCRH, 0x70)
	put(u1, uartDR, 0x06)
	r.run(13020 * 4)
	if v := read(r.u, uartDR); v&(1<<8) == 0 {
		t.Errorf("framing error: DR %#x", v)
	}
	for read(r.u, uartFR)&frRXFE == 0 {
		read(r.u, uartDR)
	}
	put(u1, uartLCRH, 0x70|lcrBRK)
	r.run(13020 * 5)
	if v := read(r.u, uartDR); v != 1<<10 || read(r.u, uartFR)&frRXFE == 0 {
		t.Errorf("break: DR %#x", v)
	}
	put(u1, uartLCRH, 0x70)
	r.run(13020)
	put(u1, uartIBRD, 81)
	put(u1, uartLCRH, 0x70)
	put(u1, uartDR, 'k')
	r.run(13020 * 2)
	if v := read(r.u, uartDR); v != 'k' {
		t.Errorf("after the break: %#x", v)
	}
}

func TestUARTWithoutFIFOsHoldsOneByte(t *testing.T) {
	r := newUARTRig(t)
	put(r.u, uartLCRH, 0x60)
	put(r.u, uartDR, 'a')
	put(r.u, uartDR, 'b')
	if read(r.u, uartFR)&frTXFF == 0 {
		t.Error("the holding register is not full")
	}
	r.run(13020 * 2)
	if r.sent.String() != "ab" {
		t.Errorf("sent %q", r.sent.String())
	}
}

func TestUARTResetKeepsTheHostsBytes(t *testing.T) {
	r := newUARTRig(t)
	r.u.Input([]byte("abc"))
	putOp(r.s.Resets, resetsReset, 1<<ResetUART0, Set)
	putOp(r.s.Resets, resetsReset, 1<<ResetUART0, Clear)
	if read(r.u, uartCR) != 0x300 || r.u.InputPending() != 2 {
		t.Errorf("CR %#x, %d bytes wait", read(r.u, uartCR), r.u.InputPending())
	}
	put(r.u, uartIBRD, 81)
	put(r.u, uartLCRH, 0x70)
	put(r.u, uartCR, 0x301)
	r.run(13020)
	if read(r.u, uartDR) != 'b' {
		t.Error("the second byte is lost")
	}
}

func TestUARTPins(t *testing.T) {
	_, s := newFake(t)
	for n, want := range [2][4]uint64{
		{1<<0 | 1<<12 | 1<<16 | 1<<28 | 1<<32 | 1<<44 | 1<<60, 1<<1 | 1<<13 | 1<<17 | 1<<29 | 1<<33 | 1<<45 | 1<<61,
			1<<2 | 1<<14 | 1<<18 | 1<<30 | 1<<34 | 1<<46 | 1<<62, 1<<3 | 1<<15 | 1<<19 | 1<<31 | 1<<35 | 1<<47 | 1<<63},
		{1<<4 | 1<<8 | 1<<20 | 1<<24 | 1<<36 | 1<<40 | 1<<56, 1<<5 | 1<<9 | 1<<21 | 1<<25 | 1<<37 | 1<<41 | 1<<57,
			1<<6 | 1<<10 | 1<<22 | 1<<26 | 1<<38 | 1<<42 | 1<<58, 1<<7 | 1<<11 | 1<<23 | 1<<27 | 1<<39 | 1<<43 | 1<<59},
	} {
		u := s.UART[n]
		got := [4]uint64{u.txPins[0], u.rxPins[0], u.txPins[1], u.rxPins[1]}
		if got != want {
			t.Errorf("UART%d: pins %#x, want %#x", n, got, want)
		}
	}
}

// wire connects two pins: what the chip drives on from appears on to.
func wire(p *Pins, from, to int) {
	follow := func(level uint64) {
		if level>>from&1 != 0 {
			p.Drive(to, DriveHigh)
		} else {
			p.Drive(to, DriveLow)
		}
	}
	p.Watch(1<<from, func(c PinChange) { follow(c.Level) })
	follow(p.Levels())
}

func TestDeterminism(t *testing.T) {
	run := func() (string, uint64) {
		r := newUARTRig(t)
		r.u.Input([]byte("deterministic"))
		for range 13 {
			r.run(13020)
			put(r.u, uartDR, read(r.u, uartDR))
		}
		r.run(200000)
		return r.sent.String(), r.at[len(r.at)-1]
	}
	a, x := run()
	b, y := run()
	if a != b || x != y || a != "deterministic" {
		t.Errorf("%q at %d, %q at %d", a, x, b, y)
	}
}
