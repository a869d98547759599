package rp2350

import (
	"fmt"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/image/boot"
	"github.com/stem-hw/stem-hw/sim/hazard3"
	"github.com/stem-hw/stem-hw/sim/machine"
	"github.com/stem-hw/stem-hw/target"
)

// Each core is a Cortex-M33 or a Hazard3, as OTP's ARCHSEL says when the core is
// reset (datasheet 3.9). The chip makes a new core then; what debuggers hold is
// the coreView, which stays.

// newCPU makes a core.
func (c *Chip) newCPU(n *node, isArm bool) cpu {
	if isArm {
		return c.newArm(n)
	}
	core := hazard3.New(hazard3.Silicon(c.opt.Revision), n.id, n.bus, c)
	if o, ok := n.other.cpu.(riscv); ok {
		core.ShareCode(o.Core)
	}
	core.SetGate(romGateLo, romSize, func(pc uint32) bool { return c.romGate(n, pc) })
	return riscv{core}
}

// isArm reports whether the core is a Cortex-M33 now.
func (n *node) isArm() bool {
	_, ok := n.cpu.(arm)
	return ok
}

// takeArch gives a core that is being reset the architecture that ARCHSEL asks
// for.
func (c *Chip) takeArch(n *node) {
	wantRISCV := c.parts.OTP.ArchSel()>>n.id&1 != 0
	if wantRISCV == n.isArm() {
		n.cpu = c.newCPU(n, !wantRISCV)
		n.cycle = n.cpu.ClockAt()
		c.hook(n)
		n.cpu.SetPoints(n.points)
		c.remap()
		if n.id == 0 {
			c.opt.Arch = image.ArchRISCV
			if !wantRISCV {
				c.opt.Arch = image.ArchARM
			}
		}
	}
	c.parts.OTP.CoreReset(n.id, wantRISCV)
}

// startAs makes an architecture the one after power-up, as programming
// BOOT_ARCH or booting an image of it once does on the chip.
func (c *Chip) startAs(a image.Arch) error {
	if a == image.ArchUnknown || a == c.opt.Arch {
		return nil
	}
	o := c.bootOptions().OTP
	if a == image.ArchARM && o.ArmDisabled || a == image.ArchRISCV && (o.RISCVDisabled || o.SecureBoot) {
		return &faults.Fault{
			Code: faults.CodeWrongMachine, Status: faults.StatusImage,
			Summary: "the fuses of this chip forbid the architecture of the image",
			Seen:    string(a), Wanted: string(c.opt.Arch),
		}
	}
	c.parts.OTP.SetInitial(a == image.ArchRISCV)
	c.Reset()
	return nil
}

// otherArch is an image for the other architecture: the ROM selects it and
// restarts the chip (datasheet 5.2.3).
func (c *Chip) otherArch(r *romCall, d *boot.Decision) {
	toRISCV := c.opt.Arch == image.ArchARM
	if !c.archAvailable(r, toRISCV) {
		name := "Arm"
		if toRISCV {
			name = "RISC-V"
		}
		c.crash(r.n, fmt.Sprintf("the image in flash is for the %s cores, which this chip may not use: %s", name, d.Reason))
		return
	}
	r.setWord(regPSMWDSEL, psmAll&^(psmBootRAM-1))
	c.startWatchdog(r, 1000)
	r.n.die()
	c.shorten(0)
}

// coreView is a core as debuggers see it, whatever it is made of at the moment.
type coreView struct{ n *node }

var _ machine.Core = coreView{}

func (v coreView) Halted() bool                      { return v.n.cpu.Halted() }
func (v coreView) Halt()                             { v.n.cpu.Halt() }
func (v coreView) Resume()                           { v.n.cpu.Resume() }
func (v coreView) HaltNow()                          { v.n.cpu.HaltNow() }
func (v coreView) Step(on bool)                      { v.n.cpu.Step(on) }
func (v coreView) PC() uint32                        { return v.n.cpu.PC() }
func (v coreView) SetPC(pc uint32)                   { v.n.cpu.SetPC(pc) }
func (v coreView) ReadReg(num int) (uint64, bool)    { return v.n.cpu.ReadReg(num) }
func (v coreView) WriteReg(num int, val uint64) bool { return v.n.cpu.WriteReg(num, val) }
func (v coreView) StopReason() target.Stop           { return v.n.cpu.StopReason() }
func (v coreView) Asleep() bool                      { return v.n.cpu.Asleep() }
func (v coreView) Instret() uint64                   { return v.n.cpu.Instret() }
func (v coreView) StopOnEbreak(on bool)              { v.n.cpu.StopOnEbreak(on) }
func (v coreView) SetPoints(ps []target.Point) {
	v.n.points = append(v.n.points[:0], ps...)
	v.n.cpu.SetPoints(ps)
}

// LastTrap is the last exception of a RISC-V core.
func (v coreView) LastTrap() hazard3.Trap {
	if r, ok := v.n.cpu.(riscv); ok {
		return r.Core.LastTrap()
	}
	return hazard3.Trap{}
}

// Fault is the last fault of an Arm core, in words, and where it happened; ok is
// false if there was none.
func (v coreView) Fault() (text string, pc uint32, ok bool) {
	a, isArm := v.n.cpu.(arm)
	if !isArm {
		return "", 0, false
	}
	t := a.Core.LastTrap()
	return t.String(), t.PC, t.IsFault()
}
