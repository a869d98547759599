package rp2350

import (
	"slices"

	"github.com/stem-hw/stem-hw/sim/rp2350/periph"
	"github.com/stem-hw/stem-hw/sim/timebase"
)

// Alarm is a moment in the world outside the chip, in picoseconds since
// power-up: what is connected to the board does not follow the chip's clocks.
type Alarm struct {
	// Fire is called at the moment.
	Fire func()

	picos uint64
	event periph.Event
	set   bool
}

// Set reports whether the alarm is still to come.
func (a *Alarm) Set() bool { return a.set }

// Picos is the simulated time of the access or event being served, in
// picoseconds since power-up.
func (c *Chip) Picos() uint64 { return c.line.Picos(c.now) }

// PicosOf is the simulated time of a cycle.
func (c *Chip) PicosOf(cycle uint64) uint64 { return c.line.Picos(cycle) }

// At sets an alarm, moving it if it is set already. Alarms are forgotten by
// Reset: whoever is outside sets them again when told so (OnPowerUp).
func (c *Chip) At(a *Alarm, picos uint64) {
	c.Forget(a)
	a.picos, a.set = picos, true
	c.arm(a)
	c.alarms = append(c.alarms, a)
	c.placeAlarm(a)
}

// arm says what happens at an alarm.
func (c *Chip) arm(a *Alarm) {
	a.event.Fire = func(uint64) {
		c.Forget(a)
		a.Fire()
	}
}

// Forget takes an alarm back.
func (c *Chip) Forget(a *Alarm) {
	if !a.set {
		return
	}
	a.set = false
	c.q.cancel(&a.event)
	c.alarms = slices.DeleteFunc(c.alarms, func(o *Alarm) bool { return o == a })
}

// placeAlarm puts an alarm where the present clock has its moment.
func (c *Chip) placeAlarm(a *Alarm) {
	at := c.line.CycleOf(a.picos)
	if at == timebase.Never {
		c.q.cancel(&a.event)
		return
	}
	env{c}.Schedule(&a.event, at)
}

// placeAlarms does so for all of them after a change of the clock.
func (c *Chip) placeAlarms() {
	for _, a := range c.alarms {
		c.placeAlarm(a)
	}
}

// OnPowerUp calls f now and after every Reset, when time has begun anew.
func (c *Chip) OnPowerUp(f func()) {
	c.outside = append(c.outside, f)
	f()
}

// powerUpOutside tells the world outside that time begins anew.
func (c *Chip) powerUpOutside() {
	for _, a := range c.alarms {
		a.set = false
		a.event.Index = 0
	}
	c.alarms = nil
	for _, f := range c.outside {
		f()
	}
}

// SetProbe lets p hear of what PIO and DMA do, nil ends that. While one
// listens, they run exactly instead of when somebody looks.
func (c *Chip) SetProbe(p *periph.Probe) { c.parts.SetProbe(p) }

// Remark tells the user something about what is connected to the board, each
// text once.
func (c *Chip) Remark(text string) { c.notice(text, 0) }
