package hazard3_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/stem-hw/stem-hw/sim/bus"
	"github.com/stem-hw/stem-hw/sim/hazard3"
)

// TestFastEqualsPlain runs random programs in the plain loop and in the fast
// one, with limits that fall anywhere, and compares the whole state whenever
// both have stopped. STEM_FAST is the number of programs.
func TestFastEqualsPlain(t *testing.T) {
	programs := 400
	if s := os.Getenv("STEM_FAST"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		programs = n
	}
	plain, fast := newRandRig(hazard3.Testbench()), newRandRig(hazard3.Testbench())
	plain.Plain = true
	for seed := range uint64(programs) {
		p := newRandProg(seed + 1_000_000)
		p.zbc, p.custom, p.misaligned = true, true, true
		code := bytes.Clone(p.program(120, rpCode))
		s := randState(p.r)
		for _, g := range []*rig{plain, fast} {
			g.setUp(code, s)
		}
		r := rand.New(rand.NewPCG(seed, 1))
		for n := 0; ; n++ {
			step := uint64(r.IntN(40))
			if r.IntN(3) == 0 {
				step = uint64(r.IntN(2000))
			}
			limit := plain.Cycle + step
			rp, rf := plain.Run(limit), fast.Run(limit)
			if rp != rf {
				t.Fatalf("seed %d: plain ended with %d at 0x%x, fast with %d at 0x%x", seed, rp, plain.PC(), rf, fast.PC())
			}
			if d := stateDiff(plain, fast); d != "" {
				t.Fatalf("seed %d, stop %d: %s", seed, n, d)
			}
			if rp == bus.ReasonStopped {
				break
			}
			if n > 100_000 {
				t.Fatalf("seed %d does not end", seed)
			}
		}
		if !bytes.Equal(plain.ram, fast.ram) {
			t.Fatalf("seed %d: memory differs", seed)
		}
	}
}

// stateDiff names the first difference between two rigs but for their memory.
func stateDiff(a, b *rig) string {
	return hazard3.StateDiff(a.Core, b.Core)
}
