package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stem-hw/stem-hw/sim/debugport"
	"github.com/stem-hw/stem-hw/sim/rp2350"
)

func TestUSBCommands(t *testing.T) {
	want := []string{
		"sudo usbip --tcp-port 3240 attach -r 127.0.0.1 -b 1-1",
		"sudo usbip --tcp-port 3240 attach -r 127.0.0.1 -b 1-2",
	}
	if got := usbCommands("127.0.0.1:3240"); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// TestUSBFaceOffersBoardAndProbe asks for the list of devices until both are
// there: the board appears when it is first looked at.
func TestUSBFaceOffersBoardAndProbe(t *testing.T) {
	chip := rp2350.New(rp2350.Options{Bootsel: func(*rp2350.Chip) {}})
	chip.Run(1_000_000)
	probe := debugport.NewProbe(debugport.DebugProbe("1"), debugport.NewLine(debugport.NewDP(chip.DebugPort())))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var mu sync.Mutex
	do := func(f func()) { mu.Lock(); defer mu.Unlock(); f() }
	done := make(chan error, 1)
	accept := newUSBFace().accept(nil, chip, probe, &boardFlags{serial: "1", dapPackets: 6})
	go func() { done <- accept(ctx, l, do) }()

	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for devices := byte(0); devices != 2; {
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
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
