package rp2350

import "github.com/stem-hw/stem-hw/sim/rp2350/periph"

// romState is what a core does inside the ROM without executing.
type romState uint8

const (
	romNone romState = iota
	// romDead: asleep for ever.
	romDead
	// romWaiting: core 1 in the launch handshake (datasheet 5.3), waiting for
	// a word or for room to answer.
	romWaiting
)

// launch is the handshake that core 0 starts core 1 with: 0, 0, 1, vector
// table, sp, entry. Each word is sent back; a 0, whenever it comes, or a wrong
// first word begins it anew (pico-bootrom riscv_bootrom_rt0.S).
type launch struct {
	// step counts the words accepted after the zeros: the 1, vector, sp, entry.
	step   int
	args   [launchWords]uint32
	answer uint32
	// owed: the answer still has to be sent.
	owed bool
	// event is the core's event latch while it is here.
	event bool
	ev    periph.Event
}

const (
	launchWords = 4
	// launchCycles is how long the ROM takes for one word.
	launchCycles = 20
)

// romPark puts a core into the handshake.
func (c *Chip) romPark(n *node) {
	n.rom, n.romPC = romWaiting, n.cpu.PC()
	n.launch.event = false
	c.romRestart(n)
	c.romSchedule(n)
	c.shorten(0)
}

// romRestart begins the sequence anew: drain the FIFO, send a 0.
func (c *Chip) romRestart(n *node) {
	n.launch.step = 0
	c.sio.banks[0].fifo[n.id].drain()
	c.sio.refresh(n.id)
	n.launch.answer, n.launch.owed = 0, true
}

// romNudge is an event for a core in the ROM.
func (c *Chip) romNudge(n *node) {
	if n.rom != romWaiting {
		return
	}
	n.launch.event = true
	c.romSchedule(n)
}

func (c *Chip) romSchedule(n *node) {
	l := &n.launch
	c.armLaunch(n)
	if l.ev.Index == 0 {
		env{c}.Schedule(&l.ev, c.now+launchCycles)
	}
}

// armLaunch says what happens in the next round.
func (c *Chip) armLaunch(n *node) {
	n.launch.ev.Fire = func(uint64) { c.romStep(n) }
}

// romStep is one round of the ROM's loop: send what is owed or wait for room,
// then wait for an event and take a word.
func (c *Chip) romStep(n *node) {
	if n.rom != romWaiting {
		return
	}
	l := &n.launch
	b := &c.sio.banks[0]
	if l.owed {
		if b.fifo[n.id^1].full() {
			l.event = false
			return
		}
		l.owed = false
		c.sio.push(b, n.id, l.answer)
		c.postEvent() // reaches the core itself too
		if l.step == launchWords {
			c.romLaunch(n)
		}
		return
	}
	if !l.event {
		return
	}
	l.event = false
	if b.fifo[n.id].n == 0 {
		return
	}
	v := b.fifo[n.id].pop()
	c.sio.refresh(n.id)
	if v == 0 || l.step == 0 && v != 1 {
		c.romRestart(n)
	} else {
		l.args[l.step] = v
		l.step++
		l.answer, l.owed = v, true
	}
	c.romSchedule(n)
}

// romLaunch starts the core where core 0 said.
func (c *Chip) romLaunch(n *node) {
	l := &n.launch
	n.rom = romNone
	n.cpu.SetClock(max(n.clock(), c.now))
	n.cpu.Enter(l.args[3], l.args[2], l.args[1])
	c.shorten(c.now + Quantum)
}
