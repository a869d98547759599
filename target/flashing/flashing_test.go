package flashing

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/image/boot"
)

const base = 0x10000000

// fakeFlash is NOR flash in memory that loses power at a given command.
type fakeFlash struct {
	mem      []byte
	commands int
	cut      int // the command at which everything stops; 0 is never
	sick     bool
	erases   []string
	last     uint32 // address of the last program
	reads    int
}

var errPower = errors.New("power lost")

func newFake(n int) *fakeFlash {
	return &fakeFlash{mem: bytes.Repeat([]byte{0xff}, n)}
}

func (f *fakeFlash) command() error {
	f.commands++
	if f.cut > 0 && f.commands > f.cut {
		return errPower
	}
	return nil
}

func (f *fakeFlash) ReadFlash(_ context.Context, addr uint32, p []byte) error {
	f.reads += len(p)
	copy(p, f.mem[addr-base:])
	return nil
}

func (f *fakeFlash) EraseFlash(_ context.Context, addr, n uint32) error {
	if addr%SectorSize != 0 || n%SectorSize != 0 || n == 0 {
		return fmt.Errorf("erase %#x %#x", addr, n)
	}
	if err := f.command(); err != nil {
		return err
	}
	f.erases = append(f.erases, fmt.Sprintf("%x+%x", addr-base, n))
	for i := range n {
		f.mem[addr-base+i] = 0xff
	}
	return nil
}

func (f *fakeFlash) ProgramFlash(_ context.Context, addr uint32, p []byte) error {
	if addr%PageSize != 0 || len(p)%PageSize != 0 {
		return fmt.Errorf("program %#x %#x", addr, len(p))
	}
	for i := 0; i < len(p); i += PageSize {
		if err := f.command(); err != nil {
			return err
		}
		for k, b := range p[i:][:PageSize] {
			f.mem[int(addr)-base+i+k] &= b
		}
	}
	if f.sick {
		f.mem[addr-base] ^= 1
	}
	f.last = addr
	return nil
}

// program is a bootable RISC-V image of n bytes filled with fill, whose image
// definition is at offset def.
func program(t *testing.T, n, def int, fill byte) *image.Image {
	t.Helper()
	data := bytes.Repeat([]byte{fill}, n)
	// A minimal block loop of one image definition (datasheet 5.9.5.1):
	// executable, RISC-V, RP2350.
	copy(data[def:], []byte{0xd3, 0xde, 0xff, 0xff, 0x42, 0x01, 0x01, 0x11, 0xff, 0x01, 0, 0, 0, 0, 0, 0, 0x79, 0x35, 0x12, 0xab})
	im, err := image.Parse("p.bin", data, image.Options{Format: image.FormatBIN})
	if err != nil {
		t.Fatal(err)
	}
	if im.Definition() == nil {
		t.Fatal("the test image has no definition")
	}
	return im
}

func TestOnlyWhatDiffers(t *testing.T) {
	f := newFake(1 << 20)
	im := program(t, 40000, 0x150, 0x55)
	p := NewPlan(im)
	if p.Sectors() != 10 {
		t.Fatalf("%d sectors", p.Sectors())
	}
	ctx := context.Background()
	o := Options{Verify: true}
	r, err := p.Write(ctx, f, o)
	if err != nil || r.Changed != 10 || r.Erased != 0 || !r.Verified {
		t.Fatalf("blank board: %+v, %v", r, err)
	}
	if !bytes.Equal(f.mem[:40000], im.Segments[0].Data) {
		t.Fatal("contents differ")
	}
	if f.last != base+0x100 {
		t.Errorf("the last page written is at %#x, not the one with the image definition", f.last)
	}
	n := f.commands
	r, err = p.Write(ctx, f, o)
	if err != nil || r.Changed != 0 || f.commands != n || !r.Verified || r.Unchanged() != 10 {
		t.Fatalf("unchanged: %+v, %v, %d commands", r, err, f.commands-n)
	}
	im2 := program(t, 40000, 0x150, 0x55)
	im2.Segments[0].Data[20000] = 7
	f.erases = nil
	r, err = NewPlan(im2).Write(ctx, f, o)
	if err != nil || r.Changed != 2 || len(f.erases) != 2 || f.erases[0] != "0+1000" || f.erases[1] != "4000+1000" {
		t.Fatalf("one sector: %+v, %v, %v", r, err, f.erases)
	}
	r, err = NewPlan(im2).Write(ctx, f, Options{Full: true, Verify: true})
	if err != nil || r.Changed != 10 || r.Erased != 10 {
		t.Fatalf("full: %+v, %v", r, err)
	}
	n = f.commands
	r, err = NewPlan(im).Write(ctx, f, Options{DryRun: true})
	if err != nil || r.Changed != 2 || f.commands != n || r.Verified {
		t.Fatalf("dry run: %+v, %v", r, err)
	}
}

// TestPowerCut stops after every single command: what then boots is the old
// program whole, the new one whole, or nothing.
func TestPowerCut(t *testing.T) {
	for _, c := range []struct{ oldDef, newDef int }{{0x10, 0x10}, {0x10, 0xe10}, {0x810, 0x110}} {
		old, next := program(t, 30000, c.oldDef, 0x11), program(t, 33000, c.newDef, 0x22)
		copy(next.Segments[0].Data[8192:16384], old.Segments[0].Data[8192:16384]) // parts are equal
		for cut := 1; ; cut++ {
			f := newFake(64 << 10)
			if _, err := NewPlan(old).Write(context.Background(), f, Options{}); err != nil {
				t.Fatal(err)
			}
			f.commands, f.cut = 0, cut
			_, err := NewPlan(next).Write(context.Background(), f, Options{Verify: true})
			boots := boot.FindImage(boot.Flash{Data: f.mem}, boot.Options{Chip: boot.A2, CPU: boot.RISCV}).Outcome == boot.OutcomeBoot
			isOld := bytes.Equal(f.mem[:30000], old.Segments[0].Data)
			isNew := bytes.Equal(f.mem[:33000], next.Segments[0].Data)
			if boots && !isOld && !isNew {
				t.Fatalf("cut after command %d: a mixture boots", cut)
			}
			if err == nil {
				if !boots || !isNew {
					t.Fatalf("%v %v", boots, isNew)
				}
				break
			}
			if fl := faults.Of(err); fl == nil || fl.Status != faults.StatusWrite || len(fl.Details) == 0 {
				t.Fatalf("cut %d: %v", cut, err)
			}
			// Run again, it finishes.
			f.cut = 0
			if _, err := NewPlan(next).Write(context.Background(), f, Options{Verify: true}); err != nil || !bytes.Equal(f.mem[:33000], next.Segments[0].Data) {
				t.Fatalf("again after cut %d: %v", cut, err)
			}
			if cut > 1000 {
				t.Fatal("never ends")
			}
		}
	}
}

func TestVerifyAndCompare(t *testing.T) {
	ctx := context.Background()
	f := newFake(64 << 10)
	f.sick = true
	im := program(t, 9000, 0, 0x33)
	if _, err := NewPlan(im).Write(ctx, f, Options{Verify: true}); faults.StatusOf(err) != faults.StatusVerify {
		t.Errorf("%v", err)
	}
	f = newFake(64 << 10)
	if _, err := NewPlan(im).Write(ctx, f, Options{}); err != nil {
		t.Fatal(err)
	}
	if n, err := Compare(ctx, f, im, nil); err != nil || n != 9000 {
		t.Errorf("%d, %v", n, err)
	}
	f.mem[5000] = 0x34
	f.mem[8999] = 0x34
	f.mem[9001] = 0 // not part of the image
	_, err := Compare(ctx, f, im, nil)
	fl := faults.Of(err)
	if fl == nil || fl.Code != faults.CodeVerify || fl.Seen != "34 33 33 33 33 33 33 33 at 0x10001388" || fl.Details[0] != "2 sectors of 4096 bytes differ" {
		t.Errorf("%+v", fl)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	f := newFake(64 << 10)
	_, err := NewPlan(program(t, 20000, 0, 1)).Write(ctx, f, Options{Progress: func(phase string, done, _ int) {
		if phase == "writing" && done > 0 {
			cancel()
		}
	}})
	if fl := faults.Of(err); fl == nil || fl.Status != faults.StatusInterrupted || len(fl.Details) != 1 {
		t.Errorf("%v", err)
	}
}
