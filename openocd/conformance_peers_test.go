//go:build peers || judges

package openocd_test

import (
	"context"
	"net"
	"os/exec"
	"testing"
	"time"

	"github.com/stem-hw/stem-hw/child"
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/internal/probed"
	"github.com/stem-hw/stem-hw/openocd"
	"github.com/stem-hw/stem-hw/probe"
	"github.com/stem-hw/stem-hw/target"
	"github.com/stem-hw/stem-hw/target/targettest"
)

// must are the capabilities of a chip behind OpenOCD.
var must = []targettest.Capability{targettest.Halter, targettest.Memory, targettest.Flasher}

// stock is the machine's OpenOCD.
func stock(t *testing.T) openocd.Abilities {
	t.Helper()
	path, err := exec.LookPath("openocd")
	if err != nil {
		t.Skip("openocd is not installed (scripts/setup peers)")
	}
	return asked(t, path)
}

// asked is what an OpenOCD can do.
func asked(t *testing.T, path string) openocd.Abilities {
	t.Helper()
	sup, err := child.New()
	if err != nil {
		t.Fatal(err)
	}
	defer sup.Close()
	a, err := openocd.Ask(context.Background(), sup, openocd.Found{Path: path, Where: "PATH"})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// open attaches to a board.
func open(t *testing.T, o openocd.Options) *probe.Target {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	o.Notice = func(text string) { t.Logf("notice: %s", text) }
	w, err := openocd.Connect(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	tg, err := probe.OpenWay(ctx, w, probe.Options{Notice: o.Notice})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tg.Close() })
	return tg
}

func TestPeerConformanceJTAG(t *testing.T) {
	all := []openocd.Abilities{stock(t)}
	targettest.Run(t, targettest.Case{
		New: func(t *testing.T) target.Target {
			ad := at(t, openocd.JTAGBitbang, probed.New(t, probed.Board{Arch: image.ArchRISCV}).ListenJTAG())
			return open(t, openocd.Options{All: all, Adapter: ad})
		},
		Must: must, At: 0x20000000, Arch: image.ArchRISCV, Flash: 0x10000000,
	})
}

// at is an adapter at an address.
func at(t *testing.T, kind openocd.AdapterKind, address string) openocd.Adapter {
	t.Helper()
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	return openocd.Adapter{Kind: kind, Host: host, Port: port}
}
