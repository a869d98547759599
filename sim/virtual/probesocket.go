package virtual

import (
	"context"
	"time"
)

// ProbeSocket keeps a Debug Probe plugged into a port, but for its faults.
type ProbeSocket struct {
	// Clock counts the time of its bus.
	Clock Clock

	port   *Port
	now    func() time.Duration
	make   func() *Gadget
	faults *troubles
	device Device
}

// NewProbeSocket returns the socket of a probe that make makes; now is the
// simulated time.
func NewProbeSocket(port *Port, now func() time.Duration, make func() *Gadget) *ProbeSocket {
	return &ProbeSocket{port: port, now: now, make: make, faults: newTroubles(now)}
}

// RealTime makes USB take its time.
func (p *ProbeSocket) RealTime() { p.Clock.Pace = p.now }

// Inject makes faults happen. It comes before the first Poll.
func (p *ProbeSocket) Inject(faults ...Fault) { p.faults.faults = append(p.faults.faults, faults...) }

// Poll plugs the probe in and out.
func (p *ProbeSocket) Poll() {
	switch off := p.faults.unplugged(); {
	case off && p.device != nil:
		p.device = nil
		p.port.Unplug()
	case !off && p.device == nil:
		again := p.Clock.Enumerations > 0
		p.Clock.enumerated(again)
		if again {
			p.faults.returns++
		}
		g := p.make()
		g.Clock = &p.Clock
		p.device = p.faults.wrap(g)
		p.port.Plug(p.device)
	}
}

// Follow polls each millisecond of real time until ctx ends.
func (p *ProbeSocket) Follow(ctx context.Context, do func(f func())) { follow(ctx, do, p.Poll) }
