package periph

import "github.com/stem-hw/stem-hw/sim/rp2350/periph/regs"

// Bits of the power-on state machine's registers (datasheet 7.4.4).
const (
	PSMProcCold = 1 << iota
	PSMOTP
	PSMROSC
	PSMXOSC
	PSMResets
	PSMClocks
	PSMReady
	PSMBusFabric
	PSMROM
	PSMBootRAM
	PSMSRAM0
	_
	_
	_
	_
	_
	_
	_
	_
	_
	PSMXIP
	PSMSIO
	PSMAccessCtrl
	PSMProc0
	PSMProc1

	psmAll = 1<<25 - 1
)

const (
	psmForceOn  = 0x0
	psmForceOff = 0x4
	psmWDSEL    = 0x8
	psmDone     = 0xc
)

// PSM is the power-on state machine (datasheet 7.4). Of what it can force off,
// the cores are modelled: firmware restarts core 1 with it.
type PSM struct {
	storage
	sys System
}

func newPSM(env Env, sys System) *PSM { return &PSM{newStorage("PSM", env, regs.PSM), sys} }

// Reset lets everything go.
func (p *PSM) Reset() {
	old := p.get(psmForceOff)
	p.storage.Reset()
	p.hold(old)
}

// WatchdogSelected are the stages that the watchdog resets.
func (p *PSM) WatchdogSelected() uint32 { return p.get(psmWDSEL) }

// hold tells the chip which cores changed since FRCE_OFF was old.
func (p *PSM) hold(old uint32) {
	now := p.off()
	for core, b := range [2]uint32{PSMProc0, PSMProc1} {
		if (old^now)&b != 0 {
			p.sys.HoldCore(core, now&b != 0)
		}
	}
}

// off are the stages held off: FRCE_ON wins over FRCE_OFF.
func (p *PSM) off() uint32 { return p.get(psmForceOff) &^ p.get(psmForceOn) }

// Read returns a register. DONE shows the stages in order: one that is off
// takes those behind it down.
func (p *PSM) Read(offset uint32, peek bool) uint32 {
	if offset == psmDone {
		off := p.off()
		if low := off & -off; low != 0 && low < PSMProc0 {
			return low - 1 | p.get(psmForceOn)
		}
		return psmAll &^ off
	}
	return p.storage.Read(offset, peek)
}

// Write writes a register.
func (p *PSM) Write(offset uint32, w Write) {
	old := p.off()
	p.storage.Write(offset, w)
	if more := p.off() &^ (old | PSMProc0 | PSMProc1); more != 0 {
		p.unmodelled(offset, "only the cores can be forced off")
	}
	p.hold(old)
}
