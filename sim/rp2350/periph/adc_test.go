package periph

import "testing"

func TestADCOneShot(t *testing.T) {
	f, s := newFake(t)
	sdkClocks(t, f, s)
	a := s.ADC
	if read(a, adcCS) != 0 {
		t.Errorf("CS = %#x", read(a, adcCS))
	}
	put(a, adcCS, adcEN|adcTempEN)
	if read(a, adcCS)&adcReady == 0 {
		t.Error("not ready when enabled")
	}
	a.SetInput(1, func() uint16 { return 0x123 })
	put(a, adcCS, adcEN|adcTempEN|1<<12)
	putOp(a, adcCS, adcOnce, Set)
	f.run(299) // 96 cycles of 48 MHz are 300 of 150 MHz
	if read(a, adcCS)&adcReady != 0 {
		t.Error("ready too early")
	}
	f.run(1)
	if read(a, adcCS)&adcReady == 0 || read(a, adcResult) != 0x123 {
		t.Errorf("RESULT = %#x", read(a, adcResult))
	}
	put(a, adcCS, adcEN|adcTempEN|4<<12|adcOnce)
	f.run(300)
	if read(a, adcResult) != 876 {
		t.Errorf("temperature %d", read(a, adcResult))
	}
	s.Pins.Drive(26, DriveHigh)
	put(a, adcCS, adcEN|adcOnce)
	f.run(300)
	if read(a, adcResult) != 0xfff {
		t.Errorf("a high pin reads %#x", read(a, adcResult))
	}
}

func TestADCFreeRunningRoundRobin(t *testing.T) {
	f, s := newFake(t)
	sdkClocks(t, f, s)
	a := s.ADC
	for i := range 4 {
		a.SetInput(i, func() uint16 { return uint16(0x100 * (i + 1)) })
	}
	put(a, adcINTE, 1)
	put(a, adcFCS, fcsEN|fcsShift|fcsDREQ|4<<24)
	put(a, adcCS, adcEN|adcMany|0xb<<16|1<<12) // 0, 1, 3, beginning with 1
	f.run(300*3 + 10)
	if f.irq[35] || s.Requests.High(DREQADC) {
		t.Error("below the threshold")
	}
	f.run(300)
	if !f.irq[35] || !s.Requests.High(DREQADC) || read(a, adcFCS)>>16&15 != 4 {
		t.Errorf("FCS = %#x", read(a, adcFCS))
	}
	for i, want := range []uint32{0x20, 0x40, 0x10, 0x20} {
		if got := read(a, adcFIFO); got != want {
			t.Errorf("sample %d = %#x, want %#x", i, got, want)
		}
	}
	f.run(300 * 9)
	if fcs := read(a, adcFCS); fcs&(fcsOver|1<<9) != fcsOver|1<<9 || fcs>>16&15 != 8 {
		t.Errorf("FCS = %#x after too many samples", fcs)
	}
	put(a, adcCS, adcEN)
	put(a, adcFCS, fcsEN|fcsOver|fcsUnder)
	for range 9 {
		read(a, adcFIFO)
	}
	if fcs := read(a, adcFCS); fcs&(fcsOver|fcsUnder|1<<8) != fcsUnder|1<<8 {
		t.Errorf("FCS = %#x when empty", fcs)
	}
}

func TestADCPace(t *testing.T) {
	f, s := newFake(t)
	sdkClocks(t, f, s)
	a := s.ADC
	n := 0
	a.SetInput(0, func() uint16 { n++; return 0 })
	put(a, adcDIV, 479<<8) // 480 cycles: 100 kHz
	put(a, adcCS, adcEN|adcMany)
	f.micros(1000)
	if n < 99 || n > 101 {
		t.Errorf("%d samples in 1 ms at 100 kHz", n)
	}
	// Shorter than a conversion: every second tick of 60 cycles is lost.
	put(a, adcCS, 0)
	n = 0
	put(a, adcDIV, 59<<8)
	put(a, adcCS, adcEN|adcMany)
	f.micros(1000)
	if n < 399 || n > 401 {
		t.Errorf("%d samples in 1 ms at every 120 cycles", n)
	}
}
