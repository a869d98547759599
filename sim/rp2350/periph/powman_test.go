package periph

import "testing"

// putPow writes with the password.
func putPow(b Block, offset, v uint32, op Op) {
	b.Write(offset, Write{Raw: powPassword | v, Op: op, Size: 4})
}

func TestPowmanPassword(t *testing.T) {
	f, s := newFake(t)
	p := s.Powman
	put(p, powWDSEL, 0x1111)
	if read(p, powWDSEL) != 0 || read(p, powBadPasswd) != 1 || len(f.notices) != 1 {
		t.Error("a write without password is taken, or not noted")
	}
	putPow(p, powBadPasswd, 1, Plain)
	if read(p, powBadPasswd) != 0 {
		t.Error("BADPASSWD does not clear")
	}
	putPow(p, powWDSEL, 0x1100, Plain)
	putPow(p, powWDSEL, 0x0011, Set)
	putPow(p, powWDSEL, 0x1000, Clear)
	if got := read(p, powWDSEL); got != 0x0111 {
		t.Errorf("through the aliases: %#x", got)
	}
	// Scratch and boot registers are plain 32-bit words.
	put(p, powScratch0, 0x12345678)
	put(p, 0xdc, 0xb007c0d3)
	if read(p, powScratch0) != 0x12345678 || read(p, 0xdc) != 0xb007c0d3 || read(p, powBadPasswd) != 0 {
		t.Error("scratch registers need a password")
	}
}

func TestAONTimer(t *testing.T) {
	f, s := newFake(t)
	sdkClocks(t, f, s)
	p := s.Powman
	for i, v := range []uint32{0, 0, 1, 500} {
		putPow(p, aonSetTime+4*uint32(i), v, Plain)
	}
	putPow(p, powTimer, aonRun, Plain)
	if got := read(p, powTimer); got != aonRun|aonUsingLPOSC {
		t.Errorf("TIMER = %#x", got)
	}
	f.micros(100_100)
	if got := read(p, aonReadLower); got != 65536+600 {
		t.Errorf("after 100 ms: %d", got)
	}
	putPow(p, powTimer, aonUseXOSC, Set)
	if read(p, powTimer)>>16&3 != 1 {
		t.Errorf("USING_XOSC does not follow: %#x", read(p, powTimer))
	}
	f.micros(1_000_000)
	if got := read(p, aonReadLower); got != 65536+1600 {
		t.Errorf("after another second: %d", got)
	}
	alarm := uint32(65536 + 1700)
	for i, v := range []uint32{0, 0, alarm >> 16, alarm & 0xffff} {
		putPow(p, aonAlarm+4*uint32(i), v, Plain)
	}
	put(p, powINTE, 2)
	putPow(p, powTimer, aonAlarmEnab, Set)
	f.micros(99_000)
	if f.irq[irqPowmanTimer] {
		t.Error("the alarm is early")
	}
	f.micros(1_100)
	if !f.irq[irqPowmanTimer] || read(p, powTimer)&aonAlarmFired == 0 || read(p, powINTS) != 2 {
		t.Errorf("no alarm: TIMER %#x", read(p, powTimer))
	}
	putPow(p, powTimer, aonAlarmEnab, Clear)
	putPow(p, powTimer, aonAlarmFired, Clear) // W1C, through the CLR alias
	if f.irq[irqPowmanTimer] {
		t.Error("the alarm does not clear")
	}
	putPow(p, powTimer, aonClear, Set)
	if read(p, aonReadLower) != 0 || read(p, powTimer)&aonClear != 0 {
		t.Error("CLEAR does not clear, or stays")
	}
}

func TestWatchdogAtChipLevel(t *testing.T) {
	f, s := newFake(t)
	sdkClocks(t, f, s)
	put(s.PSM, psmWDSEL, psmAll)
	putPow(s.Powman, powWDSEL, 1<<8, Plain)
	put(s.Powman, powScratch0+4, 77)
	putOp(s.Watchdog, wdCtrl, wdTrigger, Set)
	if len(f.resets) != 1 || f.resets[0].cause != ResetChip {
		t.Fatalf("resets %+v", f.resets)
	}
	s.Reset(ResetChip, psmAll)
	if read(s.Powman, powChipReset) != hadWatchdogSWCore || read(s.Powman, powScratch0+4) != 77 {
		t.Errorf("CHIP_RESET = %#x", read(s.Powman, powChipReset))
	}
	s.Powman.ChipReset(ReasonRescue)
	if read(s.Powman, powChipReset) != hadRescue|rescueFlag {
		t.Errorf("rescue: %#x", read(s.Powman, powChipReset))
	}
	putPow(s.Powman, powChipReset, rescueFlag, Clear)
	if read(s.Powman, powChipReset) != hadRescue {
		t.Error("RESCUE_FLAG does not clear")
	}
}
