package targettest

import (
	"testing"

	"github.com/stem-hw/stem-hw/target"
)

func (c Case) runner(t *testing.T) {
	rounds := func(n int) (stats []target.Stats) {
		c.with(t, func(f *fixture) {
			h := &halted{fixture: f, h: f.t.(target.Halter)}
			if err := f.t.Load(f.ctx, f.p.Image); err != nil {
				f.Fatalf("Load: %v", err)
			}
			h.toLoop()
			h.set(h.point(target.PointHardware, f.p.Loop))
			for range n {
				stats = append(stats, f.t.(target.Runner).Stats())
				h.one(target.Action{Core: 0})
				h.stopsAt(h.wait(), target.StopBreakpoint, f.p.Loop)
			}
			if got := len(stats[0].Instructions); got != len(f.desc.Cores) {
				f.Errorf("%d counts of instructions for %d cores", got, len(f.desc.Cores))
			}
		})
		return stats
	}
	a := rounds(5)
	for i := 1; i < len(a); i++ {
		// Loop, Store, Read, Call, Func, Ret, Jump.
		if d := a[i].Instructions[0] - a[i-1].Instructions[0]; d != 7 {
			t.Errorf("round %d took %d instructions, want 7", i, d)
		}
		if a[i].Cycles <= a[i-1].Cycles || a[i].Seconds <= a[i-1].Seconds {
			t.Errorf("time does not pass: %+v, then %+v", a[i-1], a[i])
		}
	}
	if !c.Deterministic {
		return
	}
	b := rounds(5)
	for i := range a {
		if a[i].Cycles != b[i].Cycles || a[i].Instructions[0] != b[i].Instructions[0] {
			t.Errorf("two runs differ at round %d: %+v and %+v", i, a[i], b[i])
		}
	}
}
