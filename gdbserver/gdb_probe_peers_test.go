//go:build peers

package gdbserver_test

import (
	"context"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stem-hw/stem-hw/gdbserver"
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/internal/probed"
	"github.com/stem-hw/stem-hw/probe"
	"github.com/stem-hw/stem-hw/probe/dap"
	"github.com/stem-hw/stem-hw/semihost"
	"github.com/stem-hw/stem-hw/target"
)

// serveProbe loads an ELF through a probe and serves the chip behind it. over is
// "wire" or "tcp".
func serveProbe(t *testing.T, elf, over string) *board {
	t.Helper()
	elf, err := filepath.Abs(elf)
	if err != nil {
		t.Fatal(err)
	}
	img, err := image.Open(elf)
	if err != nil {
		t.Fatal(err)
	}
	r := probed.New(t, probed.Board{Arch: image.ArchARM})
	way := r.Wire()
	if over == "tcp" {
		if way, err = dap.Dial(context.Background(), r.Listen()); err != nil {
			t.Fatal(err)
		}
	}
	tg, err := r.OpenOver(way, probe.Options{Semihosting: &semihost.Options{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tg.Close() })
	if err := tg.Load(context.Background(), img); err != nil {
		t.Fatal(err)
	}
	b := &board{t: t, target: tg, elf: elf}
	b.server, err = gdbserver.New(gdbserver.Options{
		Target: tg, ELF: img.ELF, ELFPath: elf, RTOS: "auto", Notify: b.note,
		Protect: []target.Region{{Name: "OTP", Base: 0x40120000, Size: 0x20000}},
	})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b.address = l.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = b.server.Serve(ctx, l)
	}()
	t.Cleanup(func() { cancel(); <-done })
	return b
}

// onProbe are scenarios that say something else behind a probe: Hazard3 has no
// watchpoints, and what the program prints on its UART is not the debugger's.
var onProbe = map[string]struct{ script, want string }{
	"watchpoints hit by the other core":            {"break tour\ncontinue\nwatch shared\ncontinue", "Could not insert hardware watchpoint 2"},
	"registers are those of the core that stopped": {"break core1\ncontinue\nprint $mhartid\nset scheduler-locking step\nstepi\nprint $mhartid", "$2 = 1"},
	"read and access watchpoints":                  {"break tour\ncontinue\nrwatch shared\ncontinue", "Could not insert hardware watchpoint 2"},
	"monitor":                                      {"monitor help\nmonitor info\nbreak main\ncontinue\nmonitor reset halt\nmaintenance flush register-cache\nprint/x $pc\ncontinue\nmonitor nonsense", "rp2350 (hardware, riscv)"},
	"the end of the program":                       {"break spin\ncontinue\ndelete\nset var go = 1\ncontinue\ninfo threads", "exited normally"},
}

// TestPeerGdbProbe runs the scenarios of the simulated target through a probe.
func TestPeerGdbProbe(t *testing.T) {
	for _, over := range []string{"wire", "tcp"} {
		for _, s := range scenarios {
			if other, differs := onProbe[s.name]; differs {
				s.script, s.want = other.script, []string{other.want}
			}
			t.Run(over+"/"+s.name, func(t *testing.T) {
				g := gdbs(t)[0]
				out := serveProbe(t, debugme, over).run(g, s.script)
				inOrder(t, out, s.want...)
				for _, n := range s.never {
					if strings.Contains(out, n) {
						t.Errorf("%q appears in:\n%s", n, out)
					}
				}
			})
		}
	}
}

// TestPeerGdbProbeArm is TestPeerGdbArm through a probe.
func TestPeerGdbProbeArm(t *testing.T) {
	for _, over := range []string{"wire", "tcp"} {
		for _, s := range armScenarios {
			t.Run(over+"/"+s.name, func(t *testing.T) {
				inOrder(t, serveProbe(t, "testdata/arm/arm.elf", over).run(gdbs(t)[0], s.script), s.want...)
			})
		}
	}
}
