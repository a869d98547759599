package periph

import (
	"github.com/stem-hw/stem-hw/sim/rp2350/otp"
	"github.com/stem-hw/stem-hw/sim/rp2350/periph/regs"
)

// Registers of OTP (datasheet 13.9).
const (
	otpSBPIInstr   = 0x100
	otpSBPIStatus  = 0x124
	otpUSR         = 0x128
	otpCrtKey0     = 0x138
	otpCrtKey3     = 0x144
	otpCritical    = 0x148
	otpKeyValid    = 0x14c
	otpDebugEn     = 0x150
	otpDebugEnLock = 0x154
	otpArchSel     = 0x158
	otpArchStatus  = 0x15c
	otpBootdis     = 0x160
	otpINTR        = 0x164
	otpINTE        = 0x168
	otpINTF        = 0x16c
	otpINTS        = 0x170

	otpDCTRL     = 1 << 0 // in USR
	otpSecFail   = 1 << 3 // in INTR
	otpNSFail    = 1 << 4
	otpDCTRLFail = 1 << 2
	irqOTP       = 38
)

// OTP is the register block of the one-time-programmable memory (datasheet 13).
// Software programs it through the boot ROM; the SBPI bridge below is not
// modelled.
type OTP struct {
	storage
	array *otp.Array
	// riscv are the cores' architectures now, bit n for core n; they take over
	// ARCHSEL when they are reset.
	riscv   uint32
	initial uint32
	lock    debugLock
}

func newOTP(env Env, array *otp.Array, riscv bool) *OTP {
	o := &OTP{storage: newStorage("OTP", env, regs.OTP), array: array}
	o.SetInitial(riscv)
	o.set(otpArchSel, o.initial)
	o.riscv = o.initial
	o.lock.latch(array)
	return o
}

// Reset is a reset of the OTP stage: soft locks are forgotten and the fuses read
// again. The array stays, and so do the registers of the processors' cold reset:
// ARCHSEL, for the cores to take it over (datasheet 3.9.1), and DEBUGEN (3.5.9).
func (o *OTP) Reset() {
	kept := [...]uint32{otpArchSel, otpDebugEn, otpDebugEnLock}
	var v [len(kept)]uint32
	for i, r := range kept {
		v[i] = o.get(r)
	}
	o.storage.Reset()
	o.array.Reset()
	o.lock.latch(o.array)
	for i, r := range kept {
		o.set(r, v[i])
	}
	o.interrupt()
}

// ColdReset is power-up or a reset of the whole chip: ARCHSEL is what the fuses
// say again.
func (o *OTP) ColdReset() {
	o.Reset()
	o.set(otpDebugEn, 0)
	o.set(otpDebugEnLock, 0)
	o.set(otpArchSel, o.initial)
	o.riscv = o.initial
}

// ArchSel is the architecture each core takes at its next reset: bit n set for
// RISC-V.
func (o *OTP) ArchSel() uint32 { return o.get(otpArchSel) }

// SetInitial changes the architecture that the cores have after power-up.
func (o *OTP) SetInitial(riscv bool) {
	o.initial = 0
	if riscv {
		o.initial = 3
	}
}

// CoreReset tells that a core was reset and which architecture it now is.
func (o *OTP) CoreReset(core int, riscv bool) {
	o.riscv = o.riscv&^(1<<core) | bit(riscv, uint(core))
}

// critical assembles CRITICAL from the fuses (datasheet 13.4).
func (o *OTP) critical() uint32 {
	c0, c1 := o.array.AnyOf8(otp.RowCrit0), o.array.AnyOf8(otp.RowCrit1)
	return c1&0x7f | (c0&3)<<16
}

// Read returns a register.
func (o *OTP) Read(offset uint32, peek bool) uint32 {
	switch {
	case offset < 4*otp.Pages:
		s, ns := o.array.Locks(int(offset / 4))
		return uint32(s) | uint32(ns)<<2
	case offset >= otpCrtKey0 && offset <= otpCrtKey3:
		return 0
	case offset == otpCritical:
		return o.critical()
	case offset == otpKeyValid:
		return o.lock.valid
	case offset == otpArchStatus:
		return o.riscv
	case offset == otpINTS:
		return o.pending()
	}
	return o.storage.Read(offset, peek)
}

// Write writes a register.
func (o *OTP) Write(offset uint32, w Write) {
	switch {
	case offset < 4*otp.Pages: // written bits are OR-ed
		o.array.AddSoftLock(int(offset/4), uint8(w.Apply(o.Read(offset, true))&15))
		return
	case offset == otpSBPIInstr:
		o.storage.Write(offset, w)
		if w.Ones(1<<30) != 0 {
			o.unmodelled(offset, "fuses are programmed through the boot ROM's otp_access alone")
			o.set(otpSBPIStatus, o.get(otpSBPIStatus)|1<<4)
		}
		return
	case offset == otpDebugEn, offset == otpDebugEnLock:
		o.writeDebugEn(offset, w)
		return
	case offset == otpBootdis:
		o.set(offset, o.get(offset)&^w.Ones(1)|w.Apply(o.get(offset))&2)
		return
	}
	o.storage.Write(offset, w)
	o.interrupt()
}

func (o *OTP) pending() uint32 { return (o.get(otpINTR) | o.get(otpINTF)) & o.get(otpINTE) }

func (o *OTP) interrupt() { o.env.SetIRQ(irqOTP, o.pending() != 0) }

// flag raises an interrupt bit.
func (o *OTP) flag(b uint32) {
	o.set(otpINTR, o.get(otpINTR)|b)
	o.interrupt()
}

// OTPData is one of the two read windows of the fuses: plain or guarded, each
// with error-corrected pairs of rows at 0 and raw rows at 0x4000 (datasheet 13.1).
type OTPData struct {
	o         *OTP
	guarded   bool
	nonSecure bool // of the access being made
}

// Name is the datasheet's name of the window.
func (d *OTPData) Name() string {
	if d.guarded {
		return "OTP_DATA_GUARDED"
	}
	return "OTP_DATA"
}

// Reset has nothing to do.
func (d *OTPData) Reset() {}

// rows are the rows of the word at offset: one raw row, or an ECC pair.
func (d *OTPData) rows(offset uint32) (row, n int) {
	if offset&0x4000 != 0 {
		return int(offset & 0x3fff / 4), 1
	}
	return int(offset & 0x1fff / 2), 2
}

// Refuses answers writes, reads while the bridge is off, and failing guarded
// reads with a bus fault.
func (d *OTPData) Refuses(offset uint32, write bool, a Origin) bool {
	d.nonSecure = a.NonSecure
	if write || offset&0x4000 == 0 && offset&0x3fff >= 0x2000 {
		return true
	}
	if d.o.get(otpUSR)&otpDCTRL == 0 {
		d.o.flag(otpDCTRLFail)
		return true
	}
	if !d.guarded {
		return false
	}
	row, n := d.rows(offset)
	for i := range n {
		if !d.o.array.Readable(row+i, a.NonSecure) {
			d.lockFailed()
			return true
		}
		if n == 2 {
			if _, ok := d.o.array.Data(row + i); !ok {
				return true
			}
		}
	}
	return false
}

func (d *OTPData) lockFailed() {
	if d.nonSecure {
		d.o.flag(otpNSFail)
	} else {
		d.o.flag(otpSecFail)
	}
}

// Read returns two corrected rows or one raw row; all ones where the page is
// locked.
func (d *OTPData) Read(offset uint32, peek bool) uint32 {
	row, n := d.rows(offset)
	var v uint32
	for i := range n {
		if !d.o.array.Readable(row+i, d.nonSecure) {
			if !peek {
				d.lockFailed()
			}
			return ^uint32(0)
		}
		if n == 1 {
			return d.o.array.Raw(row)
		}
		half, ok := d.o.array.Data(row + i)
		if !ok {
			// More wrong bits than can be mended: what is stored.
			half = uint16(d.o.array.Raw(row + i))
		}
		v |= uint32(half) << (16 * i)
	}
	return v
}

// Write is refused before it comes here.
func (d *OTPData) Write(uint32, Write) {}
