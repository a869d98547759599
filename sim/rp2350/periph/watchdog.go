package periph

import "github.com/stem-hw/stem-hw/sim/rp2350/periph/regs"

// Registers of WATCHDOG (datasheet 12.9.7).
const (
	wdCtrl     = 0x00
	wdLoad     = 0x04
	wdReason   = 0x08
	wdScratch0 = 0x0c

	wdTrigger = 1 << 31
	wdEnable  = 1 << 30
	wdPause   = 1 << 24 // JTAG, and core n at 1<<(25+n)
	wdTime    = 0xffffff

	reasonTimer = 1 << 0
	reasonForce = 1 << 1
)

// Watchdog counts down once for each tick of its generator and resets what
// PSM.WDSEL, RESETS.WDSEL and POWMAN.WDSEL select when it reaches 0 (datasheet
// 12.9). Its scratch registers survive that.
type Watchdog struct {
	storage
	sys    System
	ticks  Ticks
	psm    *PSM
	powman *Powman
	expire Event
	// value is what is left at tick since, while running; else what is left.
	value   uint32
	since   uint64
	running bool
	halted  [2]bool
	gated   bool
}

func newWatchdog(env Env, sys System, ticks Ticks, psm *PSM, powman *Powman) *Watchdog {
	d := &Watchdog{storage: newStorage("WATCHDOG", env, regs.WATCHDOG), sys: sys, ticks: ticks, psm: psm,
		powman: powman}
	d.expire.Fire = func(uint64) { d.fire(ResetWatchdogTimer) }
	ticks.OnChange(d.plan)
	return d
}

// Reset clears everything, scratch registers and reason too: a chip-level reset.
func (d *Watchdog) Reset() {
	d.storage.Reset()
	d.value = 0
	d.update()
}

// restart is what a reset by the watchdog leaves of it: the reason and the
// scratch registers.
func (d *Watchdog) restart(cause ResetCause) {
	d.set(wdCtrl, 0x07000000)
	switch cause {
	case ResetWatchdogTimer:
		d.set(wdReason, reasonTimer)
	case ResetWatchdogForce:
		d.set(wdReason, reasonForce)
	}
	d.value = 0
	d.update()
}

// ClearReason forgets the reason, as a debugger's reset of a core does.
func (d *Watchdog) ClearReason() { d.set(wdReason, 0) }

// Running reports whether the watchdog counts down: it may still end a hang.
func (d *Watchdog) Running() bool { return d.running }

// left is the present count.
func (d *Watchdog) left() uint32 {
	if !d.running {
		return d.value
	}
	if n := d.ticks.Count() - d.since; n < uint64(d.value) {
		return d.value - uint32(n)
	}
	return 0
}

// update takes the count over into a new state of ENABLE, PAUSE and LOAD.
func (d *Watchdog) update() {
	d.value = d.left()
	d.since = d.ticks.Count()
	ctrl := d.get(wdCtrl)
	d.running = ctrl&wdEnable != 0 && !d.gated
	for core, h := range d.halted {
		if h && ctrl>>(25+core)&1 != 0 {
			d.running = false
		}
	}
	d.plan()
}

func (d *Watchdog) plan() {
	if !d.running {
		d.env.Cancel(&d.expire)
		return
	}
	schedule(d.env, &d.expire, d.ticks.When(d.since+uint64(d.value)))
}

// debugHalt pauses the count while a core is in Debug state.
func (d *Watchdog) debugHalt(core int, halted bool) {
	d.value = d.left()
	d.since = d.ticks.Count()
	d.halted[core] = halted
	d.update()
}

func (d *Watchdog) fire(cause ResetCause) {
	d.value, d.running = 0, false
	d.env.Cancel(&d.expire)
	if d.powman.watchdogReset(d.psm.WatchdogSelected()) {
		cause = ResetChip
	}
	d.sys.Reset(cause, d.psm.WatchdogSelected())
}

// Read returns a register.
func (d *Watchdog) Read(offset uint32, peek bool) uint32 {
	switch offset {
	case wdCtrl:
		return d.get(wdCtrl)&^uint32(wdTime) | d.left()
	case wdLoad:
		return 0
	}
	return d.storage.Read(offset, peek)
}

// Write writes a register.
func (d *Watchdog) Write(offset uint32, w Write) {
	switch offset {
	case wdCtrl:
		d.value = d.left()
		d.since = d.ticks.Count()
		d.storage.Write(offset, w)
		d.update()
		if w.Ones(wdTrigger) != 0 {
			d.fire(ResetWatchdogForce)
		}
	case wdLoad:
		d.value, d.since = w.Apply(0)&wdTime, d.ticks.Count()
		d.plan()
	case wdReason:
	default:
		d.storage.Write(offset, w)
	}
}
