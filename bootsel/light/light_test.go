package light_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stem-hw/stem-hw/board"
	"github.com/stem-hw/stem-hw/bootsel"
	"github.com/stem-hw/stem-hw/bootsel/light"
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/image/binaryinfo"
	"github.com/stem-hw/stem-hw/sim/rp2350"
	"github.com/stem-hw/stem-hw/sim/rp2350/periph"
	"github.com/stem-hw/stem-hw/sim/virtual/cable"
	"github.com/stem-hw/stem-hw/usb"
)

// TestBlink lets a simulated Pico 2 blink: its light goes on and off, its flash
// stays, and it comes back into BOOTSEL mode by itself, from either boot ROM.
func TestBlink(t *testing.T) {
	for _, arch := range []image.Arch{image.ArchARM, image.ArchRISCV} {
		t.Run(string(arch), func(t *testing.T) {
			b := cable.New(rp2350.Options{Arch: arch, ChipID: 0xa1b2c3d4e5f60718})
			bus := cable.NewBus(b)
			d, ok := b.Look()
			if !ok {
				t.Fatal("no board")
			}
			flash := bytes.Clone(b.Chip().Flash().Bytes())
			edges := 0
			b.Chip().Pins().Watch(1<<light.Pin, func(c periph.PinChange) {
				if (c.Level^c.OldLevel)>>light.Pin&1 != 0 {
					edges++
				}
			})
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			tg, err := bootsel.Open(ctx, bus, d, bootsel.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer tg.Close()
			if err := tg.LoadRAM(ctx, light.Image()); err != nil {
				t.Fatal(err)
			}
			if err := tg.Start(ctx); err != nil {
				t.Fatal(err)
			}
			var back usb.Device
			for range 100 {
				b.Pass(100 * time.Millisecond)
				if d, ok := b.Look(); ok && d.Mode == board.ModeBootsel && edges > 0 {
					back = d
					break
				}
			}
			if back.Mode != board.ModeBootsel || back.Serial != "A1B2C3D4E5F60718" {
				t.Errorf("the board came back as %+v", back)
			}
			if edges < 6 {
				t.Errorf("the light changed %d times", edges)
			}
			if !bytes.Equal(flash, b.Chip().Flash().Bytes()) {
				t.Error("flash was touched")
			}
		})
	}
}

func TestWhy(t *testing.T) {
	for _, tt := range []struct {
		info *binaryinfo.Info
		ok   bool
	}{
		{nil, false}, {&binaryinfo.Info{}, false}, {&binaryinfo.Info{Board: "pico2_w"}, false},
		{&binaryinfo.Info{Board: "pico"}, false}, {&binaryinfo.Info{Board: "pico2"}, true},
	} {
		if got := light.Why(tt.info) == ""; got != tt.ok {
			t.Errorf("%+v: %q", tt.info, light.Why(tt.info))
		}
	}
}

// TestBuilt builds the program again where there is an assembler for it.
func TestBuilt(t *testing.T) {
	if _, err := exec.LookPath("arm-none-eabi-as"); err != nil {
		t.Skip("arm-none-eabi-as is not installed")
	}
	out := filepath.Join(t.TempDir(), "light.bin")
	if text, err := exec.Command("./build.sh", out).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	want, err := os.ReadFile("light.bin")
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(out)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("light.S no longer makes light.bin (%v)", err)
	}
}
