package periph

import "math/bits"

// Registers of the always-on timer in POWMAN (datasheet 12.10.9).
const (
	aonLPOSCInt  = 0x50
	aonLPOSCFrac = 0x54
	aonXOSCInt   = 0x58
	aonXOSCFrac  = 0x5c
	aonSetTime   = 0x60 // 63:48, then 47:32, 31:16, 15:0
	aonReadUpper = 0x70
	aonReadLower = 0x74
	aonAlarm     = 0x78 // as aonSetTime

	aonRun        = 1 << 1
	aonClear      = 1 << 2
	aonAlarmEnab  = 1 << 4
	aonAlarmFired = 1 << 6
	aonUseLPOSC   = 1 << 8
	aonUseXOSC    = 1 << 9
	aonUse1KHz    = 1 << 10
	aonUse1Hz     = 1 << 13
	aonUsingXOSC  = 1 << 16
	aonUsingLPOSC = 1 << 17
	aonUsing1KHz  = 1 << 18
)

// aonTimer counts milliseconds in 64 bits from LPOSC or from clk_ref, by a 16.16
// divider each.
type aonTimer struct {
	p      *Powman
	clocks *Clocks
	alarm  Event
	using  uint32 // one of aonUsing*, 0 before the first start
	fired  bool
	// time is the count when the source's count was start.
	running bool
	time    uint64
	start   uint64
}

func (t *aonTimer) init(p *Powman, clocks *Clocks) {
	t.p, t.clocks = p, clocks
	t.alarm.Fire = func(uint64) { t.check() }
	clocks.LPOSC.OnChange(t.plan)
	clocks.Ref.OnChange(t.plan)
}

func (t *aonTimer) reset() {
	t.p.env.Cancel(&t.alarm)
	t.using, t.fired, t.running, t.time, t.start = 0, false, false, 0, 0
}

// source is the clock that drives the timer, and its frequency in kHz as 16.16.
func (t *aonTimer) source() (c *Clock, khz uint64) {
	if t.using == aonUsingXOSC {
		return t.clocks.Ref, uint64(t.p.get(aonXOSCInt))<<16 | uint64(t.p.get(aonXOSCFrac))
	}
	return t.clocks.LPOSC, uint64(t.p.get(aonLPOSCInt))<<16 | uint64(t.p.get(aonLPOSCFrac))
}

// now is the present count.
func (t *aonTimer) now() uint64 {
	if !t.running {
		return t.time
	}
	c, khz := t.source()
	if khz == 0 {
		return t.time
	}
	hi, lo := bits.Mul64(c.Count()-t.start, 1<<16)
	q, _ := bits.Div64(hi%khz, lo, khz)
	return t.time + q
}

// rebase takes the count over before something about the source changes.
func (t *aonTimer) rebase() {
	t.time = t.now()
	c, _ := t.source()
	t.start = c.Count()
}

// restart continues from time with the present source.
func (t *aonTimer) restart() {
	c, _ := t.source()
	t.start = c.Count()
	t.plan()
}

func (t *aonTimer) alarmTime() uint64 {
	var v uint64
	for i := range uint32(4) {
		v = v<<16 | uint64(t.p.get(aonAlarm+4*i))
	}
	return v
}

// plan schedules the alarm.
func (t *aonTimer) plan() {
	t.p.env.Cancel(&t.alarm)
	if !t.running || t.p.get(powTimer)&aonAlarmEnab == 0 || t.fired {
		return
	}
	at := t.alarmTime()
	if t.now() >= at {
		t.check()
		return
	}
	c, khz := t.source()
	hi, lo := bits.Mul64(at-t.time, khz)
	if hi >= 1<<16 {
		return
	}
	periods, rest := bits.Div64(hi, lo, 1<<16)
	if rest != 0 {
		periods++
	}
	if periods < Never-t.start {
		schedule(t.p.env, &t.alarm, c.When(t.start+periods))
	}
}

// check fires the alarm if it is due: the count has reached it.
func (t *aonTimer) check() {
	if t.now() < t.alarmTime() {
		t.plan()
		return
	}
	t.fired = true
	t.p.interrupt()
	t.p.maybeWake()
}

// toLPOSC moves the timer to the low-power oscillator.
func (t *aonTimer) toLPOSC() {
	if t.using == aonUsingXOSC {
		t.rebase()
		t.using = aonUsingLPOSC
		t.restart()
	}
}

func (t *aonTimer) read(offset uint32) (v uint32, ok bool) {
	switch offset {
	case aonReadUpper:
		return uint32(t.now() >> 32), true
	case aonReadLower:
		return uint32(t.now()), true
	case powTimer:
		return t.p.get(powTimer) | bit(t.fired, 6) | t.using, true
	case aonSetTime, aonSetTime + 4, aonSetTime + 8, aonSetTime + 12:
		return 0, true
	}
	return 0, false
}

// write handles the timer's registers and reports whether offset is one.
func (t *aonTimer) write(offset uint32, w Write) bool {
	p := t.p
	switch {
	case offset >= aonSetTime && offset < aonSetTime+16:
		if t.running {
			p.env.Notice(p.label(offset) + ": the time can only be set while the timer is stopped, the write is ignored")
			return true
		}
		shift := 48 - 16*((offset-aonSetTime)/4)
		t.time = t.time&^(0xffff<<shift) | uint64(w.Apply(0)&0xffff)<<shift
	case offset == aonReadUpper || offset == aonReadLower:
	case offset >= aonLPOSCInt && offset <= aonXOSCFrac:
		t.rebase()
		p.storage.Write(offset, w)
		t.restart()
	case offset >= aonAlarm && offset < aonAlarm+16:
		p.storage.Write(offset, w)
		t.plan()
	case offset == powTimer:
		t.control(w)
	default:
		return false
	}
	return true
}

// control is a write of TIMER.
func (t *aonTimer) control(w Write) {
	p := t.p
	t.rebase()
	p.storage.Write(powTimer, w)
	if w.Ones(aonClear) != 0 {
		t.time = 0
	}
	if w.Ones(aonAlarmFired) != 0 {
		t.fired = false
	}
	switch {
	case w.Ones(aonUseXOSC) != 0:
		t.using = aonUsingXOSC
	case w.Ones(aonUseLPOSC) != 0:
		t.using = aonUsingLPOSC
	case w.Ones(aonUse1KHz) != 0:
		t.using = aonUsing1KHz
		p.unmodelled(powTimer, "ticks from a GPIO; the timer goes on with LPOSC")
	}
	if p.get(powTimer)&aonUse1Hz != 0 {
		p.unmodelled(powTimer, "synchronisation with 1 Hz from a GPIO")
	}
	t.running = p.get(powTimer)&aonRun != 0
	if t.running && t.using == 0 {
		t.using = aonUsingLPOSC
	}
	t.restart()
}
