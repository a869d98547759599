package virtual

// Endpoints of the Debug Probe (raspberrypi/debugprobe v2.3.1,
// src/usb_descriptors.c).
const (
	epProbeOut    = 0x04
	epProbeIn     = 0x85
	epSerialEvent = 0x81
	epSerialOut   = 0x02
	epSerialIn    = 0x83

	serialInterface = 1
)

// Requests of CDC PSTN (CDC PSTN 1.2, 6.3).
const (
	reqSetLineCoding = 0x20
	reqGetLineCoding = 0x21
	reqSetLineState  = 0x22
	reqSendBreak     = 0x23
)

// DAP answers a CMSIS-DAP packet; debugport.Probe is one.
type DAP interface {
	Execute(packet []byte) []byte
}

// Serial is the UART behind a probe. Receive takes what the host sends and
// returns how much of it there was room for.
type Serial struct {
	Receive func(p []byte) int
	// Coding hears of a new line coding: the rate in baud.
	Coding func(baud uint32)

	out []byte
}

// serialRoom bounds what is kept for a host that does not read.
const serialRoom = 64 << 10

// Send hands the host what the target printed. What a host does not read in
// time is lost, as it is on the probe.
func (s *Serial) Send(p []byte) {
	s.out = append(s.out, p...)
	if over := len(s.out) - serialRoom; over > 0 {
		s.out = append(s.out[:0], s.out[over:]...)
	}
}

// probe is the Function of a Debug Probe.
type probe struct {
	dap     DAP
	serial  *Serial
	packets int
	answers [][]byte
	held    []byte // from the host, as the UART had no room
	coding  [7]byte
}

// NewProbe returns a Debug Probe with CMSIS-DAP v2 and a UART. packets is how
// many CMSIS-DAP packets it holds.
func NewProbe(dap DAP, serialNumber string, packets int, serial *Serial) *Gadget {
	p := &probe{dap: dap, serial: serial, packets: packets}
	const communication, data, acm = 2, 10, 2
	set := probeDescriptorSet()
	return NewGadget(Description{
		Device: deviceDescriptor(deviceFields{
			usb: 0x0210, class: 0xef, subclass: 2, proto: 1, vendor: 0x2e8a, product: 0x000c, release: 0x0231,
			manufacturer: 1, name: 2, serial: 3,
		}),
		Config: configDescriptor(3, 0x80, 50,
			interfaceDescriptor(0, 2, 0xff, 0, 0, 4),
			endpointDescriptor(epProbeOut, transferBulk, packetSize, 0),
			endpointDescriptor(epProbeIn, transferBulk, packetSize, 0),
			[]byte{8, descAssociation, serialInterface, 2, communication, acm, 0, 0},
			interfaceDescriptor(serialInterface, 1, communication, acm, 0, 5),
			[]byte{5, descCSInterface, 0, 0x20, 1},                // header, CDC 1.2
			[]byte{5, descCSInterface, 1, 0, serialInterface + 1}, // call management
			[]byte{4, descCSInterface, 2, 6},                      // ACM: line coding, break
			[]byte{5, descCSInterface, 6, serialInterface, 2},     // union
			endpointDescriptor(epSerialEvent, transferInterrupt, packetSize, 16),
			interfaceDescriptor(serialInterface+1, 2, data, 0, 0, 0),
			endpointDescriptor(epSerialOut, transferBulk, packetSize, 0),
			endpointDescriptor(epSerialIn, transferBulk, packetSize, 0)),
		BOS: msBOS(uint16(len(set))),
		Strings: []string{
			"Raspberry Pi", "Debug Probe (CMSIS-DAP)", serialNumber,
			"CMSIS-DAP v2 Interface", "CDC-ACM UART Interface",
		},
	}, p)
}

// Reset implements Function.
func (p *probe) Reset() {
	p.answers, p.held = nil, nil
	p.coding = [7]byte{0x00, 0xc2, 0x01, 0, 0, 0, 8} // 115200 8N1
}

// Control implements Function.
func (p *probe) Control(s Setup, data []byte) (reply []byte, ok bool) {
	switch {
	case s.Type == 0xc0 && s.Request == msVendorCode && s.Index == msDescriptorIndex:
		return probeDescriptorSet(), true
	case s.Type&^0x80 != kindClass|toInterface || s.Index != serialInterface:
		return nil, false
	case s.In():
		return p.coding[:], s.Request == reqGetLineCoding
	case s.Request == reqSetLineCoding && len(data) == len(p.coding):
		copy(p.coding[:], data)
		if p.serial.Coding != nil {
			c := p.coding
			p.serial.Coding(uint32(c[0]) | uint32(c[1])<<8 | uint32(c[2])<<16 | uint32(c[3])<<24)
		}
		return nil, true
	case s.Request == reqSetLineState, s.Request == reqSendBreak:
		return nil, true
	}
	return nil, false
}

// Out implements Function. A CMSIS-DAP packet fits one of USB, so that each
// packet is a request.
func (p *probe) Out(ep uint8, b []byte) Answer {
	if ep == epSerialOut {
		if p.deliver(); len(p.held) > 0 {
			return Later
		}
		p.held = append(p.held, b...)
		p.deliver()
		return Acknowledged
	}
	if len(p.answers) >= p.packets {
		return Later
	}
	if a := p.dap.Execute(append([]byte(nil), b...)); a != nil {
		p.answers = append(p.answers, a)
	}
	return Acknowledged
}

// deliver gives the UART what it has room for.
func (p *probe) deliver() {
	if p.serial.Receive == nil {
		p.held = nil
	}
	if len(p.held) > 0 {
		p.held = p.held[p.serial.Receive(p.held):]
	}
}

// In implements Function.
func (p *probe) In(ep uint8) ([]byte, Answer) {
	switch {
	case ep == epSerialIn&15 && len(p.serial.out) > 0:
		b := p.serial.out[:min(packetSize-1, len(p.serial.out))] // short: it ends the transfer
		p.serial.out = p.serial.out[len(b):]
		return b, Acknowledged
	case ep == epProbeIn&15 && len(p.answers) > 0:
		a := p.answers[0]
		p.answers = p.answers[1:]
		return a, Acknowledged
	}
	return nil, Later
}

// Cleared implements Function.
func (p *probe) Cleared(uint8) {}
