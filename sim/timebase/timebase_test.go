package timebase

import "testing"

func TestCounterIsExactAndInverts(t *testing.T) {
	var c Counter
	c.SetRate(0, 1, 150)
	for _, cyc := range []uint64{0, 1, 149, 150, 151, 299, 300, 1 << 40} {
		if got := c.At(cyc); got != cyc/150 {
			t.Errorf("At(%d) = %d", cyc, got)
		}
	}
	for _, tick := range []uint64{1, 2, 1000, 1 << 33} {
		cyc := c.CycleOf(tick)
		if c.At(cyc) != tick || c.At(cyc-1) != tick-1 {
			t.Errorf("CycleOf(%d) = %d is not the first cycle", tick, cyc)
		}
	}
}

func TestCounterKeepsItsPartOverRates(t *testing.T) {
	var c Counter
	c.SetRate(0, 1, 12) // 12 MHz system clock, 1 MHz ticks
	c.SetRate(6, 1, 150)
	// Half a tick is gone, so the next comes after 75 cycles.
	if got := c.CycleOf(1); got != 81 {
		t.Errorf("next tick at %d, want 81", got)
	}
	c.SetRate(81, 0, 1)
	if c.CycleOf(2) != Never || c.At(1<<50) != 1 || c.Running() {
		t.Error("a stopped counter moves")
	}
	c.Set(100, 7)
	c.SetRate(100, 2, 1)
	if c.At(103) != 13 {
		t.Errorf("At = %d", c.At(103))
	}
}

func TestCounterWraps(t *testing.T) {
	var c Counter
	c.Set(0, ^uint64(0))
	c.SetRate(0, 1, 1)
	if c.At(1) != 0 {
		t.Errorf("wraps to %d", c.At(1))
	}
}

func TestTimelineAcrossFrequencies(t *testing.T) {
	var l Timeline
	l.SetRate(0, Hertz(12_000_000))
	l.SetRate(12_000_000, Hertz(150_000_000))
	if got := l.Seconds(12_000_000 + 75_000_000); got != 1.5 {
		t.Errorf("seconds = %v", got)
	}
	if got := l.CycleAt(1.5); got != 87_000_000 {
		t.Errorf("cycle = %d", got)
	}
	if got := l.After(12_000_000, 45_000_000_000); got != 12_000_000+45*150_000 {
		t.Errorf("45 ms later is %d", got)
	}
}

func TestRate(t *testing.T) {
	r := Hertz(12_000_000).Scale(125, 1).Scale(1, 10)
	if r != Hertz(150_000_000) {
		t.Errorf("rate = %v", r)
	}
	if n, d := Hertz(1_000_000).Over(r); n != 1 || d != 150 {
		t.Errorf("over = %d/%d", n, d)
	}
	if !r.Scale(1, 0).Stopped() {
		t.Error("division by zero should stop the clock")
	}
}
