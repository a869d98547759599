package rp2350

import (
	"bytes"
	"os"
	"testing"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/sim/machine"
)

// output runs a chip to a cycle and returns what it printed.
func outputTo(c *Chip, limit uint64, out *bytes.Buffer) machine.Event {
	c.SetHooks(machine.Hooks{Output: func(_ string, b byte) { out.WriteByte(b) }})
	for c.Now() < limit {
		if e := c.Run(min(limit, c.Now()+100_000)); e.Kind != machine.EventLimit && e.Kind != machine.EventReset {
			return e
		}
	}
	return machine.Event{}
}

// TestStateResumes: a board that is restored goes on exactly as the one that was
// saved, at many points of programs of both architectures.
func TestStateResumes(t *testing.T) {
	for _, path := range []string{
		"../../examples/hello/hello.elf", "../../examples/arm/hello/hello.elf", "../../examples/timer/timer.elf",
		"../../examples/multicore/multicore.elf", "../../examples/flash/flash.elf", "../../examples/watchdog/watchdog.elf",
		"../../examples/irq/irq.elf",
	} {
		t.Run(path, func(t *testing.T) {
			if _, err := os.Stat(path); err != nil {
				t.Skip("not built")
			}
			img, err := image.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			const end = 30_000_000
			for _, at := range []uint64{0, 1, 1000, 77_777, 1_000_003, 3_456_789, 20_000_000} {
				whole := New(Options{})
				if err := whole.Load(img); err != nil {
					t.Fatal(err)
				}
				var before, rest, again bytes.Buffer
				outputTo(whole, at, &before)
				var file bytes.Buffer
				if err := whole.SaveState(&file); err != nil {
					t.Fatal(err)
				}
				opt, err := ReadHeader(bytes.NewReader(file.Bytes()))
				if err != nil {
					t.Fatal(err)
				}
				other := New(opt)
				if err := other.LoadState(bytes.NewReader(file.Bytes())); err != nil {
					t.Fatal(err)
				}
				if d, err := StateDiff(whole, other); err != nil || d != "" {
					t.Fatalf("at %d: the restored board differs: %s (%v)", at, d, err)
				}
				outputTo(whole, end, &rest)
				outputTo(other, end, &again)
				if rest.String() != again.String() {
					t.Fatalf("at %d: the saved board prints %q, the restored one %q", at, rest.String(), again.String())
				}
				if d, err := StateDiff(whole, other); err != nil || d != "" {
					t.Errorf("saved at %d, the boards differ at the end: %s (%v)", at, d, err)
				}
			}
		})
	}
}

// smallState is a snapshot of a chip that has just been made.
func smallState(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := New(Options{FlashSize: 64 << 10}).SaveState(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestStateRefuses: what is no snapshot of this board is refused with a fault.
func TestStateRefuses(t *testing.T) {
	good := smallState(t)
	cut := good[:len(good)-10]
	changed := bytes.Clone(good)
	changed[len(changed)-20] ^= 4
	for name, b := range map[string][]byte{
		"empty": {}, "another kind": []byte("ELF"), "cut": cut, "changed": changed, "header alone": good[:40],
	} {
		c := New(Options{FlashSize: 64 << 10})
		if err := c.LoadState(bytes.NewReader(b)); !faults.Is(err, faults.CodeBadSnapshot) {
			t.Errorf("%s: %v", name, err)
		}
	}
	c := New(Options{})
	if err := c.LoadState(bytes.NewReader(good)); !faults.Is(err, faults.CodeBadSnapshot) {
		t.Errorf("another chip: %v", err)
	}
	c = New(Options{FlashSize: 64 << 10})
	if err := c.LoadState(bytes.NewReader(good), &struct{ n int }{}); !faults.Is(err, faults.CodeBadSnapshot) {
		t.Errorf("something connected: %v", err)
	}
}

func FuzzState(f *testing.F) {
	f.Add([]byte(stateMagic))
	f.Add(smallState(f)[:100])
	f.Fuzz(func(t *testing.T, b []byte) {
		c := New(Options{FlashSize: 64 << 10})
		if err := c.LoadState(bytes.NewReader(b)); err != nil && faults.Of(err) == nil {
			t.Errorf("an error without a fault: %v", err)
		}
	})
}
