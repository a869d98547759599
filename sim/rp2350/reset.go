package rp2350

import (
	"github.com/stem-hw/stem-hw/sim/machine"
	"github.com/stem-hw/stem-hw/sim/rp2350/periph"
	"github.com/stem-hw/stem-hw/sim/timebase"
)

// powerUpRate is clk_sys before firmware sets clocks up: the ring oscillator's
// nominal frequency (datasheet 8.3: 11 MHz).
var powerUpRate = timebase.Hertz(11_000_000)

// Bits of PSM registers (datasheet 7.4); each stage resets those above it.
const (
	psmProcCold   = 1 << 0
	psmBootRAM    = 1 << 9
	psmXIP        = 1 << 20
	psmSIO        = 1 << 21
	psmAccessCtrl = 1 << 22
	psmProc0      = 1 << 23
	psmProc1      = 1 << 24
	psmAll        = 1<<25 - 1
)

// Reset implements machine.Machine: power off and on. Flash, fuses and a loaded
// RAM image stay.
func (c *Chip) Reset() {
	c.event, c.resetPending = nil, false
	c.q.clear()
	c.now, c.clock = 0, 0
	c.turnCore, c.dormant = 0, false
	c.line = timebase.Timeline{}
	c.line.SetRate(0, powerUpRate)
	clear(c.sram)
	clear(c.flags)
	c.flash.PowerCycle()
	c.boot.powerUp()
	c.wholeReset()
	c.resets.Chip++
	c.irq = 0
	c.nodes[0].irq, c.nodes[1].irq = 0, 0
	c.resetParts(0, psmAll)
	for _, n := range c.nodes {
		n.cpu.SetClock(0)
	}
	c.restoreRAMImage()
	c.startCores()
	c.powerUpOutside()
}

// performReset does what a watchdog or a chip-level reset asked for.
// done says that Run has something to report.
func (c *Chip) performReset() (e machine.Event, done bool) {
	c.resetPending = false
	c.clock = max(c.clock, c.now)
	psm := c.resetPSM
	if c.resetCause == periph.ResetChip {
		psm = psmAll
		c.wholeReset()
	}
	if psm == 0 {
		return e, false
	}
	// A stage that is reset takes all later ones with it.
	lowest := psm & -psm
	psm = psmAll &^ (lowest - 1)
	c.event = nil
	c.resetParts(c.resetCause, psm)
	if psm&psmProc0 == 0 {
		c.startCore(c.nodes[1])
		return e, false
	}
	c.startCores()
	return machine.Event{Kind: machine.EventReset, How: resetWord(c.resetCause)}, true
}

func resetWord(cause periph.ResetCause) string {
	switch cause {
	case periph.ResetWatchdogTimer:
		return "watchdog timer"
	case periph.ResetWatchdogForce:
		return "watchdog trigger"
	}
	return "chip reset"
}

// resetParts resets what psm selects, up to but not including the first
// instruction of the cores. Cause 0 is power-up.
func (c *Chip) resetParts(cause periph.ResetCause, psm uint32) {
	if cause == 0 {
		c.parts.PowerUp()
	} else {
		c.parts.Reset(cause, psm)
	}
	if cause == 0 || psm&psmProcCold != 0 {
		c.parts.OTP.ColdReset()
	}
	if psm&psmBootRAM != 0 {
		c.boot.resetLocks()
	}
	if psm&psmXIP != 0 {
		c.xip.Reset()
		c.qmi.Reset()
	}
	if psm&psmSIO != 0 {
		c.sio.reset()
	}
	if psm&psmAccessCtrl != 0 {
		c.access.Reset()
	}
	for _, n := range c.nodes {
		if psm&(psmProc0<<n.id) != 0 {
			if a, isArm := n.cpu.(arm); isArm && psm&psmProcCold != 0 {
				a.ResetDebug()
			}
			n.cpu.Resume() // a reset ends Debug state
			c.resetCore(n)
			n.psmHeld, n.held = false, n.dmHeld
		}
	}
}

// resetCore puts one core into reset; its clock goes on with the chip's.
func (c *Chip) resetCore(n *node) {
	if n.id == 0 {
		c.bootsel = nil
	}
	c.dropReservation(n)
	n.rom = romNone
	n.asleep, n.stuck = false, false
	c.takeArch(n)
	n.wasReset = true
	n.cpu.Reset()
	n.cpu.SetClock(c.now)
	n.cpu.SetIRQs(c.irq | n.irq)
	c.sio.coreReset(n.id)
}

// hold resets a core and keeps it there, or lets it go, after psmHeld or dmHeld
// changed.
func (c *Chip) hold(n *node) {
	held := n.psmHeld || n.dmHeld
	if held == n.held {
		return
	}
	n.held = held
	c.turnCore = 0 // the other one's turn was measured without it, or with it
	if n == c.cur {
		n.resetDue = true
		c.shorten(0)
		return
	}
	n.cpu.Resume() // a reset ends Debug state
	c.resetCore(n)
	c.startCore(n)
	c.shorten(c.now + Quantum)
}

// wholeReset is what a reset of the switched core domain does to what debuggers
// asked for: the access ports and the Debug Module are reset, too.
func (c *Chip) wholeReset() {
	c.resets.Core++
	for _, n := range c.nodes {
		n.dmHeld, n.haltOnReset = false, false
	}
}

// coreResetRequest is AIRCR.SYSRESETREQ: a warm reset of the core that asks, and
// of nothing else (datasheet 3.7.4.6).
func (c *Chip) coreResetRequest(n *node) {
	c.parts.Watchdog.ClearReason()
	if n == c.cur {
		n.resetDue = true
		c.shorten(0)
		return
	}
	c.resetCore(n)
	c.startCore(n)
}

func (c *Chip) startCores() {
	c.startCore(c.nodes[0])
	c.startCore(c.nodes[1])
}

// startCore lets a core begin at its reset vector, in the boot ROM; romGate
// finds it there.
func (c *Chip) startCore(n *node) {
	n.cpu.SetClock(c.now)
	if n.haltOnReset && !n.held {
		n.cpu.HaltNow()
	}
}
