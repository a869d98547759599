package timebase

const picosPerSecond = 1_000_000_000_000

// Timeline relates cycles of clk_sys to simulated time since power-up. Times
// are in picoseconds, which lasts for half a year.
type Timeline struct {
	c    Counter
	rate Rate
}

// SetRate changes the frequency of clk_sys from cycle on.
func (t *Timeline) SetRate(cycle uint64, r Rate) {
	num, den := Hertz(picosPerSecond).Over(r)
	t.c.SetRate(cycle, num, den)
	t.rate = r
}

// Jump lets the time go forward to picos while no cycle passes.
func (t *Timeline) Jump(cycle, picos uint64) { t.c.Set(cycle, picos) }

// Rate is the present frequency of clk_sys.
func (t *Timeline) Rate() Rate { return t.rate }

// Picos returns the simulated time at a cycle.
func (t *Timeline) Picos(cycle uint64) uint64 { return t.c.At(cycle) }

// Seconds returns it for display.
func (t *Timeline) Seconds(cycle uint64) float64 {
	p := t.Picos(cycle)
	return float64(p/picosPerSecond) + float64(p%picosPerSecond)/picosPerSecond
}

// CycleOf returns the first cycle at or after the time, at the present rate.
func (t *Timeline) CycleOf(picos uint64) uint64 { return t.c.CycleOf(picos) }

// After returns the cycle that comes picos later than cycle.
func (t *Timeline) After(cycle, picos uint64) uint64 { return t.CycleOf(t.Picos(cycle) + picos) }

// CycleAt returns the cycle at which simulated time reaches seconds.
func (t *Timeline) CycleAt(seconds float64) uint64 {
	if seconds <= 0 {
		return 0
	}
	if seconds >= 1.8e7 {
		return Never
	}
	whole := uint64(seconds)
	return t.CycleOf(whole*picosPerSecond + uint64((seconds-float64(whole))*picosPerSecond))
}
