package regs

//go:generate go run ../../../../internal/tools/regtable registers.csv .

// Register is one 32-bit register.
type Register struct {
	// Offset is its place in the block, Name its name in the datasheet.
	Offset uint16
	Name   string
	// Reset is its value after reset; bits without a defined reset value are 0.
	Reset uint32
	// RW bits read what was written; RO bits are set by hardware alone; W1C
	// bits are cleared by writing 1; Strobe bits trigger something when
	// written and are not storage (self-clearing, write-only, FIFO ports).
	RW, RO, W1C, Strobe uint32
}

// Table is the registers of one block by ascending offset.
type Table []Register

// Find returns the register at offset, or nil.
func (t Table) Find(offset uint32) *Register {
	lo, hi := 0, len(t)
	for lo < hi {
		m := (lo + hi) / 2
		if uint32(t[m].Offset) < offset {
			lo = m + 1
		} else {
			hi = m
		}
	}
	if lo < len(t) && uint32(t[lo].Offset) == offset {
		return &t[lo]
	}
	return nil
}

// Offset returns the offset of the register called name; ok is false if there
// is none.
func (t Table) Offset(name string) (offset uint32, ok bool) {
	for i := range t {
		if t[i].Name == name {
			return uint32(t[i].Offset), true
		}
	}
	return 0, false
}

// Span is the number of bytes up to and including the last register.
func (t Table) Span() uint32 {
	if len(t) == 0 {
		return 0
	}
	return uint32(t[len(t)-1].Offset) + 4
}
