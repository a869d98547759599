package rp2350

import (
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/sim/bus"
	"github.com/stem-hw/stem-hw/sim/debugport"
	"github.com/stem-hw/stem-hw/sim/hazard3"
	"github.com/stem-hw/stem-hw/sim/rp2350/otp"
	"github.com/stem-hw/stem-hw/sim/rp2350/periph"
)

// DebugPort returns the chip as its debug port sees it. The methods must be
// called while the chip does not run.
func (c *Chip) DebugPort() debugport.Chip { return debugChip{c} }

// debugChip implements debugport.Chip.
type debugChip struct{ c *Chip }

func (d debugChip) origin(core int, a bus.Access) periph.Origin {
	d.c.accessCore = core
	return periph.Origin{Core: originDebugger, Privileged: a&bus.Privileged != 0, NonSecure: a&bus.NonSecure != 0}
}

// attribute lets the security attribution of a Cortex-M33 decide on an access
// through its port.
func (d debugChip) attribute(core int, addr uint32, a bus.Access) (bus.Access, bool) {
	m33, isArm := d.c.nodes[core&1].cpu.(arm)
	if !isArm {
		return a, true
	}
	ns, ok := m33.AttributeDebug(addr, a&bus.NonSecure != 0)
	a &^= bus.NonSecure
	if ns {
		a |= bus.NonSecure
	}
	return a, ok
}

// ppb returns the core whose private peripheral bus addr is on, if it is.
func (d debugChip) ppb(core int, addr uint32) (arm, bool) {
	m33, isArm := d.c.nodes[core&1].cpu.(arm)
	return m33, isArm && addr>>20 == 0xe00
}

// Load implements debugport.Chip.
func (d debugChip) Load(core int, addr uint32, size uint8, a bus.Access) (uint32, bool) {
	if m33, ok := d.ppb(core, addr); ok {
		return m33.ReadPPB(addr, size, a&bus.NonSecure != 0)
	}
	a, ok := d.attribute(core, addr, a)
	if !ok {
		return 0, false
	}
	v, _, ok := d.c.load(d.c.nodes[core&1], addr, size, d.origin(core, a), false)
	return v, ok
}

// Store implements debugport.Chip.
func (d debugChip) Store(core int, addr uint32, size uint8, v uint32, a bus.Access) bool {
	if m33, ok := d.ppb(core, addr); ok {
		return m33.WritePPB(addr, size, v, a&bus.NonSecure != 0)
	}
	a, ok := d.attribute(core, addr, a)
	if !ok {
		return false
	}
	if inSRAM(addr) && inSRAM(addr+uint32(size)-1) {
		var p [4]byte
		for i := range p {
			p[i] = byte(v >> (8 * i))
		}
		d.c.pokeRAM(addr, p[:size])
		return true
	}
	_, ok = d.c.store(d.c.nodes[core&1], addr, size, v, d.origin(core, a))
	return ok
}

// Arch implements debugport.Chip.
func (d debugChip) Arch(core int) image.Arch {
	n := d.c.nodes[core&1]
	switch {
	case n.held:
		return image.ArchUnknown
	case n.isArm():
		return image.ArchARM
	}
	return image.ArchRISCV
}

// Hart implements debugport.Chip.
func (d debugChip) Hart(core int) debugport.Hart {
	n := d.c.nodes[core&1]
	if r, ok := n.cpu.(riscv); ok && !n.held {
		return debugHart{d.c, n, r}
	}
	return nil
}

// Reset implements debugport.Chip.
func (d debugChip) Reset(kind debugport.ResetKind, cores uint8) {
	c := d.c
	switch kind {
	case debugport.ResetHarts:
		c.parts.Watchdog.ClearReason()
		c.parts.Powman.ChipReset(periph.ReasonHazardNDM)
		for _, n := range c.nodes {
			if cores>>n.id&1 != 0 {
				n.cpu.Resume()
				c.resetCore(n)
				c.startCore(n)
			}
		}
	case debugport.ResetCold, debugport.ResetRescue:
		reason := periph.ReasonDebugPort
		if kind == debugport.ResetRescue {
			reason = periph.ReasonRescue
		}
		for _, n := range c.nodes {
			n.cpu.Resume()
		}
		c.now = c.clock
		c.event = nil
		c.resetParts(periph.ResetChip, psmAll)
		c.parts.Powman.ChipReset(reason)
		c.startCores()
	}
}

// Auth implements debugport.Chip: the CRIT1 fuses, kept in eight copies of which
// three suffice (datasheet 13.10, 3.5.9).
func (d debugChip) Auth() debugport.Auth {
	const secureDisable, disable = 1 << 1, 1 << 2
	if d.c.unlocked {
		return debugport.Auth{Debug: true, Secure: true}
	}
	crit := d.c.otp.AnyOf8(otp.RowCrit1)
	return debugport.Auth{Debug: crit&disable == 0, Secure: crit&(disable|secureDisable) == 0}
}

// Unlock implements debugport.Chip: key 5 opens Secure debugging, key 6
// Non-secure; either opens both here, as one key does (datasheet 3.5.9.2).
func (d debugChip) Unlock(key [16]byte) {
	for _, row := range []int{rowDebugKey5, rowDebugKey6} {
		match := true
		blank := true
		for i := range 8 {
			w := uint16(d.c.otp.Raw(row + i))
			match = match && w == uint16(key[2*i])|uint16(key[2*i+1])<<8
			blank = blank && w == 0
		}
		if match && !blank {
			d.c.unlocked = true
		}
	}
}

// Rows of the debug keys: eight rows each, after keys 1 to 4 (otp_data.h).
const (
	rowDebugKey5 = otp.RowKey1 + 4*8
	rowDebugKey6 = otp.RowKey1 + 5*8
)

// SystemBusStalled implements debugport.Chip: the Debug Module's bus accesses
// go through hart 1, which does not serve them while it sleeps deeply
// (RP2350-E4).
func (d debugChip) SystemBusStalled() bool {
	n := d.c.nodes[1]
	r, ok := n.cpu.(riscv)
	if !ok || n.held {
		return true // a hart in reset serves nothing
	}
	if !n.asleep || n.cpu.Halted() {
		return false
	}
	v, _ := r.CSR(csrMsleep)
	return v&1 != 0
}

// debugHart is a hart as the Debug Module drives it.
type debugHart struct {
	c *Chip
	n *node
	riscv
}

// Halt implements debugport.Hart.
func (h debugHart) Halt() {
	h.n.cpu.HaltNow()
	h.n.asleep = false
}

// GPR and SetGPR implement debugport.Hart.
func (h debugHart) GPR(n int) uint32 { return h.Core.X[n&31] }
func (h debugHart) SetGPR(n int, v uint32) {
	if n&31 != 0 {
		h.Core.X[n&31] = v
	}
}

// Execute implements debugport.Hart.
func (h debugHart) Execute(instr uint32, data0 *uint32) debugport.Outcome {
	h.Core.SetData0(*data0)
	r := h.Core.Inject(instr)
	*data0 = h.Core.Data0()
	switch r {
	case hazard3.InjectedEbreak:
		return debugport.Ebreak
	case hazard3.InjectedOK:
		return debugport.Done
	}
	return debugport.Exception
}

// HaltOnReset and TakeReset implement debugport.Hart.
func (h debugHart) HaltOnReset(on bool) { h.n.haltOnReset = on }
func (h debugHart) TakeReset() bool {
	was := h.n.wasReset
	h.n.wasReset = false
	return was
}
