package periph

// gpoutPins are the pins of the four clock outputs (datasheet 9.4, function 9).
var gpoutPins = [4]uint64{1<<13 | 1<<21, 1<<15 | 1<<23, 1 << 24, 1 << 25}

// gpouts puts the clock outputs on their pins (datasheet 8.1.2.5): square waves
// of the generators' frequencies. Edges are made one by one only where somebody
// needs them at their time; otherwise the level is worked out when it is looked
// at.
type gpouts struct {
	c      *Clocks
	pins   *Pins
	event  [4]Event
	active bool
}

func (g *gpouts) init(c *Clocks, pins *Pins) {
	g.c, g.pins = c, pins
	for i := range g.event {
		g.event[i].Fire = func(uint64) { g.put(i); g.plan(i) }
		c.gpoutHalf[i] = &Clock{name: "gpout", env: c.env}
		c.gpoutHalf[i].OnChange(func() { g.plan(i) })
	}
	pins.setLazy(&g.active, g.sync)
	pins.onRoute(g.planAll)
}

// runs reports whether output i toggles on a pin.
func (g *gpouts) runs(i int) bool {
	return g.c.gpoutHalf[i].Running() && g.pins.selected[FuncClock]&gpoutPins[i] != 0
}

// put drives output i as it is now: half periods are counted.
func (g *gpouts) put(i int) {
	var out uint64
	if k := g.c.gpoutHalf[i]; k.Running() && k.Count()&1 != 0 {
		out = gpoutPins[i]
	}
	g.pins.function(FuncClock, gpoutPins[i], out, gpoutPins[i])
}

func (g *gpouts) sync() {
	for i := range g.event {
		if g.runs(i) {
			g.put(i)
		}
	}
}

func (g *gpouts) planAll() {
	for i := range g.event {
		g.plan(i)
	}
}

// plan schedules the next edge if somebody needs it.
func (g *gpouts) plan(i int) {
	g.active = false
	for n := range g.event {
		g.active = g.active || g.runs(n)
	}
	if !g.runs(i) || g.pins.selected[FuncClock]&gpoutPins[i]&g.pins.needed() == 0 {
		g.c.env.Cancel(&g.event[i])
		return
	}
	if g.event[i].Index == 0 {
		k := g.c.gpoutHalf[i]
		at := max(k.When(k.Count()+1), g.c.env.Now()+1)
		schedule(g.c.env, &g.event[i], at)
	}
}
