package profile

import (
	"github.com/stem-hw/stem-hw/sim/machine"
	"github.com/stem-hw/stem-hw/symbols"
)

// Machine is what a Collector needs of the machine it watches.
type Machine interface {
	Cores() []machine.Core
	Peek(core int, addr uint32, p []byte) int
}

// Collector counts what the cores of one machine execute.
type Collector struct {
	m     Machine
	syms  *symbols.Table
	arch  arch
	cores []*coreCount
}

// arch tells how calls and interrupts look.
type arch struct {
	arm    bool
	link   int // number of the link register
	sp     int
	psp    int
	epc    int // the register with an exception's return address, RISC-V
	vector int // the trap vector's register, RISC-V
}

// Register numbers as targets have them (target.Register.Num).
var (
	riscvArch = arch{link: 1, sp: 2, epc: csrBase + 0x341, vector: csrBase + 0x305}
	armArch   = arch{arm: true, link: 14, sp: 13, psp: regPSP}
)

// New returns a collector for m. syms names functions; it may be nil. arm says
// that the cores are of that architecture.
func New(m Machine, syms *symbols.Table, arm bool) *Collector {
	c := &Collector{m: m, syms: syms, arch: riscvArch}
	if arm {
		c.arch = armArch
	}
	for i, core := range m.Cores() {
		cc := &coreCount{c: c, n: i, core: core}
		cc.clock, _ = core.(clocked)
		cc.root = &node{}
		cc.top = cc.root
		c.cores = append(c.cores, cc)
	}
	return c
}

type clocked interface{ Cycles() uint64 }

// Step is called before each instruction.
func (c *Collector) Step(core int, pc uint32) { c.cores[core].step(pc) }

// Close counts the cycles of the last instructions. The machine must stand
// still.
func (c *Collector) Close() {
	for _, cc := range c.cores {
		if cc.begun {
			cc.account()
			cc.begun = false
		}
	}
}

// coreCount is what one core did.
type coreCount struct {
	c     *Collector
	n     int
	core  machine.Core
	clock clocked

	root, top *node
	begun     bool
	pc        uint32 // of the instruction being executed
	began     uint64 // when, in cycles
	here      *count
}

// node is one function in one chain of callers.
type node struct {
	parent *node
	// call is where the parent called it, back where it returns to. An
	// exception's handler has no call: interrupt.
	call, back uint32
	interrupt  bool
	lo, hi     uint32 // of the function
	depth      int
	children   map[edge]*node
	counts     []count           // of the function's own instructions, by halfword
	others     map[uint32]*count // of everything else
}

// edge tells the children of a node apart.
type edge struct {
	call, entry uint32
	interrupt   bool
}

// count is what one instruction did in one chain of callers.
type count struct{ times, cycles uint64 }

// excReturn is the least value of EXC_RETURN.
const excReturn = 0xff000000

// maxFunction bounds the memory for the counts of one function, in bytes of
// code, and maxDepth a chain of callers.
const (
	maxFunction = 64 << 10
	maxDepth    = 200
)

// at is the count of the instruction at pc.
func (n *node) at(pc uint32) *count {
	if pc >= n.lo && pc < n.hi {
		if n.counts == nil {
			n.counts = make([]count, (n.hi-n.lo+1)/2)
		}
		return &n.counts[(pc-n.lo)/2]
	}
	if n.others == nil {
		n.others = map[uint32]*count{}
	}
	k := n.others[pc]
	if k == nil {
		k = new(count)
		n.others[pc] = k
	}
	return k
}

func (cc *coreCount) now() uint64 {
	if cc.clock != nil {
		return cc.clock.Cycles()
	}
	return cc.core.Instret()
}

// account gives the instruction that was executed its cycles.
func (cc *coreCount) account() uint64 {
	now := cc.now()
	if now > cc.began {
		cc.here.cycles += now - cc.began
	}
	return now
}

func (cc *coreCount) step(pc uint32) {
	if cc.begun {
		cc.began = cc.account()
		if d := pc - cc.pc; d != 2 && d != 4 {
			cc.jumped(pc)
		} else if pc >= cc.top.hi {
			cc.enter(pc)
		}
	} else {
		cc.begun = true
		cc.began = cc.now()
		cc.enter(pc)
	}
	cc.pc = pc
	cc.here = cc.top.at(pc)
	cc.here.times++
}

// jumped follows a jump from cc.pc to pc.
func (cc *coreCount) jumped(pc uint32) {
	if pc >= cc.top.lo && pc < cc.top.hi && pc != cc.top.lo {
		// Within the function; a recursive call goes to its beginning, a return
		// to an outer instance of it has the return address on the stack.
		if cc.top.parent == nil || cc.top.back != pc {
			return
		}
	}
	link := cc.reg(cc.c.arch.link)
	if cc.c.arch.arm {
		if link >= excReturn && cc.vectored(pc) {
			cc.push(pc, 0, cc.stacked(link), true)
			return
		}
		link &^= 1
	} else if cc.trapped(pc) {
		cc.push(pc, 0, cc.reg(cc.c.arch.epc), true)
		return
	}
	if d := link - cc.pc; (d == 2 || d == 4) && cc.size() == d {
		cc.push(pc, cc.pc, link, false)
		return
	}
	for n := cc.top; n.parent != nil; n = n.parent {
		if n.back == pc {
			cc.top = n.parent
			return
		}
	}
	if pc >= cc.top.lo && pc < cc.top.hi {
		return
	}
	cc.enter(pc)
}

// enter begins a function that nobody called: the first one, a tail call, a
// place that a context switch went to.
func (cc *coreCount) enter(pc uint32) {
	n := cc.top
	if n.parent == nil {
		cc.push(pc, 0, 0, false)
		return
	}
	call, back, irq := n.call, n.back, n.interrupt
	if irq && cc.leftException() {
		// Out of an exception to elsewhere than where it came from.
		cc.top = cc.root
		cc.push(pc, 0, 0, false)
		return
	}
	cc.top = n.parent
	cc.push(pc, call, back, irq)
}

// push enters the function of pc.
func (cc *coreCount) push(pc, call, back uint32, interrupt bool) {
	if cc.top.depth >= maxDepth {
		cc.top = cc.root
	}
	lo, hi := pc, pc
	if s, ok := cc.c.syms.Function(pc); ok && s.Size > 0 && s.Size <= maxFunction && pc-s.Addr < s.Size {
		lo, hi = s.Addr, s.Addr+s.Size
	}
	e := edge{call, lo, interrupt}
	n := cc.top.children[e]
	if n == nil {
		n = &node{parent: cc.top, call: call, interrupt: interrupt, lo: lo, hi: hi, depth: cc.top.depth + 1}
		if cc.top.children == nil {
			cc.top.children = map[edge]*node{}
		}
		cc.top.children[e] = n
	}
	n.back = back // an interrupt comes from elsewhere each time
	cc.top = n
}
