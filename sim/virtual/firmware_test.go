package virtual

import (
	"bytes"
	"testing"

	"github.com/stem-hw/stem-hw/sim/rp2350/periph"
)

// stack is a program's USB device at the level of transactions: it answers
// standard requests as slowly as busy says, and echoes on endpoints 2 and 1.
type stack struct {
	gadget  *Gadget
	addr    uint8
	setup   Setup
	reply   []byte
	data    []byte
	pending bool // a SETUP that the program has not looked at yet
	stall   bool
	newAddr uint8
	took    bool
	busy    int // NAKs before each answer
	wait    [2][16]int
	echo    [][]byte
	in, out bool // toggles of the endpoints
	frames  int
	resets  int
	gone    bool
}

func (s *stack) Attached() bool { return !s.gone }
func (s *stack) Reset() {
	s.resets++
	s.addr, s.pending, s.in, s.out = 0, false, false, false
	s.gadget.Reset()
}
func (s *stack) StartOfFrame(uint16) {
	s.frames++
	if s.took { // the program has seen the end of SET_ADDRESS
		s.addr, s.newAddr, s.took = s.newAddr, 0, false
	}
}
func (s *stack) Setup(addr uint8, p [8]byte) periph.Handshake {
	if addr != s.addr {
		return periph.NoAnswer
	}
	s.setup, s.data, s.stall = ParseSetup(p), nil, false
	s.pending = s.setup.In() || s.setup.Length == 0
	return periph.ACK
}

func (s *stack) late(way, ep int) bool {
	w := &s.wait[way][ep]
	if *w > 0 {
		*w--
		return true
	}
	*w = s.busy
	return false
}

func (s *stack) look() {
	if !s.pending {
		return
	}
	s.pending = false
	u := ctl(s.gadget, s.setup, s.data)
	s.reply, s.stall = u.Data, u.Status != StatusOK
	if s.setup.Request == reqSetAddress && s.setup.Type == 0 {
		s.newAddr = uint8(s.setup.Value)
	}
	if s.setup.Request == reqSetConfiguration && s.setup.Type == 0 {
		s.in, s.out = false, false
	}
}

func (s *stack) In(addr uint8, ep int) ([]byte, bool, periph.Handshake) {
	switch {
	case addr != s.addr:
		return nil, false, periph.NoAnswer
	case s.late(0, ep):
		return nil, false, periph.NAK
	case ep == 1:
		if len(s.echo) == 0 {
			return nil, false, periph.NAK
		}
		p := s.echo[0]
		s.echo = s.echo[1:]
		s.in = !s.in
		return p, !s.in, periph.ACK
	}
	s.look()
	if s.stall {
		return nil, false, periph.STALL
	}
	if !s.setup.In() {
		s.took = s.newAddr != 0
		return nil, true, periph.ACK
	}
	p := s.reply[:min(64, len(s.reply))]
	s.reply = s.reply[len(p):]
	return p, true, periph.ACK
}

func (s *stack) Out(addr uint8, ep int, data []byte, data1 bool) periph.Handshake {
	switch {
	case addr != s.addr:
		return periph.NoAnswer
	case s.late(1, ep):
		return periph.NAK
	case ep == 2:
		if data1 == s.out {
			s.echo = append(s.echo, append([]byte(nil), data...))
			s.out = !s.out
		}
		return periph.ACK
	case ep != 0:
		return periph.NoAnswer
	}
	if !s.setup.In() {
		s.data = append(s.data, data...)
		s.pending = len(s.data) == int(s.setup.Length)
	}
	return periph.ACK
}

// enumerate brings a program's device up.
func enumerate(t *testing.T, busy int) (*Firmware, *stack, *float64) {
	t.Helper()
	g, _ := newEcho(9)
	s := &stack{gadget: g, busy: busy}
	now := new(float64)
	var ready *Firmware
	f := NewFirmware(s, func() float64 { return *now }, &Clock{}, func(f *Firmware) { ready = f })
	for range 200 {
		*now += 1e-3
		f.Poll()
	}
	if ready == nil {
		t.Fatal("not enumerated")
	}
	return f, s, now
}

func finish(t *testing.T, f *Firmware, now *float64, u *URB) {
	t.Helper()
	f.Submit(u)
	for range 1000 {
		if u.Complete() {
			return
		}
		*now += 1e-3
		f.Poll()
	}
	t.Fatalf("never complete: %+v", u)
}

func TestFirmwareEnumerates(t *testing.T) {
	for _, busy := range []int{0, 1, 3} {
		f, s, now := enumerate(t, busy)
		d, c := f.Descriptors()
		if !bytes.Equal(d, s.gadget.about.Device) || !bytes.Equal(c, s.gadget.about.Config) || s.addr != 1 {
			t.Fatalf("busy %d: % x, % x, address %d", busy, d, c, s.addr)
		}
		f.Reset() // a host takes it
		control := func(set Setup, data []byte) *URB {
			u := &URB{Setup: set, In: set.In(), Length: int(set.Length), Data: data}
			finish(t, f, now, u)
			return u
		}
		if u := control(Setup{0, 9, 1, 0, 0}, nil); u.Status != StatusOK {
			t.Fatalf("SET_CONFIGURATION: %d", u.Status)
		}
		if u := control(Setup{0xc0, 0x55, 0, 0, 70}, nil); len(u.Data) != 70 {
			t.Errorf("two packets: %d bytes", len(u.Data))
		}
		if u := control(Setup{0x40, 0x56, 0, 0, 3}, []byte{1, 2, 3}); u.Status != StatusOK || u.Actual != 3 {
			t.Errorf("data OUT: %+v", u)
		}
		if u := control(Setup{0x80, 6, 0x600, 0, 10}, nil); u.Status != StatusStall {
			t.Errorf("stall: %d", u.Status)
		}
		data := bytes.Repeat([]byte("0123456789"), 30)
		out := &URB{Endpoint: 2, Data: data}
		in := &URB{Endpoint: 1, In: true, Length: 512}
		f.Submit(in)
		finish(t, f, now, out)
		finish(t, f, now, &URB{Endpoint: 2, Data: []byte("-")}) // toggles go on
		if !in.Complete() || !bytes.Equal(in.Data, data) || s.frames == 0 {
			t.Errorf("busy %d: %+v", busy, in)
		}
	}
}

func TestFirmwareUnlinkAndLoss(t *testing.T) {
	f, s, now := enumerate(t, 0)
	in := &URB{Endpoint: 1, In: true, Length: 64}
	f.Submit(in)
	if in.Complete() || !f.Unlink(in) || in.Status != StatusUnlinked || f.Unlink(in) {
		t.Errorf("%+v", in)
	}
	none := &URB{Endpoint: 7, Data: []byte{1}}
	f.Submit(none)
	if none.Status != StatusNoEndpoint {
		t.Errorf("%d", none.Status)
	}
	s.addr = 9 // the program forgot itself
	u := &URB{In: true, Length: 18, Setup: Setup{0x80, 6, 0x100, 0, 18}}
	finish(t, f, now, u)
	if u.Status != StatusProtocol {
		t.Errorf("%d", u.Status)
	}
}
