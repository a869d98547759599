package rp2350

import (
	"testing"

	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/sim/debugport"
)

// portRig is a chip behind its debug port, which a debugger has powered up.
type portRig struct {
	*rig
	dp *debugport.DP
}

func newPortRig(t *testing.T, opt Options) *portRig {
	r := newRig(t, opt)
	r.Run(200_000)
	p := &portRig{r, debugport.NewDP(r.DebugPort())}
	p.powerUp()
	return p
}

// Requests of the debug port: see debugport.Request.
const (
	reqCtrl   debugport.Request = 4
	reqSelect debugport.Request = 8
	reqAP     debugport.Request = 1
	reqRead   debugport.Request = 2
	reqRDBuff debugport.Request = 0xe
)

func (p *portRig) powerUp() { p.dp.Transact(reqCtrl, 0x50000000) }

// ap reads a register of an access port; setAP writes one. They clear errors.
func (p *portRig) ap(addr uint32) (v uint32, ok bool) {
	p.dp.Transact(reqSelect, addr&^0xf)
	p.dp.Transact(reqAP|reqRead|debugport.Request(addr&0xc), 0)
	v = p.dp.Transact(reqRDBuff, 0)
	return v, p.good()
}

func (p *portRig) setAP(addr, v uint32) bool {
	p.dp.Transact(reqSelect, addr&^0xf)
	p.dp.Transact(reqAP|debugport.Request(addr&0xc), v)
	return p.good()
}

func (p *portRig) good() bool {
	p.dp.Transact(reqSelect, 0)
	stat := p.dp.Transact(reqCtrl|reqRead, 0)
	p.dp.Transact(0, 0x1e)
	return stat&(1<<5) == 0
}

// dm and setDM access the Debug Module through the APB-AP.
func (p *portRig) dm(reg uint32) uint32 {
	p.setAP(0xad04, 4*reg)
	v, _ := p.ap(0xad0c)
	return v
}

func (p *portRig) setDM(reg, v uint32) {
	p.setAP(0xad04, 4*reg)
	p.setAP(0xad0c, v)
}

// run lets the chip run for some cycles, also over the resets it reports.
func (p *portRig) run(cycles uint64) {
	p.InputOpen(true) // time passes even if all sleep
	for end := p.Now() + cycles; p.Now() < end; {
		p.Run(end)
	}
}

// Harts that the Debug Module holds in reset execute nothing until they are let
// go, and start at the reset vector then.
func TestHeldInReset(t *testing.T) {
	p := newPortRig(t, Options{})
	p.store32(0, sramBase, 0xffdff06f) // not reached: j .-4
	count := func(hart int) uint64 { return p.nodes[hart].cpu.Instret() }
	p.setDM(0x10, 0)
	p.setDM(0x10, 1)
	p.setDM(0x10, 3) // ndmreset
	p.run(100_000)
	for hart := range 2 {
		if n := count(hart); n != 0 {
			t.Errorf("hart %d executed %d instructions in reset", hart, n)
		}
	}
	if v := p.dm(0x11); v&0x3f00 != 0x3000 {
		t.Errorf("dmstatus %#x while in reset", v)
	}
	if v, _ := p.ap(0x0); v&1 != 0 {
		t.Errorf("the root table shows an Arm core: %#x", v)
	}
	// Hart 1 stays behind.
	p.setDM(0x10, 1<<29|1<<16|3)
	p.setDM(0x10, 1<<29|1<<16|1)
	p.run(100_000)
	if v := p.dm(0x11); v&0x3f00 != 0x3000 {
		t.Errorf("dmstatus %#x of hart 1 in reset", v)
	}
	p.setDM(0x10, 1)
	if v := p.dm(0x11); v&0x3f00 != 0x0c00 || v>>18&3 != 3 {
		t.Errorf("dmstatus %#x of hart 0 let go", v)
	}
	p.run(1000)
	if count(1) != 0 || !p.nodes[1].held {
		t.Error("hart 1 runs")
	}
	// Memory can be reached all the while, but not through hart 1's port.
	p.setDM(0x38, 1<<20|2<<17)
	p.setDM(0x39, sramBase)
	if v := p.dm(0x38); v>>21&1 == 0 {
		t.Errorf("sbcs %#x with hart 1 in reset", v)
	}
	// A halt request that stands: halted at the first instruction.
	p.setDM(0x10, 1<<31|1<<29|1<<16|1)
	p.setDM(0x10, 1<<31|1<<16|1)
	p.run(1000)
	if pc := p.nodes[1].cpu.PC(); pc != romEntry || !p.nodes[1].cpu.Halted() {
		t.Errorf("hart 1 stands at %#x", pc)
	}
	// dmactive lets go.
	p.setDM(0x10, 1<<29|1)
	p.setDM(0x10, 0)
	if p.nodes[0].held {
		t.Error("hart 0 is held by a module that is not active")
	}
}

// A request of PSM and one of the Debug Module hold a core independently.
func TestHeldTwice(t *testing.T) {
	p := newPortRig(t, Options{})
	p.setDM(0x10, 0)
	p.setDM(0x10, 1)
	const forceOff = 0x40018004
	p.store32(0, forceOff, psmProc1)
	p.setDM(0x10, 1<<29|1<<16|1)
	p.store32(0, forceOff, 0)
	if !p.nodes[1].held {
		t.Error("PSM let a core go that the Debug Module holds")
	}
	p.store32(0, forceOff, psmProc1)
	p.setDM(0x10, 1<<16|1)
	if !p.nodes[1].held {
		t.Error("the Debug Module let a core go that PSM holds")
	}
	p.store32(0, forceOff, 0)
	if p.nodes[1].held {
		t.Error("the core stays in reset")
	}
}

// What each kind of reset does to the Debug Module, an access port and the port
// (datasheet 3.5.3, 7.3).
func TestResetsOfDebug(t *testing.T) {
	const (
		wdCtrl     = 0x400d8000
		psmWDSEL   = 0x40018008
		powWDSEL   = 0x40100030
		trigger    = 1 << 31
		belowProcs = psmAll &^ psmProcCold
	)
	watchdog := func(powman uint32) func(*portRig) {
		return func(p *portRig) {
			p.store32(0, powWDSEL, 0x5afe0000|powman)
			p.store32(0, psmWDSEL, belowProcs)
			p.store32(0, wdCtrl, trigger)
		}
	}
	for name, c := range map[string]struct {
		reset           func(*portRig)
		dm, port, again bool // reset: the module with the access ports, the port; it starts again at once
	}{
		"watchdog, PSM":           {reset: watchdog(0)},
		"watchdog, SWCORE":        {reset: watchdog(1 << 8), dm: true},
		"watchdog, POWMAN":        {reset: watchdog(1 << 4), dm: true},
		"watchdog, POWMAN, async": {reset: watchdog(1), dm: true},
		"watchdog, RSM":           {reset: watchdog(1 << 12), dm: true},
		"CDBGRSTREQ":              {reset: func(p *portRig) { p.dp.Transact(reqCtrl, 0x54000000); p.dp.Transact(reqCtrl, 0x50000000) }, dm: true},
		"rescue":                  {reset: func(p *portRig) { p.setAP(0x80000, 1<<31); p.setAP(0x80000, 0) }, dm: true},
		"ndmreset":                {reset: func(p *portRig) { p.setDM(0x10, 3); p.setDM(0x10, 1) }},
		"power":                   {reset: func(p *portRig) { p.Reset() }, dm: true, port: true},
	} {
		p := newPortRig(t, Options{})
		p.setAP(0xad00, 0x22000002)
		p.setDM(0x10, 0)
		p.setDM(0x10, 1)
		p.setDM(0x04, 0x12345678)
		p.setDM(0x10, 1<<3|1) // resethaltreq of hart 0
		p.setAP(0x8001c, 1)   // a register of the RP-AP
		c.reset(p)
		p.run(10_000)
		line := debugport.NewLine(p.dp)
		line.Clock(true, true)
		_, ok := p.ap(0xadfc)
		if ok == c.port {
			t.Errorf("%s: power request kept: %v", name, ok)
		}
		if v, _ := p.ap(0x8001c); v != 0 == c.port {
			t.Errorf("%s: RP-AP %#x", name, v)
		}
		p.powerUp()
		if v := p.dm(0x04); v != 0 == c.dm {
			t.Errorf("%s: data0 %#x", name, v)
		}
		if v, _ := p.ap(0xad00); v>>30&1 != 0 != c.dm {
			t.Errorf("%s: CSW %#x", name, v)
		}
		if halted := p.nodes[0].cpu.Halted(); halted == c.dm {
			t.Errorf("%s: hart 0 halted behind the reset: %v", name, halted)
		}
	}
}

// A watchdog reset of a core that a debugger halted ends Debug state.
func TestWatchdogResetsHaltedCore(t *testing.T) {
	for _, arch := range []image.Arch{image.ArchRISCV, image.ArchARM} {
		p := newPortRig(t, Options{Arch: arch})
		for _, n := range p.nodes {
			n.cpu.HaltNow()
		}
		p.run(1000)
		p.store32(0, 0x40018008, psmAll&^psmProcCold)
		p.store32(0, 0x400d8000, 1<<31)
		p.run(10_000)
		for i, n := range p.nodes {
			if n.cpu.Halted() || n.halted {
				t.Errorf("%s core %d is halted behind the reset", arch, i)
			}
		}
	}
}

// A hart that is let go runs at once, also beside one that ran alone before.
func TestLetGoBesideAnother(t *testing.T) {
	p := newPortRig(t, Options{})
	for i, w := range []uint32{0x00150513, 0x00158593, 0xff9ff06f} { // a loop that counts
		p.store32(0, sramBase+4*uint32(i), w)
	}
	p.setDM(0x10, 0)
	p.setDM(0x10, 1)
	p.setDM(0x10, 1<<31|1)
	p.setDM(0x10, 1<<31|1<<16|1)
	p.run(100_000)
	for _, n := range p.nodes {
		n.cpu.SetPC(sramBase)
	}
	p.setDM(0x10, 1<<30|1<<16|1)
	p.run(44_000)
	p.setDM(0x10, 1<<30|1)
	was := p.nodes[0].cpu.Instret()
	p.run(400)
	if n := p.nodes[0].cpu.Instret() - was; n < 50 {
		t.Errorf("hart 0 executed %d instructions in 400 cycles", n)
	}
}
