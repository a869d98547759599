package probe_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/internal/probed"
	"github.com/stem-hw/stem-hw/probe"
	"github.com/stem-hw/stem-hw/probe/dap"
	"github.com/stem-hw/stem-hw/target"
	"github.com/stem-hw/stem-hw/target/flashing"
)

func open(t testing.TB, path string) *image.Image {
	t.Helper()
	im, err := image.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return im
}

// flashOnce flashes a program and starts it.
func flashOnce(tg *probe.Target, im *image.Image) error {
	ctx := context.Background()
	if _, err := tg.Flash(ctx, flashing.NewPlan(im), flashing.Options{Verify: true}); err != nil {
		return err
	}
	return tg.StartFlash(ctx, im.Arch)
}

// session is a debug session: to a breakpoint, a few steps, memory, and on.
func session(tg *probe.Target) error {
	ctx := context.Background()
	if err := tg.Halt(ctx); err != nil {
		return err
	}
	if err := tg.Reset(ctx, target.ResetHalt); err != nil {
		return err
	}
	for range 3 {
		if err := tg.Resume(ctx, []target.Action{{Core: 0, Kind: target.ActionStep}}); err != nil {
			return err
		}
		if _, err := tg.ReadRegister(ctx, 0, 1); err != nil {
			return err
		}
	}
	if err := tg.ReadMemory(ctx, 0, 0x20000000, make([]byte, 2000)); err != nil {
		return err
	}
	return tg.Resume(ctx, []target.Action{{Core: 0}, {Core: 1}})
}

// TestUnplug pulls the probe out in each phase, twice: the board's state is told,
// and the next try finishes what is left.
func TestUnplug(t *testing.T) {
	hello, old := open(t, "../examples/hello/hello.elf"), open(t, "../examples/timer/timer.elf")
	for _, c := range []struct {
		name  string
		do    func(*probe.Target) error
		steps int
	}{
		{"flash", func(tg *probe.Target) error { return flashOnce(tg, hello) }, 24},
		{"debug", session, 16},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := probed.New(t, probed.Board{Arch: image.ArchRISCV, Load: old})
			tg := r.MustOpen(probe.Options{})
			first := r.Packets
			if err := c.do(tg); err != nil {
				t.Fatal(err)
			}
			all := r.Packets - first
			if err := tg.Close(); err != nil {
				t.Fatal(err)
			}
			states := map[string]bool{}
			for i := range c.steps {
				r := probed.New(t, probed.Board{Arch: image.ArchRISCV, Load: old})
				for range 2 {
					tg, err := r.Open(probe.Options{})
					if err != nil {
						t.Fatal(err)
					}
					r.UnplugAfter = r.Packets + i*all*3/4/c.steps // how often it polls differs
					err = c.do(tg)
					if err == nil && r.Packets <= r.UnplugAfter {
						// It polled less often this time, and was done before.
						r.UnplugAfter = -1
						if err := tg.Close(); err != nil {
							t.Fatal(err)
						}
						continue
					}
					f := faults.Of(err)
					if f == nil || f.Status != faults.StatusLost || len(f.Details) == 0 {
						t.Fatalf("step %d: %v", i, err)
					}
					states[f.Details[0]] = true
					if err := tg.Close(); err != nil {
						t.Errorf("step %d: Close: %v", i, err)
					}
					r.UnplugAfter = -1
				}
				tg := r.MustOpen(probe.Options{})
				if err := c.do(tg); err != nil {
					t.Fatalf("step %d, plugged in again: %v", i, err)
				}
				if err := tg.Close(); err != nil {
					t.Fatal(err)
				}
			}
			if len(states) < 2 {
				t.Errorf("the state of the board is always told as %v", states)
			}
		})
	}
}

// TestUnplugAttach pulls the probe out while it attaches: nothing was done yet.
func TestUnplugAttach(t *testing.T) {
	for _, arch := range []image.Arch{image.ArchARM, image.ArchRISCV} {
		for after := 9; after < 40; after += 10 {
			r := probed.New(t, probed.Board{Arch: arch})
			r.UnplugAfter = after
			tg, err := r.Open(probe.Options{})
			if err == nil {
				_ = tg.Close()
				t.Fatalf("%s: it attaches with %d packets", arch, after)
			}
			f := faults.Of(err)
			if f == nil || f.Status != faults.StatusLost || len(f.Details) != 1 || !strings.Contains(f.Details[0], "undisturbed") {
				t.Errorf("%s, after %d packets: %v", arch, after, err)
			}
		}
	}
}

// TestPowerCut looks at the flash as it is before and in the middle of every erase
// and program: what starts there is the old program, the new one, or nothing.
func TestPowerCut(t *testing.T) {
	old, im := open(t, "../examples/multicore/multicore.elf"), open(t, "../examples/debugme/debugme.elf")
	for _, arch := range []image.Arch{image.ArchARM, image.ArchRISCV} {
		t.Run(string(arch), func(t *testing.T) {
			r := probed.New(t, probed.Board{Arch: arch, Load: old})
			var mu sync.Mutex
			var torn [][]byte
			r.Do(func() {
				f := r.Chip.Flash()
				f.Cut(func(bool, uint32, uint32) bool {
					mu.Lock()
					defer mu.Unlock()
					torn = append(torn, append([]byte(nil), f.Bytes()[:256<<10]...))
					return false
				})
			})
			tg := r.MustOpen(probe.Options{})
			if err := flashOnce(tg, im); err != nil {
				t.Fatal(err)
			}
			if err := tg.Close(); err != nil {
				t.Fatal(err)
			}
			if len(torn) < 4 {
				t.Fatalf("only %d operations", len(torn))
			}
			torn = middles(append(torn, append([]byte(nil), r.Chip.Flash().Bytes()[:256<<10]...)))
			counts := map[string]int{}
			for i, f := range torn {
				counts[starts(t, f, old, im, i)]++
			}
			if counts["nothing"] == 0 {
				t.Errorf("what starts between is %v", counts)
			}
		})
	}
}

// middles puts between the states before and after each operation those that a
// loss of power in its middle leaves: of the bytes that change, the first half is
// done, or the second, or every other one, or all but the last.
func middles(states [][]byte) (out [][]byte) {
	for i, before := range states[:len(states)-1] {
		out = append(out, before)
		var changed []int
		for k, b := range states[i+1] {
			if b != before[k] {
				changed = append(changed, k)
			}
		}
		half := len(changed) / 2
		for _, done := range []func(k int) bool{
			func(k int) bool { return k < half },
			func(k int) bool { return k >= half },
			func(k int) bool { return k%2 == 0 },
			func(k int) bool { return k%2 == 1 },
			func(k int) bool { return k < len(changed)-1 },
		} {
			mixed := append([]byte(nil), before...)
			for k, at := range changed {
				if done(k) {
					mixed[at] = states[i+1][at]
				}
			}
			out = append(out, mixed)
		}
	}
	return append(out, states[len(states)-1])
}

// TestTwo flashes two boards through two probes at once.
func TestTwo(t *testing.T) {
	files := [2]string{"../examples/hello/hello.elf", "../examples/timer/timer.elf"}
	ids := [2]uint64{0x1111222233334444, 0x5555666677778888}
	var rigs [2]*probed.Rig
	var errs [2]error
	var wg sync.WaitGroup
	for i := range rigs {
		rigs[i] = probed.New(t, probed.Board{Arch: image.ArchRISCV, ChipID: ids[i], Serial: strings.Repeat(string(rune('A'+i)), 16)})
		address := rigs[i].Listen()
		im := open(t, files[i])
		wg.Add(1)
		go func() {
			defer wg.Done()
			s, err := dap.Dial(context.Background(), address)
			if err == nil {
				var tg *probe.Target
				if tg, err = rigs[i].OpenOver(s, probe.Options{}); err == nil {
					if err = flashOnce(tg, im); err == nil {
						_, err = flashing.Compare(context.Background(), tg, im, nil)
					}
					if c := tg.Close(); err == nil {
						err = c
					}
				}
			}
			errs[i] = err
		}()
	}
	wg.Wait()
	for i, err := range errs {
		if err != nil {
			t.Errorf("board %d: %v", i, err)
		}
		tg := rigs[i].MustOpen(probe.Options{})
		if _, err := flashing.Compare(context.Background(), tg, open(t, files[1-i]), nil); !faults.Is(err, faults.CodeVerify) {
			t.Errorf("board %d holds the other one's program: %v", i, err)
		}
	}
}
