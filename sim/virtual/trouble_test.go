package virtual

import (
	"bytes"
	"testing"
	"time"

	"github.com/stem-hw/stem-hw/sim/debugport"
	"github.com/stem-hw/stem-hw/sim/rp2350"
)

// faulty is a board with faults, and a host that takes what appears.
type faulty struct {
	*board
	port   *Port
	on     *Board
	losses int
	sent   int // of what is echoed
}

func newFaulty(t *testing.T, faults ...string) *faulty {
	t.Helper()
	f := &faulty{board: &board{t: t}, port: &Port{BusID: "1-1"}}
	f.chip = rp2350.New(rp2350.Options{Arch: riscv.Arch, FlashSize: 1 << 20, Bootsel: func(*rp2350.Chip) {}})
	f.chip.InputOpen(true) // time passes while the cores sleep
	f.on = NewBoard(f.chip, f.port)
	f.clk = &f.on.Clock
	parsed, err := ParseFaults(faults)
	if err != nil {
		t.Fatal(err)
	}
	f.on.Inject(parsed...)
	f.pass(50 * time.Millisecond)
	return f
}

// pass lets simulated time pass; the host takes a device that appears.
func (f *faulty) pass(d time.Duration) {
	for end := f.on.Now() + d; f.on.Now() < end; {
		f.chip.Run(f.chip.CycleAt(f.chip.Seconds() + 1e-3))
		f.on.Poll()
		if dev := f.port.take(func() { f.losses++; f.dev = nil }); dev != nil {
			f.dev = dev
			configure(f.t, dev)
		}
		if f.dev != nil {
			f.dev.Poll()
		}
	}
}

func (f *faulty) text(index uint16) []byte {
	return ctl(f.dev, Setup{0x80, 6, 0x300 + index, 0x409, 255}, nil).Data
}

func TestFaultUnplug(t *testing.T) {
	f := newFaulty(t, "unplug@200ms+300ms")
	waiting := &URB{Endpoint: 4, In: true, Length: 64}
	f.dev.Submit(waiting)
	f.chip.Run(f.chip.Now() + 1000)
	f.pass(200 * time.Millisecond)
	if f.losses != 1 || f.dev != nil || waiting.Status != StatusGone || f.chip.Powered() {
		t.Fatalf("lost %d times, %v, %+v", f.losses, f.dev, waiting)
	}
	f.pass(200 * time.Millisecond)
	if f.dev != nil {
		t.Error("it is back too early")
	}
	f.pass(150 * time.Millisecond)
	if f.dev == nil || !f.chip.Powered() {
		t.Fatal("it should be back")
	}
	f.ok(cmdExclusive, []byte{1}, nil, 0)
	if s := f.clk.Stats(); s.Enumerations != 2 || s.Time.Boot != bootTime {
		t.Errorf("%+v", s)
	}
	if f := newFaulty(t, "unplug@100ms"); true {
		f.pass(5 * time.Second)
		if f.losses != 1 || f.dev != nil {
			t.Error("it should stay away")
		}
	}
}

func TestFaultPowerLostInAnErase(t *testing.T) {
	f := newFaulty(t, "power-loss:erase@2+100ms")
	f.chip.Flash().Load(0, make([]byte, 4*4096))
	f.dev.Submit(&URB{Endpoint: 3, Data: packet(cmdFlashErase, 0, words(0x10000000, 4*4096))})
	ack := &URB{Endpoint: 4, In: true, Length: 1}
	f.dev.Submit(ack)
	if ack.Status != StatusGone {
		t.Errorf("a board without power acknowledges: %+v", ack)
	}
	f.pass(50 * time.Millisecond)
	sector := func(i int) []byte { return f.chip.Flash().Bytes()[4096*i : 4096*(i+1)] }
	torn := bytes.Count(sector(1), []byte{0xff})
	if !bytes.Equal(sector(0), bytes.Repeat([]byte{0xff}, 4096)) || torn < 2048 || torn == 4096 || !bytes.Equal(sector(2), make([]byte, 4096)) {
		t.Errorf("the second sector has %d bytes erased", torn)
	}
	if f.losses != 1 || f.dev != nil {
		t.Fatalf("lost %d times", f.losses)
	}
	f.pass(150 * time.Millisecond)
	f.ok(cmdFlashErase, words(0x10000000, 4*4096), nil, 0)
	if torn := bytes.Count(sector(1), []byte{0xff}); torn != 4096 {
		t.Error("the second try erases everything")
	}
}

func TestFaultPowerLostInAProgram(t *testing.T) {
	f := newFaulty(t, "power-loss:program@1")
	f.dev.Submit(&URB{Endpoint: 3, Data: packet(cmdWrite, 512, words(0x10000000, 512))})
	out := &URB{Endpoint: 3, Data: make([]byte, 512)}
	f.dev.Submit(out)
	if out.Status != StatusGone || f.chip.Flash().Bytes()[0] != 0 || f.chip.Flash().Bytes()[255] != 0xff {
		t.Errorf("%+v", out)
	}
	f.pass(1200 * time.Millisecond)
	if f.dev == nil {
		t.Error("it should be back after a second")
	}
}

func TestFaultStuckBit(t *testing.T) {
	f := newFaulty(t, "stuck-bit:0x10000101.3=1", "stuck-bit:0x10001000.0=0@200ms")
	page := make([]byte, 512)
	f.ok(cmdFlashErase, words(0x10000000, 8192), nil, 0)
	f.ok(cmdWrite, words(0x10000000, 512), page, 0)
	page[0x101] = 8
	if got := f.ok(cmdRead, words(0x10000000, 512), nil, 512); !bytes.Equal(got, page) {
		t.Errorf("% x", got[0x100:0x108])
	}
	if f.chip.Flash().Bytes()[0x1000] != 0xff {
		t.Error("the other bit is stuck too early")
	}
	f.pass(200 * time.Millisecond)
	f.ok(cmdFlashErase, words(0x10001000, 4096), nil, 0)
	if got := f.ok(cmdRead, words(0x10001000, 256), nil, 256); got[0] != 0xfe {
		t.Errorf("%#x", got[0])
	}
}

func TestFaultStall(t *testing.T) {
	f := newFaulty(t, "stall:0x84@2")
	f.ok(cmdExclusive, []byte{1}, nil, 0)
	if s := f.send(3, packet(cmdExitXIP, 0, nil)); s != StatusOK {
		t.Fatal(s)
	}
	if _, s := f.receive(4, 1); s != StatusStall {
		t.Errorf("the second transfer: %d", s)
	}
	if u := ctl(f.dev, Setup{0x82, 0, 0, 0x84, 2}, nil); u.Data[0] != 1 {
		t.Error("the endpoint should halt")
	}
	ctl(f.dev, Setup{2, reqClearFeature, 0, 0x84, 0}, nil)
	if _, s := f.receive(4, 1); s != StatusOK {
		t.Errorf("after it was cleared: %d", s)
	}
	f.ok(cmdExclusive, []byte{0}, nil, 0)
}

func TestFaultSlowHost(t *testing.T) {
	f := newFaulty(t, "slow-host:20ms@100ms+200ms")
	f.ok(cmdExitXIP, nil, nil, 0)
	f.pass(60 * time.Millisecond)
	out := &URB{Endpoint: 3, Data: packet(cmdExitXIP, 0, nil)}
	lost := &URB{Endpoint: 4, In: true, Length: 1}
	f.dev.Submit(out)
	f.dev.Submit(lost)
	if !f.dev.Unlink(lost) || lost.Status != StatusUnlinked {
		t.Errorf("unlinked: %+v", lost)
	}
	f.pass(10 * time.Millisecond)
	if out.Complete() {
		t.Error("the host is not slow")
	}
	f.pass(15 * time.Millisecond)
	if out.Status != StatusOK || !out.Complete() {
		t.Errorf("%+v", out)
	}
	f.pass(200 * time.Millisecond)
	if _, s := f.receive(4, 1); s != StatusOK {
		t.Error(s)
	}
	f.ok(cmdExitXIP, nil, nil, 0)
}

func TestFaultFullFIFO(t *testing.T) {
	f := newFaulty(t, "full-fifo:0x03@100ms+100ms")
	f.pass(60 * time.Millisecond)
	out := &URB{Endpoint: 3, Data: packet(cmdExitXIP, 0, nil)}
	f.dev.Submit(out)
	f.pass(50 * time.Millisecond)
	if out.Complete() {
		t.Error("it is not full")
	}
	if s := f.status(); s != pbOK { // the control endpoint is free
		t.Error(s)
	}
	f.pass(60 * time.Millisecond)
	if out.Status != StatusOK || !out.Complete() {
		t.Errorf("%+v", out)
	}
}

func TestFaultSerial(t *testing.T) {
	f := newFaulty(t, "serial:0011223344556677@1")
	own := f.text(3)
	f.ok(cmdReboot2, words(2, 1, 0, 0), nil, 0)
	f.pass(100 * time.Millisecond)
	if f.losses != 1 || f.dev == nil {
		t.Fatal("it should be back")
	}
	want := stringDescriptor("0011223344556677")
	if got := f.text(3); !bytes.Equal(got, want) || bytes.Equal(own, want) {
		t.Errorf("% x", got)
	}
	if got := ctl(f.dev, Setup{0x80, 6, 0x303, 0x409, 4}, nil).Data; !bytes.Equal(got, want[:4]) {
		t.Errorf("% x", got)
	}
	if bytes.Equal(f.text(2), want) {
		t.Error("another string has changed")
	}
}

func TestFaultsOfAProbe(t *testing.T) {
	c := rp2350.New(riscv)
	dap := debugport.NewProbe(debugport.DebugProbe("A"), debugport.NewLine(debugport.NewDP(c.DebugPort())))
	now, port := time.Duration(0), &Port{BusID: "1-2"}
	p := NewProbeSocket(port, func() time.Duration { return now }, func() *Gadget { return NewProbe(dap, "A", 6, &Serial{}) })
	faults, err := ParseFaults([]string{"probe/unplug@1s+1s", "probe/serial:B", "probe/stall:0x85@1"})
	if err != nil {
		t.Fatal(err)
	}
	p.Inject(faults...)
	p.Poll()
	configure(t, port.Device())
	in := &URB{Endpoint: 5, In: true, Length: 64}
	port.Device().Submit(in)
	if in.Status != StatusStall {
		t.Errorf("%+v", in)
	}
	now = 1500 * time.Millisecond
	p.Poll()
	if port.Device() != nil {
		t.Error("it should be pulled out")
	}
	now = 2 * time.Second
	p.Poll()
	if u := ctl(port.Device(), Setup{0x80, 6, 0x303, 0x409, 255}, nil); !bytes.Equal(u.Data, stringDescriptor("B")) {
		t.Errorf("% x", u.Data)
	}
	if p.Clock.Stats().Enumerations != 2 {
		t.Errorf("%+v", p.Clock.Stats())
	}
}

func TestFaultsOfAProgram(t *testing.T) {
	f := newProgram(t, echoPrograms["riscv"], "stall:0x83@20", "full-fifo:0x02@400ms+100ms", "serial:LATER", "unplug@900ms+100ms")
	f.appears()
	data := bytes.Repeat([]byte("stalled"), 100)
	stalled := 0
	for range 20 {
		in := &URB{Endpoint: 3, In: true, Length: 64}
		f.dev.Submit(&URB{Endpoint: 2, Data: data[:50]})
		if f.done(in); in.Status == StatusStall {
			stalled++
			f.control(Setup{2, reqClearFeature, 0, 0x83, 0}, nil)
		}
	}
	if stalled != 1 {
		t.Errorf("%d stalls", stalled)
	}
	if got := f.echoes(data, 64); !bytes.HasSuffix(got, data) {
		t.Errorf("after the stall: %q", got)
	}
	f.pass(410*time.Millisecond - f.on.Now())
	full := &URB{Endpoint: 2, Data: data[:10]}
	f.dev.Submit(full)
	f.pass(50 * time.Millisecond)
	if full.Complete() {
		t.Error("the FIFO is not full")
	}
	f.pass(100 * time.Millisecond)
	if full.Status != StatusOK || !full.Complete() {
		t.Errorf("%+v", full)
	}
	f.pass(time.Second - f.on.Now() + 20*time.Millisecond)
	f.appears()
	if u := f.control(Setup{0x80, 6, 0x303, 0x409, 255}, nil); f.losses != 1 || !bytes.Equal(u.Data, stringDescriptor("LATER")) {
		t.Errorf("lost %d times, % x", f.losses, u.Data)
	}
}
