package rp2350

import (
	"fmt"

	"github.com/stem-hw/stem-hw/sim/machine"
	"github.com/stem-hw/stem-hw/sim/rp2350/periph"
)

// explanation is a reason for which an access does not do what its author may
// think. Each is told once for each instruction.
type explanation uint8

const (
	explainFault explanation = iota
	explainHeld
	explainROM
	explainFlash
	explainHole
)

// maxExplained bounds how much is told about a program that does nothing right.
const maxExplained = 100

type explained struct {
	why explanation
	pc  uint32
}

// explain tells why an access by the core that runs does nothing, or faults.
func (c *Chip) explain(why explanation, text string, addr uint32) {
	if c.cur == nil || c.hooks.Notice == nil {
		return
	}
	k := explained{why, c.cur.cpu.PC()}
	if c.explained[k] || len(c.explained) >= maxExplained {
		return
	}
	if c.explained == nil {
		c.explained = map[explained]bool{}
	}
	c.explained[k] = true
	c.hooks.Notice(machine.Notice{Text: text, Addr: addr, Core: c.cur.id, PC: k.pc})
}

// explainRefusal tells why the fabric refused an access of a core.
func (c *Chip) explainRefusal(addr uint32, write bool, o periph.Origin) {
	verb := "load from"
	if write {
		verb = "store to"
	}
	c.explain(explainFault, fmt.Sprintf("%s %#08x: %s", verb, addr, c.refusal(addr, write, o)), addr)
}

// refusal is the reason (see the memory map, datasheet 2.2).
func (c *Chip) refusal(addr uint32, write bool, o periph.Origin) string {
	switch addr >> 28 {
	case 0:
		return "nothing is there: the boot ROM ends at 0x00008000; a null pointer?"
	case 1:
		switch {
		case c.qmi.direct():
			return "flash cannot be read while QMI is in direct mode (flash is being erased or programmed); such code must run from RAM"
		case addr >= xipMaintenance && addr < xipNoTranslate:
			return "the cache maintenance window can only be written"
		}
		return "beyond what the QMI's address translation (ATRANS) covers"
	case 2:
		return "nothing is there: RAM ends at 0x20082000"
	case 4, 5:
		s, _ := c.find(addr)
		switch {
		case s == nil:
			return "no peripheral is there"
		case !c.access.allows(s, o):
			return "ACCESSCTRL keeps this core, at this level, from " + s.name
		case c.gated(s):
			return s.name + "'s clock is gated (CLOCKS.WAKE_EN0, WAKE_EN1)"
		}
		return s.name + " refuses this access at this level of security"
	case 0xd:
		return "no register of SIO is there"
	case 0xe:
		if c.cur != nil && !c.cur.isArm() {
			return "the private peripheral bus belongs to Arm cores alone"
		}
		return "no register of the core is there"
	}
	return "nothing is there"
}
