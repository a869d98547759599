package probe_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/internal/probed"
	"github.com/stem-hw/stem-hw/probe"
	"github.com/stem-hw/stem-hw/probe/dap"
	"github.com/stem-hw/stem-hw/semihost"
	"github.com/stem-hw/stem-hw/target"
	"github.com/stem-hw/stem-hw/target/targettest"
)

// TestReplay records a session and plays it without the chip.
func TestReplay(t *testing.T) {
	for _, arch := range []image.Arch{image.ArchARM, image.ArchRISCV} {
		t.Run(string(arch), func(t *testing.T) {
			ctx := context.Background()
			do := func(w dap.Transport) (out []uint64) {
				p, err := dap.Open(ctx, w, dap.Options{})
				if err != nil {
					t.Fatal(err)
				}
				tg, err := probe.Open(ctx, p, probe.Options{})
				if err != nil {
					t.Fatal(err)
				}
				if err := tg.Halt(ctx); err != nil {
					t.Fatal(err)
				}
				for _, n := range []int{1, 13, 15} {
					v, err := tg.ReadRegister(ctx, 1, n)
					if err != nil {
						t.Fatal(err)
					}
					out = append(out, v)
				}
				var b [8]byte
				if err := tg.ReadMemory(ctx, 0, 0x10, b[:]); err != nil {
					t.Fatal(err)
				}
				if err := tg.Close(); err != nil {
					t.Fatal(err)
				}
				return append(out, binary.LittleEndian.Uint64(b[:]))
			}
			var file bytes.Buffer
			rec := dap.NewRecorder(probed.New(t, probed.Board{Arch: arch}).Wire(), &file)
			first := do(rec)
			if rec.Err() != nil {
				t.Fatal(rec.Err())
			}
			play, err := dap.NewReplay(&file)
			if err != nil {
				t.Fatal(err)
			}
			again := do(play)
			if play.Rest() != 0 {
				t.Errorf("%d packets of the recording were not sent", play.Rest())
			}
			for i := range first {
				if first[i] != again[i] {
					t.Errorf("value %d was %#x, and is %#x", i, first[i], again[i])
				}
			}
		})
	}
}

// TestThousand halts a running program of two cores with tasks a thousand times
// and lets it go on: it notices nothing.
func TestThousand(t *testing.T) {
	ctx := context.Background()
	im := open(t, "../examples/tasks/tasks.elf")
	tg := probed.New(t, probed.Board{Arch: image.ArchRISCV}).MustOpen(probe.Options{Semihosting: &semihost.Options{}})
	if err := tg.Load(ctx, im); err != nil {
		t.Fatal(err)
	}
	if err := tg.Start(ctx); err != nil {
		t.Fatal(err)
	}
	all := []target.Action{{Core: 0}, {Core: 1}}
	runs := 0
	for i := 0; i < 1000; {
		if err := tg.Halt(ctx); err != nil {
			t.Fatalf("halt %d: %v", i, err)
		}
		s, err := tg.Wait(ctx)
		if err != nil {
			t.Fatalf("halt %d: %v", i, err)
		}
		if s.Reason == target.StopExit {
			// The program is over, in good order: once more.
			if s.Code != 0 {
				t.Fatalf("the program ended with status %d", s.Code)
			}
			runs++
			if err := tg.Reset(ctx, target.ResetRun); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if s.Reason != target.StopHalt {
			t.Fatalf("halt %d: %+v", i, s)
		}
		i++
		for core := range 2 {
			if _, err := tg.ReadRegister(ctx, core, 32); err != nil {
				t.Fatal(err)
			}
		}
		if err := tg.Resume(ctx, all); err != nil {
			t.Fatalf("resume %d: %v", i, err)
		}
	}
	if runs < 1 {
		t.Error("the program never came to its end")
	}
}

// TestSemihosting lets programs end with a status of their own.
func TestSemihosting(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	var out bytes.Buffer
	tg := probed.New(t, probed.Board{Arch: image.ArchARM}).MustOpen(probe.Options{
		Semihosting: &semihost.Options{}, Output: func(_ string, p []byte) { out.Write(p) },
	})
	if err := tg.Load(ctx, open(t, "../examples/semihost/semihost.elf")); err != nil {
		t.Fatal(err)
	}
	if err := tg.Start(ctx); err != nil {
		t.Fatal(err)
	}
	s, err := tg.Wait(ctx)
	if err != nil || s.Reason != target.StopExit || s.Code != 3 {
		t.Errorf("%+v, %v", s, err)
	}
	if !strings.Contains(out.String(), "written by semihosting") {
		t.Errorf("it printed %q", out.String())
	}
}

// TestRTT moves bytes through the ring buffers of a program that runs.
func TestRTT(t *testing.T) {
	for _, arch := range []image.Arch{image.ArchARM, image.ArchRISCV} {
		t.Run(string(arch), func(t *testing.T) {
			ctx := context.Background()
			tg := probed.New(t, probed.Board{Arch: arch}).MustOpen(probe.Options{})
			const at, up, down = 0x20010004, 0x20001000, 0x20002000
			put := func(addr uint32, p []byte) {
				t.Helper()
				if err := tg.WriteMemory(ctx, 0, addr, p); err != nil {
					t.Fatal(err)
				}
			}
			words := func(vs ...uint32) (p []byte) {
				for _, v := range vs {
					p = binary.LittleEndian.AppendUint32(p, v)
				}
				return p
			}
			put(0x20000800, []byte("Terminal\x00"))
			put(at, append([]byte("SEGGER RTT\x00\x00\x00\x00\x00\x00"), words(1, 1,
				0x20000800, up, 16, 5, 12, 0, 0x20000800, down, 8, 0, 0, 0)...))
			put(up, []byte("world...\x00\x00\x00\x00hel\xff"))
			put(up+15, []byte("o"))
			put(up, []byte(", you"))
			tg.StartRTT(0, 0)
			if _, err := tg.Console().Write([]byte("0123456789")); err != nil {
				t.Fatal(err)
			}
			var got []byte
			for range 200 {
				if _, err := tg.PollRTT(ctx); err != nil {
					t.Fatal(err)
				}
				got = append(got, tg.Console().(target.Drainer).Drain()...)
			}
			if string(got) != "helo, you" {
				t.Errorf("it printed %q", got)
			}
			if found, names := tg.RTTFound(); !found || len(names) != 1 || names[0] != "Terminal" {
				t.Errorf("%v %q", found, names)
			}
			in := make([]byte, 8)
			if err := tg.ReadMemory(ctx, 0, down, in); err != nil || string(in[:7]) != "0123456" {
				t.Errorf("the program gets %q, %v", in, err)
			}
			// The program reads all, and the rest comes behind.
			put(at+24+24+16, words(7))
			for range 3 {
				if _, err := tg.PollRTT(ctx); err != nil {
					t.Fatal(err)
				}
			}
			if err := tg.ReadMemory(ctx, 0, down, in); err != nil || in[7] != '7' || string(in[:2]) != "89" {
				t.Errorf("then the program gets %q, %v", in, err)
			}
		})
	}
}

// TestArmSteps steps with interrupts that wait: a step ends in the program.
func TestArmSteps(t *testing.T) {
	ctx := context.Background()
	tg := probed.New(t, probed.Board{Arch: image.ArchARM}).MustOpen(probe.Options{})
	p := targettest.ProgramFor(image.ArchARM, 0x20000000)
	if err := tg.Load(ctx, p.Image); err != nil {
		t.Fatal(err)
	}
	// A SysTick that is always due, whose handler is nowhere.
	for _, w := range [][2]uint32{{0xe000e014, 1}, {0xe000e010, 7}} {
		if err := tg.WriteMemory(ctx, 0, w[0], binary.LittleEndian.AppendUint32(nil, w[1])); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 20 {
		if err := tg.Resume(ctx, []target.Action{{Core: 0, Kind: target.ActionStep}}); err != nil {
			t.Fatal(err)
		}
		s, err := tg.Wait(ctx)
		if err != nil || s.PC < p.Entry || s.PC > p.Ret {
			t.Fatalf("step %d ends at %#x, %v", i, s.PC, err)
		}
	}
}
