package bench

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/sim/virtual"
)

func TestNumbersAndPorts(t *testing.T) {
	b, err := New(Options{Boards: 2, Probe: true, Serials: []string{"00000000000000ab"}, ProbeSerials: []string{"P1"}, Ports: []int{7, 3}})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	one, two := b.Units[0], b.Units[1]
	if one.Serial != "00000000000000AB" || one.ProbeSerial != "P1" || one.Port.BusID != "1-7" || one.ProbePort.BusID != "1-3" {
		t.Errorf("%+v", one)
	}
	if len(two.Serial) != 16 || two.Serial == one.Serial || len(two.ProbeSerial) != 16 || two.Port.BusID != "1-8" || two.ProbePort.BusID != "1-9" {
		t.Errorf("%+v", two)
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{Boards: 61}, "do not fit"},
		{Options{Serials: []string{"1", "2"}}, "more serial numbers than boards"},
		{Options{Serials: []string{"xyz"}}, "no serial number of a board"},
		{Options{Boards: 2, Serials: []string{"00000000000000ab", "00000000000000AB"}}, "one serial number"},
		{Options{ProbeSerials: []string{"1"}}, "no probes"},
		{Options{Probe: true, ProbeSerials: []string{"1", "2"}}, "than probes"},
		{Options{Probe: true, ProbeSerials: []string{""}}, "no serial number of a probe"},
		{Options{Ports: []int{1, 2}}, "more ports than devices"},
		{Options{Boards: 2, Ports: []int{2, 2}}, "ports are not usable"},
		{Options{Ports: []int{0}}, "ports are not usable"},
		{Options{Faults: []virtual.Fault{{Kind: virtual.FaultUnplug, Board: 2}}}, "board that is not there"},
	} {
		b, err := New(c.o)
		var f *faults.Fault
		if !errors.As(err, &f) || f.Status != faults.StatusUsage || !strings.Contains(f.Summary, c.want) {
			t.Errorf("%+v: %v", c.o, err)
		}
		if b != nil {
			_ = b.Close()
		}
	}
}

// TestKeptAttached lets a host keep what is in a port: a board that comes back
// is attached again.
func TestKeptAttached(t *testing.T) {
	b, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var all sync.WaitGroup
	all.Add(2)
	go func() {
		defer all.Done()
		if err := b.Run(ctx); err != nil {
			t.Error(err)
		}
	}()
	times := make(chan net.Conn, 8)
	go func() {
		defer all.Done()
		err := b.Server.Keep(ctx, b.Units[0].Port, func(context.Context) (net.Conn, error) {
			near, far := net.Pipe()
			times <- near
			return far, nil
		})
		if err != nil {
			t.Error(err)
		}
	}()
	first := <-times
	u := b.Units[0]
	u.Do(u.Port.Unplug)
	if _, err := first.Read(make([]byte, 1)); err == nil {
		t.Error("the host should lose the device")
	}
	second := <-times
	defer second.Close()
	if s, probe := u.Stats(); s.Enumerations != 1 || probe.Enumerations != 0 {
		t.Errorf("%+v", s)
	}
	cancel()
	all.Wait()
}

func TestKeepEndsWhenNothingCanBeAttached(t *testing.T) {
	b, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- b.Run(ctx) }()
	want := errors.New("no")
	err = b.Server.Keep(ctx, b.Units[0].Port, func(context.Context) (net.Conn, error) { return nil, want })
	if !errors.Is(err, want) {
		t.Errorf("%v", err)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
