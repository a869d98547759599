package debugport

import (
	"maps"
	"slices"
)

// Trouble makes the port misbehave as real wiring does.
type Trouble struct {
	// Line is what is wrong with the wires.
	Line LineTrouble
	// NoPowerUp: the debug power domain never acknowledges.
	NoPowerUp bool
	// DPIDR replaces the identification if it is not 0: another chip.
	DPIDR uint32
	// Wait answers WAIT to every access of an access port.
	Wait bool
	// MemoryFaults refuses every memory access of the MEM-APs.
	MemoryFaults bool
	// ParityEvery spoils the parity of every n-th read, 0 none.
	ParityEvery int
}

// troubles are the names of troubles. One of fifty spoilt reads lets a debugger
// attach now and then.
var troubles = map[string]func(t *Trouble){
	"dead":          func(t *Trouble) { t.Line = LineHigh },
	"no-power":      func(t *Trouble) { t.Line = LineLow },
	"floating":      func(t *Trouble) { t.Line = LineFloating },
	"no-power-up":   func(t *Trouble) { t.NoPowerUp = true },
	"wrong-chip":    func(t *Trouble) { t.DPIDR = dpidrRP2040 },
	"wait":          func(t *Trouble) { t.Wait = true },
	"memory-faults": func(t *Trouble) { t.MemoryFaults = true },
	"parity":        func(t *Trouble) { t.ParityEvery = 50 },
}

// dpidrRP2040 is the identification of another chip of the family.
const dpidrRP2040 = 0x0bc12477

// Set adds a trouble by its name; it reports whether there is one.
func (t *Trouble) Set(name string) bool {
	f, ok := troubles[name]
	if ok {
		f(t)
	}
	return ok
}

// TroubleNames are the names that Set knows, sorted.
func TroubleNames() []string { return slices.Sorted(maps.Keys(troubles)) }

// LineTrouble is a fault of the wires: nobody answers, and the host reads what
// the line does by itself.
type LineTrouble uint8

const (
	// LineGood: nothing is wrong.
	LineGood LineTrouble = iota
	// LineHigh: no wires, or the wrong pins. The pull-up holds the line.
	LineHigh
	// LineLow: no power. The chip's protection diodes hold the line down.
	LineLow
	// LineFloating: no ground. The line follows whatever is near.
	LineFloating
)
