package debugport

// Trouble makes the port misbehave as real wiring does.
type Trouble struct {
	// Dead: nobody answers, the line floats high (no power, no ground, wrong
	// pins).
	Dead bool
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
