package rp2350

import "github.com/stem-hw/stem-hw/sim/rp2350/periph"

// ACCESSCTRL (datasheet 10.6.2): which kinds of access each endpoint takes. A
// write needs 0xacce in its upper half, secure privileged software alone may
// make one, and LOCK keeps managers out.

const (
	accLock        = 0x00
	accForceCoreNS = 0x04
	accCfgReset    = 0x08
	accNSMask0     = 0x0c
	accNSMask1     = 0x10
	accFirst       = 0x14
	accLast        = 0xe8
	accPassword    = 0xacce0000
	accLockDMA     = 1 << 2
)

// Bits of an endpoint's register.
const (
	accNSU = 1 << iota
	accNSP
	accSU
	accSP
	accCore0
	accCore1
	accDMA
	accDBG
)

type accessCtrl struct {
	reg  [accLast/4 + 1]uint32
	lock uint32
	ns   uint32
}

func newAccessCtrl() *accessCtrl {
	a := &accessCtrl{}
	a.Reset()
	return a
}

// Name implements periph.Block.
func (a *accessCtrl) Name() string { return "ACCESSCTRL" }

// Reset implements periph.Block.
func (a *accessCtrl) Reset() {
	a.lock = accLockDMA
	a.defaults()
}

// defaults are the reset values of the endpoints (register list of ACCESSCTRL).
func (a *accessCtrl) defaults() {
	a.ns = 0
	a.reg = [accLast/4 + 1]uint32{}
	for off := accFirst; off <= accLast; off += 4 {
		v := uint32(0xfc)
		switch {
		case off <= 0x40, off == 0x60: // ROM, XIP_MAIN, SRAM; SYSINFO
			v = 0xff
		case off == 0x58, off == 0x5c, off == 0xb0, off == 0xb4, off >= 0xbc && off <= 0xe4:
			v = 0xb8
		case off == 0xb8, off == 0xe8: // SHA256, XIP_AUX
			v = 0xf8
		}
		a.reg[off/4] = v
	}
}

// Read implements periph.Block.
func (a *accessCtrl) Read(off uint32, _ bool) uint32 {
	switch {
	case off == accLock:
		return a.lock
	case off == accForceCoreNS:
		return a.ns
	case off >= accNSMask0 && off <= accLast:
		return a.reg[off/4]
	}
	return 0
}

// Write implements periph.Block. Two registers are plain masks for pins and
// need no password: GPIO_NSMASK0 and 1.
func (a *accessCtrl) Write(off uint32, w periph.Write) {
	if off == accNSMask0 || off == accNSMask1 {
		a.reg[off/4] = w.Apply(a.reg[off/4])
		return
	}
	if w.Raw&0xffff0000 != accPassword {
		return
	}
	w.Raw &= 0xffff
	switch {
	case off == accLock:
		a.lock |= w.Ones(0xb)
	case off == accForceCoreNS:
		a.ns = w.Field(a.ns, 2)
	case off == accCfgReset:
		if w.Ones(1) != 0 {
			a.defaults()
		}
	case off >= accFirst && off <= accLast:
		a.reg[off/4] = w.Field(a.reg[off/4], 0xff)
	}
}

// Refuses implements periph.Refuser: only secure privileged software may write,
// and not a manager that LOCK keeps out.
func (a *accessCtrl) Refuses(off uint32, write bool, o periph.Origin) bool {
	if !write {
		return false
	}
	lockBit := [...]uint32{1, 2, accLockDMA, 8}[o.Core&3]
	return !o.Privileged || o.NonSecure || a.lock&lockBit != 0
}

// allows applies the endpoint's register to an access.
func (a *accessCtrl) allows(s *slot, o periph.Origin) bool {
	switch s.access {
	case 0:
		return true
	case bootRAMAccess:
		return o.Privileged && !o.NonSecure
	}
	r := a.reg[s.access/4]
	who := [...]uint32{accCore0, accCore1, accDMA, accDBG}[o.Core&3]
	how := uint32(accSU)
	switch {
	case o.NonSecure && o.Privileged:
		how = accNSP
	case o.NonSecure:
		how = accNSU
	case o.Privileged:
		how = accSP
	}
	return r&who != 0 && r&how != 0
}
