package rp2350

import (
	"encoding/binary"
	"fmt"

	"github.com/stem-hw/stem-hw/sim/rp2350/periph"
)

// xip is the execute-in-place controller: its windows, its cache as far as
// software can see it, and its registers (datasheet 4.4, 12.14.4).
//
// The cache is transparent here except for pinned lines: a line that was pinned
// always hits and is memory of its own until it is invalidated. So cached reads
// always show the flash as it is, also after programming without a flush.
type xip struct {
	c    *Chip
	ctrl uint32

	// data is the cache memory, a line of 8 bytes at each index of way and set
	// (bits 13 and 12:3 of an address); pin holds the line number (address
	// over 8) pinned there, or noPin.
	data [cacheSize]byte
	pin  [cacheSize / 8]uint32
	// pinned counts lines pinned, pinnedTop those at their own place in the
	// top 16 KiB of the cached window, which SDK calls XIP_SRAM.
	pinned, pinnedTop int

	hits, accesses uint32
	stream         stream
}

const noPin = ^uint32(0)

// Bits of XIP CTRL.
const (
	xipEnSecure                  = 1 << 0
	xipEnNonSecure               = 1 << 1
	xipPowerDown                 = 1 << 3
	xipNoUncachedSec             = 1 << 4
	xipNoUncachedNonSec          = 1 << 5
	xipNoUntranslatedSec         = 1 << 6
	xipNoUntranslatedNonS        = 1 << 7
	xipMaintNonSec               = 1 << 8
	xipWritable0                 = 1 << 10
	xipCtrlReset                 = 0x83
	xipCtrlMask                  = 0xffb
	xipLineShift                 = 3
	xipIndexMask                 = cacheSize/8 - 1
	xipWindowMask         uint32 = 0x03ffffff
)

func newXIP(c *Chip) *xip {
	x := &xip{c: c}
	for i := range x.pin {
		x.pin[i] = noPin
	}
	x.stream.x = x
	return x
}

// Name implements periph.Block.
func (x *xip) Name() string { return "XIP_CTRL" }

// Reset implements periph.Block. Pinned lines survive resets.
func (x *xip) Reset() {
	x.ctrl = xipCtrlReset
	x.hits, x.accesses = 0, 0
	x.stream.reset()
}

// load reads a word through one of the windows. ok is false for a bus fault.
func (x *xip) load(addr uint32, o periph.Origin, peek bool) (v, wait uint32, ok bool) {
	off := addr & xipWindowMask
	secure := !o.NonSecure
	switch addr & 0xfc000000 {
	case xipBase:
		if x.pinned > 0 && x.enabled(secure) {
			if line, hit := x.lookup(off); hit {
				return binary.LittleEndian.Uint32(x.data[line+addr&4:]), 0, true
			}
		}
		x.count(peek)
	case xipNoCache:
		if x.ctrl&pick(secure, xipNoUncachedSec, xipNoUncachedNonSec) != 0 {
			return 0, 0, false
		}
	case xipNoTranslate:
		if x.ctrl&pick(secure, xipNoUntranslatedSec, xipNoUntranslatedNonS) != 0 {
			return 0, 0, false
		}
		return x.c.qmi.read(off, false)
	default:
		return 0, 0, false // the maintenance window cannot be read
	}
	return x.c.qmi.read(off, true)
}

func pick(secure bool, s, ns uint32) uint32 {
	if secure {
		return s
	}
	return ns
}

func (x *xip) enabled(secure bool) bool {
	return x.ctrl&pick(secure, xipEnSecure, xipEnNonSecure) != 0 && x.ctrl&xipPowerDown == 0
}

func (x *xip) count(peek bool) {
	if !peek {
		x.accesses++
		x.hits++
	}
}

// lookup returns where the pinned line with offset off is in the cache memory.
func (x *xip) lookup(off uint32) (line uint32, hit bool) {
	tag := off >> xipLineShift
	for _, way := range [2]uint32{0, cacheSize / 16} {
		i := tag&(cacheSize/16-1) | way
		if x.pin[i] == tag {
			return i << xipLineShift, true
		}
	}
	return 0, false
}

// store writes through one of the windows: maintenance, pinned lines; anything
// else is ignored, as windows are read-only without PSRAM.
func (x *xip) store(addr uint32, size uint8, v uint32, o periph.Origin) (wait uint32, ok bool) {
	off := addr & xipWindowMask
	switch addr & 0xfc000000 {
	case xipMaintenance:
		if o.NonSecure && x.ctrl&xipMaintNonSec == 0 {
			return 0, false
		}
		x.maintain(off)
		return 0, true
	case xipBase:
		if x.pinned > 0 && x.enabled(!o.NonSecure) {
			if line, hit := x.lookup(off); hit {
				x.storeLine(line+off&7, size, v)
				x.c.invalidate(addr&^7, addr&^7+8)
				return 0, true
			}
		}
		_, wait, ok = x.c.qmi.read(off&^3, true)
	case xipNoCache:
		_, wait, ok = x.c.qmi.read(off&^3, true)
	default:
		_, wait, ok = x.c.qmi.read(off&^3, false)
	}
	if ok && x.ctrl&(xipWritable0<<(off>>24&1)) == 0 {
		x.c.explain(explainFlash, fmt.Sprintf("store to %#08x: flash is read-only through XIP, the store is ignored; the boot ROM's functions erase and program it", addr), addr)
	}
	if ok && x.ctrl&(xipWritable0<<(off>>24&1)) != 0 {
		x.c.notice("XIP windows were made writable, but no memory that can be written so is fitted", addr)
	}
	return wait, ok
}

func (x *xip) storeLine(i uint32, size uint8, v uint32) {
	switch size {
	case 1:
		x.data[i] = byte(v)
	case 2:
		binary.LittleEndian.PutUint16(x.data[i:], uint16(v))
	default:
		binary.LittleEndian.PutUint32(x.data[i:], v)
	}
}

// Operations of the maintenance window, in address bits 2:0 (datasheet
// 4.4.1.1).
const (
	maintInvalidateSetWay = 0
	maintCleanSetWay      = 1
	maintInvalidateAddr   = 2
	maintCleanAddr        = 3
	maintPin              = 7
)

func (x *xip) maintain(off uint32) {
	tag := off >> xipLineShift
	index := tag & xipIndexMask
	switch off & 7 {
	case maintInvalidateSetWay:
		x.unpin(index)
	case maintInvalidateAddr:
		if line, hit := x.lookup(off); hit {
			x.unpin(line >> xipLineShift)
		}
	case maintCleanSetWay:
		// Erratum RP2350-E11: the line's tag becomes that of the maintenance
		// address. Only pinned lines show it here.
		if x.pin[index] != noPin && x.pin[index] != tag {
			x.unpin(index)
			x.pinLine(index, tag)
		}
	case maintPin:
		x.unpin(index)
		x.pinLine(index, tag)
	}
}

func (x *xip) unpin(index uint32) {
	tag := x.pin[index]
	if tag == noPin {
		return
	}
	x.pin[index] = noPin
	x.pinned--
	if isTop(tag, index) {
		x.pinnedTop--
	}
	x.pinsChanged(tag)
}

func (x *xip) pinLine(index, tag uint32) {
	x.pin[index] = tag
	x.pinned++
	if isTop(tag, index) {
		x.pinnedTop++
	}
	x.pinsChanged(tag)
}

// pinAll pins every line at its place in XIP_SRAM, empty.
func (x *xip) pinAll() {
	for i := range uint32(len(x.pin)) {
		x.unpin(i)
		x.pinLine(i, (xipSRAMBase&xipWindowMask)>>xipLineShift+i)
	}
	x.data = [cacheSize]byte{}
}

// unpinAll forgets every pinned line.
func (x *xip) unpinAll() {
	for i := range uint32(len(x.pin)) {
		x.unpin(i)
	}
	x.data = [cacheSize]byte{}
	x.c.remap()
}

// isTop reports whether a line is pinned at its own place in XIP_SRAM.
func isTop(tag, index uint32) bool {
	return tag == (xipSRAMBase&xipWindowMask)>>xipLineShift+index
}

// pinsChanged keeps the cores' windows right: the whole of XIP_SRAM is one when
// every line is pinned there, and no flash window may cover a pinned line.
func (x *xip) pinsChanged(tag uint32) {
	if x.pinned == x.pinnedTop && x.pinnedTop != 0 && x.pinnedTop != len(x.pin) &&
		x.pinnedTop != len(x.pin)-1 {
		lo := xipBase + tag<<xipLineShift
		x.c.invalidate(lo, lo+8)
		return
	}
	x.c.remap()
}

// Registers of XIP_CTRL.
const (
	regXIPCtrl       = 0x00
	regXIPStat       = 0x08
	regXIPHit        = 0x0c
	regXIPAcc        = 0x10
	regXIPStreamAddr = 0x14
	regXIPStreamCtr  = 0x18
	regXIPStreamFIFO = 0x1c
)

// Read implements periph.Block.
func (x *xip) Read(off uint32, peek bool) uint32 {
	switch off {
	case regXIPCtrl:
		return x.ctrl
	case regXIPStat:
		return x.stream.stat()
	case regXIPHit:
		return x.hits
	case regXIPAcc:
		return x.accesses
	case regXIPStreamAddr:
		return x.stream.addr
	case regXIPStreamCtr:
		return x.stream.left
	case regXIPStreamFIFO:
		return x.stream.pop(peek)
	}
	return 0
}

// Write implements periph.Block.
func (x *xip) Write(off uint32, w periph.Write) {
	switch off {
	case regXIPCtrl:
		x.ctrl = w.Field(x.ctrl, xipCtrlMask)
		x.c.remap()
	case regXIPHit:
		x.hits = 0
	case regXIPAcc:
		x.accesses = 0
	case regXIPStreamAddr:
		x.stream.addr = w.Apply(x.stream.addr) &^ 3
	case regXIPStreamCtr:
		x.stream.start(w.Field(x.stream.left, 0x3fffff))
	}
}
