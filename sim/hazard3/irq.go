package hazard3

import "math/bits"

// irqState is the interrupt controller Xh3irq and the two other interrupt
// inputs (hazard3_irq_ctrl.v).
type irqState struct {
	inputs // as the core sees them

	meiea, meifa uint64
	priority     [64]uint8

	// meicontext.
	pppreempt, ppreempt, preempt uint8
	noirq                        bool
	irq                          uint16
	mreteirq                     bool

	// What follows from the above, kept up to date by update: whether an
	// interrupt is above preempt, and the highest at or above ppreempt.
	meip     bool
	next     uint16
	nextPri  uint8
	nextNone bool
}

func (c *Core) resetIRQ() {
	c.late.n = 0
	c.irq = irqState{inputs: c.raw, noirq: true}
	c.irq.update()
}

// inputs are the levels of the three interrupt inputs.
type inputs struct {
	lines      uint64
	mtip, msip bool
}

// lateIRQs holds changes of the inputs that the core has caused itself and does
// not see yet. A store leaves the execute stage one cycle before its data
// arrive, and the core samples its inputs one cycle later again: what a store
// does to an interrupt line counts from three cycles after it. Programs notice:
// a wfi right behind such a store is reached.
type lateIRQs struct {
	n   int
	due [4]uint64
	in  [4]inputs
}

// irqLatency is that of the core's own stores.
const irqLatency = 3

// SetIRQs sets the levels of the external interrupt lines.
func (c *Core) SetIRQs(lines uint64) {
	c.raw.lines = lines & (1<<uint(c.cfg.NumIRQs) - 1)
	c.inputChanged()
}

// SetMTIP sets the level of the timer interrupt.
func (c *Core) SetMTIP(on bool) {
	c.raw.mtip = on
	c.inputChanged()
}

// SetMSIP sets the level of the software interrupt.
func (c *Core) SetMSIP(on bool) {
	c.raw.msip = on
	c.inputChanged()
}

func (c *Core) inputChanged() {
	l := &c.late
	seen := c.irq.inputs
	if l.n > 0 {
		seen = l.in[l.n-1]
	}
	if c.raw == seen {
		return
	}
	if !c.inBus {
		l.n = 0
		c.sample(c.raw)
		return
	}
	if l.n == len(l.in) {
		c.sampleOldest()
	}
	l.due[l.n], l.in[l.n] = c.Cycle+irqLatency, c.raw
	l.n++
	c.attn = true
}

// sample makes the core see its inputs.
func (c *Core) sample(in inputs) {
	c.irq.inputs = in
	c.irq.update()
	c.updateIRQ()
}

func (c *Core) sampleOldest() {
	l := &c.late
	in := l.in[0]
	l.n--
	copy(l.in[:], l.in[1:])
	copy(l.due[:], l.due[1:])
	c.sample(in)
}

// sampleLate lets what is due be seen. A sleeping core has nothing to do but
// wait for it.
func (c *Core) sampleLate() {
	for l := &c.late; l.n > 0; {
		if c.Cycle < l.due[0] {
			if c.sleep == awake {
				c.attn = true
				return
			}
			c.Cycle = l.due[0]
		}
		c.sampleOldest()
	}
}

// IRQs returns the levels of the external interrupt lines.
func (c *Core) IRQs() uint64 { return c.raw.lines }

// mip is the CSR of that name.
func (c *Core) mip() uint32 {
	return boolTo(c.irq.meip)<<11 | boolTo(c.irq.mtip)<<7 | boolTo(c.irq.msip)<<3
}

// irqEnabled reports whether interrupts can be taken at all.
func (c *Core) irqEnabled() bool {
	return c.csr.mstatus&mstatusMIE != 0 || c.priv == 0 && !c.cfg.UserModeNeedsMIE
}

// updateIRQ asks for attention if an interrupt can be taken. It is called
// whenever something that decides so has changed.
func (c *Core) updateIRQ() {
	if c.csr.mie&c.mip() != 0 && (c.irqEnabled() || c.sleep != awake) {
		c.attn = true
	}
}

// takesIRQ reports whether an interrupt is to be taken now.
func (c *Core) takesIRQ() bool {
	return c.csr.mie&c.mip() != 0 && c.irqEnabled() && c.dbg.step == 0
}

// update computes what follows from lines, enables and priorities.
func (q *irqState) update() {
	q.meip, q.nextNone = false, true
	q.next, q.nextPri = 0, 0
	for p := (q.lines | q.meifa) & q.meiea; p != 0; p &= p - 1 {
		i := bits.TrailingZeros64(p)
		pri := q.priority[i]
		if pri >= q.preempt {
			q.meip = true
		}
		if pri >= q.ppreempt && (q.nextNone || pri > q.nextPri) {
			q.nextNone, q.next, q.nextPri = false, uint16(i), pri
		}
	}
}

// level is the preemption level that taking the next interrupt gives.
func (q *irqState) level() uint8 {
	if q.nextNone {
		return 16
	}
	return q.nextPri + 1
}

// enter is what a trap does to the preemption stack.
func (q *irqState) enter(external bool) {
	q.mreteirq = external
	if external {
		q.pppreempt = q.ppreempt
		level := q.level()
		q.ppreempt = q.preempt & 15
		q.preempt = level
	}
	q.update()
}

// leave is what mret does to it.
func (q *irqState) leave() {
	if q.mreteirq {
		q.preempt, q.ppreempt, q.pppreempt = q.ppreempt, q.pppreempt, 0
		q.mreteirq = false
		q.update()
	}
}

// window16 returns 16 bits of v, window i.
func window16(v uint64, i uint32) uint32 {
	if i >= 4 {
		return 0
	}
	return uint32(v>>(16*i)) & 0xffff
}

// readIRQ reads one of the six CSRs of Xh3irq; operand is the raw write
// operand, which holds the index of the window.
func (c *Core) readIRQ(n uint16, operand uint32, typ uint32, wen bool) uint32 {
	q := &c.irq
	switch n {
	case csrMeiea:
		return window16(q.meiea, operand&31) << 16
	case csrMeipa:
		return window16(q.lines|q.meifa, operand&31) << 16
	case csrMeifa:
		return window16(q.meifa, operand&31) << 16
	case csrMeipra:
		var v uint32
		if w := operand & 127; w < 16 {
			for i := range uint32(4) {
				v |= uint32(q.priority[4*w+i]) << (16 + 4*i)
			}
		}
		return v
	case csrMeinext:
		return boolTo(q.nextNone)<<31 | uint32(q.next)<<2
	}
	v := uint32(q.pppreempt)<<28 | uint32(q.ppreempt)<<24 | uint32(q.preempt)<<16 |
		boolTo(q.noirq)<<15 | uint32(q.irq)<<4 | boolTo(q.mreteirq)
	if clearsTS(operand, typ, wen) {
		v |= c.csr.mie >> 7 & 1 << 3
		v |= c.csr.mie >> 3 & 1 << 2
	}
	return v
}

// clearsTS reports whether an access to meicontext writes a 1 to CLEARTS.
func clearsTS(operand, typ uint32, wen bool) bool {
	return wen && typ != csrClear && operand&2 != 0
}

// sampleNext is the side effect of reading meinext: the force bit of the
// interrupt it returned is cleared.
func (c *Core) sampleNext() {
	if q := &c.irq; !q.nextNone {
		q.meifa &^= 1 << q.next
	}
}

// writeIRQ writes v, the result of the read-modify-write, to one of the CSRs
// of Xh3irq. next and level are what meinext would have chosen before the
// instruction.
func (c *Core) writeIRQ(n uint16, operand, v uint32, typ uint32) {
	q := &c.irq
	valid := uint64(1)<<uint(c.cfg.NumIRQs) - 1
	put := func(p *uint64) {
		if i := operand & 31; i < 4 {
			*p = *p&^(0xffff<<(16*i)) | uint64(v>>16)<<(16*i)
			*p &= valid
		}
	}
	switch n {
	case csrMeiea:
		put(&q.meiea)
	case csrMeifa:
		put(&q.meifa)
	case csrMeipra:
		for i := range uint32(4) {
			if irq := 4*(operand&127) + i; irq < uint32(c.cfg.NumIRQs) {
				q.priority[irq] = uint8(v >> (16 + 4*i) & 15)
			}
		}
	case csrMeicontext:
		q.pppreempt = uint8(v >> 28)
		q.ppreempt = uint8(v >> 24 & 15)
		q.preempt = uint8(v >> 16 & 31)
		q.noirq = v>>15&1 != 0
		q.irq = uint16(v >> 4 & 0x1ff)
		q.mreteirq = v&1 != 0
		if clearsTS(operand, typ, true) {
			c.csr.mie &^= 1<<7 | 1<<3
		} else {
			c.csr.mie |= v >> 3 & 1 << 7
			c.csr.mie |= v >> 2 & 1 << 3
		}
	case csrMeinext:
		if v&1 != 0 {
			q.preempt = q.level()
			q.noirq = q.nextNone
			q.irq = q.next
		}
	}
}
