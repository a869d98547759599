package probed

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/probe"
	"github.com/stem-hw/stem-hw/probe/dap"
	"github.com/stem-hw/stem-hw/sim"
	"github.com/stem-hw/stem-hw/sim/debugport"
	"github.com/stem-hw/stem-hw/sim/machine"
	"github.com/stem-hw/stem-hw/sim/rp2350"
	"github.com/stem-hw/stem-hw/sim/rp2350/otp"
)

// Rig is a simulated board with a probe on its debug port.
type Rig struct {
	t     testing.TB
	Sim   *sim.Target
	Chip  *rp2350.Chip
	DP    *debugport.DP
	Probe *debugport.Probe
	// UnplugAfter packets the probe is gone; -1 is never.
	UnplugAfter int
	// Packets were sent so far.
	Packets int
	// Asked hears of each packet, while the chip stands still; may be nil.
	Asked func(packet []byte)

	mu  sync.Mutex
	out []byte
}

// Board are the wishes for a rig.
type Board struct {
	Arch    image.Arch
	Trouble debugport.Trouble
	// Fuses burns fuses before power-up; may be nil.
	Fuses func(*otp.Array)
	// Depth is how many packets the probe holds; 0 is 6.
	Depth int
	// Load is a program that is in flash already; may be nil.
	Load *image.Image
	// Speed is sim.SpeedReal if empty: packets then wait for nothing.
	Speed sim.Speed
	// Serial is the probe's serial number; empty is a usual one.
	Serial string
	// ChipID is the chip's; 0 is the usual one.
	ChipID uint64
}

// New builds a rig, powered up.
func New(t testing.TB, b Board) *Rig {
	t.Helper()
	r := &Rig{t: t, UnplugAfter: -1}
	if b.Speed == "" {
		b.Speed = sim.SpeedReal
	}
	made, err := sim.New(sim.Options{
		Machine: sim.MachineRP2350, Speed: b.Speed, DebugPort: true, Input: true,
		Build: func() (machine.Machine, error) {
			r.Chip = rp2350.New(rp2350.Options{Arch: b.Arch, ChipID: b.ChipID, Bootsel: func(*rp2350.Chip) {}})
			if b.Fuses != nil {
				b.Fuses(r.Chip.OTP())
			}
			return r.Chip, nil
		},
		Output: func(_ string, p []byte) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.out = append(r.out, p...)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = made.Close() })
	r.Sim = sim.Base(made)
	if b.Load != nil {
		if err := r.Sim.Load(context.Background(), b.Load); err != nil {
			t.Fatal(err)
		}
	}
	r.DP = debugport.NewDP(r.Chip.DebugPort())
	r.DP.Trouble = b.Trouble
	if b.Serial == "" {
		b.Serial = "E660440C84B2A31E"
	}
	id := debugport.DebugProbe(b.Serial)
	if b.Depth > 0 {
		id.PacketCount = b.Depth
	}
	r.Probe = debugport.NewProbe(id, debugport.NewLine(r.DP))
	if err := r.Sim.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	return r
}

// Printed is what the program printed on its UART so far.
func (r *Rig) Printed() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return string(r.out)
}

// Do runs f while the chip stands still. What the wires took before passes for it
// first.
func (r *Rig) Do(f func()) {
	_ = r.Sim.DoAfter(context.Background(), r.DP.TakeSpent, func(machine.Machine) { f() })
}

// wire is the probe without a cable: a dap.Transport.
type wire struct {
	r       *Rig
	answers [][]byte
	closed  bool
}

// Send implements dap.Transport.
func (w *wire) Send(_ context.Context, p []byte) error {
	if w.closed || w.r.UnplugAfter >= 0 && w.r.Packets >= w.r.UnplugAfter {
		return dap.ErrLost
	}
	w.r.Packets++
	w.r.Do(func() {
		if w.r.Asked != nil {
			w.r.Asked(p)
		}
		if a := w.r.Probe.Execute(append([]byte(nil), p...)); a != nil {
			w.answers = append(w.answers, a)
		}
	})
	return nil
}

// Receive implements dap.Transport.
func (w *wire) Receive(context.Context) ([]byte, error) {
	if len(w.answers) == 0 {
		return nil, errors.Join(dap.ErrLost, io.EOF)
	}
	a := w.answers[0]
	w.answers = w.answers[1:]
	return a, nil
}

// Close implements dap.Transport.
func (w *wire) Close() error {
	w.closed = true
	return nil
}

// Wire returns the probe without a cable.
func (r *Rig) Wire() dap.Transport { return &wire{r: r} }

// Listen serves the probe over TCP until the test ends and returns the address.
func (r *Rig) Listen() string {
	r.t.Helper()
	return r.accept(func(rw io.ReadWriter) error {
		return debugport.ServeDAP(rw, r.Probe, func(f func()) {
			r.Packets++
			r.Do(f)
		})
	})
}

// ListenSWD and ListenJTAG serve the board's wires bit by bit, as OpenOCD's
// remote_bitbang wants them. The chain exists in the simulation alone.
func (r *Rig) ListenSWD() string {
	r.t.Helper()
	b := &debugport.Bitbang{Line: debugport.NewLine(r.DP)}
	return r.accept(func(rw io.ReadWriter) error { return b.Serve(rw, r.Do) })
}

// ListenJTAG serves the chain.
func (r *Rig) ListenJTAG() string {
	r.t.Helper()
	b := &debugport.Bitbang{Chain: debugport.NewJTAG(r.DP)}
	return r.accept(func(rw io.ReadWriter) error { return b.Serve(rw, r.Do) })
}

// accept serves one client after the other until the test ends.
func (r *Rig) accept(serve func(io.ReadWriter) error) string {
	r.t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		r.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = debugport.Accept(ctx, l, serve)
	}()
	r.t.Cleanup(func() { cancel(); <-done })
	return l.Addr().String()
}

// attachTime bounds an attach.
const attachTime = 30 * time.Second

// Open attaches to the chip.
func (r *Rig) Open(o probe.Options) (*probe.Target, error) { return r.OpenOver(r.Wire(), o) }

// OpenOver attaches to the chip over a transport.
func (r *Rig) OpenOver(t dap.Transport, o probe.Options) (*probe.Target, error) {
	ctx, cancel := context.WithTimeout(context.Background(), attachTime)
	defer cancel()
	p, err := dap.Open(ctx, t, dap.Options{})
	if err != nil {
		return nil, err
	}
	return probe.Open(ctx, p, o)
}

// MustOpen attaches to the chip until the test ends.
func (r *Rig) MustOpen(o probe.Options) *probe.Target {
	r.t.Helper()
	if o.Notice == nil {
		o.Notice = func(text string) { r.t.Logf("notice: %s", text) }
	}
	tg, err := r.Open(o)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = tg.Close() })
	return tg
}
