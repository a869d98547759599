package periph

import "github.com/stem-hw/stem-hw/sim/rp2350/periph/regs"

// Registers of TIMER0 and TIMER1 (datasheet 12.8.5).
const (
	timeHW      = 0x00
	timeLW      = 0x04
	timeHR      = 0x08
	timeLR      = 0x0c
	timerAlarm0 = 0x10
	timerArmed  = 0x20
	timeRawH    = 0x24
	timeRawL    = 0x28
	timerDbg    = 0x2c
	timerPause  = 0x30
	timerLocked = 0x34
	timerSource = 0x38
	timerINTR   = 0x3c
	timerINTE   = 0x40
	timerINTF   = 0x44
	timerINTS   = 0x48
)

// Timer is TIMER0 or TIMER1: 64 bits that count ticks (or clk_sys), and four
// alarms that fire when their value equals the lower word (datasheet 12.8).
type Timer struct {
	storage
	irq   int
	tick  Ticks
	sys   sysTicks
	from  Ticks // tick or sys
	alarm [4]Event
	armed uint32
	// time is the count at position since of from while running; else the count.
	time    uint64
	since   uint64
	running bool
	latch   uint32 // TIMEHR
	low     uint32 // TIMELW
	halted  [2]bool
	gated   bool
}

func newTimer(name string, env Env, tick Ticks, irq int) *Timer {
	t := &Timer{storage: newStorage(name, env, regs.TIMER), irq: irq, tick: tick, sys: sysTicks{env}}
	t.from = tick
	for n := range t.alarm {
		t.alarm[n].Fire = func(uint64) { t.fire(n) }
	}
	tick.OnChange(t.plan)
	return t
}

// Reset stops the alarms and starts counting at 0.
func (t *Timer) Reset() {
	t.storage.Reset()
	t.armed, t.time, t.latch, t.low = 0, 0, 0, 0
	t.running = false
	t.update()
	t.interrupt()
}

// Now is the 64-bit count.
func (t *Timer) Now() uint64 {
	if !t.running {
		return t.time
	}
	return t.time + t.from.Count() - t.since
}

// update takes the count over into a new state of SOURCE, PAUSE and DBGPAUSE.
func (t *Timer) update() {
	t.time = t.Now()
	t.from = t.tick
	if t.get(timerSource)&1 != 0 {
		t.from = t.sys
	}
	t.since = t.from.Count()
	t.running = t.get(timerPause)&1 == 0 && !t.gated
	for core, h := range t.halted {
		if h && t.get(timerDbg)>>(1+core)&1 != 0 {
			t.running = false
		}
	}
	t.plan()
}

// plan schedules the armed alarms.
func (t *Timer) plan() {
	for n := range t.alarm {
		t.planAlarm(n)
	}
}

func (t *Timer) planAlarm(n int) {
	if t.armed>>n&1 == 0 || !t.running {
		t.env.Cancel(&t.alarm[n])
		return
	}
	// How far the lower word is from the alarm, modulo 2^32. An alarm at the
	// present time matches at once.
	ahead := t.get(timerAlarm0+uint32(n)*4) - uint32(t.Now())
	schedule(t.env, &t.alarm[n], t.from.When(t.from.Count()+uint64(ahead)))
}

func (t *Timer) fire(n int) {
	t.armed &^= 1 << n
	t.set(timerINTR, t.get(timerINTR)|1<<n)
	t.interrupt()
}

// debugHalt pauses the timer while a core is in Debug state.
func (t *Timer) debugHalt(core int, halted bool) {
	t.time = t.Now()
	t.since = t.from.Count()
	t.halted[core] = halted
	t.update()
}

func (t *Timer) pending() uint32 { return (t.get(timerINTR) | t.get(timerINTF)) & t.get(timerINTE) }

func (t *Timer) interrupt() {
	p := t.pending()
	for n := range 4 {
		t.env.SetIRQ(t.irq+n, p>>n&1 != 0)
	}
}

// Read returns a register. TIMELR latches the upper word for TIMEHR.
func (t *Timer) Read(offset uint32, peek bool) uint32 {
	switch offset {
	case timeRawL:
		return uint32(t.Now())
	case timeRawH:
		return uint32(t.Now() >> 32)
	case timeLR:
		now := t.Now()
		if !peek {
			t.latch = uint32(now >> 32)
		}
		return uint32(now)
	case timeHR:
		return t.latch
	case timeHW, timeLW:
		return 0
	case timerArmed:
		return t.armed
	case timerINTS:
		return t.pending()
	}
	return t.storage.Read(offset, peek)
}

// Write writes a register. LOCKED makes the time, the pauses and the source
// read-only until the block is reset; alarms and interrupts keep working.
func (t *Timer) Write(offset uint32, w Write) {
	if t.get(timerLocked)&1 != 0 {
		switch offset {
		case timeHW, timeLW, timerPause, timerDbg, timerSource, timerLocked:
			return
		}
	}
	switch offset {
	case timeLW:
		t.low = w.Apply(0)
	case timeHW:
		t.time, t.since = uint64(w.Apply(0))<<32|uint64(t.low), t.from.Count()
		t.plan()
	case timerArmed:
		t.armed &^= w.Ones(15)
		t.plan()
	case timerAlarm0, timerAlarm0 + 4, timerAlarm0 + 8, timerAlarm0 + 12:
		t.storage.Write(offset, w)
		n := int(offset-timerAlarm0) / 4
		t.armed |= 1 << n
		t.planAlarm(n)
	case timerPause, timerDbg, timerSource:
		t.time = t.Now()
		t.since = t.from.Count()
		t.storage.Write(offset, w)
		t.update()
	case timerINTR, timerINTE, timerINTF:
		t.storage.Write(offset, w)
		t.interrupt()
	default:
		t.storage.Write(offset, w)
	}
}
