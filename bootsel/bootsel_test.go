package bootsel_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stem-hw/stem-hw/board"
	"github.com/stem-hw/stem-hw/bootsel"
	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/image/boot"
	"github.com/stem-hw/stem-hw/sim/rp2350"
	"github.com/stem-hw/stem-hw/sim/virtual/cable"
	"github.com/stem-hw/stem-hw/target"
	"github.com/stem-hw/stem-hw/target/flashing"
	"github.com/stem-hw/stem-hw/target/targettest"
	"github.com/stem-hw/stem-hw/usb"
)

const base = 0x10000000

// riscv is a chip whose boot ROM runs on a Hazard3.
var riscv = rp2350.Options{Arch: image.ArchRISCV, ChipID: 0xa1b2c3d4e5f60718}

// table is a bus with one board, and the board's device.
func table(t *testing.T, opt rp2350.Options) (*cable.Bus, *cable.Board, usb.Device) {
	t.Helper()
	b := cable.New(opt)
	bus := cable.NewBus(b)
	d, ok := b.Look()
	if !ok {
		t.Fatal("nothing is plugged in")
	}
	return bus, b, d
}

func open(t *testing.T, bus bootsel.Bus, d usb.Device, o bootsel.Options) *bootsel.Target {
	t.Helper()
	tg, err := bootsel.Open(context.Background(), bus, d, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := tg.Close(); err != nil {
			t.Error(err)
		}
	})
	return tg
}

// Must lists what a target through the boot ROM has to be capable of.
var must = []targettest.Capability{targettest.Memory, targettest.Flasher}

func TestConformance(t *testing.T) {
	for _, c := range []struct {
		name string
		arch image.Arch
	}{{"arm", image.ArchARM}, {"riscv", image.ArchRISCV}} {
		t.Run(c.name, func(t *testing.T) {
			targettest.Run(t, targettest.Case{
				New: func(t *testing.T) target.Target {
					bus, _, d := table(t, rp2350.Options{Arch: c.arch})
					tg, err := bootsel.Open(context.Background(), bus, d, bootsel.Options{})
					if err != nil {
						t.Fatal(err)
					}
					return tg
				},
				Must: must, At: 0x20000000, Arch: c.arch, Flash: base + 0x100000,
			})
		})
	}
}

// image1 is a program for flash of n bytes filled with fill, that a RISC-V chip
// would start.
func image1(t *testing.T, n int, fill byte) *image.Image {
	t.Helper()
	data := bytes.Repeat([]byte{fill}, n)
	copy(data[0xe50:], []byte{0xd3, 0xde, 0xff, 0xff, 0x42, 0x01, 0x01, 0x11, 0xff, 0x01, 0, 0, 0, 0, 0, 0, 0x79, 0x35, 0x12, 0xab})
	im, err := image.Parse("p.bin", data, image.Options{Format: image.FormatBIN})
	if err != nil || im.Definition() == nil {
		t.Fatal(err)
	}
	return im
}

func TestFlashAndStart(t *testing.T) {
	ctx := context.Background()
	bus, b, d := table(t, riscv)
	var out strings.Builder
	b.Printed = func(_ string, c byte) { out.WriteByte(c) }
	tg := open(t, bus, d, bootsel.Options{})
	if tg.ChipID() != "A1B2C3D4E5F60718" {
		t.Error(tg.ChipID())
	}
	im, err := image.Open("../examples/timer/timer.elf")
	if err != nil {
		t.Fatal(err)
	}
	plan, err := tg.Plan(ctx, im)
	if err != nil {
		t.Fatal(err)
	}
	r, err := plan.Write(ctx, tg, flashing.Options{Verify: true})
	if err != nil || r.Erased != 0 || !r.Verified {
		t.Fatalf("%+v, %v", r, err)
	}
	if r, err = plan.Write(ctx, tg, flashing.Options{Verify: true}); err != nil || r.Changed != 0 {
		t.Fatalf("again: %+v, %v", r, err)
	}
	if n, err := flashing.Compare(ctx, tg, im, nil); err != nil || n == 0 {
		t.Fatal(n, err)
	}
	if err := tg.Start(ctx); err != nil {
		t.Fatal(err)
	}
	b.Pass(2_000_000_000)
	if !strings.Contains(out.String(), "machine timer ticked 5 times") {
		t.Errorf("printed %q", out.String())
	}
	if err := tg.ReadFlash(ctx, base, make([]byte, 4)); err == nil {
		t.Error("the board is gone")
	}
}

func TestRAM(t *testing.T) {
	ctx := context.Background()
	bus, b, d := table(t, riscv)
	var out strings.Builder
	b.Printed = func(_ string, c byte) { out.WriteByte(c) }
	tg := open(t, bus, d, bootsel.Options{})
	im, err := image.Open("../examples/ram/ram.elf")
	if err != nil {
		t.Fatal(err)
	}
	if err := tg.Load(ctx, im); err != nil {
		t.Fatal(err)
	}
	if err := tg.Start(ctx); err != nil {
		t.Fatal(err)
	}
	b.Pass(1_000_000_000)
	if out.Len() == 0 {
		t.Error("the program in RAM printed nothing")
	}
	if !flashing.Blank(b.Chip().Flash().Bytes()) {
		t.Error("flash was touched")
	}
}

func TestFlashSize(t *testing.T) {
	ctx := context.Background()
	for _, n := range []uint32{512 << 10, 1 << 20, 2 << 20, 4 << 20, 8 << 20, 16 << 20} {
		bus, b, d := table(t, rp2350.Options{FlashSize: n})
		tg := open(t, bus, d, bootsel.Options{})
		if size, sure, err := tg.FlashSize(ctx); err != nil || sure || size != 4<<20 {
			t.Errorf("blank: %d %v %v", size, sure, err)
		}
		_ = tg.Close()
		b.Chip().Flash().Load(0, []byte("something"))
		tg = open(t, bus, d, bootsel.Options{})
		if size, sure, err := tg.FlashSize(ctx); err != nil || !sure || size != n {
			t.Errorf("%d: %d %v %v", n, size, sure, err)
		}
	}
}

func TestRefusals(t *testing.T) {
	ctx := context.Background()
	bus, _, d := table(t, riscv)
	status := func(want faults.Status, err error) {
		t.Helper()
		if faults.Of(err) == nil || faults.StatusOf(err) != want || len(faults.Of(err).Try) == 0 {
			t.Errorf("%v (status %d), want status %d", err, faults.StatusOf(err), want)
		}
	}
	other := func(o bootsel.Options, f func(*usb.Device)) error {
		e := d
		f(&e)
		_, err := bootsel.Open(ctx, bus, e, o)
		return err
	}
	status(faults.StatusAmbiguous, other(bootsel.Options{ChipID: "1122334455667788"}, func(*usb.Device) {}))
	status(faults.StatusTarget, other(bootsel.Options{}, func(e *usb.Device) { e.Role = "probe" }))
	status(faults.StatusImage, other(bootsel.Options{}, func(e *usb.Device) { e.Chip = "rp2040" }))
	status(faults.StatusBusy, other(bootsel.Options{Command: "stem-hw save -b %s x.bin"}, func(e *usb.Device) { e.Mode = "running" }))
	status(faults.StatusTarget, other(bootsel.Options{Force: true}, func(e *usb.Device) { e.Mode, e.Interfaces = "running", nil }))
	status(faults.StatusTarget, other(bootsel.Options{}, func(e *usb.Device) { e.Interfaces = nil }))
	bus.Taken[d.Node.Path] = usb.Holder{PID: 42}
	if err := other(bootsel.Options{}, func(*usb.Device) {}); faults.StatusOf(err) != faults.StatusBusy {
		t.Error(err)
	}
	delete(bus.Taken, d.Node.Path)
	if len(bus.Leased) != 0 {
		t.Errorf("leases that were not given back: %v", bus.Leased)
	}
	tg := open(t, bus, d, bootsel.Options{ChipID: "a1b2c3d4e5f60718"})
	if err := tg.Reset(ctx, target.ResetHalt); faults.StatusOf(err) != faults.StatusTarget {
		t.Error(err)
	}
	big, err := image.Parse("big.bin", make([]byte, 64), image.Options{Format: image.FormatBIN, Base: base + 0x1fff000, HasBase: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := tg.EraseFlash(ctx, base, 4096); err != nil {
		t.Fatal(err)
	}
	if err := tg.ProgramFlash(ctx, base, []byte("x")); err != nil {
		t.Fatal(err)
	}
	if _, err := tg.Plan(ctx, big); faults.StatusOf(err) != faults.StatusImage {
		t.Error(err)
	}
}

// flashTo brings an image into the flash of a board that is plugged in.
func flashTo(bus *cable.Bus, b *cable.Board, im *image.Image, o flashing.Options) error {
	ctx := context.Background()
	d, _ := b.Look()
	tg, err := bootsel.Open(ctx, bus, d, bootsel.Options{})
	if err != nil {
		return err
	}
	plan, err := tg.Plan(ctx, im)
	if err == nil {
		_, err = plan.Write(ctx, tg, o)
	}
	return errors.Join(err, tg.Close())
}

// cutAt flashes next over old on a board that loses power as arm says, and checks
// what is left: the old program, the new one, or none that starts; flashing again
// finishes. done says that power was not lost.
func cutAt(t *testing.T, old, next *image.Image, full bool, arm func(*cable.Board)) (done bool) {
	t.Helper()
	b := cable.New(riscv)
	bus := cable.NewBus(b)
	b.Chip().Flash().Load(0, old.Segments[0].Data)
	arm(b)
	err := flashTo(bus, b, next, flashing.Options{Verify: true, Full: full})
	b.Before = nil
	b.Chip().Flash().Cut(nil)
	mem := b.Chip().Flash().Bytes()
	found := boot.FindImage(boot.Flash{Data: mem}, boot.Options{Chip: boot.A2, CPU: boot.RISCV})
	isOld := bytes.HasPrefix(mem, old.Segments[0].Data)
	isNew := bytes.HasPrefix(mem, next.Segments[0].Data)
	if found.Outcome == boot.OutcomeBoot && !isOld && !isNew {
		t.Fatal("a mixture starts")
	}
	if len(bus.Leased) != 0 {
		t.Fatalf("a lease is left: %v", bus.Leased)
	}
	if err == nil {
		if !isNew {
			t.Fatal("not written")
		}
		return true
	}
	if f := faults.Of(err); f == nil || f.Status != faults.StatusLost || len(f.Try) == 0 {
		t.Fatal(err)
	}
	// With power back it runs the whole old program, the whole new one, or waits
	// in BOOTSEL mode.
	b.PlugIn()
	if b.Chip().BootselMode() == nil {
		if !isOld && !isNew {
			t.Fatal("something started")
		}
		return false
	}
	if err := flashTo(bus, b, next, flashing.Options{Verify: true}); err != nil || !bytes.HasPrefix(b.Chip().Flash().Bytes(), next.Segments[0].Data) {
		t.Fatalf("again: %v", err)
	}
	return false
}

// mixed are two programs that share a sector.
func mixed(t *testing.T) (old, next *image.Image) {
	old, next = image1(t, 30000, 0x11), image1(t, 33000, 0x22)
	copy(next.Segments[0].Data[8192:16384], old.Segments[0].Data[8192:16384])
	return old, next
}

// TestUnpluggedFlashing pulls the plug before every USB transfer.
func TestUnpluggedFlashing(t *testing.T) {
	old, next := mixed(t)
	for _, full := range []bool{false, true} {
		n := 1
		for ; !cutAt(t, old, next, full, func(b *cable.Board) {
			b.Before = func(i int) {
				if i == n {
					b.Unplug()
				}
			}
		}); n++ {
		}
		if n < 40 {
			t.Errorf("only %d transfers", n)
		}
	}
}

// TestPowerCut loses power in the middle of every erase and every program.
func TestPowerCut(t *testing.T) {
	old, next := mixed(t)
	n := 1
	for ; !cutAt(t, old, next, false, func(b *cable.Board) {
		count := 0
		b.Chip().Flash().Cut(func(bool, uint32, uint32) bool {
			if count++; count == n {
				b.LosePower()
				return true
			}
			return false
		})
	}); n++ {
	}
	if n < 100 {
		t.Errorf("only %d operations", n)
	}
}

// TestFromAProgram: a program that runs is restarted into BOOTSEL mode by its reset
// interface, under the same lease, and started again.
func TestFromAProgram(t *testing.T) {
	ctx := context.Background()
	bus, b, d := table(t, riscv)
	im, err := image.Open("../examples/usbecho/usbecho.elf")
	if err != nil {
		t.Fatal(err)
	}
	tg := open(t, bus, d, bootsel.Options{})
	if err := tg.Load(ctx, im); err != nil {
		t.Fatal(err)
	}
	if resumed, err := tg.Resume(ctx); err != nil || resumed {
		t.Errorf("a board that waited in BOOTSEL mode stays there: %v %v", resumed, err)
	}
	if err := tg.Start(ctx); err != nil {
		t.Fatal(err)
	}
	if err := tg.Left(ctx); err != nil {
		t.Fatal(err)
	}
	app, ok, err := tg.Appeared(ctx)
	if err != nil || !ok || app.Mode != "running" {
		t.Fatalf("%+v %v %v", app, ok, err)
	}
	if err := tg.Close(); err != nil || len(bus.Leased) != 0 {
		t.Fatal(err, bus.Leased)
	}
	if _, err := bootsel.Open(ctx, bus, app, bootsel.Options{Command: "stem-hw info -b %s"}); faults.StatusOf(err) != faults.StatusBusy {
		t.Fatalf("without leave: %v", err)
	}
	told := 0
	tg, err = bootsel.Open(ctx, bus, app, bootsel.Options{Force: true, BeforeRestart: func() { told++ }})
	if err != nil {
		t.Fatal(err)
	}
	if told != 1 || tg.Was().Num != app.Num || tg.Device().Mode != "bootsel" {
		t.Errorf("%d, %+v", told, tg.Device())
	}
	if _, err := flashing.Compare(ctx, tg, im, nil); err != nil {
		t.Error(err)
	}
	if resumed, err := tg.Resume(ctx); err != nil || !resumed {
		t.Errorf("%v %v", resumed, err)
	}
	app, ok, err = tg.Appeared(ctx)
	if err != nil || !ok || app.Mode != "running" {
		t.Fatalf("%+v %v %v", app, ok, err)
	}
	if err := tg.Close(); err != nil {
		t.Fatal(err)
	}
	// Somebody takes the board while it restarts: exit 6, with its state.
	bus.Taken[fmt.Sprintf("/dev/bus/usb/001/%03d", app.Num+1)] = usb.Holder{PID: 42, Verb: "flash"}
	_, err = bootsel.Open(ctx, bus, app, bootsel.Options{Force: true})
	if f := faults.Of(err); f == nil || f.Status != faults.StatusBusy || len(f.Details) != 1 || !strings.Contains(f.Details[0], "in BOOTSEL mode now") {
		t.Errorf("%v", err)
	}
	if len(bus.Leased) != 0 {
		t.Error(bus.Leased)
	}
	bus.Taken = map[string]usb.Holder{}
	// Restart: through the boot ROM, by the program itself, and into BOOTSEL mode.
	d, _ = b.Look()
	for _, c := range []struct {
		bootsel bool
		want    board.Mode
	}{{false, "running"}, {false, "running"}, {true, "bootsel"}, {true, "bootsel"}} {
		after, err := bootsel.Restart(ctx, bus, d, c.bootsel, bootsel.Options{})
		if err != nil || after.Mode != c.want {
			t.Fatalf("%+v, %v", after, err)
		}
		for i := 0; i < 100; i++ {
			b.Pass(10_000_000)
			if now, ok := b.Look(); ok && now.Mode == c.want {
				d = now
				break
			}
		}
		if len(bus.Leased) != 0 {
			t.Error(bus.Leased)
		}
	}
}
