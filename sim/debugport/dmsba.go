package debugport

import "github.com/stem-hw/stem-hw/sim/bus"

// Bits of sbcs.
const (
	sbReadOnData uint32 = 1 << 15
	sbAutoInc    uint32 = 1 << 16
	sbReadOnAddr uint32 = 1 << 20
	sbBusy       uint32 = 1 << 21
	sbBusyError  uint32 = 1 << 22
	sbError      uint32 = 7 << 12
	sbAccess     uint32 = 7 << 17
	sbWritable          = sbReadOnData | sbAutoInc | sbReadOnAddr | sbAccess
	// sbFixed: version 1, 32-bit addresses, 8, 16 and 32 bits of data.
	sbFixed uint32 = 1<<29 | 32<<5 | 7
)

// Values of sberror.
const (
	sbErrAddress = 2
	sbErrAlign   = 3
	sbErrSize    = 4
)

// sbQueue is a system bus access that has begun and cannot go on.
type sbQueue uint8

const (
	sbNone sbQueue = iota
	sbRead
	sbWrite
)

func (d *DM) readSBCS() uint32 {
	d.finish()
	v := d.sbcs | sbFixed
	if d.sbQueued != sbNone {
		v |= sbBusy
	}
	return v
}

func (d *DM) writeSBCS(v uint32) {
	d.finish()
	d.sbcs = d.sbcs&(sbError|sbBusyError)&^(v&(sbError|sbBusyError)) | v&sbWritable
}

// sbBlocked completes a stalled access if it can; else the access that is being
// made sets sbbusyerror and does nothing.
func (d *DM) sbBlocked() bool {
	d.finish()
	if d.sbQueued == sbNone {
		return false
	}
	d.sbcs |= sbBusyError
	return true
}

// finish completes an access that stalled, if it can now.
func (d *DM) finish() {
	what := d.sbQueued
	if what == sbNone || d.chip.SystemBusStalled() {
		return
	}
	d.sbQueued = sbNone
	d.access(what)
}

func (d *DM) writeSBAddress(v uint32) {
	if d.sbBlocked() {
		return
	}
	d.sbaddr = v
	if d.sbcs&sbReadOnAddr != 0 {
		d.begin(sbRead)
	}
}

// readSBData returns what the last access read. As in the silicon's version of
// the module, a pending sberror does not keep a read trigger from its access.
func (d *DM) readSBData() uint32 {
	if d.sbBlocked() {
		return d.sbdata
	}
	v := d.sbdata
	if d.sbcs&sbReadOnData != 0 {
		d.begin(sbRead)
	}
	return v
}

func (d *DM) writeSBData(v uint32) {
	if d.sbBlocked() || d.sbcs&(sbError|sbBusyError) != 0 {
		return
	}
	d.sbdata = v
	d.begin(sbWrite)
}

// begin starts an access; size and alignment are looked at first.
func (d *DM) begin(what sbQueue) {
	switch size := d.sbcs & sbAccess >> 17; {
	case size > 2:
		d.setSBError(sbErrSize)
	case d.sbaddr&(1<<size-1) != 0:
		d.setSBError(sbErrAlign)
	case d.chip.SystemBusStalled():
		d.sbQueued = what
	default:
		d.access(what)
	}
}

func (d *DM) setSBError(code uint32) { d.sbcs = d.sbcs&^sbError | code<<12 }

// access makes the access, through the port of core 1, then the increment.
func (d *DM) access(what sbQueue) {
	size := uint8(1) << (d.sbcs & sbAccess >> 17)
	ok := false
	if what == sbRead {
		var v uint32
		if v, ok = d.chip.Load(1, d.sbaddr, size, bus.Privileged|bus.Debug); ok {
			d.sbdata = v
		}
	} else {
		ok = d.chip.Store(1, d.sbaddr, size, d.sbdata&mask(size), bus.Privileged|bus.Debug)
	}
	if !ok {
		d.setSBError(sbErrAddress)
		return
	}
	if d.sbcs&sbAutoInc != 0 {
		d.sbaddr += uint32(size)
	}
}
