package periph

import "testing"

func TestTimerCountsMicrosecondsAcrossClockChanges(t *testing.T) {
	f, s := newFake(t)
	sdkClocks(t, f, s)
	tm := s.Timer[0]
	start := tm.Now()
	f.run(150 * 1000)
	if got := tm.Now() - start; got != 1000 {
		t.Errorf("after 1 ms at 150 MHz: %d", got)
	}
	put(s.Clocks, clkSysCtrl+4, 3<<16) // 50 MHz
	f.run(50 * 1000)
	put(s.Clocks, clkSysCtrl+4, 1<<16)
	f.run(150 * 1000)
	if got := tm.Now() - start; got != 3000 {
		t.Errorf("after two more: %d", got)
	}
}

func TestAlarmFiresWhenTheLowerWordIsEqual(t *testing.T) {
	f, s := newFake(t)
	sdkClocks(t, f, s)
	tm := s.Timer[0]
	put(tm, timerINTE, 0xf)
	put(tm, timerAlarm0+8, uint32(tm.Now())+100)
	if read(tm, timerArmed) != 1<<2 {
		t.Errorf("ARMED = %#x", read(tm, timerArmed))
	}
	f.run(150*99 - 1)
	if f.irq[2] {
		t.Error("too early")
	}
	f.run(151)
	if !f.irq[2] || read(tm, timerArmed) != 0 || read(tm, timerINTS) != 1<<2 {
		t.Errorf("irq %v ARMED %#x INTS %#x", f.irq[2], read(tm, timerArmed), read(tm, timerINTS))
	}
	// The CLR alias clears write-1 bits too.
	putOp(tm, timerINTR, 1<<2, Clear)
	if f.irq[2] {
		t.Error("INTR does not clear")
	}
	// A time that has passed waits for the wrap, 72 minutes away.
	put(tm, timerAlarm0+8, uint32(tm.Now())-1)
	f.run(150 * 1_000_000)
	if f.irq[2] {
		t.Error("an alarm in the past fires")
	}
	putOp(tm, timerArmed, 1<<2, Plain)
	if read(tm, timerArmed) != 0 {
		t.Error("ARMED does not disarm")
	}
}

func TestForcedInterruptIsALevel(t *testing.T) {
	f, s := newFake(t)
	put(s.Timer[1], timerINTE, 8)
	putOp(s.Timer[1], timerINTF, 8, Set)
	if !f.irq[7] {
		t.Error("INTF does not raise the line")
	}
	f.run(1000)
	if !f.irq[7] {
		t.Error("the line fell by itself")
	}
	putOp(s.Timer[1], timerINTF, 8, Clear)
	if f.irq[7] {
		t.Error("the line stays")
	}
}

func TestTimerLatchPauseSourceAndLock(t *testing.T) {
	f, s := newFake(t)
	sdkClocks(t, f, s)
	tm := s.Timer[0]
	put(tm, timeLW, 0xffffffff)
	put(tm, timeHW, 7)
	if lo := read(tm, timeLR); lo != 0xffffffff {
		t.Errorf("TIMELR = %#x", lo)
	}
	f.run(150)
	if hi := read(tm, timeHR); hi != 7 {
		t.Errorf("TIMEHR = %d, want the latched 7", hi)
	}
	if read(tm, timeRawH) != 8 || read(tm, timeRawL) != 0 {
		t.Errorf("raw %#x %#x", read(tm, timeRawH), read(tm, timeRawL))
	}
	put(tm, timerPause, 1)
	f.run(1500)
	if tm.Now() != 8<<32 {
		t.Error("PAUSE does not stop it")
	}
	put(tm, timerSource, 1)
	put(tm, timerPause, 0)
	f.run(77)
	if tm.Now() != 8<<32+77 {
		t.Errorf("with SOURCE clk_sys: %#x", tm.Now())
	}
	put(tm, timerINTE, 1)
	put(tm, timerAlarm0, 177)
	f.run(100)
	if !f.irq[0] {
		t.Error("no alarm while counting clk_sys")
	}
	put(tm, timerLocked, 1)
	put(tm, timerPause, 1)
	put(tm, timerLocked, 0)
	before := tm.Now()
	f.run(5)
	if tm.Now() != before+5 || read(tm, timerLocked) != 1 {
		t.Error("LOCKED is not sticky or does not protect")
	}
	s.DebugHalt(1, true)
	f.run(50)
	if tm.Now() != before+5 {
		t.Error("DBGPAUSE does not pause")
	}
	s.DebugHalt(1, false)
	f.run(5)
	if tm.Now() != before+10 {
		t.Error("it does not resume")
	}
}

func TestTickGenerator(t *testing.T) {
	f, s := newFake(t)
	sdkClocks(t, f, s)
	if got := read(s.Ticks, TickTimer0*12); got != 3 {
		t.Errorf("CTRL = %#x, want ENABLE and RUNNING", got)
	}
	put(s.Ticks, TickTimer0*12, 0)
	at := s.Timer[0].Now()
	f.run(15000)
	if s.Timer[0].Now() != at || read(s.Ticks, TickTimer0*12) != 0 {
		t.Error("the timer runs without ticks")
	}
	if s.Ticks.Rate(TickRISCV).Float() != 1e6 {
		t.Errorf("rate = %v", s.Ticks.Rate(TickRISCV))
	}
}

func TestWatchdog(t *testing.T) {
	f, s := newFake(t)
	sdkClocks(t, f, s)
	w := s.Watchdog
	put(s.PSM, psmWDSEL, psmAll&^(PSMROSC|PSMXOSC))
	put(w, wdScratch0+16, 0x6ab73121)
	put(w, wdLoad, 1000)
	putOp(w, wdCtrl, wdEnable, Set)
	f.run(150 * 400)
	if left := read(w, wdCtrl) & wdTime; left < 599 || left > 600 {
		t.Errorf("TIME = %d after 400 of 1000", left)
	}
	put(w, wdLoad, 1000)
	f.run(150 * 998)
	if len(f.resets) != 0 {
		t.Fatal("it fires although it was fed")
	}
	f.run(150 * 3)
	if len(f.resets) != 1 || f.resets[0] != (fakeReset{ResetWatchdogTimer, psmAll &^ (PSMROSC | PSMXOSC)}) {
		t.Fatalf("resets = %+v", f.resets)
	}
	s.Reset(ResetWatchdogTimer, f.resets[0].psm)
	if read(w, wdReason) != reasonTimer || read(w, wdScratch0+16) != 0x6ab73121 || read(w, wdCtrl) != 0x07000000 {
		t.Errorf("after the reset: REASON %#x SCRATCH4 %#x CTRL %#x", read(w, wdReason), read(w, wdScratch0+16), read(w, wdCtrl))
	}
	if f.rate.Float() != 11e6 || f.held != allResets {
		t.Errorf("clk_sys %v, held %#x", f.rate, f.held)
	}
	putOp(w, wdCtrl, wdTrigger, Set)
	if len(f.resets) != 2 || f.resets[1].cause != ResetWatchdogForce {
		t.Errorf("TRIGGER: %+v", f.resets)
	}
	s.Reset(ResetChip, psmAll)
	if read(w, wdReason) != 0 || read(w, wdScratch0+16) != 0 {
		t.Error("a chip-level reset keeps reason and scratch")
	}
}

func TestWatchdogPausesWhileDebugged(t *testing.T) {
	f, s := newFake(t)
	sdkClocks(t, f, s)
	put(s.Watchdog, wdLoad, 100)
	putOp(s.Watchdog, wdCtrl, wdEnable, Set)
	f.run(150 * 50)
	s.DebugHalt(0, true)
	f.run(150 * 5000)
	s.DebugHalt(0, false)
	if len(f.resets) != 0 {
		t.Fatal("it fires in Debug state")
	}
	f.run(150 * 51)
	if len(f.resets) != 1 {
		t.Error("it does not go on afterwards")
	}
}

func TestPSMRestartsCore1(t *testing.T) {
	f, s := newFake(t)
	if got := read(s.PSM, psmDone); got != 0x01ffffff {
		t.Errorf("DONE = %#x", got)
	}
	putOp(s.PSM, psmForceOff, PSMProc1, Set)
	if !f.cores[1] || f.cores[0] || read(s.PSM, psmForceOff) != PSMProc1 || read(s.PSM, psmDone) != 0x00ffffff {
		t.Errorf("held %v DONE %#x", f.cores, read(s.PSM, psmDone))
	}
	putOp(s.PSM, psmForceOff, PSMProc1, Clear)
	if f.cores[1] {
		t.Error("core 1 stays held")
	}
}
