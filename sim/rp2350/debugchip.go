package rp2350

import (
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/sim/bus"
	"github.com/stem-hw/stem-hw/sim/debugport"
	"github.com/stem-hw/stem-hw/sim/hazard3"
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
		ok = m33.WritePPB(addr, size, v, a&bus.NonSecure != 0)
		if n := d.c.nodes[core&1]; m33.Halted() {
			n.asleep, n.stuck = false, false
		}
		return ok
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

// HoldHarts implements debugport.Chip: ndmreset and hartreset reset the cores
// alone (datasheet 3.5.3).
func (d debugChip) HoldHarts(mask uint8) {
	for _, n := range d.c.nodes {
		on := mask>>n.id&1 != 0
		if on && !n.dmHeld {
			d.c.parts.Watchdog.ClearReason()
			d.c.parts.Powman.ChipReset(periph.ReasonHazardNDM)
		}
		n.dmHeld = on
		d.c.hold(n)
	}
}

// HaltOnReset implements debugport.Chip.
func (d debugChip) HaltOnReset(core int, on bool) { d.c.nodes[core&1].haltOnReset = on }

// Reset implements debugport.Chip.
func (d debugChip) Reset(kind debugport.ResetKind) {
	c := d.c
	reason := periph.ReasonDebugPort
	if kind == debugport.ResetRescue {
		reason = periph.ReasonRescue
	}
	c.now = c.clock
	c.event = nil
	c.wholeReset()
	c.resetParts(periph.ResetChip, psmAll)
	c.parts.Powman.ChipReset(reason)
	c.startCores()
}

// Resets and AccessPorts implement debugport.Chip.
func (d debugChip) Resets() debugport.Resets            { return d.c.resets }
func (d debugChip) AccessPorts() *debugport.AccessPorts { return d.c.AccessPorts() }

// debugAccess is what OTP allows of debugging.
func (c *Chip) debugAccess() periph.DebugAccess {
	return c.parts.OTP.DebugAccess(c.opt.Revision >= hazard3.A3)
}

// Auth implements debugport.Chip.
func (d debugChip) Auth() debugport.Auth {
	a := d.c.debugAccess()
	return debugport.Auth{Debug: a.Core, Secure: a.Secure, DM: a.Misc}
}

// Unlock implements debugport.Chip.
func (d debugChip) Unlock(key [16]byte) { d.c.parts.OTP.GiveDebugKey(key) }

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

// Halt implements debugport.Hart. A hart that asks for itself, through the
// window, halts behind its access.
func (h debugHart) Halt() {
	if h.n == h.c.cur {
		h.n.cpu.Halt()
		return
	}
	h.n.cpu.HaltNow()
	h.n.asleep, h.n.stuck = false, false
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

// TakeReset implements debugport.Hart.
func (h debugHart) TakeReset() bool {
	was := h.n.wasReset
	h.n.wasReset = false
	return was
}
