package periph

import "github.com/stem-hw/stem-hw/sim/rp2350/periph/regs"

// Registers of POWMAN (datasheet 6.4).
const (
	powmanBelowClocks = PSMClocks<<1 - 1

	powBadPasswd = 0x00
	powVREGSts   = 0x08
	powChipReset = 0x2c
	powWDSEL     = 0x30
	powState     = 0x38
	powTimer     = 0x88
	powDBGConfig = 0xac // the last register with a password
	powScratch0  = 0xb0
	powBootdis   = 0xa8
	powINTR      = 0xe0
	powINTE      = 0xe4
	powINTF      = 0xe8
	powINTS      = 0xec

	powPassword = 0x5afe0000

	hadPOR            = 1 << 16
	hadRunLow         = 1 << 18
	hadDPReset        = 1 << 19
	hadRescue         = 1 << 21
	hadWatchdogAsync  = 1 << 22
	hadWatchdogPowman = 1 << 23
	hadWatchdogSWCore = 1 << 24
	hadHazardReset    = 1 << 27
	hadWatchdogRSM    = 1 << 28
	rescueFlag        = 1 << 4
	powReasons        = 0x1fef0000

	irqPowmanPow   = 44
	irqPowmanTimer = 45
)

// Powman is the power manager (datasheet 6): passwords, scratch and boot
// registers, the reasons of chip-level resets, the always-on timer, and the power
// states (powerstate.go).
type Powman struct {
	storage
	timer   aonTimer
	power   powerState
	sys     System
	pins    *Pins
	reasons uint32
	ignored bool // STATE.REQ_IGNORED
	bootdis uint32
}

func newPowman(env Env, clocks *Clocks) *Powman {
	p := &Powman{storage: newStorage("POWMAN", env, regs.POWMAN)}
	p.timer.init(p, clocks)
	return p
}

// Reset is what a power-on reset does.
func (p *Powman) Reset() {
	p.storage.Reset()
	p.reasons, p.ignored, p.bootdis = hadPOR, false, 0
	p.power = powerState{}
	p.timer.reset()
	if p.pins != nil {
		p.needWakePins()
	}
	p.interrupt()
}

// ChipReset records a reset that leaves POWMAN as it is: the RUN pin, the
// debugger's reset request or the rescue port.
func (p *Powman) ChipReset(reason PowmanReason) {
	p.reasons = uint32(reason) &^ rescueFlag
	if reason&PowmanReason(hadRescue) != 0 {
		p.set(powChipReset, p.get(powChipReset)|rescueFlag)
	}
}

// PowmanReason is a bit of CHIP_RESET that says why the chip was reset.
type PowmanReason uint32

// The reasons that come from outside the blocks.
const (
	ReasonRunLow    PowmanReason = hadRunLow
	ReasonDebugPort PowmanReason = hadDPReset
	ReasonRescue    PowmanReason = hadRescue
	ReasonHazardNDM PowmanReason = hadHazardReset
)

// watchdogReset records a watchdog reset and reports whether it is a chip-level
// one: WDSEL asks for that, and PSM.WDSEL reaches down to the clocks.
func (p *Powman) watchdogReset(psm uint32) bool {
	sel := p.get(powWDSEL) & 0x1111
	if psm&powmanBelowClocks == 0 || sel == 0 {
		return false
	}
	switch {
	case sel&1 != 0:
		p.restoreDefaults(hadWatchdogAsync)
	case sel&(1<<4) != 0:
		p.restoreDefaults(hadWatchdogPowman)
	case sel&(1<<8) != 0:
		p.reasons = hadWatchdogSWCore
	default:
		p.reasons = hadWatchdogRSM
	}
	return true
}

// restoreDefaults resets POWMAN and its timer, all but the scratch registers,
// which a watchdog reset leaves (datasheet 7.3.3).
func (p *Powman) restoreDefaults(reason uint32) {
	var keep [12]uint32
	for i := range keep {
		keep[i] = p.get(powScratch0 + 4*uint32(i))
	}
	p.Reset()
	for i := range keep {
		p.set(powScratch0+4*uint32(i), keep[i])
	}
	p.reasons = reason
}

// DoubleTap sets the flag that the boot ROM looks at after two RUN resets.
func (p *Powman) DoubleTap() { p.set(powChipReset, p.get(powChipReset)|1) }

// Read returns a register.
func (p *Powman) Read(offset uint32, peek bool) uint32 {
	switch offset {
	case powVREGSts:
		return 1 << 4 // in regulation
	case powChipReset:
		return p.get(offset)&^powReasons | p.reasons
	case powBootdis:
		return p.bootdis
	case powINTR:
		return p.raw()
	case powINTS:
		return p.pending()
	}
	if v, ok := p.readPower(offset); ok {
		return v
	}
	if v, ok := p.timer.read(offset); ok {
		return v
	}
	return p.storage.Read(offset, peek)
}

// Write writes a register. Up to DBGCONFIG the upper half of the data on the bus
// must be the password, whichever alias is used; the fields are in the lower.
func (p *Powman) Write(offset uint32, w Write) {
	if offset <= powDBGConfig {
		if w.Raw&0xffff0000 != powPassword {
			if p.index(offset) >= 0 {
				p.set(powBadPasswd, 1)
				p.env.Notice(p.label(offset) + ": a write without the password 0x5afe in its upper half is ignored")
			}
			return
		}
		w.Raw &= 0xffff
	}
	if p.writePower(offset, w) {
		return
	}
	if p.timer.write(offset, w) {
		p.interrupt()
		return
	}
	switch offset {
	case powState:
		p.request(w)
		return
	case powBootdis:
		// NOW is only cleared by a reset that carries NEXT over; NEXT is sticky.
		p.bootdis = p.bootdis&^w.Ones(1) | w.Apply(p.bootdis)&2
		return
	}
	p.storage.Write(offset, w)
	p.interrupt()
}

// raw are the interrupt sources: 0 voltage low (never), 1 timer, 2 request
// ignored, 3 power-up while waiting.
func (p *Powman) raw() uint32 {
	return bit(p.timer.fired, 1) | bit(p.ignored, 2) | bit(p.power.while, 3)
}

func (p *Powman) pending() uint32 { return (p.raw() | p.get(powINTF)) & p.get(powINTE) }

func (p *Powman) interrupt() {
	s := p.pending()
	p.env.SetIRQ(irqPowmanPow, s&^2 != 0)
	p.env.SetIRQ(irqPowmanTimer, s&2 != 0)
}
