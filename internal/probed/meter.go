package probed

import (
	"context"
	"time"

	"github.com/stem-hw/stem-hw/probe/dap"
	"github.com/stem-hw/stem-hw/sim/debugport"
)

// Meter is a probe on USB full speed in simulated time. A packet of 64 bytes takes
// a nineteenth of a frame of 1 ms (USB 2.0, table 5-9), the probe works on one
// packet after the other for as long as the wires take, and what is complete is
// seen by the host at the end of the frame: one packet at a time is one a frame.
type Meter struct {
	dap.Transport
	Probe *debugport.Probe
	// Now is the host's time, Packets how many it sent.
	Now     time.Duration
	Packets int

	bus, busy time.Duration
	ready     []time.Duration
}

const (
	frame    = time.Millisecond
	overhead = 13 // bytes of a bulk transaction beyond its data
)

func onBus(n int) time.Duration {
	return time.Duration(n+overhead) * (frame / 19) / (64 + overhead)
}

// Send implements dap.Transport.
func (m *Meter) Send(ctx context.Context, p []byte) error {
	m.Packets++
	m.bus = max(m.bus, m.Now) + onBus(len(p))
	before := m.Probe.Took()
	err := m.Transport.Send(ctx, p)
	m.busy = max(m.busy, m.bus) + m.Probe.Took() - before
	m.ready = append(m.ready, m.busy)
	return err
}

// Receive implements dap.Transport.
func (m *Meter) Receive(ctx context.Context) ([]byte, error) {
	a, err := m.Transport.Receive(ctx)
	if err != nil || len(m.ready) == 0 {
		return a, err
	}
	done := m.ready[0] + onBus(len(a))
	m.ready = m.ready[1:]
	m.Now = max(m.Now, (done+frame-1)/frame*frame)
	return a, nil
}
