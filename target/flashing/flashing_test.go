package flashing

import (
	"bytes"
	"context"
	"encoding/binary"
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
	cut      int // the last command that is done; -1 is never
	tear     int // how much of the next one is done as well: a part of its bytes
	sick     bool
	erases   []string
	last     uint32 // address of the last program
	reads    int
}

var errPower = errors.New("power lost")

func newFake(n int) *fakeFlash {
	return &fakeFlash{mem: bytes.Repeat([]byte{0xff}, n), cut: -1}
}

func (f *fakeFlash) command() error {
	f.commands++
	if f.cut >= 0 && f.commands > f.cut {
		return errPower
	}
	return nil
}

func (f *fakeFlash) ReadFlash(_ context.Context, addr uint32, p []byte) error {
	f.reads += len(p)
	copy(p, f.mem[addr-base:])
	return nil
}

// torn is the part of a command that the power loss leaves done: none, the first
// half, the second half, or every other byte.
func (f *fakeFlash) torn(n int, do func(i int)) {
	if f.commands != f.cut+1 {
		return
	}
	for i := range n {
		switch f.tear {
		case 1:
			if i < n/2 {
				do(i)
			}
		case 2:
			if i >= n/2 {
				do(i)
			}
		case 3:
			if i%2 == 0 {
				do(i)
			}
		case 4:
			if i%16 < 8 {
				do(i)
			}
		}
	}
}

func (f *fakeFlash) EraseFlash(_ context.Context, addr, n uint32) error {
	if addr%SectorSize != 0 || n%SectorSize != 0 || n == 0 {
		return fmt.Errorf("erase %#x %#x", addr, n)
	}
	f.erases = append(f.erases, fmt.Sprintf("%x+%x", addr-base, n))
	// A boot ROM erases a sector at a time.
	for at := addr; at < addr+n; at += SectorSize {
		mem := f.mem[at-base:][:SectorSize]
		if err := f.command(); err != nil {
			f.torn(SectorSize, func(i int) { mem[i] = 0xff })
			return err
		}
		for i := range mem {
			mem[i] = 0xff
		}
	}
	return nil
}

func (f *fakeFlash) ProgramFlash(_ context.Context, addr uint32, p []byte) error {
	if addr%PageSize != 0 || len(p)%PageSize != 0 {
		return fmt.Errorf("program %#x %#x", addr, len(p))
	}
	for i := 0; i < len(p); i += PageSize {
		mem := f.mem[int(addr)-base+i:]
		if err := f.command(); err != nil {
			f.torn(PageSize, func(k int) { mem[k] &= p[i+k] })
			return err
		}
		for k, b := range p[i:][:PageSize] {
			mem[k] &= b
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

// block is an image definition (datasheet 5.9.5.1): executable, RISC-V, RP2350,
// with the way to the next block.
func block(link int32) []byte {
	p := []byte{0xd3, 0xde, 0xff, 0xff, 0x42, 0x01, 0x01, 0x11, 0xff, 0x01, 0, 0, 0, 0, 0, 0, 0x79, 0x35, 0x12, 0xab}
	binary.LittleEndian.PutUint32(p[12:], uint32(link))
	return p
}

// chained is a program whose definitions are at offsets, each leading to the
// next one; the last one counts.
func chained(t *testing.T, n int, fill byte, at ...int) *image.Image {
	t.Helper()
	data := bytes.Repeat([]byte{fill}, n)
	for i, off := range at {
		copy(data[off:], block(int32(at[(i+1)%len(at)]-off)))
	}
	im, err := image.Parse("p.bin", data, image.Options{Format: image.FormatBIN})
	if err != nil {
		t.Fatal(err)
	}
	if d := im.Definition(); d == nil || d.Addr != base+uint32(at[len(at)-1]) {
		t.Fatalf("the definition of %#x is %+v", at, d)
	}
	return im
}

// TestPowerCut stops after every single command: what then boots is the old
// program whole, the new one whole, or nothing.
func TestPowerCut(t *testing.T) {
	type prog struct {
		n  int
		at []int
	}
	one := func(at ...int) prog { return prog{0, at} }
	for _, c := range []struct {
		name      string
		old, next prog
		// equal is the part of the new program that is as in the old one.
		from, to int
	}{
		{"same place", one(0x10), one(0x10), 8192, 12288},
		{"other page", one(0x10), one(0xe10), 8192, 12288},
		{"earlier page", one(0x810), one(0x110), 8192, 12288},
		{"becomes sealed", one(0x10), one(0x10, 0x3800), 8192, 12288},
		{"was sealed", one(0x10, 0x3000), one(0x210), 8192, 12288},
		{"sealed again, longer", one(0x10, 0x3000), one(0x10, 0x3800), 8192, 12288},
		{"sealed, first sectors equal", one(0x10, 0x3000), one(0x10, 0x3000), 0, 8192},
		{"sealed, first sector equal", one(0x10, 0x3000), one(0x10, 0x3000), 0, 4096},
		{"sealed, all but one equal", one(0x10, 0x3000), one(0x10, 0x3000), 8192, 14000},
		{"definition in the second sector", one(0x20, 0x1100), one(0x20, 0x1100), 8192, 12288},
	} {
		t.Run(c.name, func(t *testing.T) {
			old, next := chained(t, 14000, 0x11, c.old.at...), chained(t, 15000, 0x22, c.next.at...)
			copy(next.Segments[0].Data[c.from:c.to], old.Segments[0].Data[c.from:c.to])
			for tear := range 5 {
				powerCut(t, old, next, tear == 4, tear)
			}
			powerCut(t, old, next, true, 0)
		})
	}
}

func powerCut(t *testing.T, old, next *image.Image, full bool, tear int) {
	t.Helper()
	for cut := 0; ; cut++ {
		f := newFake(20 << 10)
		if _, err := NewPlan(old).Write(context.Background(), f, Options{}); err != nil {
			t.Fatal(err)
		}
		f.commands, f.cut, f.tear = 0, cut, tear
		_, err := NewPlan(next).Write(context.Background(), f, Options{Verify: true, Full: full})
		boots := boot.FindImage(boot.Flash{Data: f.mem}, boot.Options{Chip: boot.A2, CPU: boot.RISCV}).Outcome == boot.OutcomeBoot
		isOld := bytes.Equal(f.mem[:14000], old.Segments[0].Data)
		isNew := bytes.Equal(f.mem[:15000], next.Segments[0].Data)
		if boots && !isOld && !isNew {
			t.Fatalf("cut after command %d (tear %d): a mixture boots", cut, tear)
		}
		if err == nil {
			if !boots || !isNew {
				t.Fatalf("%v %v", boots, isNew)
			}
			return
		}
		if fl := faults.Of(err); fl == nil || fl.Status != faults.StatusWrite || len(fl.Details) == 0 {
			t.Fatalf("cut %d: %v", cut, err)
		}
		// Run again, it finishes.
		f.cut = -1
		if _, err := NewPlan(next).Write(context.Background(), f, Options{Verify: true}); err != nil || !bytes.Equal(f.mem[:15000], next.Segments[0].Data) {
			t.Fatalf("again after cut %d: %v", cut, err)
		}
		if cut > 1000 {
			t.Fatal("never ends")
		}
	}
}

// TestSample: where most sectors differ they are not read, and not read twice.
func TestSample(t *testing.T) {
	ctx := context.Background()
	const n = 512 << 10
	old := program(t, n, 0x10, 0x11)
	for _, c := range []struct {
		name string
		// equal of 128 sectors, evenly spread, are as in the old program; blank
		// ones are erased.
		equal, blank   int
		reads, changed int
		erased         int
	}{
		{"all differ", 0, 0, 16 * SectorSize, 128, 128},
		{"a few are equal", 8, 0, 16 * SectorSize, 128, 128},
		{"half are equal", 64, 0, n, 65, 65},
		{"nearly all are equal", 126, 0, n, 3, 3},
		{"all are blank", 0, 128, n, 128, 0},
		{"half are blank", 0, 64, n, 128, 64},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFake(1 << 20)
			if _, err := NewPlan(old).Write(ctx, f, Options{}); err != nil {
				t.Fatal(err)
			}
			im := program(t, n, 0x10, 0x22)
			spread := func(k int, do func(at int)) {
				for i := range k {
					do((2*i + 1) * 128 / (2 * k) * SectorSize)
				}
			}
			spread(c.equal, func(at int) { copy(im.Segments[0].Data[at:][:SectorSize], old.Segments[0].Data[at:]) })
			spread(c.blank, func(at int) { copy(f.mem[at:][:SectorSize], bytes.Repeat([]byte{0xff}, SectorSize)) })
			f.reads = 0
			r, err := NewPlan(im).Write(ctx, f, Options{})
			if err != nil || !bytes.Equal(f.mem[:n], im.Segments[0].Data) {
				t.Fatal(err)
			}
			// The sample may miss or meet the ones that are equal. Sectors that
			// decide about what starts are looked at again.
			if f.reads < c.reads || f.reads > c.reads+2*SectorSize || abs(r.Changed-c.changed) > 1 && c.reads == n || r.Erased > c.erased+1 {
				t.Errorf("read %d bytes, %+v", f.reads, r)
			}
		})
	}
}

func abs(n int) int { return max(n, -n) }

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

// TestErasePowerCut: whatever is left of a program while it is erased, it does not
// start.
func TestErasePowerCut(t *testing.T) {
	old := chained(t, 14000, 0x11, 0x10, 0x3000)
	for tear := range 5 {
		for cut := 0; ; cut++ {
			f := newFake(20 << 10)
			if _, err := NewPlan(old).Write(context.Background(), f, Options{}); err != nil {
				t.Fatal(err)
			}
			f.commands, f.cut, f.tear = 0, cut, tear
			n, err := Erase(context.Background(), f, base, base+20<<10, nil)
			boots := boot.FindImage(boot.Flash{Data: f.mem}, boot.Options{Chip: boot.A2, CPU: boot.RISCV}).Outcome == boot.OutcomeBoot
			if boots && !bytes.Equal(f.mem[:14000], old.Segments[0].Data) {
				t.Fatalf("cut after command %d (tear %d): a part of the program boots", cut, tear)
			}
			if err == nil {
				// The last sector was blank.
				if n != 4 || !Blank(f.mem) {
					t.Errorf("%d sectors", n)
				}
				break
			}
			if fl := faults.Of(err); fl == nil || fl.Status != faults.StatusWrite || len(fl.Details) != 1 {
				t.Fatal(err)
			}
		}
	}
}
