package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stem-hw/stem-hw/sim/virtual/bench"
	"github.com/stem-hw/stem-hw/sim/virtual/vhci"
	"github.com/stem-hw/stem-hw/ui"
)

// said hears what a command says, a piece at a time.
type said chan string

func (s said) Write(p []byte) (int, error) {
	s <- string(p)
	return len(p), nil
}

// TestPluggerAttachesAgain attaches to a controller that is a folder: a board that
// comes back is attached again, at the same port, and what appeared is told.
func TestPluggerAttachesAgain(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("vhci_hcd.0/attach", "")
	write("vhci_hcd.0/status", "hub port sta spd dev      sockfd local_busid\nhs  0000 004 000 00000000 000000 0-0\n")
	write("vhci_hcd.0/usb3/busnum", "3\n")
	for file, text := range map[string]string{
		"busnum": "3", "devnum": "2", "idVendor": "2e8a", "idProduct": "000f", "product": "RP2350 Boot", "serial": "A1", "bConfigurationValue": "1",
	} {
		write("devices/3-1/"+file, text+"\n")
	}
	host, err := vhci.Open(filepath.Join(root, "vhci_hcd.0"))
	if err != nil {
		t.Fatal(err)
	}
	ports, err := host.Ports()
	if err != nil {
		t.Fatal(err)
	}
	out := make(said, 8)
	u, err := ui.New(ui.Streams{Out: out, Err: out}, ui.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p := &plugger{ui: u, host: host, devices: filepath.Join(root, "devices"), ports: map[int]vhci.Port{1: ports[0]}}
	b, err := bench.New(bench.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	done := make(chan error, 2)
	go func() { done <- b.Run(ctx) }()
	go func() { done <- p.keep(ctx, b) }()
	attach := filepath.Join(root, "vhci_hcd.0", "attach")
	for range 2 {
		for {
			text, err := os.ReadFile(attach)
			if err != nil {
				t.Fatal(err)
			}
			if f := strings.Fields(string(text)); len(f) == 4 {
				if f[0] != "0" || f[3] != "2" {
					t.Errorf("wrote %q", text)
				}
				break
			}
			if ctx.Err() != nil {
				t.Fatal("nothing is attached")
			}
			time.Sleep(time.Millisecond)
		}
		write("vhci_hcd.0/attach", "")
		b.Units[0].Do(b.Units[0].Port.Unplug)
	}
	select {
	case got := <-out:
		if got != "attached      3-1  2e8a:000f  RP2350 Boot  A1  /dev/bus/usb/003/002\n" {
			t.Errorf("says %q", got)
		}
	case <-ctx.Done():
		t.Error("it does not say what appeared")
	}
	cancel()
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}
