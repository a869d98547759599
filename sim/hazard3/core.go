package hazard3

import "github.com/stem-hw/stem-hw/sim/bus"

// Core is one hart. It is used by one goroutine.
type Core struct {
	// X are the general registers; X[0] stays 0. It is the first field: see reg.
	X [32]uint32
	// Cycle is the core's own clock in cycles since power-up. The machine may
	// move it forward while the core sleeps (for a halted core, by SkipTo).
	Cycle uint64

	// Semihost, if set, is called for an ebreak between the two marker
	// instructions of RISC-V semihosting. If it returns true the call was done
	// and execution goes on behind the ebreak. PC is that of the ebreak then.
	Semihost func() bool
	// OnTrap, if set, hears of each exception (not of interrupts) when it was
	// taken.
	OnTrap func(Trap)
	// Tracer, if set, is called before each instruction; then the plain loop
	// runs.
	Tracer func(pc uint32)
	// Plain selects the plain loop: one instruction after the other, no
	// blocks. Results are the same to the cycle.
	Plain bool

	cfg   Config
	hart  int
	bus   bus.Bus
	watch bus.Watcher

	pc      uint32
	limit   uint64
	instret uint64

	// attn asks the loop to look at what is pending before the next
	// instruction: interrupt, halt request, stop.
	attn bool
	stop bool

	// Timing state: registers whose load is in its data phase, whether the
	// previous instruction was lr.w or sc.w, the branch predictor's branch (1
	// for none), the word that the last jump went to.
	loading uint32
	excl    bool
	btb     uint32
	entry   uint32
	sizes   uint8 // of the instructions that led here: see aheadFor
	waited  bool  // the present one waited for a result

	gate             Gate
	gateLo, gateSize uint32

	windows []bus.Window
	fast    window // the largest writable window
	last    window // the window hit last among the others
	code    *codeCache
	// uncached is the instruction executed from outside all windows.
	uncached inst

	priv     uint32 // 3 or 0
	lsAccess bus.Access
	csr      csrs
	irq      irqState
	raw      inputs // the interrupt inputs as they are
	late     lateIRQs
	inBus    bool // a bus call of this core is in progress
	pmp      pmpState
	trig     triggers
	dbg      debugState

	sleep    sleepState
	event    bool // an unblock event is latched
	reserved bool // the local exclusive monitor

	missed  int // see otherLoad
	amoFn   uint32
	amoArg  uint32
	amoFunc func(uint32) uint32

	lastTrap Trap
	lock     lockup
}

type sleepState uint8

const (
	awake sleepState = iota
	inWFI
	inBlock
)

// New returns a core in reset. w may be nil.
func New(cfg Config, hart int, b bus.Bus, w bus.Watcher) *Core {
	c := &Core{cfg: cfg, hart: hart, bus: b, watch: w, code: new(codeCache)}
	c.amoFunc = c.amoStep
	c.Reset()
	return c
}

// ShareCode makes c use the decoded code of other. Both must see the same
// code at every address; Map and InvalidateCode of either work for both.
func (c *Core) ShareCode(other *Core) {
	for addr := range c.dbg.breaks {
		c.code.stop(addr, -1)
		other.code.stop(addr, 1)
	}
	c.code = other.code
}

// Config returns the parameters the core was made with.
func (c *Core) Config() Config { return c.cfg }

// Hart is the core's number (mhartid).
func (c *Core) Hart() int { return c.hart }

// Map replaces the windows and drops all decoded code.
func (c *Core) Map(ws []bus.Window) {
	c.windows = append([]bus.Window(nil), ws...)
	c.code.drop()
	c.fast, c.last = window{}, window{}
	for i := range c.windows {
		w := &c.windows[i]
		if w.Writable && w.Flags != nil && uint32(len(w.Mem)) > c.fast.size {
			c.fast = makeWindow(w)
		}
	}
}

// Reset puts the core into its reset state (Cycle is kept). Breakpoints and
// watchpoints stay, a halt on the reset vector is the machine's business
// (Halt after Reset).
func (c *Core) Reset() {
	c.X = [32]uint32{}
	c.pc = c.cfg.ResetPC
	c.instret = 0
	c.loading, c.excl, c.btb = 0, false, noBranch
	c.entry = noBranch
	c.priv = 3
	c.sleep, c.event, c.reserved = awake, false, false
	c.lastTrap, c.lock = Trap{}, lockup{}
	c.resetCSRs()
	c.resetIRQ()
	c.resetPMP()
	c.trig = triggers{}
	c.resetDebug()
	c.permissionsChanged()
	c.updateIRQ()
}

// Shorten lowers the limit of the Run in progress, from within a bus call, a
// Watcher or a Gate: an earlier event was scheduled or another core woke. It
// never raises it, and is forgotten when Run returns.
func (c *Core) Shorten(limit uint64) { c.limit = min(c.limit, limit) }

// Gate is called in place of the instruction at pc. It may change registers,
// SetPC, and add to Cycle; it must move pc or the gate is called again. done is
// false to give up the turn with nothing begun (Run returns ReasonNotReady).
type Gate func(pc uint32) (done bool)

// SetGate makes g serve every pc in [lo, hi): nothing is fetched there. A
// machine emulates its boot ROM so. Interrupts are taken before a gate as
// before any instruction. There is one gate; nil removes it.
func (c *Core) SetGate(lo, hi uint32, g Gate) {
	c.code.drop()
	c.gate, c.gateLo, c.gateSize = g, lo, hi-lo
	if g == nil {
		c.gateSize = 0
	}
}

// Limit is the limit of the Run in progress.
func (c *Core) Limit() uint64 { return c.limit }

// Stop makes the Run in progress return ReasonStopped after the present
// instruction.
func (c *Core) Stop() { c.stop, c.attn = true, true }

// SkipTo moves the core's clock forward to cycle while it sleeps or is halted.
// In Debug mode the counters stand still (dcsr.stopcount).
func (c *Core) SkipTo(cycle uint64) {
	if cycle <= c.Cycle {
		return
	}
	if c.dbg.mode && c.csr.mcountinhibit&counterCY == 0 {
		c.csr.mcycle -= cycle - c.Cycle
	}
	c.Cycle = cycle
}

// PostEvent latches an unblock event.
func (c *Core) PostEvent() { c.event = true }

// Asleep reports whether the core waits in wfi or h3.block.
func (c *Core) Asleep() bool { return c.sleep != awake }

// Instret is the number of retired instructions since reset (not the CSR,
// which firmware can write or inhibit).
func (c *Core) Instret() uint64 { return c.instret & instretMask }

// Priv is the privilege mode: 3 for M, 0 for U.
func (c *Core) Priv() uint32 { return c.priv }

// InvalidateCode drops decoded code in [lo, hi). The core does so by itself
// for its own stores; debuggers' pokes and DMA need it.
func (c *Core) InvalidateCode(lo, hi uint32) {
	if hi-1 < lo {
		return
	}
	c.code.invalidate(lo, hi-1)
	c.lock.stuck = false
}

// Interrupt names one of the three interrupt inputs by its bit in mip.
type Interrupt uint32

const (
	SoftwareInterrupt Interrupt = 1 << 3
	TimerInterrupt    Interrupt = 1 << 7
	ExternalInterrupt Interrupt = 1 << 11
)

// WakesFor reports whether interrupt i would wake the core: whether mie lets it
// through.
func (c *Core) WakesFor(i Interrupt) bool { return c.csr.mie&uint32(i) != 0 }

// CanWake reports whether a sleeping core has a reason to wake, so that Run
// would go on.
func (c *Core) CanWake() bool {
	return c.csr.mie&c.mip() != 0 || c.dbg.haltReq != 0 || c.dbg.step != 0 || c.sleep == inBlock && c.event
}

// Looping reports whether the core repeats one exception for ever; then
// LastTrap is it.
func (c *Core) Looping() bool { return c.lock.stuck }

// SetPlain chooses the plain loop; it is Core.Plain as a method, for those who
// hold an interface.
func (c *Core) SetPlain(on bool) { c.Plain = on }
