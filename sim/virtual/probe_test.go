package virtual

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/stem-hw/stem-hw/sim/debugport"
	"github.com/stem-hw/stem-hw/sim/rp2350"
)

func newProbeOn(t *testing.T, serial *Serial) *Gadget {
	t.Helper()
	c := rp2350.New(riscv)
	p := debugport.NewProbe(debugport.DebugProbe("E6616407E3712345"), debugport.NewLine(debugport.NewDP(c.DebugPort())))
	g := NewProbe(p, "E6616407E3712345", 6, serial)
	configure(t, g)
	return g
}

func TestProbeDescriptors(t *testing.T) {
	g := newProbeOn(t, &Serial{})
	d, c := g.Descriptors()
	if !bytes.Equal(d, []byte{18, 1, 0x10, 2, 0xef, 2, 1, 64, 0x8a, 0x2e, 0x0c, 0, 0x31, 2, 1, 2, 3, 1}) {
		t.Errorf("% x", d)
	}
	p := parseConfig(c)
	want := []uint8{0x04, 0x85, 0x81, 0x02, 0x83}
	for i, e := range p.endpoints {
		if e.address != want[i] || e.size != 64 {
			t.Errorf("endpoint %d: %+v", i, e)
		}
	}
	if len(p.interfaces) != 3 || p.interfaces[0] != [3]uint8{0xff, 0, 0} || p.interfaces[1] != [3]uint8{2, 2, 0} || int(c[2]) != len(c) {
		t.Errorf("%v", p.interfaces)
	}
	if u := ctl(g, Setup{0x80, 6, 0x304, 0x409, 255}, nil); !bytes.Equal(u.Data, stringDescriptor("CMSIS-DAP v2 Interface")) {
		t.Errorf("% x", u.Data)
	}
	set := ctl(g, Setup{0xc0, 1, 0, 7, 500}, nil)
	bos := ctl(g, Setup{0x80, 6, 0xf00, 0, 33}, nil)
	if len(set.Data) != 0xb2 || bos.Data[29] != 0xb2 || set.Data[8] != 0xb2 {
		t.Errorf("%d bytes of Microsoft OS descriptors, announced %#x", len(set.Data), bos.Data[29:])
	}
}

// dap exchanges a CMSIS-DAP packet.
func dap(t *testing.T, g *Gadget, p ...byte) []byte {
	t.Helper()
	g.Submit(&URB{Endpoint: 4, Data: p})
	in := &URB{Endpoint: 5, In: true, Length: 64}
	g.Submit(in)
	if in.Status != StatusOK || len(in.Data) == 0 || in.Data[0] != p[0] {
		t.Fatalf("% x: %+v", p, in)
	}
	return in.Data
}

func TestProbeReadsDPIDR(t *testing.T) {
	g := newProbeOn(t, &Serial{})
	if a := dap(t, g, 0x00, 0xfe); !bytes.Equal(a, []byte{0, 1, 6}) {
		t.Errorf("packet count: % x", a)
	}
	if a := dap(t, g, 0x00, 0xff); !bytes.Equal(a, []byte{0, 2, 64, 0}) {
		t.Errorf("packet size: % x", a)
	}
	if a := dap(t, g, 0x02, 1); !bytes.Equal(a, []byte{2, 1}) {
		t.Errorf("connect: % x", a)
	}
	// Requests may be sent ahead, as many as the probe holds.
	var out []*URB
	for range 8 {
		u := &URB{Endpoint: 4, Data: []byte{0x00, 0xff}}
		out = append(out, u)
		g.Submit(u)
	}
	if !out[5].Complete() || out[6].Complete() {
		t.Error("the probe should hold six packets")
	}
	for range 8 {
		in := &URB{Endpoint: 5, In: true, Length: 64}
		g.Submit(in)
		if !in.Complete() {
			t.Fatal("an answer is missing")
		}
	}
	if !out[7].Complete() {
		t.Error("the last request is left")
	}
}

func TestProbeUART(t *testing.T) {
	var got []byte
	room := 3
	var breaks []bool
	s := &Serial{
		Receive: func(p []byte) int {
			n := min(room, len(p))
			got = append(got, p[:n]...)
			room -= n
			return n
		},
		Break: func(on bool) { breaks = append(breaks, on) },
	}
	g := newProbeOn(t, s)
	// Without DTR nothing moves.
	s.Send([]byte("early"))
	early := &URB{Endpoint: 3, In: true, Length: 64}
	g.Submit(early)
	if early.Complete() {
		t.Errorf("%q for a host that has not opened the port", early.Data)
	}
	ctl(g, Setup{0x21, reqSetLineState, 1, serialInterface, 0}, nil)
	g.Poll()
	if !early.Complete() || string(early.Data) != "early" {
		t.Errorf("%q once it has", early.Data)
	}
	ctl(g, Setup{0x21, reqSendBreak, 0xffff, serialInterface, 0}, nil)
	ctl(g, Setup{0x21, reqSendBreak, 0, serialInterface, 0}, nil)
	if !slices.Equal(breaks, []bool{true, false}) {
		t.Errorf("breaks %v", breaks)
	}
	first, second := &URB{Endpoint: 2, Data: []byte("hello")}, &URB{Endpoint: 2, Data: []byte("!")}
	g.Submit(first)
	g.Submit(second)
	if !first.Complete() || second.Complete() || string(got) != "hel" {
		t.Fatalf("%q", got)
	}
	room = 100
	g.Poll()
	if !second.Complete() || string(got) != "hello!" {
		t.Fatalf("%q", got)
	}
	in := &URB{Endpoint: 3, In: true, Length: 512}
	g.Submit(in)
	s.Send(bytes.Repeat([]byte{'x'}, 63))
	g.Poll()
	if !in.Complete() || len(in.Data) != 63 {
		t.Errorf("%d bytes", len(in.Data))
	}
	if u := ctl(g, Setup{0x21, reqSetLineCoding, 0, 1, 7}, []byte{0x80, 0x25, 0, 0, 0, 0, 8}); u.Status != StatusOK || s.rate() != 9600 {
		t.Errorf("%v baud", s.rate())
	}
	if u := ctl(g, Setup{0xa1, reqGetLineCoding, 0, 1, 7}, nil); !bytes.Equal(u.Data, []byte{0x80, 0x25, 0, 0, 0, 0, 8}) {
		t.Errorf("% x", u.Data)
	}
	// What a host does not read in time is lost, the newest of it; with the port
	// closed that is all but a FIFO's depth.
	s.Send(append([]byte("first"), make([]byte, serialRoom)...))
	if len(s.out) != serialRoom || string(s.out[:5]) != "first" {
		t.Errorf("%d bytes are kept", len(s.out))
	}
	ctl(g, Setup{0x21, reqSetLineState, 0, serialInterface, 0}, nil)
	ctl(g, Setup{0x21, reqSetLineCoding, 0, 1, 7}, []byte{0x00, 0xc2, 1, 0, 0, 0, 8}) // begins anew
	s.Send([]byte("long before anybody listens, and more than fits"))
	ctl(g, Setup{0x21, reqSetLineState, 1, serialInterface, 0}, nil)
	s.Send([]byte("|now"))
	late := &URB{Endpoint: 3, In: true, Length: 64}
	g.Submit(late)
	g.Poll()
	if want := "long before anybody listens, and|now"; string(late.Data) != want {
		t.Errorf("a host that opens the port late hears %q, want %q", late.Data, want)
	}
}

// TestProbeRates has the target and the host disagree about the rate.
func TestProbeRates(t *testing.T) {
	target := 9600.0
	var got []byte
	s := &Serial{Rate: func() float64 { return target }, Receive: func(p []byte) int { got = append(got, p...); return len(p) }}
	g := newProbeOn(t, s)
	ctl(g, Setup{0x21, reqSetLineState, 1, serialInterface, 0}, nil)
	set := func(baud uint32) {
		coding := append(binary.LittleEndian.AppendUint32(nil, baud), 0, 0, 8)
		if u := ctl(g, Setup{0x21, reqSetLineCoding, 0, 1, 7}, coding); u.Status != StatusOK {
			t.Fatalf("%d baud: %v", baud, u.Status)
		}
		if u := ctl(g, Setup{0xa1, reqGetLineCoding, 0, 1, 7}, nil); !bytes.Equal(u.Data, coding) {
			t.Errorf("% x, want % x", u.Data, coding)
		}
	}
	hear := func(text string) string {
		s.Send([]byte(text))
		in := &URB{Endpoint: 3, In: true, Length: 512}
		g.Submit(in)
		g.Poll()
		if !in.Complete() {
			g.Unlink(in)
		}
		return string(in.Data)
	}
	const text = "The quick brown fox jumps"
	set(9600)
	if h := hear(text); h != text {
		t.Errorf("at the same rate: %q", h)
	}
	set(115200)
	if h := hear("U"); h == "U" || h == "" {
		t.Errorf("a fast receiver hears %q of a slow sender", h)
	}
	set(4800)
	if h := hear(text); len(h) == 0 || len(h) >= len(text) {
		t.Errorf("a slow receiver hears %q of a fast sender", h)
	}
	g.Submit(&URB{Endpoint: 2, Data: []byte("U")})
	if len(got) == 0 || string(got) == "U" {
		t.Errorf("the target hears %q", got)
	}
	// A rate that is none lets the probe measure, and then it is right.
	set(115200)
	set(magicBaud)
	if s.rate() != 115200 {
		t.Errorf("%v baud before anything was measured", s.rate())
	}
	hear(text)
	if h := hear(text); h != text || s.rate() != target {
		t.Errorf("%q at %v baud, want what the target sent at %v", h, s.rate(), target)
	}
	target = 57600
	hear(text)
	if h := hear(text); h != text {
		t.Errorf("%q when the target changes its rate", h)
	}
	// Another rate ends that.
	set(9600)
	hear(text)
	if s.rate() != 9600 {
		t.Errorf("%v baud, want what was set", s.rate())
	}
}
