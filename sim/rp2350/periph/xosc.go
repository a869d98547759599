package periph

import (
	"github.com/stem-hw/stem-hw/sim/rp2350/periph/regs"
	"github.com/stem-hw/stem-hw/sim/timebase"
)

// Registers of XOSC (datasheet 8.2.8).
const (
	xoscCtrl    = 0x00
	xoscStatus  = 0x04
	xoscDormant = 0x08
	xoscStartup = 0x0c
	xoscCount   = 0x10

	oscEnable   = 0xfab // in CTRL.ENABLE, bits 23:12
	oscDisable  = 0xd1e
	oscDormant  = 0x636f6d61
	oscWake     = 0x77616b65
	oscStable   = 1 << 31
	oscBadWrite = 1 << 24
	oscEnabled  = 1 << 12
)

// XOSC is the crystal oscillator (datasheet 8.2). It is stable STARTUP times 256
// periods after it was enabled; until then nothing can run from it.
type XOSC struct {
	storage
	clocks   *Clocks
	crystal  timebase.Rate
	enabled  bool
	stable   bool
	dormant  bool // until something wakes it
	bad      bool
	ready    Event
	readyAt  uint64 // in crystal periods
	downward downCounter
}

func newXOSC(env Env, clocks *Clocks, crystal timebase.Rate) *XOSC {
	x := &XOSC{storage: newStorage("XOSC", env, regs.XOSC), clocks: clocks, crystal: crystal}
	x.downward.clock = clocks.XOSC
	x.ready.Fire = func(uint64) {
		x.stable = true
		x.clocks.Update()
	}
	clocks.crystal.OnChange(x.replan)
	return x
}

// Rate is the oscillator's output.
func (x *XOSC) Rate() timebase.Rate {
	if x.stable && !x.dormant {
		return x.crystal
	}
	return timebase.Rate{}
}

// swing is the rate of the crystal itself, stable or not.
func (x *XOSC) swing() timebase.Rate {
	if x.enabled {
		return x.crystal
	}
	return timebase.Rate{}
}

// Reset turns the oscillator off.
func (x *XOSC) Reset() {
	x.storage.Reset()
	x.bad, x.dormant = false, false
	x.downward.end = 0
	x.enable(false)
}

func (x *XOSC) enable(on bool) {
	if on == x.enabled {
		return
	}
	x.enabled, x.stable = on, false
	x.env.Cancel(&x.ready)
	x.clocks.Update()
	if on {
		periods := uint64(x.get(xoscStartup)&0x3fff) * 256
		if x.get(xoscStartup)&(1<<20) != 0 {
			periods *= 4
		}
		x.readyAt = x.clocks.crystal.Count() + max(periods, 1)
		x.replan()
	}
}

// replan schedules the end of the start-up delay.
func (x *XOSC) replan() {
	if x.enabled && !x.stable {
		schedule(x.env, &x.ready, x.clocks.crystal.When(x.readyAt))
	}
}

// Read returns a register.
func (x *XOSC) Read(offset uint32, peek bool) uint32 {
	switch offset {
	case xoscStatus:
		return bit(x.stable, 31) | bit(x.bad, 24) | bit(x.enabled, 12) | x.get(xoscCtrl)&3
	case xoscDormant:
		return oscWake
	case xoscCount:
		return x.downward.read()
	}
	return x.storage.Read(offset, peek)
}

// Write writes a register.
func (x *XOSC) Write(offset uint32, w Write) {
	switch offset {
	case xoscStatus:
		if w.Ones(oscBadWrite) != 0 {
			x.bad = false
		}
		return
	case xoscDormant:
		switch w.Apply(oscWake) {
		case oscDormant:
			x.dormant = true
			x.clocks.goDormant()
		case oscWake:
		default:
			x.bad = true
		}
		return
	case xoscCount:
		x.downward.write(w.Apply(x.downward.read()))
		return
	}
	x.storage.Write(offset, w)
	if offset == xoscCtrl {
		v := x.get(xoscCtrl)
		if f := v & 0xfff; f < 0xaa0 || f > 0xaa3 {
			x.bad = true
		}
		switch v >> 12 & 0xfff {
		case oscEnable:
			x.enable(true)
		case oscDisable:
			x.enable(false)
		default:
			// An unknown pattern in ENABLE leaves the oscillator as it is; the
			// field is written in two steps by software that sets the range first.
			x.bad = x.bad || v>>12&0xfff != 0
		}
	}
}
