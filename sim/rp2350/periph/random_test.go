package periph

import (
	"math/rand"
	"testing"
)

// TestAnythingGoes lets software write anything anywhere: no block may panic,
// stop the clock of the test, or flood the queue.
func TestAnythingGoes(t *testing.T) {
	for seed := range int64(20) {
		anything(t, seed, 3000)
	}
}

// FuzzAccesses is the same with the fuzzer's choice of the sequence.
func FuzzAccesses(f *testing.F) {
	f.Add(int64(1))
	f.Add(int64(77))
	f.Fuzz(func(t *testing.T, seed int64) { anything(t, seed, 2000) })
}

func anything(t *testing.T, seed int64, steps int) {
	t.Helper()
	r := rand.New(rand.NewSource(seed))
	f, s := newFake(t)
	sdkClocks(t, f, s)
	for pin := range 48 {
		selectFunc(s, pin, uint32(r.Intn(12)))
	}
	s.Pins.Connect(r.Intn(48), r.Intn(48))
	blocks := s.Attachments()
	host := s.USB.Host()
	values := []uint32{0, 1, ^uint32(0), 0x5afe0000, 0x20000000, 0x50000000, 0x00ff0000, 0xfab000}
	for range steps {
		a := blocks[r.Intn(len(blocks))]
		span := uint32(0x1000)
		if a.Flat {
			span = a.Size
		}
		off := uint32(r.Intn(int(span)/4)) * 4
		if r.Intn(2) == 0 && span > 0x200 { // most registers are low
			off &= 0x1fc
		}
		if ref, ok := a.Block.(Refuser); ok && ref.Refuses(off, false, Origin{Privileged: true}) {
			continue
		}
		switch r.Intn(8) {
		case 0, 1:
			a.Block.Read(off, r.Intn(4) == 0)
		case 2:
			f.run(uint64(r.Intn(2000)))
		case 3:
			s.Pins.Drive(r.Intn(64), Drive(r.Intn(5)))
			s.UART[r.Intn(2)].Input([]byte("x"))
		case 4:
			host.Setup(0, [8]byte{1, 2, 3})
			host.Out(0, r.Intn(16), []byte("data"), r.Intn(2) == 0)
			host.In(0, r.Intn(16))
		default:
			v := r.Uint32()
			if r.Intn(2) == 0 {
				v = values[r.Intn(len(values))] | uint32(r.Intn(256))
			}
			size := uint8(1) << r.Intn(3)
			a.Block.Write(off, Write{Raw: v, Op: Op(r.Intn(4)), Size: size, Lane: uint8(r.Intn(4)) &^ (size - 1)})
		}
		if len(f.queue) > 100 {
			t.Fatalf("seed %d: %d events are queued", seed, len(f.queue))
		}
	}
	if len(f.notices) > 400 {
		t.Errorf("seed %d: %d distinct notices", seed, len(f.notices))
	}
}
