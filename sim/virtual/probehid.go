package virtual

// CMSIS-DAP v1: the same packets in HID reports without a number (Arm, CMSIS-DAP:
// "Configure USB peripheral"; USB HID 1.11).
const (
	epHIDOut = 0x06
	epHIDIn  = 0x87
	// hidBeside is the HID interface of a probe that has both.
	hidBeside = 3

	descHID    = 0x21
	descReport = 0x22

	reqGetReport = 0x01
	reqGetIdle   = 0x02
	reqSetReport = 0x09
	reqSetIdle   = 0x0a

	interruptEveryFrame = 1
)

// hidReports is the report descriptor: 64 bytes each way on a page of the
// vendor's.
var hidReports = []byte{
	0x06, 0x00, 0xff, // usage page
	0x09, 0x01, // usage
	0xa1, 0x01, // application
	0x09, 0x02, 0x15, 0x00, 0x26, 0xff, 0x00, 0x75, 8, 0x95, packetSize, 0x81, 0x02, // in: data, variable
	0x09, 0x03, 0x15, 0x00, 0x26, 0xff, 0x00, 0x75, 8, 0x95, packetSize, 0x91, 0x02, // out
	0xc0,
}

// hidDescriptor is HID's own within a configuration.
func hidDescriptor() []byte {
	return []byte{9, descHID, 0x11, 0x01, 0, 1, descReport, byte(len(hidReports)), 0}
}

// hidInterface is an interface with a report each way.
func hidInterface(number, name, out, in uint8) []byte {
	const hid = 3
	b := append(interfaceDescriptor(number, 2, hid, 0, 0, name), hidDescriptor()...)
	b = append(b, endpointDescriptor(out, transferInterrupt, packetSize, interruptEveryFrame)...)
	return append(b, endpointDescriptor(in, transferInterrupt, packetSize, interruptEveryFrame)...)
}

// hidDescriptors answers requests for the descriptors of a HID interface.
func hidDescriptors(number uint8) func(iface, kind uint8) []byte {
	return func(iface, kind uint8) []byte {
		switch {
		case iface != number:
		case kind == descHID:
			return hidDescriptor()
		case kind == descReport:
			return hidReports
		}
		return nil
	}
}

// isHID reports whether a request is the HID interface's.
func (p *probe) isHID(s Setup) bool {
	number := uint16(hidBeside)
	switch p.o.Version {
	case DAPv1:
		number = 0
	case DAPBoth:
	default:
		return false
	}
	return s.Type&^0x80 == kindClass|toInterface && s.Index == number
}

// hidRequest answers it. A report may come over the control endpoint, too.
func (p *probe) hidRequest(s Setup, data []byte) (reply []byte, ok bool) {
	switch {
	case s.In() && s.Request == reqGetReport:
		return make([]byte, packetSize), true
	case s.In() && s.Request == reqGetIdle:
		return []byte{0}, true
	case !s.In() && s.Request == reqSetIdle:
		return nil, true
	case !s.In() && s.Request == reqSetReport && len(p.reports) < p.o.Packets:
		p.report(data)
		return nil, true
	}
	return nil, false
}

// report executes a packet; the answer fills a report.
func (p *probe) report(b []byte) {
	if a := p.dap.Execute(append([]byte(nil), b...)); a != nil {
		p.reports = append(p.reports, append(a, make([]byte, packetSize)...)[:packetSize])
	}
}
