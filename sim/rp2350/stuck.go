package rp2350

import (
	"fmt"

	"github.com/stem-hw/stem-hw/sim/machine"
)

// settlePicos is how long the chip must be quiet, after core 0 got stuck, until
// that is the end of the program: what is in FIFOs still gets out, and core 1
// may finish what it prints.
const settlePicos = 50_000_000_000

// lockup is a core that can do nothing new by itself. The watchdog, or an
// interrupt that it still takes, may help it. Otherwise it is the end: for
// core 1 when core 0 has nothing to do either, for core 0 when all is quiet.
func (c *Chip) lockup(n *node) {
	n.stuck = true
	n.stuckText = fmt.Sprintf("endless loop at %#08x with interrupts off", n.cpu.PC())
	if n.cpu.Looping() {
		n.stuckText = n.cpu.TrapText() + ", again and again"
	} else if trap := n.cpu.TrapText(); trap != "" {
		n.stuckText = trap + ", then an " + n.stuckText
	}
	if n.id != 0 && (n.other.runs() || n.other.asleep) {
		c.notice(fmt.Sprintf("core %d is stuck: %s", n.id, n.stuckText), n.cpu.PC())
		return
	}
	c.settleAfter(n)
}

// settleAfter looks again in a while.
func (c *Chip) settleAfter(n *node) {
	c.quiet = c.written
	env{c}.Schedule(&c.settle, c.line.After(max(c.now, n.clock()), settlePicos))
}

// settled ends the program if a core is still stuck and nothing was printed.
func (c *Chip) settled() {
	n := c.stuckNode()
	switch {
	case n == nil:
	case c.written != c.quiet || c.parts.Watchdog.Running():
		c.settleAfter(n)
	default:
		c.report(machine.Event{Kind: machine.EventCrash, Core: n.id, Cause: n.stuckText})
	}
}

// stuckNode is the core whose being stuck is the end of the program.
func (c *Chip) stuckNode() *node {
	for _, n := range c.nodes {
		if n.stuck {
			return n
		}
	}
	return nil
}
