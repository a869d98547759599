package periph

import "encoding/binary"

// Handshake is how a device answers a transaction.
type Handshake uint8

const (
	// NoAnswer: there is no device at the address, or it saw an error.
	NoAnswer Handshake = iota
	// ACK, NAK and STALL are USB's handshakes. An IN that gives data counts as
	// ACK.
	ACK
	NAK
	STALL
)

// USBHost is the other end of the cable: a host makes the device's transactions
// with it, one at a time, while no core runs.
type USBHost struct{ u *USB }

// Host returns the other end of the cable.
func (u *USB) Host() USBHost { return USBHost{u} }

// Power turns the bus voltage on or off.
func (h USBHost) Power(on bool) {
	if h.u.vbus == on {
		return
	}
	h.u.vbus = on
	h.u.latched |= usbIntVBUS | usbIntConn
	h.u.update()
}

// Attached reports whether the device's pull-up is on.
func (h USBHost) Attached() bool { return h.u.attached }

// OnChange calls f when the pull-up is switched.
func (h USBHost) OnChange(f func(attached bool)) { h.u.change = f }

// OnResume calls f when the device signals remote wake-up.
func (h USBHost) OnResume(f func()) { h.u.resume = f }

// Reset resets the bus.
func (h USBHost) Reset() {
	h.u.suspended = false
	h.u.second = [32]bool{}
	h.status(sieBusReset)
}

// Suspend and Resume stop and continue the bus.
func (h USBHost) Suspend() {
	h.u.suspended = true
	h.u.latched |= usbIntSuspend
	h.u.update()
}

// Resume continues a suspended bus.
func (h USBHost) Resume() {
	h.u.suspended = false
	h.status(sieResumed)
}

// StartOfFrame begins the 1 ms frame with this number.
func (h USBHost) StartOfFrame(n uint16) {
	if !h.u.attached {
		return
	}
	h.u.set(usbSOFRd, uint32(n&0x7ff))
	h.u.latched |= usbIntSOF
	h.u.update()
}

func (h USBHost) status(b uint32) {
	h.u.set(usbSIEStatus, h.u.get(usbSIEStatus)|b)
	h.u.update()
}

// listens reports whether the device answers to an address.
func (h USBHost) listens(addr uint8) bool {
	return h.u.attached && !h.u.suspended && uint8(h.u.get(usbAddr)&0x7f) == addr
}

// Setup sends a SETUP packet to endpoint 0. A device must take it.
func (h USBHost) Setup(addr uint8, packet [8]byte) Handshake {
	if !h.listens(addr) {
		return NoAnswer
	}
	copy(h.u.ram[:8], packet[:])
	h.u.set(usbStallArm, 0)
	h.u.second[0], h.u.second[1] = false, false
	h.status(sieSetup)
	return ACK
}

// Fields of a half of a buffer control word.
const (
	bufFull  = 1 << 15
	bufLast  = 1 << 14
	bufPID   = 1 << 13
	bufReset = 1 << 12
	bufStall = 1 << 11
	bufAvail = 1 << 10
	bufLen   = 0x3ff
)

// usbBuffer is the buffer that an endpoint's next transaction uses.
type usbBuffer struct {
	u     *USB
	index int // 2*ep, plus 1 for OUT
	ctrl  uint16
	at    int // offset of ctrl
	data  int // offset of the buffer
	// perBuffer and perTwo are the interrupt conditions, double says that there
	// are two buffers.
	perBuffer, perTwo, double bool
	irqNak, irqStall          bool
}

// buffer finds it; ok is false for an endpoint that is off.
func (u *USB) buffer(ep int, out bool) (b usbBuffer, ok bool) {
	b = usbBuffer{u: u, index: 2 * ep}
	if out {
		b.index++
	}
	size := 64
	if ep == 0 {
		c := u.get(usbSIECtrl)
		b.data = 0x100
		b.double, b.perBuffer, b.perTwo = c&sieEP0Double != 0, c&sieEP0Int1 != 0, c&sieEP0Int2 != 0
		b.irqNak, b.irqStall = c&sieEP0IntNak != 0, c&sieEP0IntSt != 0
	} else {
		c := binary.LittleEndian.Uint32(u.ram[4*b.index:])
		if c>>31 == 0 {
			return b, false
		}
		b.data = int(c & 0xffc0)
		b.double, b.perBuffer, b.perTwo = c>>30&1 != 0, c>>29&1 != 0, c>>28&1 != 0
		b.irqStall, b.irqNak = c>>17&1 != 0, c>>16&1 != 0
		if c>>26&3 == 1 { // isochronous: the second buffer is further away
			hi := binary.LittleEndian.Uint32(u.ram[0x80+4*b.index:])
			size = 128 << (hi >> 27 & 3)
		}
	}
	word := 0x80 + 4*b.index
	if binary.LittleEndian.Uint16(u.ram[word:])&bufReset != 0 {
		u.second[b.index] = false
	}
	b.at = word
	if b.double && u.second[b.index] {
		b.at += 2
		b.data += size
	}
	b.ctrl = binary.LittleEndian.Uint16(u.ram[b.at:])
	return b, true
}

// refuse answers a transaction that the buffer is not ready for.
func (b *usbBuffer) refuse(stall bool) Handshake {
	if stall && b.irqStall || !stall && b.irqNak {
		b.u.set(usbStallNak, b.u.get(usbStallNak)|1<<b.index)
		b.u.update()
	}
	if stall {
		return STALL
	}
	return NAK
}

// stalled reports whether the endpoint stalls; endpoint 0 only while armed.
func (b *usbBuffer) stalled() bool {
	if b.ctrl&bufStall == 0 {
		return false
	}
	return b.index > 1 || b.u.get(usbStallArm)>>b.index&1 != 0
}

// aborted reports whether software keeps the endpoint from moving data.
func (b *usbBuffer) aborted() bool { return b.u.get(usbAbort)>>b.index&1 != 0 }

// finish gives the buffer back to software.
func (b *usbBuffer) finish(ctrl uint16) {
	u := b.u
	binary.LittleEndian.PutUint16(u.ram[b.at:], ctrl&^bufReset)
	if !b.double {
		u.mark(b, true)
		return
	}
	u.set(usbBuffCPU, u.get(usbBuffCPU)&^(1<<b.index)|bit(u.second[b.index], uint(b.index)))
	u.mark(b, b.perBuffer || b.perTwo && (u.second[b.index] || ctrl&bufLast != 0))
	u.second[b.index] = !u.second[b.index]
}

// mark sets the endpoint's bit in BUFF_STATUS, if it is to interrupt.
func (u *USB) mark(b *usbBuffer, now bool) {
	if now && (b.perBuffer || b.perTwo) {
		u.set(usbBuffStatus, u.get(usbBuffStatus)|1<<b.index)
	}
	u.update()
}

// In asks endpoint ep for a packet. data1 is the packet's data toggle.
func (h USBHost) In(addr uint8, ep int) (data []byte, data1 bool, answer Handshake) {
	if !h.listens(addr) {
		return nil, false, NoAnswer
	}
	b, ok := h.u.buffer(ep&15, false)
	switch {
	case !ok:
		return nil, false, NoAnswer
	case b.stalled():
		return nil, false, b.refuse(true)
	case b.ctrl&(bufAvail|bufFull) != bufAvail|bufFull, b.aborted():
		return nil, false, b.refuse(false)
	}
	n := min(int(b.ctrl&bufLen), len(h.u.ram)-b.data)
	data = append([]byte(nil), h.u.ram[b.data:b.data+n]...)
	b.finish(b.ctrl &^ (bufAvail | bufFull))
	return data, b.ctrl&bufPID != 0, ACK
}

// Out sends a packet with a data toggle to endpoint ep. One with the wrong
// toggle is acknowledged and dropped, as it repeats the last one.
func (h USBHost) Out(addr uint8, ep int, data []byte, data1 bool) Handshake {
	if !h.listens(addr) {
		return NoAnswer
	}
	b, ok := h.u.buffer(ep&15, true)
	switch {
	case !ok:
		return NoAnswer
	case b.stalled():
		return b.refuse(true)
	case b.ctrl&(bufAvail|bufFull) != bufAvail, b.aborted():
		return b.refuse(false)
	case (b.ctrl&bufPID != 0) != data1:
		h.status(sieSeqError)
		return ACK
	}
	n := copy(h.u.ram[b.data:min(b.data+int(b.ctrl&bufLen), len(h.u.ram))], data)
	b.finish(b.ctrl&^(bufAvail|bufLen) | bufFull | uint16(n))
	return ACK
}
