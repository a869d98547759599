package rp2350

// Cycles is the core's own clock, for whoever counts what instructions cost.
func (v coreView) Cycles() uint64 { return v.n.clock() }
