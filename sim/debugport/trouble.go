package debugport

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
