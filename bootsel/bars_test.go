package bootsel_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/stem-hw/stem-hw/bootsel"
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/sim/virtual/cable"
	"github.com/stem-hw/stem-hw/target/flashing"
)

// A megabyte is loaded on boards that hold something else, or not. docs/performance.md
// has the model by which simulated seconds are counted, with its sources.
const barSize = 1 << 20

// barCase is what a board holds before.
type barCase struct {
	name string
	// before makes it out of what is loaded.
	before func(next []byte) []byte
	// bar is what loading may take at most, as a part of picotool's `load -v`.
	bar float64
}

func barCases() []barCase {
	return []barCase{
		{"blank", func([]byte) []byte { return nil }, 0.55},
		{"unchanged", slices.Clone[[]byte], 1.0 / 6},
		{"5 % changed", func(next []byte) []byte {
			old := slices.Clone(next)
			dice := rand.New(rand.NewPCG(5, 0))
			for _, s := range dice.Perm(barSize / 4096)[:barSize/4096/20] {
				for i := range 4096 {
					old[s*4096+i] ^= 0x5a
				}
			}
			return old
		}, 0.25},
		{"all changed", func(next []byte) []byte {
			old := slices.Clone(next)
			for i := range old {
				old[i] ^= 0x5a
			}
			return old
		}, 1.05},
	}
}

// barImage is a program of a megabyte whose contents are like no others.
func barImage() []byte {
	data := make([]byte, barSize)
	dice := rand.NewChaCha8([32]byte{8})
	_, _ = dice.Read(data)
	copy(data[0x20:], []byte{0xd3, 0xde, 0xff, 0xff, 0x42, 0x01, 0x01, 0x11, 0xff, 0x01, 0, 0, 0, 0, 0, 0, 0x79, 0x35, 0x12, 0xab})
	return data
}

// barCount is what a load took.
type barCount struct {
	Transfers uint64  `json:"transfers"`
	Seconds   float64 `json:"seconds"`
}

// recorded is what Debian's picotool took on the same simulated board, as
// TestRigBars found it.
type recorded struct {
	Picotool string `json:"picotool"`
	// LoadV is `picotool load -v`, LoadUV `picotool load -u -v`, by case.
	LoadV  map[string]barCount `json:"load -v"`
	LoadUV map[string]barCount `json:"load -u -v"`
}

// TestBars: what our way of loading takes, in USB transfers and in simulated
// seconds of bus and board, beside what picotool took.
func TestBars(t *testing.T) {
	raw, err := os.ReadFile("testdata/picotool.json")
	if err != nil {
		t.Fatal(err)
	}
	var rec recorded
	if err := json.Unmarshal(raw, &rec); err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	next := barImage()
	im, err := image.Parse("next.bin", next, image.Options{Format: image.FormatBIN})
	if err != nil || im.Definition() == nil {
		t.Fatal(err)
	}
	for _, c := range barCases() {
		b := cable.New(riscv)
		b.Chip().Flash().Load(0, c.before(next))
		bus := cable.NewBus(b)
		d, _ := b.Look()
		start := b.Clock().Stats()
		n := b.Transfers
		tg, err := bootsel.Open(ctx, bus, d, bootsel.Options{})
		if err != nil {
			t.Fatal(err)
		}
		plan, err := tg.Plan(ctx, im)
		if err != nil {
			t.Fatal(err)
		}
		r, err := plan.Write(ctx, tg, flashing.Options{Verify: true})
		if err != nil || !r.Verified {
			t.Fatalf("%+v, %v", r, err)
		}
		if err := tg.Close(); err != nil {
			t.Fatal(err)
		}
		took := b.Clock().Stats().Sub(start).Total().Seconds()
		v, uv := rec.LoadV[c.name], rec.LoadUV[c.name]
		// `load -v` does the same whatever is there. What a record has beyond the
		// shortest one is the kernel's look at the drive.
		for _, o := range rec.LoadV {
			v = barCount{min(v.Transfers, o.Transfers), min(v.Seconds, o.Seconds)}
		}
		t.Logf("%-12s %4d transfers %6.2f s; picotool load -v %4d, %5.2f s (%.3f of it, bar %.3f); load -u -v %4d, %5.2f s",
			c.name, b.Transfers-n, took, v.Transfers, v.Seconds, took/v.Seconds, c.bar, uv.Transfers, uv.Seconds)
		if v.Seconds == 0 || took > c.bar*v.Seconds {
			t.Errorf("%s: %.2f s, more than %.3f of picotool's %.2f s", c.name, took, c.bar, v.Seconds)
		}
		if uv.Seconds == 0 || took > uv.Seconds {
			t.Errorf("%s: %.2f s, slower than picotool's load -u -v, %.2f s", c.name, took, uv.Seconds)
		}
		if n := uint64(b.Transfers - n); n > v.Transfers || n > uv.Transfers {
			t.Errorf("%s: %d transfers, more than picotool", c.name, n)
		}
	}
}
