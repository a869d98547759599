package sim

import "time"

// Slices of simulated time between two looks at the world.
const (
	// maxSlice is the slice at full speed, in cycles: 7 ms of the chip, about
	// 3 ms of the host.
	maxSlice = 1 << 20
	// minSlice is the first one after a start; each is twice the one before, so
	// that the first output is seen soon.
	minSlice = 1 << 14
	// realSlice is the slice at real speed, in seconds.
	realSlice = 4e-3
	// lag is how far real speed may fall behind before it gives up catching up.
	lag = 250 * time.Millisecond
	// shortest is the shortest time worth waiting for.
	shortest = time.Millisecond
)

// pace keeps simulated time and the wall clock together.
type pace struct {
	set  bool
	wall time.Time
	sim  float64
}

// limit is the end of the next slice.
func (t *Target) limit() uint64 {
	now := t.m.Now()
	t.slice = min(max(2*t.slice, minSlice), maxSlice)
	end := now + t.slice
	if t.opt.Speed == SpeedReal {
		end = min(max(t.m.CycleAt(t.m.Seconds()+realSlice), now+1), end)
	}
	if t.cycles > 0 {
		end = min(end, max(t.cycles, now))
	}
	return end
}

// behind is how far simulated time is behind the wall clock at real speed.
func (t *Target) behind() time.Duration {
	if t.opt.Speed != SpeedReal || !t.pace.set {
		return 0
	}
	d := t.opt.Clock.Now().Sub(t.pace.wall) - time.Duration((t.m.Seconds()-t.pace.sim)*float64(time.Second))
	return min(max(d, 0), lag)
}

// ahead is how long to wait until the wall clock has reached simulated time.
func (t *Target) ahead() time.Duration {
	if t.opt.Speed != SpeedReal {
		return 0
	}
	wall, sim := t.opt.Clock.Now(), t.m.Seconds()
	if !t.pace.set {
		t.pace = pace{set: true, wall: wall, sim: sim}
		return 0
	}
	d := time.Duration((sim-t.pace.sim)*float64(time.Second)) - wall.Sub(t.pace.wall)
	if d < -lag {
		t.pace = pace{set: true, wall: wall, sim: sim}
		return 0
	}
	if d < shortest {
		return 0
	}
	return d
}
