package periph

import (
	"fmt"

	"github.com/stem-hw/stem-hw/sim/rp2350/periph/regs"
)

// storage is the register file under every block: reset values, names, and what
// a write does to a register that has no behaviour of its own. Blocks embed it
// and treat the registers that do something before falling back to it.
type storage struct {
	name  string
	env   Env
	table regs.Table
	// slot maps offset/4 to an index into table and val, or -1.
	slot []int16
	val  []uint32
}

func newStorage(name string, env Env, table regs.Table) storage {
	s := storage{name: name, env: env, table: table,
		slot: make([]int16, table.Span()/4), val: make([]uint32, len(table))}
	for i := range s.slot {
		s.slot[i] = -1
	}
	for i := range table {
		s.slot[table[i].Offset/4] = int16(i)
		s.val[i] = table[i].Reset
	}
	return s
}

// Name is the datasheet's name of the block.
func (s *storage) Name() string { return s.name }

// Reset puts every register to its reset value.
func (s *storage) Reset() {
	for i := range s.table {
		s.val[i] = s.table[i].Reset
	}
}

// Has reports whether there is a register at offset.
func (s *storage) Has(offset uint32) bool { return s.index(offset) >= 0 }

// index returns the place of the register at offset, or -1.
func (s *storage) index(offset uint32) int {
	if i := offset / 4; i < uint32(len(s.slot)) {
		return int(s.slot[i])
	}
	return -1
}

// get returns the stored value at offset, 0 where there is no register.
func (s *storage) get(offset uint32) uint32 {
	if i := s.index(offset); i >= 0 {
		return s.val[i]
	}
	return 0
}

// set stores v at offset as hardware would, without masks.
func (s *storage) set(offset, v uint32) {
	if i := s.index(offset); i >= 0 {
		s.val[i] = v
	}
}

// Read returns the stored value. Holes read 0.
func (s *storage) Read(offset uint32, peek bool) uint32 { return s.get(offset) }

// Write stores the writable bits and clears the write-1-to-clear bits. Holes
// and read-only bits ignore it.
func (s *storage) Write(offset uint32, w Write) {
	i := s.index(offset)
	if i < 0 {
		return
	}
	r := &s.table[i]
	s.val[i] = w.Field(s.val[i], r.RW) &^ w.Ones(r.W1C)
}

// label names the register at offset for a notice: "UART0.UARTILPR".
func (s *storage) label(offset uint32) string {
	if i := s.index(offset); i >= 0 {
		return s.name + "." + s.table[i].Name
	}
	return fmt.Sprintf("%s+%#05x", s.name, offset)
}

// unmodelled says that a register stores what it is given and does no more.
func (s *storage) unmodelled(offset uint32, what string) {
	if what == "" {
		what = "it stores what is written and does nothing"
	}
	s.env.Notice(s.label(offset) + " is not modelled: " + what)
}

// Storage is a block that keeps its registers and does nothing: for blocks whose
// effect firmware cannot see in a simulation.
type Storage struct {
	storage
	// effect, if set, is what a write would have done on the chip; each
	// register written is then named in a notice.
	effect string
}

// NewStorage returns such a block.
func NewStorage(name string, env Env, table regs.Table, effect string) *Storage {
	return &Storage{newStorage(name, env, table), effect}
}

// Write stores as every register file does.
func (s *Storage) Write(offset uint32, w Write) {
	if s.effect != "" && s.index(offset) >= 0 {
		s.unmodelled(offset, s.effect)
	}
	s.storage.Write(offset, w)
}
