package virtual

// packetSize is the largest packet of a full-speed bulk or control endpoint.
const packetSize = 64

// Answer is how a Function answers a packet.
type Answer uint8

const (
	// Acknowledged: the packet is taken, or here it is.
	Acknowledged Answer = iota
	// Later: the host has to ask again.
	Later
	// Stalled: the endpoint halts until the host clears it.
	Stalled
)

// Function is what a Gadget does behind the standard requests.
type Function interface {
	// Reset forgets everything but what outlives a reset of the bus.
	Reset()
	// Control answers a class or vendor request; false is a stall. data is what
	// the host sent.
	Control(s Setup, data []byte) (reply []byte, ok bool)
	// Out takes a packet, In gives one.
	Out(ep uint8, packet []byte) Answer
	In(ep uint8) (packet []byte, a Answer)
	// Cleared tells that the host cleared the halt of an endpoint, by address.
	Cleared(ep uint8)
}

// Description is what a Gadget tells about itself.
type Description struct {
	Device, Config, BOS []byte
	// Language is that of the strings, 0 for English.
	Language uint16
	// Strings are numbered from 1. EmptyStrings answers requests for others with an
	// empty one in place of a stall, as the boot ROM does.
	Strings      []string
	EmptyStrings bool
	// Interface, if set, gives descriptors that belong to an interface; nil is a
	// stall.
	Interface func(iface, kind uint8) []byte
}

// Gadget is a Device with a Function.
type Gadget struct {
	about  Description
	fn     Function
	parsed parsed
	// Clock counts the time on the bus; may be nil.
	Clock *Clock
	// full holds endpoints up (Obstruct).
	full func(address uint8) bool
	lost bool

	configured uint8
	wakeup     bool
	halted     map[uint8]bool
	queues     map[uint8][]*URB
	pumping    bool
	inPacket   bool
	halts      []uint8 // asked for within a packet
}

// NewGadget returns a device that was just plugged in.
func NewGadget(about Description, fn Function) *Gadget {
	if about.Language == 0 {
		about.Language = languageEnglish
	}
	g := &Gadget{about: about, fn: fn, parsed: parseConfig(about.Config)}
	g.Reset()
	return g
}

// Descriptors implements Device.
func (g *Gadget) Descriptors() (device, config []byte) { return g.about.Device, g.about.Config }

// Reset implements Device.
func (g *Gadget) Reset() {
	old := g.queues
	g.queues, g.halted = map[uint8][]*URB{}, map[uint8]bool{}
	g.configured, g.wakeup = 0, false
	g.fn.Reset()
	for _, q := range old {
		for _, u := range q {
			u.finish(StatusGone)
		}
	}
}

// Halted reports whether an endpoint halts.
func (g *Gadget) Halted(address uint8) bool { return g.halted[address] }

// Halt halts an endpoint: what waits there ends with a stall. Within a packet
// that happens behind it, so that the packet itself is acknowledged.
func (g *Gadget) Halt(address uint8) {
	if g.inPacket {
		g.halts = append(g.halts, address)
		return
	}
	g.halted[address] = true
	q := g.queues[address]
	delete(g.queues, address)
	for _, u := range q {
		g.end(u, StatusStall)
	}
}

// end ends a transfer that counts.
func (g *Gadget) end(u *URB, s Status) {
	g.Clock.transfer()
	u.finish(s)
}

// Lose is for a device that loses its power while it takes a packet: that one is
// never answered, and nothing else is.
func (g *Gadget) Lose() { g.lost = true }

// Obstruct sets what holds endpoints up from outside; nil is nothing.
func (g *Gadget) Obstruct(full func(address uint8) bool) { g.full = full }

// clearHalt lets an endpoint go on.
func (g *Gadget) clearHalt(address uint8) {
	delete(g.halted, address)
	g.fn.Cleared(address)
}

// Submit implements Device.
func (g *Gadget) Submit(u *URB) {
	if g.lost {
		u.finish(StatusGone)
		return
	}
	if u.Endpoint&15 == 0 {
		g.control(u)
		g.Poll()
		return
	}
	a := u.address()
	if _, ok := g.endpoint(a); !ok || g.configured == 0 {
		u.finish(StatusNoEndpoint)
		return
	}
	if g.halted[a] {
		g.end(u, StatusStall)
		return
	}
	g.queues[a] = append(g.queues[a], u)
	g.Poll()
}

// Unlink implements Device.
func (g *Gadget) Unlink(u *URB) bool {
	a := u.address()
	for i, v := range g.queues[a] {
		if v == u {
			g.queues[a] = append(g.queues[a][:i:i], g.queues[a][i+1:]...)
			u.finish(StatusUnlinked)
			return true
		}
	}
	return false
}

func (g *Gadget) endpoint(address uint8) (endpoint, bool) {
	for _, e := range g.parsed.endpoints {
		if e.address == address {
			return e, true
		}
	}
	return endpoint{}, false
}

// Poll implements Device: packets move until every endpoint has to wait. A
// packet on one endpoint may be what another waited for.
func (g *Gadget) Poll() {
	if g.pumping {
		return
	}
	g.pumping = true
	defer func() { g.pumping = false }()
	for moved := true; moved; {
		moved = false
		for _, e := range g.parsed.endpoints {
			for len(g.queues[e.address]) > 0 && g.step(e) {
				moved = true
			}
		}
	}
}

// step moves one packet, then carries out the halts that came of it.
func (g *Gadget) step(e endpoint) bool {
	if g.Clock.waits() || g.full != nil && g.full(e.address) {
		return false
	}
	g.inPacket = true
	moved := g.packet(e, g.queues[e.address][0])
	g.inPacket = false
	halts := g.halts
	g.halts = nil
	if g.lost {
		g.Reset()
		return false
	}
	for _, a := range halts {
		g.Halt(a)
	}
	return moved
}

// packet moves one packet of a transfer, or reports that it has to wait.
func (g *Gadget) packet(e endpoint, u *URB) bool {
	var answer Answer
	ended := false
	if u.In {
		var p []byte
		if p, answer = g.fn.In(e.address & 15); answer == Acknowledged && !g.lost {
			g.Clock.packet(len(p))
			room := u.Length - len(u.Data)
			if len(p) > room {
				g.pop(e.address)
				u.Data = append(u.Data, p[:room]...)
				g.end(u, StatusOverflow)
				return true
			}
			u.Data = append(u.Data, p...)
			ended = len(p) < e.size || len(u.Data) == u.Length
		}
	} else {
		p := u.Data[u.Actual:min(u.Actual+e.size, len(u.Data))]
		if answer = g.fn.Out(e.address, p); answer == Acknowledged && !g.lost {
			g.Clock.packet(len(p))
			u.Actual += len(p)
			ended = u.Actual == len(u.Data) && (!u.ZeroPacket || len(p) < e.size)
		}
	}
	switch {
	case g.lost:
		return false
	case answer == Stalled:
		g.Halt(e.address)
		return true
	case answer == Later:
		return false
	case ended:
		g.pop(e.address)
		g.end(u, StatusOK)
	}
	return true
}

func (g *Gadget) pop(address uint8) { g.queues[address] = g.queues[address][1:] }
