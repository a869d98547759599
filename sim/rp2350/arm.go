package rp2350

import (
	"fmt"

	"github.com/stem-hw/stem-hw/sim/cortexm33"
	"github.com/stem-hw/stem-hw/sim/machine"
	"github.com/stem-hw/stem-hw/sim/rp2350/periph"
	"github.com/stem-hw/stem-hw/target"
)

// arm is a Cortex-M33 as a cpu.
type arm struct {
	*cortexm33.Core
	rcp *cortexm33.RCP
}

// newArm makes an Arm core with the coprocessors of the chip.
func (c *Chip) newArm(n *node) cpu {
	if c.rcp == nil {
		c.rcp = &cortexm33.RCP{Fault: c.rcpFault}
	}
	cfg := cortexm33.RP2350()
	cfg.ResetPC = romEntry
	cfg.Coprocessors[0] = cortexm33.NewGPIOC(gpioPort{n.bus})
	cfg.Coprocessors[4], cfg.Coprocessors[5] = cortexm33.NewDCP()
	cfg.Coprocessors[7] = c.rcp.Port(n.id)
	core := cortexm33.New(cfg, n.id, n.bus, c)
	if n.id == 1 {
		core.ShareCode(c.nodes[0].cpu.(arm).Core)
	}
	core.SetGate(romGateLo, romSize, func(pc uint32) bool { return c.romGate(n, pc) })
	core.Authenticate = func() (debug, secure bool) {
		a := c.debugAccess()
		return a.Core[n.id], a.Secure[n.id]
	}
	core.OnResetRequest = func() { c.coreResetRequest(n) }
	return arm{core, c.rcp}
}

// rcpFault is a failed assertion of the redundancy coprocessor: both cores stop
// for good (datasheet 3.6.3).
func (c *Chip) rcpFault(core int, why string) {
	c.report(machine.Event{Kind: machine.EventCrash, Core: core, Cause: "redundancy coprocessor: " + why})
}

func (a arm) SetTrace(f func(pc uint32)) { a.Core.Tracer = f }
func (a arm) SetSemihost(f func() bool)  { a.Core.Semihost = f }
func (a arm) SetTimer(bool)              {}
func (a arm) SetSoft(bool)               {}
func (a arm) Clock() uint64              { return a.Core.Cycle }

// ClockAt implements cpu.
func (a arm) ClockAt() *uint64 { return &a.Core.Cycle }

func (a arm) SetClock(cycle uint64) { a.Core.Cycle = cycle }

// Registers implements cpu.
func (a arm) Registers() []target.Register { return cortexm33.Registers() }

// Arg implements cpu: the fifth argument and on are on the stack (AAPCS).
func (a arm) Arg(n int) uint32 {
	if n < 4 {
		return a.Core.R[n]
	}
	v, _ := a.Core.StackWord(n - 4)
	return v
}

func (a arm) SetResult(v uint32) { a.Core.R[0] = v }

// ReturnAddress implements cpu.
func (a arm) ReturnAddress() uint32 { return a.Core.R[14] }

// TrapText implements cpu.
func (a arm) TrapText() string {
	const justNow = 100_000
	t := a.Core.LastTrap()
	if t.Exception == 0 || !t.IsFault() || a.Core.Cycle > t.Cycle+justNow {
		return ""
	}
	return fmt.Sprintf("%s at %#08x", t, t.PC)
}

// EnterROM implements cpu: what the ROM's first instructions leave matters to
// nobody on Arm.
func (a arm) EnterROM() {}

// Enter implements cpu (pico-bootrom arm8_bootrom_rt0.S): SAU region 7 covers
// the part of the ROM that Non-secure code may call, the redundancy
// coprocessor's salts are valid, the stack limit is off.
func (a arm) Enter(pc, sp, vector uint32) {
	a.Core.EnterImage(pc, sp, vector, romReturnAddr|1)
	a.Core.SetSAU(7, romArmNSFirst, romArmNSLast, false)
	a.rcp.SetSalt(a.Core.Hart(), romSalt)
}

// The Non-secure part of the ROM, as SAU region 7 has it, and the value that
// stands for the random salt.
const (
	romArmNSFirst = 0x4300
	romArmNSLast  = 0x7fff
	romSalt       = 0x9d39_247e_3377_6d41
)

// gpioPort gives the GPIO coprocessor the core's view of SIO.
type gpioPort struct{ b *coreBus }

// Begin implements cortexm33.GPIOPort.
func (p gpioPort) Begin(now uint64) bool {
	if !p.b.Ready(now) {
		return false
	}
	p.b.at(now)
	return true
}

func (p gpioPort) origin(nonSecure bool) periph.Origin {
	return periph.Origin{Core: p.b.n.id, Privileged: true, NonSecure: nonSecure}
}

// ReadGPIO implements cortexm33.GPIOPort.
func (p gpioPort) ReadGPIO(group int, nonSecure bool) (lo, hi uint32) {
	off := [3]uint32{sioGPIOOut, sioGPIOOut + 0x20, sioGPIOIn}[group]
	o := p.origin(nonSecure)
	lo, _ = p.b.c.sio.load(p.b.n.id, sioBase+off, o, false)
	hi, _ = p.b.c.sio.load(p.b.n.id, sioBase+off+4, o, false)
	return lo, hi
}

// WriteGPIO implements cortexm33.GPIOPort.
func (p gpioPort) WriteGPIO(group int, hi bool, op uint32, v uint32, nonSecure bool) {
	// SIO's order is value, SET, CLR, XOR.
	off := sioGPIOOut + uint32(group)*0x20 + [4]uint32{0, 0x18, 0x08, 0x10}[op]
	if hi {
		off += 4
	}
	p.b.c.sio.store(p.b.n.id, sioBase+off, v, p.origin(nonSecure))
}
