package periph

import "testing"

func spiSetup(f *fakeChip, s *Peripherals, n int, cr0, cr1 uint32) *SPI {
	u := s.SPI[n]
	for pin := range 4 {
		selectFunc(s, pin+8*n, FuncSPI)
	}
	put(u, spiCPSR, 150)
	put(u, spiCR0, cr0)
	put(u, spiCR1, cr1|cr1SSE)
	return u
}

func TestSPITimingAndLoopback(t *testing.T) {
	f, s := newFake(t)
	sdkClocks(t, f, s)
	u := spiSetup(f, s, 0, 7|cr0SPH, cr1LBM) // 1 MHz, 8 bits
	put(u, spiDMACR, 3)
	if read(u, spiSR) != 3 || !s.Requests.High(DREQSPI0TX) {
		t.Errorf("SR = %#x at rest", read(u, spiSR))
	}
	for i := range uint32(8) {
		put(u, spiDR, 0x10+i)
	}
	f.run(8*150*8 - 1)
	if read(u, spiSR)&(1<<4) == 0 || u.rx.len() != 7 {
		t.Errorf("SR = %#x, %d received", read(u, spiSR), u.rx.len())
	}
	f.run(1)
	if sr := read(u, spiSR); sr != 0xf {
		t.Errorf("SR = %#x after eight bytes, want TFE TNF RNF RFF", sr)
	}
	for i := range uint32(8) {
		if got := read(u, spiDR); got != 0x10+i {
			t.Errorf("byte %d = %#x", i, got)
		}
	}
	put(u, spiIMSC, spiROR)
	for range 9 {
		put(u, spiDR, 1)
		f.run(1200)
	}
	if !f.irq[31] || read(u, spiMIS) != spiROR || read(u, spiRIS)&spiRX == 0 {
		t.Errorf("overrun: RIS %#x", read(u, spiRIS))
	}
	put(u, spiICR, spiROR)
	if f.irq[31] {
		t.Error("ICR does not clear")
	}
}

func TestSPIReceiveTimeout(t *testing.T) {
	f, s := newFake(t)
	sdkClocks(t, f, s)
	u := spiSetup(f, s, 1, 7, cr1LBM)
	put(u, spiIMSC, spiRT)
	put(u, spiDR, 1)
	f.run(150*10 + 150*31)
	if f.irq[32] {
		t.Error("early")
	}
	f.run(150 * 2)
	if !f.irq[32] {
		t.Error("no timeout")
	}
	read(u, spiDR)
	if f.irq[32] {
		t.Error("reading does not clear it")
	}
}

// TestSPIControllerAndTarget connects SPI0 and SPI1 in all four modes.
func TestSPIControllerAndTarget(t *testing.T) {
	for mode := range uint32(4) {
		f, s := newFake(t)
		sdkClocks(t, f, s)
		cr0 := 7 | mode<<6
		target := spiSetup(f, s, 1, cr0, cr1MS)
		ctrl := spiSetup(f, s, 0, cr0, 0)
		wire(s.Pins, 3, 8)  // TX -> target's RX
		wire(s.Pins, 11, 0) // target's TX -> RX
		wire(s.Pins, 1, 9)  // CSn
		wire(s.Pins, 2, 10) // SCK
		for _, v := range []uint32{0xa5, 0x3c, 0x81} {
			put(target, spiDR, v)
		}
		for _, v := range []uint32{0x12, 0xfe, 0x55} {
			put(ctrl, spiDR, v)
		}
		f.run(150 * 40)
		for i, want := range [][2]uint32{{0xa5, 0x12}, {0x3c, 0xfe}, {0x81, 0x55}} {
			a, b := read(ctrl, spiDR), read(target, spiDR)
			if a != want[0] || b != want[1] {
				t.Errorf("mode %d byte %d: controller %#x, target %#x, want %#x", mode, i, a, b, want)
			}
		}
		if len(f.notices) != 0 {
			t.Errorf("notices %q", f.notices)
		}
	}
}

func TestSPIWaveform(t *testing.T) {
	f, s := newFake(t)
	sdkClocks(t, f, s)
	clk := edges(f, s.Pins, 2)
	u := spiSetup(f, s, 0, 7, 0)
	*clk = nil
	now := f.now
	put(u, spiDR, 0xff)
	f.run(150 * 12)
	if len(*clk) != 16 || (*clk)[0]-now != 75 || (*clk)[15]-now != 75*16 {
		t.Errorf("clock edges %v from %d", *clk, now)
	}
}

// TestSPIHoldsData: in all modes the data line keeps its level over the edge at
// which the other side samples, and the select ends a period behind the last one.
func TestSPIHoldsData(t *testing.T) {
	for mode := range uint32(4) {
		f, s := newFake(t)
		sdkClocks(t, f, s)
		sck, data, cs := edges(f, s.Pins, 2), edges(f, s.Pins, 3), edges(f, s.Pins, 1)
		u := spiSetup(f, s, 0, 7|mode<<6, 0)
		put(u, spiDR, 0x8f)
		put(u, spiDR, 0x31)
		f.run(150 * 4)
		*sck, *data, *cs = nil, nil, nil
		f.run(150 * 30)
		sample := mode >> 1 & 1 // of the edges: the even or the odd ones
		if len(*sck) < 16 || len(*data) < 4 || len(*cs) == 0 {
			t.Fatalf("mode %d: %d edges of the clock, %d of the data, %d of the select", mode, len(*sck), len(*data), len(*cs))
		}
		// Four bits have passed: the next edge is a leading one.
		for i, at := range *sck {
			if uint32(i)&1 != sample {
				continue
			}
			for _, d := range *data {
				if d == at {
					t.Errorf("mode %d: the data line changes with clock edge %d, at which it is sampled", mode, i)
				}
			}
		}
		last := (*sck)[len(*sck)-1]
		want := last + 150
		if sample == 0 {
			want = last + 75
		}
		if got := (*cs)[len(*cs)-1]; got != want {
			t.Errorf("mode %d: the select ends at %d, the last edge is at %d", mode, got, last)
		}
	}
}
