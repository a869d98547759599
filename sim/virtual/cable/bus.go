package cable

import (
	"context"
	"fmt"
	"time"

	"github.com/stem-hw/stem-hw/bootsel"
	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/usb"
)

// Bus is a table full of boards, as package bootsel wants to see them.
type Bus struct {
	Boards []*Board
	// Taken are the nodes that somebody else has.
	Taken map[string]usb.Holder
	// Leased are those that were taken here.
	Leased map[string]bool
}

// NewBus returns a bus with boards at it, at ports 1-1, 1-2 and so on.
func NewBus(boards ...*Board) *Bus {
	for i, b := range boards {
		b.Port = fmt.Sprintf("1-%d", i+1)
	}
	return &Bus{Boards: boards, Taken: map[string]usb.Holder{}, Leased: map[string]bool{}}
}

// Devices implements bootsel.Bus. Time passes meanwhile, for those who look again
// and again.
func (s *Bus) Devices(context.Context) (all []usb.Device, err error) {
	for _, b := range s.Boards {
		b.Pass(10 * time.Millisecond)
		if d, ok := b.Look(); ok {
			all = append(all, d)
		}
	}
	return all, nil
}

func (s *Bus) at(port string) *Board {
	for _, b := range s.Boards {
		if b.Port == port {
			return b
		}
	}
	return nil
}

// Open implements bootsel.Bus.
func (s *Bus) Open(ctx context.Context, d usb.Device, iface int) (usb.Conn, error) {
	return s.at(d.Port).Open(ctx, d, iface)
}

// followTime is how much simulated time a board has to come back.
const followTime = 3 * time.Second

// Follow implements bootsel.Bus.
func (s *Bus) Follow(ctx context.Context, old usb.Device, want func(*usb.Device) bool) (usb.Device, error) {
	b := s.at(old.Port)
	for range followTime / (10 * time.Millisecond) {
		if ctx.Err() != nil {
			return usb.Device{}, ctx.Err()
		}
		if d, ok := b.Look(); ok && d.Num != old.Num && want(&d) {
			return d, nil
		}
		b.Pass(10 * time.Millisecond)
	}
	return usb.Device{}, &faults.Fault{
		Code: faults.CodeLost, Status: faults.StatusLost, Summary: "the board did not come back after its reset",
	}
}

// Lease implements bootsel.Bus.
func (s *Bus) Lease(_ context.Context, d usb.Device, _ string, _ time.Duration, _ func(usb.Holder)) (bootsel.Lease, error) {
	l := &lease{bus: s}
	return l, l.take(d)
}

type lease struct {
	bus  *Bus
	node string
}

func (l *lease) take(d usb.Device) error {
	if h, ok := l.bus.Taken[d.Node.Path]; ok || l.bus.Leased[d.Node.Path+d.Port] {
		return &faults.Fault{
			Code: faults.CodeBusy, Status: faults.StatusBusy, Summary: "the board is in use", Seen: h.String(),
		}
	}
	l.node = d.Node.Path + d.Port
	l.bus.Leased[l.node] = true
	return nil
}

// Move implements bootsel.Lease.
func (l *lease) Move(_ context.Context, to usb.Device) error {
	old := l.node
	err := l.take(to)
	delete(l.bus.Leased, old)
	return err
}

// Release implements bootsel.Lease.
func (l *lease) Release() error {
	delete(l.bus.Leased, l.node)
	return nil
}
