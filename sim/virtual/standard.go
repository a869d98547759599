package virtual

// Standard requests (USB 2.0, table 9-4).
const (
	reqGetStatus        = 0
	reqClearFeature     = 1
	reqSetFeature       = 3
	reqSetAddress       = 5
	reqGetDescriptor    = 6
	reqGetConfiguration = 8
	reqSetConfiguration = 9
	reqGetInterface     = 10
	reqSetInterface     = 11

	featureHalt         = 0
	featureRemoteWakeup = 1
)

// control performs a control transfer.
func (g *Gadget) control(u *URB) {
	s := u.Setup
	u.In = s.In()
	var reply []byte
	ok := false
	if s.Type&kindMask == kindStandard {
		reply, ok = g.standard(s)
	} else {
		reply, ok = g.fn.Control(s, u.Data)
	}
	if !ok {
		u.Data, u.Actual = nil, 0
		g.Clock.packet(8)
		g.end(u, StatusStall)
		return
	}
	n := len(u.Data)
	if u.In {
		reply = reply[:min(len(reply), int(s.Length))]
		if n = len(reply); n > u.Length {
			u.Data = append([]byte(nil), reply[:u.Length]...)
			g.end(u, StatusOverflow)
			return
		}
		u.Data = append([]byte(nil), reply...)
	}
	g.Clock.packet(8) // SETUP, data, status
	for left := n; left > 0; left -= packetSize {
		g.Clock.packet(min(left, packetSize))
	}
	g.Clock.packet(0)
	u.Actual = n
	g.end(u, StatusOK)
}

// standard answers a standard request.
func (g *Gadget) standard(s Setup) (reply []byte, ok bool) {
	switch s.Type & toMask {
	case toDevice:
		return g.deviceRequest(s)
	case toInterface:
		if int(s.Index) >= len(g.parsed.interfaces) || g.configured == 0 {
			return nil, false
		}
		return g.interfaceRequest(s)
	case toEndpoint:
		return g.endpointRequest(s)
	}
	return nil, false
}

func (g *Gadget) deviceRequest(s Setup) (reply []byte, ok bool) {
	switch {
	case s.In() && s.Request == reqGetStatus:
		status := byte(0)
		if g.about.Config[7]&0x40 != 0 {
			status |= 1
		}
		if g.wakeup {
			status |= 2
		}
		return []byte{status, 0}, true
	case s.In() && s.Request == reqGetDescriptor:
		return g.descriptor(s)
	case s.In() && s.Request == reqGetConfiguration:
		return []byte{g.configured}, true
	case s.In():
		return nil, false
	case s.Request == reqClearFeature, s.Request == reqSetFeature:
		if s.Value != featureRemoteWakeup || g.about.Config[7]&0x20 == 0 {
			return nil, false
		}
		g.wakeup = s.Request == reqSetFeature
		return nil, true
	case s.Request == reqSetAddress:
		return nil, s.Value < 128
	case s.Request == reqSetConfiguration:
		if s.Value > 1 {
			return nil, false
		}
		g.configured = uint8(s.Value)
		g.fn.Reset()
		for _, e := range g.parsed.endpoints {
			g.clearHalt(e.address)
		}
		return nil, true
	}
	return nil, false
}

func (g *Gadget) interfaceRequest(s Setup) (reply []byte, ok bool) {
	switch {
	case s.In() && s.Request == reqGetStatus:
		return []byte{0, 0}, true
	case s.In() && s.Request == reqGetInterface:
		return []byte{0}, true
	case s.In() && s.Request == reqGetDescriptor && g.about.Interface != nil:
		d := g.about.Interface(uint8(s.Index), uint8(s.Value>>8))
		return d, d != nil
	case !s.In() && s.Request == reqSetInterface && s.Value == 0:
		for _, e := range g.parsed.endpoints {
			if uint16(e.iface) == s.Index {
				g.clearHalt(e.address)
			}
		}
		return nil, true
	}
	return nil, false
}

func (g *Gadget) endpointRequest(s Setup) (reply []byte, ok bool) {
	a := uint8(s.Index)
	_, known := g.endpoint(a)
	if s.Index&^0x8f != 0 || a&15 != 0 && (!known || g.configured == 0) {
		return nil, false
	}
	switch {
	case s.In() && s.Request == reqGetStatus:
		if g.halted[a] {
			return []byte{1, 0}, true
		}
		return []byte{0, 0}, true
	case s.In() || s.Value != featureHalt:
		return nil, false
	case s.Request == reqClearFeature:
		if known {
			g.clearHalt(a)
		}
		return nil, true
	case s.Request == reqSetFeature:
		if known {
			g.Halt(a)
		}
		return nil, true
	}
	return nil, false
}

// descriptor answers GET_DESCRIPTOR. A full-speed device has no qualifier.
func (g *Gadget) descriptor(s Setup) (reply []byte, ok bool) {
	index := int(s.Value & 0xff)
	switch kind := s.Value >> 8; {
	case kind == descDevice && index == 0:
		return g.about.Device, true
	case kind == descConfiguration && index == 0:
		return g.about.Config, true
	case kind == descBOS && g.about.BOS != nil:
		return g.about.BOS, true
	case kind == descString && index == 0:
		l := g.about.Language
		return []byte{4, descString, byte(l), byte(l >> 8)}, true
	case kind == descString && index <= len(g.about.Strings):
		return stringDescriptor(g.about.Strings[index-1]), true
	case kind == descString && g.about.EmptyStrings:
		return stringDescriptor(""), true
	}
	return nil, false
}
