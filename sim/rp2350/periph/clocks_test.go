package periph

import (
	"testing"

	"github.com/stem-hw/stem-hw/sim/timebase"
)

func TestPowerUpRunsFromTheRingOscillator(t *testing.T) {
	f, s := newFake(t)
	if f.rate != timebase.Hertz(11_000_000) {
		t.Errorf("clk_sys = %v, want 11 MHz", f.rate)
	}
	for off, want := range map[uint32]uint32{0x38: 1, 0x44: 1, 0x50: 1, 0x08: 1} {
		if got := read(s.Clocks, off); got != want {
			t.Errorf("SELECTED at %#x = %#x, want %#x", off, got, want)
		}
	}
	if st := read(s.ROSC, roscStatus); st != oscStable|oscEnabled|1<<16 {
		t.Errorf("ROSC.STATUS = %#x", st)
	}
}

func TestSDKClockSequence(t *testing.T) {
	f, s := newFake(t)
	sdkClocks(t, f, s)
	if got := read(s.Clocks, 0x38); got != 1<<2 {
		t.Errorf("CLK_REF_SELECTED = %#x, want one-hot 4", got)
	}
	if got := read(s.Clocks, 0x44); got != 1<<1 {
		t.Errorf("CLK_SYS_SELECTED = %#x, want one-hot 2", got)
	}
	if got := read(s.Clocks, clkPeriCtrl); got != genEnable|genEnabled {
		t.Errorf("CLK_PERI_CTRL = %#x", got)
	}
	for _, c := range []struct {
		clock *Clock
		hz    uint64
	}{{s.Clocks.Ref, 12_000_000}, {s.Clocks.Peri, 150_000_000}, {s.Clocks.USB, 48_000_000}, {s.Clocks.ADC, 48_000_000}} {
		if c.clock.Rate() != timebase.Hertz(c.hz) {
			t.Errorf("%s = %v, want %d", c.clock.name, c.clock.Rate(), c.hz)
		}
	}
}

func TestXOSCTakesItsStartupDelay(t *testing.T) {
	f, s := newFake(t)
	put(s.XOSC, xoscStartup, 47)
	put(s.XOSC, xoscCtrl, oscEnable<<12|0xaa0)
	if st := read(s.XOSC, xoscStatus); st != oscEnabled {
		t.Errorf("STATUS = %#x right after ENABLE", st)
	}
	f.micros(1002)
	if read(s.XOSC, xoscStatus)&oscStable != 0 {
		t.Error("stable before 47*256 periods")
	}
	f.micros(1)
	if read(s.XOSC, xoscStatus)&oscStable == 0 {
		t.Error("not stable after 47*256 periods of 12 MHz")
	}
	put(s.XOSC, xoscCount, 1200)
	f.micros(50)
	if n := read(s.XOSC, xoscCount); n < 599 || n > 601 {
		t.Errorf("COUNT = %d after half the time", n)
	}
	put(s.XOSC, xoscCtrl, oscDisable<<12|0xaa0)
	if st := read(s.XOSC, xoscStatus); st != 0 {
		t.Errorf("STATUS = %#x when disabled", st)
	}
}

func TestDividersAreSixteenSixteen(t *testing.T) {
	f, s := newFake(t)
	sdkClocks(t, f, s)
	put(s.Clocks, clkSysCtrl+4, 2<<16|0x8000) // 2.5
	if f.rate != timebase.Hertz(60_000_000) {
		t.Errorf("clk_sys = %v, want 60 MHz", f.rate)
	}
	put(s.Clocks, clkSysCtrl+4, 0) // 65536
	if got := f.rate.Float(); got < 2288.8 || got > 2288.9 {
		t.Errorf("divisor 0 gives %v Hz", got)
	}
}

func TestFrequencyCounter(t *testing.T) {
	f, s := newFake(t)
	sdkClocks(t, f, s)
	for src, khz := range map[uint32]uint32{1: 150_000, 2: 48_000, 3: 11_000, 5: 12_000, 8: 12_000, 9: 150_000, 10: 150_000, 11: 48_000, 14: 32} {
		put(s.Clocks, fcRefKHz, 12_000)
		put(s.Clocks, fcInterval, 10)
		put(s.Clocks, fcSrc, src)
		if st := read(s.Clocks, fcStatus); st != fcRunning {
			t.Fatalf("source %d: STATUS = %#x", src, st)
		}
		f.micros(1100)
		if st := read(s.Clocks, fcStatus); st != fcDone|fcPass {
			t.Errorf("source %d: STATUS = %#x", src, st)
		}
		if got := read(s.Clocks, fcResult) >> 5; got != khz {
			t.Errorf("source %d: %d kHz, want %d", src, got, khz)
		}
	}
	put(s.Clocks, fcMaxKHz, 100_000)
	put(s.Clocks, fcSrc, 9)
	f.micros(1100)
	if st := read(s.Clocks, fcStatus); st != fcDone|fcFast|fcFail {
		t.Errorf("too fast: STATUS = %#x", st)
	}
	put(s.Clocks, fcSrc, 6) // no clock input
	f.micros(1100)
	if st := read(s.Clocks, fcStatus); st&(fcDied|fcDone) != fcDied|fcDone {
		t.Errorf("no clock: STATUS = %#x", st)
	}
}

func TestResusSavesTheChip(t *testing.T) {
	f, s := newFake(t)
	sdkClocks(t, f, s)
	put(s.Clocks, clkResusCtrl, resusEnable|0xff)
	put(s.Clocks, clkINTE, 1)
	put(s.PLLSys, pllPWR, 0x2d)
	if f.rate != timebase.Hertz(12_000_000) || !f.irq[irqClocks] || read(s.Clocks, clkResusStatus) != 1 {
		t.Errorf("after the PLL stopped: %v irq %v", f.rate, f.irq[irqClocks])
	}
	if read(s.PLLSys, pllCS)&pllLockN == 0 {
		t.Error("the loss of lock is not remembered")
	}
	put(s.Clocks, clkSysCtrl, 0)
	putOp(s.Clocks, clkResusCtrl, resusClear, Set)
	putOp(s.Clocks, clkResusCtrl, resusClear, Clear)
	if f.irq[irqClocks] || f.rate != timebase.Hertz(12_000_000) {
		t.Error("resus does not clear")
	}
}

func TestStoppingClkSysIsSaid(t *testing.T) {
	f, s := newFake(t)
	sdkClocks(t, f, s)
	put(s.PLLSys, pllPWR, 0x2d)
	if len(f.notices) != 1 || f.rate != timebase.Hertz(150_000_000) {
		t.Errorf("notices %q, rate %v", f.notices, f.rate)
	}
}

func TestROSCDividerAndRange(t *testing.T) {
	f, s := newFake(t)
	put(s.ROSC, roscDiv, 0xaa02)
	if f.rate != timebase.Hertz(44_000_000) {
		t.Errorf("DIV 2: %v", f.rate)
	}
	put(s.ROSC, roscDiv, 0)
	if read(s.ROSC, roscStatus)&oscBadWrite == 0 || f.rate != timebase.Hertz(687_500) {
		t.Errorf("DIV without its pattern: %v", f.rate)
	}
	put(s.ROSC, roscStatus, oscBadWrite)
	if read(s.ROSC, roscStatus)&oscBadWrite != 0 {
		t.Error("BADWRITE does not clear")
	}
	seen := map[uint32]int{}
	for range 1000 {
		seen[read(s.ROSC, roscRandomBit)]++
	}
	if len(seen) != 2 || seen[0] < 400 || seen[1] < 400 {
		t.Errorf("RANDOMBIT: %v", seen)
	}
}

func TestPLLReset(t *testing.T) {
	f, s := newFake(t)
	sdkClocks(t, f, s)
	put(s.Clocks, clkSysCtrl, 0)
	putOp(s.Resets, resetsReset, 1<<ResetPLLSys, Set)
	if read(s.PLLSys, pllCS) != 1 || !s.PLLSys.Rate().Stopped() {
		t.Error("RESETS does not stop the PLL")
	}
	if read(s.Resets, resetsDone) != allResets&^(1<<ResetPLLSys) {
		t.Errorf("RESET_DONE = %#x", read(s.Resets, resetsDone))
	}
}
