package rp2350

import (
	"encoding/binary"

	"github.com/stem-hw/stem-hw/sim/rp2350/periph"
)

// qmi is the QSPI memory interface: address translation for XIP, and direct
// mode, in which software shifts bytes itself (datasheet 12.14).
type qmi struct {
	c      *Chip
	csr    uint32
	mem    [10]uint32 // M0_TIMING .. M1_WCMD, storage
	atrans [8]uint32
	rx     []uint16
	// romBusy: a ROM function is erasing or programming, in direct mode.
	romBusy bool
}

const (
	regQMIDirectCSR = 0x00
	regQMIDirectTX  = 0x04
	regQMIDirectRX  = 0x08
	regQMIM0Timing  = 0x0c
	regQMIAtrans0   = 0x34
	regQMIAtrans7   = 0x50

	csrEN        = 1 << 0
	csrAssertCS0 = 1 << 2
	csrAssertCS1 = 1 << 3
	csrAutoCS0   = 1 << 6
	csrAutoCS1   = 1 << 7
	csrTXEmpty   = 1 << 11
	csrRXEmpty   = 1 << 16
	csrRXFull    = 1 << 17
	csrWritable  = 0xffc000cd
	csrReset     = 0x01800000

	txDWidth = 1 << 18
	txNoPush = 1 << 20

	rxDepth = 4

	paneSize  = 4 << 20
	atransMsk = 0x07ff0fff
)

// Reset values of M0_TIMING, M0_RFMT, M0_RCMD, M0_WFMT, M0_WCMD.
var qmiMemReset = [5]uint32{0x40000004, 0x00001000, 0x0000a003, 0x00001000, 0x0000a002}

func newQMI(c *Chip) *qmi { return &qmi{c: c} }

// Name implements periph.Block.
func (q *qmi) Name() string { return "XIP_QMI" }

// Reset implements periph.Block.
func (q *qmi) Reset() {
	q.csr = csrReset
	copy(q.mem[:5], qmiMemReset[:])
	copy(q.mem[5:], qmiMemReset[:])
	q.rx = q.rx[:0]
	q.romBusy = false
	q.c.flash.Select(false)
	q.resetATRANS()
}

// resetATRANS makes the translation the identity again.
func (q *qmi) resetATRANS() {
	for i := range q.atrans {
		q.atrans[i] = 0x400<<16 | uint32(i&3)*0x400
	}
	q.c.remap()
}

// direct reports whether XIP is detached from the flash.
func (q *qmi) direct() bool { return q.csr&csrEN != 0 || q.romBusy }

// translate returns where a window offset is in the 16 MiB space of its chip
// select; ok is false beyond the pane's size.
func (q *qmi) translate(off uint32) (phys uint32, ok bool) {
	t := q.atrans[off/paneSize&7]
	in := off % paneSize
	if in>>12 >= t>>16 {
		return 0, false
	}
	return (t&0xfff<<12 + in) & (xipCSSize - 1), true
}

// read serves an XIP read of a word at a window offset. Chip select 1 has
// nothing on it: its lines float high.
func (q *qmi) read(off uint32, translated bool) (v, wait uint32, ok bool) {
	if off >= 2*xipCSSize || q.direct() {
		return 0, 0, false
	}
	cs := off / xipCSSize
	phys := off & (xipCSSize - 1)
	if translated {
		if phys, ok = q.translate(off); !ok {
			return 0, 0, false
		}
	}
	if cs == 1 {
		return 0xffffffff, 0, true
	}
	if q.c.flash.Busy() {
		// A busy flash answers no reads.
		return 0xffffffff, 0, true
	}
	m := q.c.flash.Bytes()
	return binary.LittleEndian.Uint32(m[phys&uint32(len(m)-1)&^3:]), 0, true
}

// Read implements periph.Block.
func (q *qmi) Read(off uint32, peek bool) uint32 {
	switch {
	case off == regQMIDirectCSR:
		v := q.csr | csrTXEmpty | uint32(len(q.rx))<<18
		if len(q.rx) == 0 {
			v |= csrRXEmpty
		}
		if len(q.rx) >= rxDepth {
			v |= csrRXFull
		}
		return v
	case off == regQMIDirectRX:
		if len(q.rx) == 0 {
			return 0
		}
		v := q.rx[0]
		if !peek {
			q.rx = append(q.rx[:0], q.rx[1:]...)
		}
		return uint32(v)
	case off >= regQMIM0Timing && off < regQMIAtrans0:
		return q.mem[(off-regQMIM0Timing)/4]
	case off >= regQMIAtrans0 && off <= regQMIAtrans7:
		return q.atrans[(off-regQMIAtrans0)/4]
	}
	return 0
}

// Write implements periph.Block.
func (q *qmi) Write(off uint32, w periph.Write) {
	switch {
	case off == regQMIDirectCSR:
		old := q.csr
		q.csr = w.Field(q.csr, csrWritable)
		if (old^q.csr)&csrEN != 0 {
			if q.csr&csrEN == 0 {
				q.rx = q.rx[:0]
			}
			q.c.remap()
			q.c.xip.stream.fill()
		}
		q.drive()
	case off == regQMIDirectTX:
		q.shift(w.Apply(0))
	case off >= regQMIM0Timing && off < regQMIAtrans0:
		i := (off - regQMIM0Timing) / 4
		q.mem[i] = w.Apply(q.mem[i])
	case off >= regQMIAtrans0 && off <= regQMIAtrans7:
		i := (off - regQMIAtrans0) / 4
		q.atrans[i] = w.Field(q.atrans[i], atransMsk)
		q.c.remap()
	}
}

// drive sets chip select 0 as ASSERT_CS0N says; it only counts in direct mode.
func (q *qmi) drive() {
	q.c.flash.Select(q.csr&csrEN != 0 && q.csr&csrAssertCS0 != 0)
}

// shift performs one entry of DIRECT_TX. The whole transfer happens at once, so
// BUSY is never seen.
func (q *qmi) shift(v uint32) {
	if q.csr&csrEN == 0 {
		return
	}
	auto := q.csr&csrAutoCS0 != 0 && q.csr&csrAssertCS0 == 0
	if auto {
		q.c.flash.Select(true)
	}
	one := func(b byte) byte {
		if q.csr&(csrAssertCS0|csrAutoCS0) == 0 {
			return 0xff // chip select 1, or none
		}
		return q.c.flash.Transfer(b)
	}
	var out uint16
	if v&txDWidth != 0 { // 16 bits, the upper byte first
		out = uint16(one(byte(v>>8))) << 8
	}
	out |= uint16(one(byte(v)))
	if auto {
		q.c.flash.Select(false)
	}
	if v&txNoPush == 0 && len(q.rx) < rxDepth {
		q.rx = append(q.rx, out)
	}
}
