package hazard3

import "github.com/stem-hw/stem-hw/sim/bus"

// Revision is a silicon revision of the RP2350.
type Revision uint8

const (
	A2 Revision = 2
	A3 Revision = 3
	A4 Revision = 4
)

// Config holds the parameters in which RP2350 and the testbench differ
// (../facts table: reset PC, mtvec, ids, Zbc, PMP, IRQs, user-mode gating).
type Config struct {
	ResetPC, ResetMtvec           uint32
	Misa                          uint32
	Mvendorid, Mimpid, Mconfigptr uint32
	Zbc                           bool
	PMPRegions                    int
	PMPGrain                      uint
	PMPHardwired                  bool // regions 8..10 of RP2350
	PMPSwapRX                     bool // erratum RP2350-E6
	NumIRQs                       int
	UserModeNeedsMIE              bool // erratum RP2350-E7
}

// Silicon returns the parameters of RP2350's cores.
func Silicon(rev Revision) Config { panic("unwritten") }

// Testbench returns the parameters of Hazard3's own testbench.
func Testbench() Config { panic("unwritten") }

// Core is one hart.
type Core struct {
	// X are the general registers; X[0] stays 0.
	X [32]uint32
	// Cycle is the core's own clock in cycles since power-up.
	Cycle uint64
}

// New returns a core in reset. w may be nil.
func New(cfg Config, hart int, b bus.Bus, w bus.Watcher) *Core { panic("unwritten") }

// Map replaces the windows and drops all decoded code.
func (c *Core) Map(ws []bus.Window) {}

// Reset puts the core into its reset state (Cycle is kept).
func (c *Core) Reset() {}

// Run executes until Cycle reaches limit or the core cannot go on.
func (c *Core) Run(limit uint64) bus.Reason { panic("unwritten") }

// SetIRQs sets the levels of the external interrupt lines.
func (c *Core) SetIRQs(lines uint64) {}

// SetMTIP and SetMSIP set the levels of the timer and software interrupts.
func (c *Core) SetMTIP(on bool) {}
func (c *Core) SetMSIP(on bool) {}

// PostEvent latches an unblock event.
func (c *Core) PostEvent() {}

// Asleep reports whether the core waits in wfi or h3.block.
func (c *Core) Asleep() bool { return false }

// InvalidateCode drops decoded code in [lo, hi).
func (c *Core) InvalidateCode(lo, hi uint32) {}

// Gate is called in place of the instruction at pc. It may change registers,
// SetPC, and add to Cycle; it must move pc or the gate is called again. done is
// false to give up the turn with nothing begun (Run returns ReasonNotReady).
type Gate func(pc uint32) (done bool)

// SetGate makes g serve every pc in [lo, hi): nothing is fetched there. A
// machine emulates its boot ROM so. Interrupts are taken before a gate as
// before any instruction.
func (c *Core) SetGate(lo, hi uint32, g Gate) {}

// Shorten lowers the limit of the Run in progress, from within a Bus call, a
// Watcher or a Gate: an earlier event was scheduled or another core woke. It
// never raises it, and is forgotten when Run returns.
func (c *Core) Shorten(limit uint64) {}

// CSR and SetCSR access a control register as a debugger does.
func (c *Core) CSR(n uint16) (v uint32, ok bool)    { return 0, false }
func (c *Core) SetCSR(n uint16, v uint32) (ok bool) { return false }

// The machine.Core methods (Halt, Resume, Step, PC, ReadReg, ...) follow in
// debug.go.
