package swd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/stem-hw/stem-hw/probe/dap"
)

// Options say how a port is reached.
type Options struct {
	// Clock of the wires in Hz; 0 is 5 MHz.
	Clock uint32
	// Target is the TARGETSEL word of one of several chips on the wires; 0 is
	// the only one.
	Target uint32
	// Notice hears of what the person should know: a slower clock.
	Notice func(text string)
}

// DefaultClock is the clock that is tried first.
const DefaultClock uint32 = 5_000_000

// slowest is the slowest clock that is tried.
const slowest uint32 = 100_000

// waitRetries is how often the probe tries again what is answered with WAIT: at
// 10 MHz more than ten milliseconds.
const waitRetries = 8192

// Port is a debug port. It is used by one goroutine at a time.
type Port struct {
	probe *dap.Probe
	o     Options
	clock uint32

	dpidr    uint32
	targetID uint32
	woken    bool

	sel      uint32
	selKnown bool
	powered  bool
}

// DP requests: APnDP is 0; A[3:2] and RnW.
const (
	reqDPIDR    uint8 = 0x02
	reqAbort    uint8 = 0x00
	reqCtrlRead uint8 = 0x06
	reqCtrl     uint8 = 0x04
	reqSelect   uint8 = 0x08
	reqRdbuff   uint8 = 0x0e
)

// clearAll is the value for ABORT that clears every sticky error, abort what
// ends an access that waits besides.
const (
	clearAll uint32 = 0x1e
	abort    uint32 = 0x1f
)

// New returns the port behind a probe; Connect opens it.
func New(p *dap.Probe, o Options) *Port {
	if o.Clock == 0 {
		o.Clock = DefaultClock
	}
	if o.Notice == nil {
		o.Notice = func(string) {}
	}
	return &Port{probe: p, o: o, clock: o.Clock}
}

// DPIDR is the identification of the port.
func (p *Port) DPIDR() uint32 { return p.dpidr }

// TargetID is the identification of the chip as its port gives it.
func (p *Port) TargetID() uint32 { return p.targetID }

// Woken reports whether the port was dormant when it was connected.
func (p *Port) Woken() bool { return p.woken }

// Clock is the present clock in Hz.
func (p *Port) Clock() uint32 { return p.clock }

// Probe is the probe the port is reached through.
func (p *Port) Probe() *dap.Probe { return p.probe }

// Connect takes the wires and opens the port, whatever it did before. It does
// not ask for power yet.
func (p *Port) Connect(ctx context.Context) error {
	if err := p.probe.Connect(ctx); err != nil {
		return err
	}
	if err := p.probe.Configure(ctx, 0, waitRetries); err != nil {
		return err
	}
	if err := p.probe.Lights(ctx, true); err != nil {
		return err
	}
	first := p.clock
	garbled := false
	for {
		if err := p.probe.SetClock(ctx, p.clock); err != nil {
			return err
		}
		ok, g, err := p.wake(ctx)
		if err != nil {
			return err
		}
		if ok {
			break
		}
		garbled = garbled || g
		if p.clock <= slowest {
			return p.noAnswer(ctx, garbled)
		}
		p.clock = max(p.clock/4, slowest)
	}
	if p.clock != first {
		p.o.Notice(fmt.Sprintf("the SWD clock is %d kHz: at %d kHz nobody answered", p.clock/1000, first/1000))
	}
	return p.identify(ctx)
}

// noAnswer looks at the line to say why nobody answers.
func (p *Port) noAnswer(ctx context.Context, garbled bool) error {
	e := &NoAnswerError{Clock: p.clock, Garbled: garbled}
	var all, any uint64 = ^uint64(0), 0
	for range 4 {
		v, err := p.probe.Sample(ctx, 63)
		if err != nil {
			if errors.Is(err, dap.ErrLost) || ctx.Err() != nil {
				return err
			}
			return e
		}
		all &= v
		any |= v
	}
	const mask = 1<<63 - 1
	switch {
	case all&mask == mask:
		e.Line = LineHigh
	case any&mask == 0:
		e.Line = LineLow
	default:
		e.Line = LineNoisy
	}
	return e
}

// Sequences on the wire, as bytes of which the lowest bit goes first.
var (
	// lineReset is 56 ones and eight zeros.
	lineReset = []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x00}
	// jtagToSWD is for ports that speak both (IHI 0031, B5.2.1).
	jtagToSWD = []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x9e, 0xe7}
	// toDormant is 56 ones and SWD-to-dormant (IHI 0074, B5.3.2).
	toDormant = []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xbc, 0xe3}
	// alert is eight ones, the selection alert, four zeros and the activation
	// code of SWD, 0x1a (IHI 0074, B5.3.4; the datasheet's words in the order of
	// the wire).
	alert = []byte{
		0xff, 0x92, 0xf3, 0x09, 0x62, 0x95, 0x2d, 0x85, 0x86, 0xe9, 0xaf, 0xdd, 0xe3, 0xa2, 0x0e, 0xbc, 0x19, 0xa0, 0xf1,
	}
)

// wake opens the port at the present clock: as it is first, then from the
// dormant state. garbled says that something answered, but not twice the same.
func (p *Port) wake(ctx context.Context) (ok, garbled bool, err error) {
	p.selKnown = false
	if err := p.sequences(ctx, jtagToSWD); err != nil {
		return false, false, err
	}
	if ok, garbled, err = p.open(ctx); ok || err != nil {
		return ok, garbled, err
	}
	if err := p.sequences(ctx, toDormant, alert); err != nil {
		return false, false, err
	}
	ok, g, err := p.open(ctx)
	p.woken = p.woken || ok
	return ok, garbled || g, err
}

func (p *Port) sequences(ctx context.Context, s ...[]byte) error {
	for _, b := range s {
		if err := p.probe.Sequence(ctx, 8*len(b), b); err != nil {
			return err
		}
	}
	return nil
}

// open resets the line and reads DPIDR, twice.
func (p *Port) open(ctx context.Context) (ok, garbled bool, err error) {
	var seen [2]uint32
	for i := range seen {
		if err := p.sequences(ctx, lineReset); err != nil {
			return false, false, err
		}
		if p.o.Target != 0 {
			if err := p.probe.SelectTarget(ctx, p.o.Target); err != nil {
				return false, false, err
			}
		}
		v, err := p.probe.Run(ctx, []dap.Request{{Bits: reqDPIDR}})
		var te *dap.TransferError
		if errors.As(err, &te) {
			return false, garbled || te.Ack&dap.AckProtocol != 0 || i > 0, nil
		}
		if err != nil {
			return false, false, err
		}
		seen[i] = v[0]
	}
	// A port has an odd identification, and always the same (IHI 0031, B2.2.5).
	if seen[0] != seen[1] || seen[0]&1 == 0 || seen[0] == 0xffffffff {
		return false, true, nil
	}
	p.dpidr = seen[0]
	return true, false, nil
}

// identify reads what the port says of itself.
func (p *Port) identify(ctx context.Context) error {
	if err := p.clear(ctx); err != nil {
		return err
	}
	p.targetID = 0
	if p.dpidr>>12&0xf < 2 {
		return nil // DPv1 has no TARGETID
	}
	return p.Retry(ctx, func() error {
		v, err := p.ReadDP(ctx, 2, 4)
		p.targetID = v
		return err
	})
}

// clear clears the sticky errors.
func (p *Port) clear(ctx context.Context) error {
	_, err := p.run(ctx, []dap.Request{{Bits: reqAbort, Value: clearAll}, {Bits: reqSelect}})
	if err == nil {
		p.sel, p.selKnown = 0, true
	}
	return err
}

// powerTime bounds the wait for the debug power domain: it is sequenced by a
// clock of about 32 kHz.
const powerTime = time.Second

// PowerUp asks for power for the debug domain and waits for it.
func (p *Port) PowerUp(ctx context.Context) error {
	var stat uint32
	err := p.Retry(ctx, func() error {
		if err := p.clear(ctx); err != nil {
			return err
		}
		end := time.Now().Add(powerTime)
		for try := 0; ; try++ {
			v, err := p.run(ctx, []dap.Request{{Bits: reqCtrl, Value: powerRequest}, {Bits: reqCtrlRead}})
			if err != nil {
				return err
			}
			if stat = v[0]; stat&PowerAck == PowerAck {
				return nil
			}
			if try > 3 && time.Now().After(end) {
				return &PowerError{stat}
			}
			if err := pause(ctx, time.Millisecond); err != nil {
				return err
			}
		}
	})
	p.powered = err == nil
	return err
}

// pause waits.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// ColdReset resets the whole chip except its port (CDBGRSTREQ) and powers the
// debug domain up again.
func (p *Port) ColdReset(ctx context.Context) error {
	v, err := p.run(ctx, []dap.Request{
		{Bits: reqSelect}, {Bits: reqCtrl, Value: powerRequest | resetRequest}, {Bits: reqCtrlRead},
	})
	if err != nil {
		return err
	}
	p.sel, p.selKnown = 0, true
	for try := 0; v[0]&resetAck == 0 && try < 100; try++ {
		if err := pause(ctx, time.Millisecond); err != nil {
			return err
		}
		if v, err = p.run(ctx, []dap.Request{{Bits: reqCtrlRead}}); err != nil {
			return err
		}
	}
	if v[0]&resetAck == 0 {
		return &PowerError{v[0]}
	}
	return p.PowerUp(ctx)
}

// Disconnect lets go of the wires, as politely as the probe still allows.
func (p *Port) Disconnect(ctx context.Context) error {
	lights := p.probe.Lights(ctx, false)
	return errors.Join(lights, p.probe.Disconnect(ctx))
}
