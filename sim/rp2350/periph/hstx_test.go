package periph

import "testing"

func hstxPortOf(s *Peripherals) Block {
	for _, a := range s.Attachments() {
		if a.Block.Name() == "HSTX_FIFO" {
			return a.Block
		}
	}
	return nil
}

func hstxRig(t *testing.T) (*fakeChip, *Peripherals, Block) {
	f, s := newFake(t)
	sdkClocks(t, f, s)
	put(s.Clocks, clkHSTXCtrl, genEnable)
	return f, s, hstxPortOf(s)
}

func TestHSTXShiftsOut(t *testing.T) {
	f, s, port := hstxRig(t)
	h := s.HSTX
	selectFunc(s, 12, FuncHSTX)
	selectFunc(s, 13, FuncHSTX)
	at, clk := edges(f, s.Pins, 12), edges(f, s.Pins, 13)
	put(h, hstxBit0, 31|31<<8)     // bit 31 for the whole cycle
	put(h, hstxBit0+4, hstxPinCLK) // the clock
	put(h, hstxCSR, hstxEN|31<<8|8<<16|1<<28|1<<24)
	*at, *clk = nil, nil
	now := f.now
	put(port, hstxFIFO, 0xa5<<24)
	f.run(20)
	// 1 0 1 0 0 1 0 1, one bit a cycle.
	want := []uint64{0, 1, 2, 3, 5, 6, 7}
	if len(*at) < len(want) {
		t.Fatalf("data edges %v from %d", *at, now)
	}
	for i, o := range want {
		if (*at)[i]-now != o {
			t.Fatalf("data edges %v from %d, want %v", *at, now, want)
		}
	}
	if len(*clk) < 15 {
		t.Errorf("%d clock edges in 8 cycles", len(*clk))
	}
}

func TestHSTXPaceAndFIFO(t *testing.T) {
	f, s, port := hstxRig(t)
	if read(port, hstxStat) != 1<<9 || !s.Requests.High(DREQHSTX) {
		t.Errorf("STAT = %#x at rest", read(port, hstxStat))
	}
	for i := range uint32(9) {
		put(port, hstxFIFO, i)
	}
	if read(port, hstxStat) != 8|1<<8|hstxOver || s.Requests.High(DREQHSTX) {
		t.Errorf("STAT = %#x when overrun", read(port, hstxStat))
	}
	put(port, hstxStat, hstxOver)
	put(s.HSTX, hstxCSR, hstxEN|1<<8|32<<16) // 32 shifts a word
	f.run(32*7 - 1)
	if got := read(port, hstxStat) & 0xff; got != 1 {
		t.Errorf("level %d just before the last word", got)
	}
	f.run(1)
	if got := read(port, hstxStat); got != 1<<9 {
		t.Errorf("STAT = %#x", got)
	}
}

func TestHSTXExpander(t *testing.T) {
	var e hstxExpander
	fifo := ring{depth: 8}
	for _, v := range []uint32{0xf000, hstxRaw<<12 | 4, 0x44332211, hstxRawRepeat<<12 | 2, 0xabcd, hstxRaw<<12 | 1, 7} {
		fifo.push(v)
	}
	shift := uint32(8 | 4<<8)
	for i, want := range []uint32{0x44332211, 0x11443322, 0x22114433, 0x33221144, 0xabcd, 0xcd0000ab, 7} {
		if got, ok := e.next(&fifo, shift, 0); !ok || got != want {
			t.Errorf("word %d = %#x, want %#x", i, got, want)
		}
	}
	if _, ok := e.next(&fifo, shift, 0); ok {
		t.Error("a word from an empty FIFO")
	}
	fifo.push(hstxTMDSData<<12 | 2)
	if _, ok := e.next(&fifo, shift, 0); ok {
		t.Error("a word without data")
	}
	fifo.push(0)
	if _, ok := e.next(&fifo, shift, 0); !ok {
		t.Error("the command is forgotten while it waits for data")
	}
}

func TestTMDS(t *testing.T) {
	// Every symbol decodes to its byte, and the disparity stays bounded and is
	// what the symbols sum up to.
	disparity, sum := 0, 0
	for i := range 2000 {
		d := uint8(i*i*31 + i)
		q := tmdsSymbol(d, &disparity)
		for b := range 10 {
			sum += 2*int(q>>b&1) - 1
		}
		if sum != disparity || disparity > 10 || disparity < -10 {
			t.Fatalf("symbol %d: disparity %d, the bits say %d", i, disparity, sum)
		}
		m := q & 0xff
		if q>>9&1 != 0 {
			m ^= 0xff
		}
		got := uint8(m & 1)
		for b := 1; b < 8; b++ {
			x := m>>b ^ m>>(b-1)
			if q>>8&1 == 0 {
				x = ^x
			}
			got |= uint8(x&1) << b
		}
		if got != d {
			t.Fatalf("%#x encodes to %#x, which decodes to %#x", d, q, got)
		}
	}
}
