package probe_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/internal/probed"
	"github.com/stem-hw/stem-hw/probe"
	"github.com/stem-hw/stem-hw/sim/debugport"
	"github.com/stem-hw/stem-hw/sim/rp2350/otp"
	"github.com/stem-hw/stem-hw/target"
)

// fuse burns a bit of CRIT1 in its eight copies.
func fuse(v uint32) func(*otp.Array) {
	return func(a *otp.Array) {
		for i := range 8 {
			a.Program(otp.RowCrit1+i, v)
		}
	}
}

// TestFaults attaches through every trouble of the debug port: each has its own
// explanation, and something to try.
func TestFaults(t *testing.T) {
	said := map[string]string{}
	for _, c := range []struct {
		name  string
		board probed.Board
		code  faults.Code
		text  string
	}{
		{"no wires", probed.Board{Trouble: debugport.Trouble{Line: debugport.LineHigh}}, faults.CodeNoTarget, "SWCLK, SWDIO and GND"},
		{"no power", probed.Board{Trouble: debugport.Trouble{Line: debugport.LineLow}}, faults.CodeNoTarget, "the board has power"},
		{"no ground", probed.Board{Trouble: debugport.Trouble{Line: debugport.LineFloating}}, faults.CodeNoTarget, "connect GND"},
		{"no power-up", probed.Board{Trouble: debugport.Trouble{NoPowerUp: true}}, faults.CodeNoPower, "--rescue"},
		{"an RP2040", probed.Board{Trouble: debugport.Trouble{DPIDR: 0x0bc12477}}, faults.CodeWrongChip, "RP2040"},
		{"another chip", probed.Board{Trouble: debugport.Trouble{DPIDR: 0x2ba01477}}, faults.CodeWrongChip, "connect the probe to a board with an RP2350"},
		{"wait", probed.Board{Trouble: debugport.Trouble{Wait: true}}, faults.CodeCoreStuck, "does not finish"},
		{"memory faults", probed.Board{Trouble: debugport.Trouble{MemoryFaults: true}}, faults.CodeTargetFailed, "refuses an access"},
		{"locked", probed.Board{Fuses: fuse(1 << 2)}, faults.CodeLocked, "disabled in the chip's fuses"},
		{"locked for Secure", probed.Board{Fuses: fuse(1 << 1)}, faults.CodeLocked, "Secure memory is disabled"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.board.Arch = image.ArchARM
			tg, err := probed.New(t, c.board).Open(probe.Options{})
			if err == nil {
				_ = tg.Close()
				t.Fatal("it attaches")
			}
			f := faults.Of(err)
			if f == nil {
				t.Fatalf("no fault: %v", err)
			}
			all := f.Error() + " " + strings.Join(f.Try, " ")
			if f.Code != c.code && c.name != "no ground" || f.Status != faults.StatusTarget || len(f.Try) == 0 || !strings.Contains(all, c.text) {
				t.Errorf("code %s, status %d: %s", f.Code, f.Status, all)
			}
			if other, twice := said[all]; twice {
				t.Errorf("the same words as for %s: %s", other, all)
			}
			said[all] = c.name
		})
	}
}

// TestParity works on wires that spoil every fiftieth read.
func TestParity(t *testing.T) {
	for _, arch := range []image.Arch{image.ArchARM, image.ArchRISCV} {
		t.Run(string(arch), func(t *testing.T) {
			ctx := context.Background()
			tg := probed.New(t, probed.Board{Arch: arch, Trouble: debugport.Trouble{ParityEvery: 50}}).MustOpen(probe.Options{})
			if err := tg.Halt(ctx); err != nil {
				t.Fatal(err)
			}
			want := make([]byte, 10000)
			for i := range want {
				want[i] = byte(i * 7 >> 3)
			}
			if err := tg.WriteMemory(ctx, 0, 0x20000001, want); err != nil {
				t.Fatal(err)
			}
			got := make([]byte, len(want))
			if err := tg.ReadMemory(ctx, 0, 0x20000001, got); err != nil {
				t.Fatal(err)
			}
			if string(got) != string(want) {
				t.Error("what is read is not what was written")
			}
			for range 20 {
				if err := tg.Resume(ctx, []target.Action{{Core: 0, Kind: target.ActionStep}}); err != nil {
					t.Fatal(err)
				}
				if _, err := tg.ReadRegister(ctx, 0, 3); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// TestOTP is refused for everybody, at the edges too.
func TestOTP(t *testing.T) {
	ctx := context.Background()
	tg := probed.New(t, probed.Board{Arch: image.ArchARM}).MustOpen(probe.Options{})
	for _, at := range []uint32{0x40120000, 0x40120158, 0x4011fffe, 0x40130000, 0x4013fffc, 0x40121158} {
		var me *target.MemoryError
		if err := tg.WriteMemory(ctx, 0, at, make([]byte, 4)); !errors.As(err, &me) || !strings.Contains(me.Why, "one-time") {
			t.Errorf("0x%08x: %v", at, err)
		}
	}
	if err := tg.WriteMemory(ctx, 0, 0x4011fff0, make([]byte, 0x20010)); err == nil {
		t.Error("a write across it is done")
	}
}

// TestRescue saves a chip that is attached to and one that cannot be.
func TestRescue(t *testing.T) {
	ctx := context.Background()
	r := probed.New(t, probed.Board{Arch: image.ArchRISCV})
	tg := r.MustOpen(probe.Options{})
	if err := tg.Rescue(ctx); err != nil {
		t.Fatal(err)
	}
	if err := tg.Close(); err != nil {
		t.Fatal(err)
	}
	r = probed.New(t, probed.Board{Arch: image.ArchARM, Trouble: debugport.Trouble{Wait: true}})
	r.Asked = func(p []byte) { // the bus works again once the chip was rescued
		if len(p) > 8 && p[0] == 5 && string(p[len(p)-5:]) == "\x01\x00\x00\x00\x00" {
			r.DP.Trouble.Wait = false
		}
	}
	if _, err := r.Open(probe.Options{}); !faults.Is(err, faults.CodeCoreStuck) {
		t.Fatalf("a chip whose bus hangs: %v", err)
	}
	tg, err := r.Open(probe.Options{Rescue: true})
	if err != nil {
		t.Fatal(err)
	}
	defer tg.Close()
	if s, err := tg.Wait(ctx); err != nil || s.PC >= 0x8000 {
		t.Errorf("a rescued chip stands at %#x, %v", s.PC, err)
	}
}

// TestSwitch goes into the other architecture and back.
func TestSwitch(t *testing.T) {
	ctx := context.Background()
	tg := probed.New(t, probed.Board{Arch: image.ArchARM}).MustOpen(probe.Options{})
	for _, arch := range []image.Arch{image.ArchRISCV, image.ArchARM, image.ArchRISCV} {
		if err := tg.SwitchArch(ctx, arch); err != nil {
			t.Fatal(err)
		}
		if got := tg.Describe().Arch; got != arch {
			t.Fatalf("it is %s, not %s", got, arch)
		}
		if s, err := tg.Wait(ctx); err != nil || s.PC >= 0x8000 {
			t.Errorf("%s: it stands at %#x, %v", arch, s.PC, err)
		}
	}
}
