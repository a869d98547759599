package virtual

import (
	"bytes"
	"testing"
)

// echo returns what it got on endpoint 2, packet by packet, on endpoint 1.
type echo struct {
	held   [][]byte
	room   int
	stall  bool
	clears []uint8
}

func (e *echo) Reset() { e.held = nil }
func (e *echo) Control(s Setup, data []byte) ([]byte, bool) {
	if s.Request == 0x55 {
		return bytes.Repeat([]byte{7}, 100), true
	}
	return nil, s.Request == 0x56 && len(data) == 3
}
func (e *echo) Out(_ uint8, p []byte) Answer {
	switch {
	case e.stall:
		return Stalled
	case len(e.held) >= e.room:
		return Later
	}
	e.held = append(e.held, append([]byte(nil), p...))
	return Acknowledged
}
func (e *echo) In(uint8) ([]byte, Answer) {
	if len(e.held) == 0 {
		return nil, Later
	}
	p := e.held[0]
	e.held = e.held[1:]
	return p, Acknowledged
}
func (e *echo) Cleared(ep uint8) { e.clears = append(e.clears, ep) }

func newEcho(room int) (*Gadget, *echo) {
	e := &echo{room: room}
	g := NewGadget(Description{
		Device: deviceDescriptor(deviceFields{usb: 0x200, vendor: 1, product: 2}),
		Config: configDescriptor(1, 0x80, 50, interfaceDescriptor(0, 2, 0xff, 0, 0, 0),
			endpointDescriptor(0x81, transferBulk, 64, 0), endpointDescriptor(0x02, transferBulk, 64, 0)),
		Strings: []string{"Müller", "x"},
	}, e)
	g.Clock = &Clock{}
	return g, e
}

// ctl makes a control transfer.
func ctl(d Device, s Setup, data []byte) *URB {
	u := &URB{Setup: s, In: s.In(), Length: int(s.Length), Data: data}
	d.Submit(u)
	return u
}

func configure(t *testing.T, d Device) {
	t.Helper()
	if u := ctl(d, Setup{Request: reqSetConfiguration, Value: 1}, nil); u.Status != StatusOK {
		t.Fatalf("SET_CONFIGURATION: %d", u.Status)
	}
}

func TestStandardRequests(t *testing.T) {
	g, _ := newEcho(1)
	before := []struct {
		name string
		s    Setup
		want []byte // nil: stall
	}{
		{"device", Setup{0x80, 6, 0x100, 0, 18}, g.about.Device},
		{"first eight bytes", Setup{0x80, 6, 0x100, 0, 8}, g.about.Device[:8]},
		{"configuration", Setup{0x80, 6, 0x200, 0, 500}, g.about.Config},
		{"no second one", Setup{0x80, 6, 0x201, 0, 500}, nil},
		{"languages", Setup{0x80, 6, 0x300, 0, 255}, []byte{4, 3, 9, 4}},
		{"string", Setup{0x80, 6, 0x302, 0x409, 255}, []byte{4, 3, 'x', 0}},
		{"umlaut", Setup{0x80, 6, 0x301, 0x409, 6}, []byte{14, 3, 'M', 0, 0xfc, 0}},
		{"no such string", Setup{0x80, 6, 0x303, 0x409, 255}, nil},
		{"no qualifier", Setup{0x80, 6, 0x600, 0, 10}, nil},
		{"no BOS", Setup{0x80, 6, 0xf00, 0, 5}, nil},
		{"unconfigured", Setup{0x80, 8, 0, 0, 1}, []byte{0}},
		{"status", Setup{0x80, 0, 0, 0, 2}, []byte{0, 0}},
		{"interface before configuration", Setup{0x81, 0, 0, 0, 2}, nil},
		{"endpoint before configuration", Setup{0x82, 0, 0, 0x81, 2}, nil},
		{"control endpoint", Setup{0x82, 0, 0, 0, 2}, []byte{0, 0}},
		{"configuration 2", Setup{0, 9, 2, 0, 0}, nil},
		{"address", Setup{0, 5, 9, 0, 0}, []byte{}},
		{"no remote wake-up", Setup{0, 3, 1, 0, 0}, nil},
		{"to nobody", Setup{0x83, 0, 0, 0, 2}, nil},
		{"vendor", Setup{0xc0, 0x55, 0, 0, 70}, bytes.Repeat([]byte{7}, 70)},
		{"configure", Setup{0, 9, 1, 0, 0}, []byte{}},
		{"configured", Setup{0x80, 8, 0, 0, 1}, []byte{1}},
		{"interface", Setup{0x81, 10, 0, 0, 1}, []byte{0}},
		{"no second interface", Setup{0x81, 10, 0, 1, 1}, nil},
		{"no alternate setting", Setup{1, 11, 1, 0, 0}, nil},
		{"no endpoint 3", Setup{0x82, 0, 0, 0x83, 2}, nil},
		{"unknown request", Setup{0x80, 12, 0, 0, 2}, nil},
	}
	for _, c := range before {
		u := ctl(g, c.s, nil)
		if c.want == nil && u.Status == StatusStall {
			continue
		}
		if u.Status != StatusOK || !bytes.Equal(u.Data, c.want) {
			t.Errorf("%s: status %d, % x, want % x", c.name, u.Status, u.Data, c.want)
		}
	}
	if u := ctl(g, Setup{0x40, 0x56, 0, 0, 3}, []byte{1, 2, 3}); u.Status != StatusOK || u.Actual != 3 {
		t.Errorf("vendor OUT: %+v", u)
	}
}

func TestPacketsAndBackpressure(t *testing.T) {
	g, e := newEcho(2)
	configure(t, g)
	data := make([]byte, 192)
	for i := range data {
		data[i] = byte(i)
	}
	out := &URB{Endpoint: 2, Data: data, ZeroPacket: true}
	g.Submit(out)
	if out.Complete() || out.Actual != 128 {
		t.Fatalf("two packets fit: %+v", out)
	}
	in := &URB{Endpoint: 1, In: true, Length: 512}
	g.Submit(in)
	if !out.Complete() || !in.Complete() || !bytes.Equal(in.Data, data) || in.Actual != 192 {
		t.Fatalf("the empty packet ends both: %+v %+v", out, in)
	}
	// Without it, the reader waits for more.
	g.Submit(&URB{Endpoint: 2, Data: data[:64]})
	in = &URB{Endpoint: 1, In: true, Length: 512}
	g.Submit(in)
	if in.Complete() {
		t.Fatal("a whole packet does not end a transfer")
	}
	if !g.Unlink(in) || in.Status != StatusUnlinked || len(in.Data) != 64 || g.Unlink(in) {
		t.Fatalf("%+v", in)
	}
	// Too much for the host's buffer, and less than it insists on.
	g.Submit(&URB{Endpoint: 2, Data: data[:40]})
	in = &URB{Endpoint: 1, In: true, Length: 10}
	g.Submit(in)
	if in.Status != StatusOverflow {
		t.Errorf("babble: %d", in.Status)
	}
	g.Submit(&URB{Endpoint: 2, Data: data[:40]})
	in = &URB{Endpoint: 1, In: true, Length: 64, ShortNotOK: true}
	g.Submit(in)
	if in.Status != StatusShort || in.Actual != 40 {
		t.Errorf("short: %+v", in)
	}
	if g.Clock.Packets == 0 || g.Clock.Total() == 0 {
		t.Error("time should be counted")
	}
	_ = e
}

func TestHalt(t *testing.T) {
	g, e := newEcho(9)
	configure(t, g)
	waiting := &URB{Endpoint: 1, In: true, Length: 64}
	g.Submit(waiting)
	e.stall = true
	first, second := &URB{Endpoint: 2, Data: []byte{1}}, &URB{Endpoint: 2, Data: []byte{2}}
	g.Submit(first)
	e.stall = false
	g.Submit(second)
	if first.Status != StatusStall || second.Status != StatusStall || waiting.Complete() {
		t.Fatalf("%+v %+v %+v", first, second, waiting)
	}
	if u := ctl(g, Setup{0x82, 0, 0, 2, 2}, nil); !bytes.Equal(u.Data, []byte{1, 0}) {
		t.Errorf("endpoint status: %v", u.Data)
	}
	e.clears = nil
	ctl(g, Setup{2, 1, 0, 2, 0}, nil)
	if !bytes.Equal(e.clears, []byte{2}) {
		t.Errorf("cleared %v", e.clears)
	}
	g.Submit(&URB{Endpoint: 2, Data: []byte{3}})
	if !waiting.Complete() || !bytes.Equal(waiting.Data, []byte{3}) {
		t.Errorf("after the halt: %+v", waiting)
	}
	ctl(g, Setup{2, 3, 0, 0x81, 0}, nil)
	if u := (&URB{Endpoint: 1, In: true, Length: 1}); true {
		g.Submit(u)
		if u.Status != StatusStall {
			t.Error("SET_FEATURE should halt")
		}
	}
	none := &URB{Endpoint: 5, Data: []byte{1}}
	g.Submit(none)
	if none.Status != StatusNoEndpoint {
		t.Errorf("no endpoint 5: %d", none.Status)
	}
	g.clearHalt(0x81)
	last := &URB{Endpoint: 1, In: true, Length: 64}
	g.Submit(last)
	g.Reset()
	if last.Status != StatusGone {
		t.Errorf("reset: %d", last.Status)
	}
}

func FuzzGadget(f *testing.F) {
	f.Add([]byte{0x80, 6, 0, 1, 0, 0, 18, 0, 0, 9, 1, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		g, _ := newEcho(3)
		for len(b) >= 8 {
			s := ParseSetup([8]byte(b))
			b = b[8:]
			if s.Type == 0xff { // a transfer of data
				g.Submit(&URB{Endpoint: s.Request & 15, In: s.Request&0x80 != 0, Length: int(s.Length), Data: make([]byte, s.Value&0xff)})
				continue
			}
			if u := ctl(g, s, nil); !u.Complete() || len(u.Data) > int(s.Length) {
				t.Fatalf("%+v: %+v", s, u)
			}
		}
	})
}
