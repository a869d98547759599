//go:build board

package probe_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/stem-hw/stem-hw/board"
	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/probe"
	"github.com/stem-hw/stem-hw/probe/dap"
	"github.com/stem-hw/stem-hw/target"
	"github.com/stem-hw/stem-hw/target/targettest"
	"github.com/stem-hw/stem-hw/usb"
	usbdap "github.com/stem-hw/stem-hw/usb/dap"
)

// real opens the probe of $STEM_HW_TEST_PROBE: tcp:HOST:PORT, or the beginning of
// a serial number.
func real(t *testing.T) *probe.Target {
	t.Helper()
	name := os.Getenv("STEM_HW_TEST_PROBE")
	if name == "" {
		t.Skip("STEM_HW_TEST_PROBE names no probe; these tests write to the flash of the board behind it")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	var way dap.Transport
	var err error
	if len(name) > 4 && name[:4] == "tcp:" {
		way, err = dap.Dial(ctx, name[4:])
	} else {
		way, err = onUSB(ctx, name)
	}
	if err != nil {
		t.Fatal(err)
	}
	p, err := dap.Open(ctx, way, dap.Options{})
	if err != nil {
		t.Fatal(err)
	}
	tg, err := probe.Open(ctx, p, probe.Options{Notice: func(text string) { t.Log(text) }})
	if err != nil {
		t.Fatal(err)
	}
	return tg
}

func onUSB(ctx context.Context, name string) (dap.Transport, error) {
	m := usb.Machine(os.Getenv)
	f, err := usb.New(m)
	if err != nil {
		return nil, err
	}
	devices, err := f.Devices(ctx)
	if err != nil {
		return nil, err
	}
	s, err := board.Parse(name)
	if err != nil {
		return nil, err
	}
	var all []board.Board
	for _, d := range devices {
		all = append(all, f.Board(d))
	}
	b, err := board.Match(s, all, board.Ask{Command: "STEM_HW_TEST_PROBE=%s make test-board"})
	if err != nil {
		return nil, err
	}
	for _, d := range devices {
		if d.Port == b.Port {
			return usbdap.Open(ctx, d, m.Dir)
		}
	}
	return nil, faults.Usage("the probe is gone")
}

// TestBoardConformance runs the conformance suite on a real board, in both
// architectures.
func TestBoardConformance(t *testing.T) {
	for _, arch := range []image.Arch{image.ArchARM, image.ArchRISCV} {
		t.Run(string(arch), func(t *testing.T) {
			targettest.Run(t, targettest.Case{
				New: func(t *testing.T) target.Target {
					tg := real(t)
					if err := tg.SwitchArch(context.Background(), arch); err != nil {
						t.Fatal(err)
					}
					return tg
				},
				Must: must, At: 0x20000000, Arch: arch, Flash: 0x10000000,
			})
		})
	}
}
