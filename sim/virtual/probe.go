package virtual

import "encoding/binary"

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

// probe is the Function of a Debug Probe.
type probe struct {
	o      ProbeOptions
	dap    DAP
	serial *Serial
	// answers of CMSIS-DAP v2, reports of v1.
	answers, reports [][]byte
	held             []byte // from the host, as the UART had no room
	coding           [7]byte
}

// DAPVersion is how a probe carries CMSIS-DAP.
type DAPVersion string

const (
	// DAPv2 is over bulk endpoints, as in the firmware that is shipped.
	DAPv2 DAPVersion = "v2"
	// DAPv1 is HID, as in the firmware built for it.
	DAPv1 DAPVersion = "v1"
	// DAPBoth is v2 with a HID interface beside it, as other probes have it.
	DAPBoth DAPVersion = "both"
)

// ProbeOptions say what kind of Debug Probe one is.
type ProbeOptions struct {
	// Version is DAPv2 if empty.
	Version DAPVersion
	// Packets is how many CMSIS-DAP packets it holds; 0 is 6, as since firmware
	// 2.3.0.
	Packets int
}

// Defaults fills in what is not set.
func (o ProbeOptions) Defaults() ProbeOptions {
	if o.Version == "" {
		o.Version = DAPv2
	}
	if o.Packets == 0 {
		o.Packets = 6
	}
	return o
}

// NewProbe returns a Debug Probe with CMSIS-DAP v2 and a UART. packets is how
// many CMSIS-DAP packets it holds.
func NewProbe(dap DAP, serialNumber string, packets int, serial *Serial) *Gadget {
	return NewProbeAs(dap, serialNumber, ProbeOptions{Packets: packets}, serial)
}

// NewProbeAs returns a Debug Probe of a kind.
func NewProbeAs(dap DAP, serialNumber string, o ProbeOptions, serial *Serial) *Gadget {
	p := &probe{dap: dap, serial: serial, o: o.Defaults()}
	about := Description{Strings: []string{
		"Raspberry Pi", "Debug Probe (CMSIS-DAP)", serialNumber,
		"CMSIS-DAP v2 Interface", "CDC-ACM UART Interface",
	}}
	device := deviceFields{
		usb: 0x0210, class: 0xef, subclass: 2, proto: 1, vendor: 0x2e8a, product: 0x000c, release: 0x0231,
		manufacturer: 1, name: 2, serial: 3,
	}
	bulk := append(append(interfaceDescriptor(0, 2, 0xff, 0, 0, 4),
		endpointDescriptor(epProbeOut, transferBulk, packetSize, 0)...),
		endpointDescriptor(epProbeIn, transferBulk, packetSize, 0)...)
	var parts [][]byte
	n := uint8(3)
	switch p.o.Version {
	case DAPv1: // without Microsoft's descriptors: HID needs no driver
		device.usb = 0x0110
		about.Strings[3] = "CMSIS-DAP v1 Interface"
		parts = append(parts, hidInterface(0, 4, epProbeOut, epProbeIn), serialInterfaces())
		about.Interface = hidDescriptors(0)
	case DAPBoth:
		about.Strings = append(about.Strings, "CMSIS-DAP v1 Interface")
		parts = append(parts, bulk, serialInterfaces(), hidInterface(hidBeside, 6, epHIDOut, epHIDIn))
		about.Interface = hidDescriptors(hidBeside)
		n++
	default:
		parts = append(parts, bulk, serialInterfaces())
	}
	if p.o.Version != DAPv1 {
		about.BOS = msBOS(uint16(len(probeDescriptorSet())))
	}
	about.Device = deviceDescriptor(device)
	about.Config = configDescriptor(n, 0x80, 50, parts...)
	return NewGadget(about, p)
}

// serialInterfaces are the two of the UART.
func serialInterfaces() (b []byte) {
	const communication, data, acm = 2, 10, 2
	for _, d := range [][]byte{
		{8, descAssociation, serialInterface, 2, communication, acm, 0, 0},
		interfaceDescriptor(serialInterface, 1, communication, acm, 0, 5),
		{5, descCSInterface, 0, 0x20, 1},                // header, CDC 1.2
		{5, descCSInterface, 1, 0, serialInterface + 1}, // call management
		{4, descCSInterface, 2, 6},                      // ACM: line coding, break
		{5, descCSInterface, 6, serialInterface, 2},     // union
		endpointDescriptor(epSerialEvent, transferInterrupt, packetSize, 16),
		interfaceDescriptor(serialInterface+1, 2, data, 0, 0, 0),
		endpointDescriptor(epSerialOut, transferBulk, packetSize, 0),
		endpointDescriptor(epSerialIn, transferBulk, packetSize, 0),
	} {
		b = append(b, d...)
	}
	return b
}

// Reset implements Function.
func (p *probe) Reset() {
	p.answers, p.reports, p.held = nil, nil, nil
	p.serial.dtr = false
	p.serial.code(defaultBaud)
	p.coding = [7]byte{0x00, 0xc2, 0x01, 0, 0, 0, 8} // 115200 8N1
}

// Control implements Function.
func (p *probe) Control(s Setup, data []byte) (reply []byte, ok bool) {
	switch {
	case s.Type == 0xc0 && s.Request == msVendorCode && s.Index == msDescriptorIndex:
		return probeDescriptorSet(), p.o.Version != DAPv1
	case p.isHID(s):
		return p.hidRequest(s, data)
	case s.Type&^0x80 != kindClass|toInterface || s.Index != serialInterface:
		return nil, false
	case s.In():
		return p.coding[:], s.Request == reqGetLineCoding
	case s.Request == reqSetLineCoding && len(data) == len(p.coding):
		copy(p.coding[:], data)
		p.held = nil
		p.serial.code(binary.LittleEndian.Uint32(data))
		return nil, true
	case s.Request == reqSetLineState:
		p.serial.dtr = s.Value&1 != 0
		if !p.serial.dtr {
			p.sendBreak(false)
		}
		return nil, true
	case s.Request == reqSendBreak:
		p.sendBreak(s.Value != 0)
		return nil, true
	}
	return nil, false
}

// sendBreak begins or ends a break. Linux ends each one itself.
func (p *probe) sendBreak(on bool) {
	if p.serial.Break != nil {
		p.serial.Break(on)
	}
}

// Out implements Function. A CMSIS-DAP packet fits one of USB, so that each
// packet is a request.
func (p *probe) Out(ep uint8, b []byte) Answer {
	switch {
	case ep == epSerialOut:
		if p.deliver(); len(p.held) > 0 {
			return Later
		}
		p.held = append(p.held, b...)
		p.deliver()
	case p.o.Version == DAPv1 || ep == epHIDOut:
		if len(p.reports) >= p.o.Packets {
			return Later
		}
		p.report(b)
	case len(p.answers) >= p.o.Packets:
		return Later
	default:
		if a := p.dap.Execute(append([]byte(nil), b...)); a != nil {
			p.answers = append(p.answers, a)
		}
	}
	return Acknowledged
}

// deliver gives the UART what it has room for.
func (p *probe) deliver() {
	if p.serial.Receive == nil {
		p.held = nil
	}
	if len(p.held) > 0 && p.serial.dtr {
		p.held = p.held[p.serial.give(p.held):]
	}
}

// In implements Function.
func (p *probe) In(ep uint8) ([]byte, Answer) {
	from := &p.answers
	switch {
	case ep == epSerialIn&15 && p.serial.dtr && len(p.serial.out) > 0:
		b := p.serial.out[:min(packetSize-1, len(p.serial.out))] // short: it ends the transfer
		p.serial.out = p.serial.out[len(b):]
		return b, Acknowledged
	case p.o.Version == DAPv1 && ep == epProbeIn&15, ep == epHIDIn&15:
		from = &p.reports
	case ep != epProbeIn&15:
		return nil, Later
	}
	if len(*from) == 0 {
		return nil, Later
	}
	a := (*from)[0]
	*from = (*from)[1:]
	return a, Acknowledged
}

// Cleared implements Function.
func (p *probe) Cleared(uint8) {}
