package virtual

import "time"

// troubles are the faults of one socket, and how far they have come.
type troubles struct {
	faults []Fault
	now    func() time.Duration

	transfers map[uint8]int // begun so far, by endpoint
	returns   int           // how often the device came back to the bus
}

func newTroubles(now func() time.Duration) *troubles {
	return &troubles{now: now, transfers: map[uint8]int{}}
}

// active reports whether it is a fault's time.
func (t *troubles) active(f *Fault) bool {
	now := t.now()
	return now >= f.At && (f.For == 0 || now < f.At+f.For)
}

// any finds an active fault of a kind.
func (t *troubles) any(kind FaultKind, also func(f *Fault) bool) bool {
	for i := range t.faults {
		if f := &t.faults[i]; f.Kind == kind && also(f) && t.active(f) {
			return true
		}
	}
	return false
}

// unplugged reports whether the cable is pulled now.
func (t *troubles) unplugged() bool {
	return t.any(FaultUnplug, func(*Fault) bool { return true })
}

// full reports whether an endpoint takes or gives nothing.
func (t *troubles) full(address uint8) bool {
	return t.any(FaultFullFIFO, func(f *Fault) bool {
		return f.Endpoint == address || f.Endpoint == 0 && address&0x80 == 0
	})
}

// delay is how long the host lets a transfer lie before it begins.
func (t *troubles) delay() (d time.Duration) {
	t.any(FaultSlowHost, func(f *Fault) bool {
		if t.active(f) {
			d = max(d, f.Delay)
		}
		return false
	})
	return d
}

// stalls counts a transfer that begins and reports whether it is the one that
// stalls.
func (t *troubles) stalls(address uint8) (hit bool) {
	t.transfers[address]++
	for _, f := range t.faults {
		hit = hit || f.Kind == FaultStall && f.Endpoint == address && f.Count == t.transfers[address]
	}
	return hit
}

// serial is the serial number that the device has by now, "" for its own.
func (t *troubles) serial() (s string) {
	from := 0
	for _, f := range t.faults {
		if f.Kind == FaultSerial && f.Count <= t.returns && f.Count > from {
			s, from = f.Serial, f.Count
		}
	}
	return s
}

// wrap puts the faults between a host and a device.
func (t *troubles) wrap(d Device) Device {
	if len(t.faults) == 0 {
		return d
	}
	if o, ok := d.(obstructed); ok {
		o.Obstruct(t.full)
	}
	return &troubled{Device: d, t: t}
}

// obstructed is a device whose endpoints can be held up and halted from outside.
type obstructed interface {
	Obstruct(full func(address uint8) bool)
	Halt(address uint8)
}

// troubled is a device with faults on its way to the host.
type troubled struct {
	Device
	t    *troubles
	held []heldURB
}

// heldURB is a transfer that a slow host has not begun.
type heldURB struct {
	u   *URB
	due time.Duration
}

// Submit implements Device.
func (d *troubled) Submit(u *URB) {
	if wait := d.t.delay(); wait > 0 || len(d.held) > 0 {
		d.held = append(d.held, heldURB{u, d.t.now() + wait})
		return
	}
	d.begin(u)
}

// begin hands a transfer on.
func (d *troubled) begin(u *URB) {
	if u.Endpoint&15 == 0 {
		d.spell(u)
	} else if o, ok := d.Device.(obstructed); d.t.stalls(u.address()) && ok {
		o.Halt(u.address())
	}
	d.Device.Submit(u)
}

// spell puts the other serial number into the answer to a request for it.
func (d *troubled) spell(u *URB) {
	serial := d.t.serial()
	about, _ := d.Descriptors()
	s := u.Setup
	if serial == "" || s.Type != 0x80 || s.Request != reqGetDescriptor || len(about) < 18 ||
		s.Value != descString<<8|uint16(about[16]) || about[16] == 0 {
		return
	}
	done := u.Done
	u.Done = func(u *URB) {
		if u.Status == StatusOK {
			b := stringDescriptor(serial)
			u.Data = b[:min(len(b), u.Length, int(s.Length))]
			u.Actual = len(u.Data)
		}
		if done != nil {
			done(u)
		}
	}
}

// Unlink implements Device.
func (d *troubled) Unlink(u *URB) bool {
	for i, h := range d.held {
		if h.u == u {
			d.held = append(d.held[:i:i], d.held[i+1:]...)
			u.finish(StatusUnlinked)
			return true
		}
	}
	return d.Device.Unlink(u)
}

// Poll implements Device.
func (d *troubled) Poll() {
	for len(d.held) > 0 && d.t.now() >= d.held[0].due {
		u := d.held[0].u
		d.held = d.held[1:]
		d.begin(u)
	}
	d.Device.Poll()
}

// Reset implements Device.
func (d *troubled) Reset() {
	held := d.held
	d.held = nil
	d.Device.Reset()
	for _, h := range held {
		h.u.finish(StatusGone)
	}
}
