package virtual

// Port is a socket on the board's side: a device is plugged in, and a host may
// have taken it.
type Port struct {
	// BusID is the name over USB/IP, "1-1". Bus and Number are the same in
	// numbers.
	BusID       string
	Bus, Number uint32
	// Do, if set, takes the place of the server's for this port: boards that run
	// by themselves stand still by themselves.
	Do func(f func())

	dev     Device
	taken   func() // tells the host that the device is gone
	changed chan struct{}
}

// Changed returns a channel that is closed when next something is plugged in or
// out. Like all of a Port it is for Do.
func (p *Port) Changed() <-chan struct{} {
	if p.changed == nil {
		p.changed = make(chan struct{})
	}
	return p.changed
}

// tell closes what Changed returned.
func (p *Port) tell() {
	if p.changed != nil {
		close(p.changed)
		p.changed = nil
	}
}

// Device is what is plugged in, or nil.
func (p *Port) Device() Device { return p.dev }

// Plug puts a device in, in place of what is there.
func (p *Port) Plug(d Device) {
	p.Unplug()
	p.dev = d
	p.tell()
}

// Unplug takes the device out. The host loses it.
func (p *Port) Unplug() {
	d, gone := p.dev, p.taken
	p.dev, p.taken = nil, nil
	if d != nil {
		p.tell()
	}
	if d != nil {
		d.Reset()
	}
	if gone != nil {
		gone()
	}
}

// take gives the device to a host; nil if there is none or another has it.
func (p *Port) take(gone func()) Device {
	if p.dev == nil || p.taken != nil {
		return nil
	}
	p.taken = gone
	p.dev.Reset()
	return p.dev
}

// release takes it back from the host that has it.
func (p *Port) release(d Device) {
	if p.dev == d && d != nil {
		p.taken = nil
		d.Reset()
	}
}
