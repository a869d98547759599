package cortexm33

import (
	"github.com/stem-hw/stem-hw/sim/bus"
)

// Core is one Cortex-M33.
type Core struct {
	// R are r0 to r12, sp (the stack pointer in use) and lr. R[15] is not
	// maintained while instructions run: see PC.
	R [16]uint32
	// Cycle is the core's own clock in cycles since power-up.
	Cycle uint64
	// Plain turns the block cache off: every instruction is decoded alone and
	// nothing is fused. It is what the fast loop is judged by.
	Plain bool
	// S are the single-precision registers; d0 is s0 and s1.
	S [32]uint32

	// nz holds the last flag-setting result: Z is uint32(nz) == 0, N is
	// nz>>31 != 0 (bit 32 is set where both hold).
	nz uint64
	fc uint32 // C, 0 or 1
	fv uint32 // V in bit 31
	qf bool   // Q
	ge uint32 // GE[3:0]
	pc uint32
	it uint8 // ITSTATE of the next instruction
	// thumb is EPSR.T. Branches to an even address clear it.
	thumb bool

	until    uint64 // run leaves its loop at this cycle
	regime   uint64 // what may be accessed and executed: see regime.go
	fpReady  bool   // no check is needed before a floating-point instruction
	brk      bool   // leave the block after the present operation
	single   bool   // one instruction at a time
	abort    abort  // why an instruction did not complete
	why      fault  // details of abortFault
	spLimit  uint32 // the limit of the stack pointer in use
	rt, wt   *tlb
	fpscr    uint32
	limit    uint64 // of the present Run
	instret  uint64
	asleep   sleep
	event    bool // the event register
	stopReq  bool
	lockedUp bool

	cfg     Config
	hart    int
	bus     bus.Bus
	watcher bus.Watcher
	windows []bus.Window
	code    *codeCache
	one     block // the block of a single instruction that is not cached

	// Special registers, indexed by security state: 0 Secure, 1 Non-secure.
	ns        bool // the core is in Non-secure state
	ipsr      uint32
	sp        [2][2]uint32 // [state][0 main, 1 process], except the one in R[13]
	splim     [2][2]uint32
	control   [2]uint32
	primask   [2]bool
	faultmask [2]bool
	basepri   [2]uint32

	nvic nvic
	scs  scs
	mpu  [2]mpu
	sau  sau
	tick [2]sysTick
	fp   fpContext
	excl exclusive
	dbg  debug
	dwt  dwt
	itm  itm
	fpb  fpb
	eppb eppb
	gate gates

	// Semihost is called for BKPT 0xAB. handled false lets the instruction act
	// as any other breakpoint; otherwise execution goes on behind it. Stop may
	// be called from it.
	Semihost func() bool
	// OnTrap is called when an exception is taken, after stacking.
	OnTrap func(t Trap)
	// Tracer is called before each instruction; it turns the block cache off.
	Tracer func(pc uint32)
	// OnITM receives what is written to a stimulus port: size bytes of v.
	OnITM func(port int, v uint32, size uint8)
	// Authenticate says what the signals DBGEN and SPIDEN allow a debugger: to
	// debug at all, and in Secure state. Without it everything is allowed.
	Authenticate func() (debug, secure bool)
	// OnResetRequest is called for AIRCR.SYSRESETREQ.
	OnResetRequest func()

	lastTrap Trap
}

// Trap is one exception as it was taken.
type Trap struct {
	// Exception is its number: 3 HardFault, 16 the first external interrupt.
	Exception uint32
	// PC is the return address, CFSR and HFSR the fault status at that time,
	// Addr the address that MMFAR, BFAR or SFAR holds for it.
	PC, CFSR, HFSR, SFSR, Addr uint32
	// Cycle is when.
	Cycle uint64
}

type sleep uint8

const (
	awake sleep = iota
	inWFI
	inWFE
)

type abort uint8

const (
	abortNone abort = iota
	abortNotReady
	abortFault // why tells which
	abortHalt  // enter Debug state before the instruction
	abortGate  // call the gate
)

// New returns a core in reset. w may be nil.
func New(cfg Config, core int, b bus.Bus, w bus.Watcher) *Core {
	if cfg.NumIRQs > maxIRQs {
		cfg.NumIRQs = maxIRQs
	}
	c := &Core{cfg: cfg, hart: core, bus: b, watcher: w, rt: new(tlb), wt: new(tlb), code: newCodeCache()}
	c.dbg.init()
	c.code.users = append(c.code.users, c)
	c.Reset()
	return c
}

// ShareCode makes c use the decoded code of o. Both must map the same memory.
func (c *Core) ShareCode(o *Core) {
	c.code = o.code
	c.code.users = append(c.code.users, c)
	c.flushTLB()
}

// Map replaces the windows and drops all decoded code.
func (c *Core) Map(ws []bus.Window) {
	c.windows = ws
	c.code.flush()
	c.flushTLB()
}

// Reset puts the core into its reset state and loads SP and PC from the vector
// table. Cycle and the debug registers are kept.
func (c *Core) Reset() {
	c.R = [16]uint32{14: 0xffffffff}
	c.S = [32]uint32{}
	c.setAPSR(0)
	c.it, c.ge, c.qf = 0, 0, false
	c.ns, c.ipsr = false, 0
	c.sp, c.splim, c.control = [2][2]uint32{}, [2][2]uint32{}, [2]uint32{}
	c.primask, c.faultmask, c.basepri = [2]bool{}, [2]bool{}, [2]uint32{}
	c.asleep, c.event, c.lockedUp = awake, false, false
	c.abort, c.brk = abortNone, false
	c.excl = exclusive{}
	c.nvic.reset(c)
	c.scs.reset(c)
	c.mpu[0].reset()
	c.mpu[1].reset()
	c.sau.reset()
	c.tick = [2]sysTick{}
	c.fp.reset()
	c.fpscr = 0
	c.itm.reset()
	c.eppb = eppb{}
	for _, p := range c.cfg.Coprocessors {
		if p != nil {
			p.Reset()
		}
	}
	c.regimeChanged()
	c.fpChanged()
	c.dbg.coreReset(c)
	switch {
	case c.cfg.ResetPC != 0:
		c.pc, c.thumb = c.cfg.ResetPC&^1, true
	case len(c.windows) > 0:
		c.LoadVectors()
	}
}

// LoadVectors loads SP and PC from the vector table, as reset does. A machine
// that fills memory after Reset calls it before Run.
func (c *Core) LoadVectors() {
	vt := c.scs.vtor[0]
	sp, ok1 := c.readWord(vt)
	pc, ok2 := c.readWord(vt + 4)
	c.setSP(sp)
	c.pc, c.thumb = pc&^1, pc&1 != 0
	if !ok1 || !ok2 {
		c.lockup()
	}
}

// SetVTOR sets the Secure or Non-secure vector table address.
func (c *Core) SetVTOR(ns bool, addr uint32) { c.scs.vtor[b2i(ns)] = addr &^ 0x7f }

// readWord reads a word of plain memory without side effects.
func (c *Core) readWord(addr uint32) (uint32, bool) {
	var b [4]byte
	if c.peekWindow(addr, b[:]) == 4 {
		return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24, true
	}
	v, _, ok := c.bus.Load(c.Cycle, addr, 4, bus.Privileged|bus.Debug)
	return v, ok
}

// peekWindow copies from the windows.
func (c *Core) peekWindow(addr uint32, p []byte) int {
	n := 0
	for n < len(p) {
		w := c.window(addr + uint32(n))
		if w == nil {
			break
		}
		n += copy(p[n:], w.Mem[addr+uint32(n)-w.Base:])
	}
	return n
}

func (c *Core) window(addr uint32) *bus.Window {
	for i := range c.windows {
		if w := &c.windows[i]; addr-w.Base < uint32(len(w.Mem)) {
			return w
		}
	}
	return nil
}

// SetIRQs sets the levels of the external interrupt lines.
func (c *Core) SetIRQs(lines uint64) {
	if lines == c.nvic.level {
		return
	}
	c.nvic.setLevels(lines)
	c.nmiLevel()
	c.attention()
}

// SetNMI pends a non-maskable interrupt.
func (c *Core) SetNMI() {
	c.nvic.pendSys[0] |= 1 << excNMI
	c.attention()
}

// PostEvent sets the event register.
func (c *Core) PostEvent() {
	c.event = true
	if c.asleep == inWFE {
		c.until = 0
	}
}

// Asleep reports whether the core waits in wfi or wfe.
func (c *Core) Asleep() bool { return c.asleep != awake }

// Instret is the number of instructions since power-up.
func (c *Core) Instret() uint64 { return c.instret }

// Stop makes Run return with bus.ReasonStopped at the next block edge. It must
// be called on the goroutine of Run.
func (c *Core) Stop() {
	c.stopReq = true
	c.attention()
}

// attention makes run come out at the next opportunity.
func (c *Core) attention() {
	c.until = 0
	c.brk = true
}

// LockedUp reports whether the core is in lockup state.
func (c *Core) LockedUp() bool { return c.lockedUp }

// InvalidateCode drops decoded code in [lo, hi).
func (c *Core) InvalidateCode(lo, hi uint32) { c.code.invalidate(c, lo, hi) }

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func b2u(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}
