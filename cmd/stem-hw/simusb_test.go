package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/sim/virtual/bench"
	"github.com/stem-hw/stem-hw/sim/virtual/vhci"
)

func TestUSBCommands(t *testing.T) {
	b, err := bench.New(bench.Options{Boards: 2, Probe: true})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	list, got := usbCommands("127.0.0.1:3240", b)
	if list != "usbip --tcp-port 3240 list -r 127.0.0.1" {
		t.Errorf("%q", list)
	}
	if len(got) != 4 || got[0] != "sudo usbip --tcp-port 3240 attach -r 127.0.0.1 -b 1-1" || !strings.HasSuffix(got[3], "-b 1-4") {
		t.Errorf("%q", got)
	}
}

// TestUSBFaceOffersBoardAndProbe asks for the list of devices until all are
// there: a board appears when it is first looked at.
func TestUSBFaceOffersBoardAndProbe(t *testing.T) {
	b, err := bench.New(bench.Options{Boards: 2, Probe: true, Serials: []string{"00000000000000aa"}})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	done := make(chan error, 2)
	go func() { done <- b.Run(ctx) }()
	go func() { done <- b.Server.Accept(ctx, l, nil) }()

	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for devices := byte(0); devices != 4; {
		if _, err := conn.Write([]byte{1, 0x11, 0x80, 5, 0, 0, 0, 0}); err != nil {
			t.Fatal(err)
		}
		h := make([]byte, 12)
		if _, err := io.ReadFull(conn, h); err != nil {
			t.Fatal(err)
		}
		devices = h[11]
		for range devices {
			d := make([]byte, 312)
			if _, err := io.ReadFull(conn, d); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(d[300:302], []byte{0x2e, 0x8a}) {
				t.Errorf("vendor % x", d[300:302])
			}
			if _, err := io.CopyN(io.Discard, conn, int64(d[311])*4); err != nil {
				t.Fatal(err)
			}
		}
	}
	if s := statsOf(b); len(s.Stats) != 4 || s.Stats[0].Serial != "00000000000000AA" || s.Stats[0].Enumerations != 1 || s.Stats[1].Device != "probe" {
		t.Errorf("%+v", s)
	}
	cancel()
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func TestChoosePorts(t *testing.T) {
	all := []vhci.Port{{Number: 0}, {Number: 1, Free: true}, {Number: 2, Free: true}, {Number: 30, Free: true}}
	for _, c := range []struct {
		asked []int
		n     int
		want  []int
		code  faults.Code
	}{
		{nil, 2, []int{2, 3}, ""},
		{[]int{4}, 2, []int{4, 2}, ""},
		{[]int{1}, 1, nil, faults.CodeBusy},
		{[]int{2, 2}, 2, nil, faults.CodeBusy},
		{[]int{9}, 1, nil, faults.CodeUsage},
		{nil, 4, nil, faults.CodeBusy},
	} {
		got, err := choosePorts(all, c.asked, c.n)
		var f *faults.Fault
		if errors.As(err, &f) != (c.code != "") || f != nil && f.Code != c.code || !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v, %v", c, got, err)
		}
	}
}
