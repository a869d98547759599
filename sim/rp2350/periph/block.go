package periph

// Block is one peripheral.
type Block interface {
	// Name is the name of the block in the datasheet, "UART0".
	Name() string
	// Reset puts every register to its reset value, as the RESETS bit does.
	Reset()
	// Read returns the 32-bit register at offset (a multiple of 4), with its
	// side effects. peek reads without side effects, for a debugger.
	Read(offset uint32, peek bool) uint32
	// Write writes the register at offset (a multiple of 4).
	Write(offset uint32, w Write)
}

// Refuser is implemented by blocks that answer some accesses with a bus fault
// (OTP pages, ACCESSCTRL).
type Refuser interface {
	Refuses(offset uint32, write bool, a Origin) bool
}

// Origin says who makes an access.
type Origin struct {
	Core       int // 0 or 1; 2 is DMA, 3 the debugger
	Privileged bool
	NonSecure  bool
}

// Op is the alias a write came through (datasheet 2.1.3).
type Op uint8

const (
	Plain Op = iota
	Xor
	Set
	Clear
)

// Write is one write to a register.
type Write struct {
	// Raw is the word on the bus, narrow data already replicated or lane-zeroed
	// as the fabric does (datasheet 2.1.5).
	Raw uint32
	// Op is the alias.
	Op Op
	// Size of the access in bytes, and Lane the low two address bits, for the
	// few registers with byte strobes (SHA256 WDATA).
	Size, Lane uint8
}

// Apply returns what a plain read-write field of value old becomes.
func (w Write) Apply(old uint32) uint32 {
	switch w.Op {
	case Xor:
		return old ^ w.Raw
	case Set:
		return old | w.Raw
	case Clear:
		return old &^ w.Raw
	}
	return w.Raw
}

// Field returns old with the bits of mask replaced as the write says.
func (w Write) Field(old, mask uint32) uint32 {
	return old&^mask | w.Apply(old)&mask
}

// Ones returns the bits of mask that the write triggers: write-1-to-clear,
// self-clearing and strobe bits act on the raw data of a plain, SET or CLR
// write. XOR triggers nothing.
func (w Write) Ones(mask uint32) uint32 {
	if w.Op == Xor {
		return 0
	}
	return w.Raw & mask
}

// Event is something that happens at a cycle. The zero value with Fire set is
// ready to be scheduled; it is owned by the block and reused.
type Event struct {
	// Fire is called with the cycle it was scheduled for.
	Fire func(now uint64)
	// When is that cycle, and Index its place in the queue; both belong to the
	// scheduler. Index is 0 while it is not queued.
	When  uint64
	Index int
}

// Env is what a block may use of the chip.
type Env interface {
	// Now is the cycle of clk_sys at which the present access or event happens.
	Now() uint64
	// Schedule queues e for the cycle when (moving it if it is queued), Cancel
	// removes it.
	Schedule(e *Event, when uint64)
	Cancel(e *Event)
	// SetIRQ sets the level of system interrupt n (0..51) as this block drives
	// it, on both cores.
	SetIRQ(n int, level bool)
	// SetCoreIRQ does so for one core's own line (21..29 are per core).
	SetCoreIRQ(core, n int, level bool)
	// Notice tells the user once that something is not modelled or looks wrong.
	Notice(text string)
	// Core is the number of the core whose access is being served.
	Core() int
}
