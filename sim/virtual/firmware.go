package virtual

import (
	"github.com/stem-hw/stem-hw/sim/rp2350/periph"
)

// Wire is the host's end of a chip's USB controller; periph.USBHost is it.
type Wire interface {
	Attached() bool
	Reset()
	StartOfFrame(n uint16)
	Setup(addr uint8, packet [8]byte) periph.Handshake
	In(addr uint8, ep int) (data []byte, data1 bool, answer periph.Handshake)
	Out(addr uint8, ep int, data []byte, data1 bool) periph.Handshake
}

// Driven is a Wire whose host takes turns in simulated time (periph.USBHost.Drive).
type Driven interface {
	Wire
	Drive(turn func() (spent, later uint64))
	Wake()
}

var _ Driven = periph.USBHost{}

// Stages of a control transfer.
const (
	stageSetup = iota
	stageData
	stageStatus
)

// Firmware is the device that a program makes with the chip's USB controller.
// It plays the host's controller and the hub: it resets the bus, gives the
// device its address, and makes the transactions of each transfer, one after the
// other in the time that they take on the bus. A transaction that was answered
// with NAK is tried again when the program touches its controller, and each
// frame.
type Firmware struct {
	wire   Wire
	driven Driven // wire, if it gives turns
	gone   bool
	spent  uint64         // by the transaction of this turn
	turnOf int            // the endpoint that is next
	tries  int            // at enumerating
	size0  int            // of endpoint 0
	now    func() float64 // simulated seconds
	clock  *Clock
	ready  func(f *Firmware)

	addr           uint8
	device, config []byte
	quietTill      float64 // after a reset of the bus
	frame          uint64

	control []*URB
	stage   int
	sent    int
	queues  map[uint8][]*URB
	parsed  parsed
	toggles map[uint8]bool
	halted  map[uint8]bool // by Halt
	full    func(address uint8) bool
}

// Obstruct sets what holds endpoints up from outside; nil is nothing.
func (f *Firmware) Obstruct(full func(address uint8) bool) { f.full = full }

// Halt makes an endpoint answer with stalls, as if the program had halted it,
// until the host clears that.
func (f *Firmware) Halt(address uint8) {
	f.halted[address] = true
	q := f.queues[address]
	delete(f.queues, address)
	for _, u := range q {
		f.clock.transfer()
		u.finish(StatusStall)
	}
}

// resetRecovery is how long a device is left alone behind a reset (USB 2.0,
// 7.1.7.5).
const resetRecovery = 10e-3

// addressRecovery is how long it may take to listen to a new address (USB 2.0,
// 9.2.6.3).
const addressRecovery = 2e-3

// NewFirmware begins to enumerate what is attached to a wire: Poll goes on with
// it, and ready is called when the descriptors are known. clock may be nil.
func NewFirmware(wire Wire, now func() float64, clock *Clock, ready func(f *Firmware)) *Firmware {
	f := &Firmware{wire: wire, now: now, clock: clock, ready: ready, size0: packetSize}
	f.enumerate()
	if d, ok := wire.(Driven); ok {
		f.driven = d
		d.Drive(f.turn)
	}
	return f
}

// Detach ends it: the pull-up is gone, or the board.
func (f *Firmware) Detach() {
	f.gone = true
	if f.driven != nil {
		f.driven.Drive(nil)
	}
}

// Descriptors implements Device.
func (f *Firmware) Descriptors() (device, config []byte) { return f.device, f.config }

// Reset implements Device: the device gets its address again before anything
// else.
func (f *Firmware) Reset() {
	old := f.control
	for _, q := range f.queues {
		old = append(old, q...)
	}
	f.control, f.queues, f.toggles, f.halted = nil, map[uint8][]*URB{}, map[uint8]bool{}, map[uint8]bool{}
	f.stage, f.sent, f.addr = stageSetup, 0, 0
	if !f.gone {
		f.wire.Reset()
		f.quietTill = f.now() + resetRecovery
		f.control = []*URB{{
			Setup: Setup{Request: reqSetAddress, Value: 1},
			Done: func(u *URB) {
				if u.Status == StatusOK {
					f.addr = 1
					f.quietTill = f.now() + addressRecovery
				}
			},
		}}
	}
	for _, u := range old {
		u.finish(StatusGone)
	}
}

// Submit implements Device.
func (f *Firmware) Submit(u *URB) {
	switch {
	case u.Endpoint&15 != 0:
		if _, ok := f.endpoint(u.address()); !ok {
			u.finish(StatusNoEndpoint)
			return
		}
		if f.halted[u.address()] {
			f.clock.transfer()
			u.finish(StatusStall)
			return
		}
		f.queues[u.address()] = append(f.queues[u.address()], u)
	case u.Setup.Type == 0 && u.Setup.Request == reqSetAddress:
		u.finish(StatusOK) // the address is ours to give
		return
	default:
		u.In = u.Setup.In()
		f.control = append(f.control, u)
	}
	f.Poll()
}

// Unlink implements Device.
func (f *Firmware) Unlink(u *URB) bool {
	for i, v := range f.control {
		if v == u {
			f.control = append(f.control[:i:i], f.control[i+1:]...)
			if i == 0 {
				f.stage, f.sent = stageSetup, 0
			}
			u.finish(StatusUnlinked)
			return true
		}
	}
	q := f.queues[u.address()]
	for i, v := range q {
		if v == u {
			f.queues[u.address()] = append(q[:i:i], q[i+1:]...)
			u.finish(StatusUnlinked)
			return true
		}
	}
	return false
}

func (f *Firmware) endpoint(address uint8) (endpoint, bool) {
	for _, e := range f.parsed.endpoints {
		if e.address == address {
			return e, true
		}
	}
	return endpoint{}, false
}

// Poll implements Device: transactions are made until all are answered with
// NAK, or in their turns if there are some.
func (f *Firmware) Poll() {
	if f.driven != nil {
		f.driven.Wake()
		return
	}
	for {
		if spent, _ := f.turn(); spent == 0 {
			return
		}
	}
}

// turn makes one transaction (periph.USBHost.Drive).
func (f *Firmware) turn() (spent, later uint64) {
	now := f.now()
	if n := uint64(now * 1000); n != f.frame {
		f.frame = n
		f.wire.StartOfFrame(uint16(n))
	}
	untilFrame := max(frame-uint64(now*1e12)%frame, 1_000_000)
	if f.gone || now < f.quietTill || !f.wire.Attached() {
		return 0, untilFrame
	}
	f.spent = 0
	if len(f.control) > 0 && f.transact(f.control[0]) {
		return max(f.spent, packetTime(0)), 0
	}
	all := f.parsed.endpoints
	for range all {
		e := all[f.turnOf%len(all)]
		f.turnOf = (f.turnOf + 1) % len(all)
		if len(f.queues[e.address]) > 0 && f.packet(e, f.queues[e.address][0]) {
			return max(f.spent, packetTime(0)), 0
		}
	}
	return 0, untilFrame
}

// moved counts a packet.
func (f *Firmware) moved(n int) {
	f.spent = packetTime(n)
	f.clock.packet(n)
}

// endControl ends the control transfer that is under way.
func (f *Firmware) endControl(u *URB, s Status) {
	f.control = f.control[1:]
	f.stage, f.sent = stageSetup, 0
	if s == StatusOK && !u.In {
		f.noteToggles(u.Setup)
	}
	f.clock.transfer()
	u.finish(s)
}

// noteToggles follows the requests that set data toggles back.
func (f *Firmware) noteToggles(s Setup) {
	switch {
	case s.Type == toDevice && s.Request == reqSetConfiguration, s.Type == toInterface && s.Request == reqSetInterface:
		f.toggles, f.halted = map[uint8]bool{}, map[uint8]bool{}
	case s.Type == toEndpoint && s.Request == reqClearFeature && s.Value == featureHalt:
		delete(f.toggles, uint8(s.Index))
		delete(f.halted, uint8(s.Index))
	}
}

// failed ends a control transfer that was not answered with ACK or NAK.
func (f *Firmware) failed(u *URB, a periph.Handshake) bool {
	switch a {
	case periph.STALL:
		f.endControl(u, StatusStall)
		return true
	case periph.NoAnswer:
		f.endControl(u, StatusProtocol)
		return true
	case periph.ACK, periph.NAK:
	}
	return false
}

// transact makes one transaction of a control transfer; false if it has to wait.
func (f *Firmware) transact(u *URB) bool {
	length := int(u.Setup.Length)
	switch {
	case f.stage == stageSetup:
		if a := f.wire.Setup(f.addr, u.Setup.Bytes()); a != periph.ACK {
			return f.failed(u, a)
		}
		f.moved(8)
		f.stage, f.sent = stageData, 0
		u.Data = u.Data[:min(len(u.Data), length)]
		if u.In {
			u.Data = nil
		}
		if length == 0 {
			f.stage = stageStatus
		}
	case f.stage == stageData && u.In:
		p, _, a := f.wire.In(f.addr, 0)
		if a != periph.ACK {
			return f.failed(u, a)
		}
		f.moved(len(p))
		u.Data = append(u.Data, p...)
		switch {
		case len(u.Data) > min(length, u.Length):
			u.Data = u.Data[:min(length, u.Length)]
			f.endControl(u, StatusOverflow)
		case len(p) < f.size0 || len(u.Data) == length:
			f.stage = stageStatus
		}
	case f.stage == stageData:
		p := u.Data[f.sent:min(f.sent+f.size0, len(u.Data))]
		a := f.wire.Out(f.addr, 0, p, f.sent/f.size0%2 == 0)
		if a != periph.ACK {
			return f.failed(u, a)
		}
		f.moved(len(p))
		if f.sent += len(p); f.sent == len(u.Data) {
			f.stage = stageStatus
		}
	case u.In && length > 0:
		if a := f.wire.Out(f.addr, 0, nil, true); a != periph.ACK {
			return f.failed(u, a)
		}
		f.endControl(u, StatusOK)
	default:
		if _, _, a := f.wire.In(f.addr, 0); a != periph.ACK {
			return f.failed(u, a)
		}
		u.Actual = len(u.Data)
		f.endControl(u, StatusOK)
	}
	return true
}

// packet makes one transaction of another endpoint; false if it has to wait.
func (f *Firmware) packet(e endpoint, u *URB) bool {
	end := func(s Status) bool {
		f.queues[e.address] = f.queues[e.address][1:]
		f.clock.transfer()
		u.finish(s)
		return true
	}
	refused := func(a periph.Handshake) bool {
		switch a {
		case periph.STALL:
			return end(StatusStall)
		case periph.NoAnswer:
			return end(StatusProtocol)
		case periph.ACK, periph.NAK:
		}
		return false
	}
	if f.full != nil && f.full(e.address) {
		return false
	}
	if u.In {
		p, data1, a := f.wire.In(f.addr, int(e.address&15))
		if a != periph.ACK {
			return refused(a)
		}
		f.moved(len(p))
		if data1 != f.toggles[e.address] {
			return true // repeated
		}
		f.toggles[e.address] = !data1
		if room := u.Length - len(u.Data); len(p) > room {
			u.Data = append(u.Data, p[:room]...)
			return end(StatusOverflow)
		}
		u.Data = append(u.Data, p...)
		if len(p) < e.size || len(u.Data) == u.Length {
			return end(StatusOK)
		}
		return true
	}
	p := u.Data[u.Actual:min(u.Actual+e.size, len(u.Data))]
	if a := f.wire.Out(f.addr, int(e.address), p, f.toggles[e.address]); a != periph.ACK {
		return refused(a)
	}
	f.moved(len(p))
	f.toggles[e.address] = !f.toggles[e.address]
	u.Actual += len(p)
	if u.Actual == len(u.Data) && (!u.ZeroPacket || len(p) < e.size) {
		return end(StatusOK)
	}
	return true
}
