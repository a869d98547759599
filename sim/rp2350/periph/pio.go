package periph

import "github.com/stem-hw/stem-hw/sim/rp2350/periph/regs"

// Registers of a PIO block (datasheet 11.7).
const (
	pioCtrl     = 0x000
	pioFStat    = 0x004
	pioFDebug   = 0x008
	pioFLevel   = 0x00c
	pioTXF0     = 0x010
	pioRXF0     = 0x020
	pioIRQ      = 0x030
	pioIRQForce = 0x034
	pioBypass   = 0x038
	pioPadOut   = 0x03c
	pioPadOE    = 0x040
	pioCfgInfo  = 0x044
	pioInstr0   = 0x048
	pioSM0      = 0x0c8
	pioSMStride = 0x18
	pioPutGet0  = 0x128
	pioGPIOBase = 0x168
	pioINTR     = 0x16c
	pioINTE0    = 0x170
	pioINTF0    = 0x174
	pioINTS0    = 0x178
	pioINTE1    = 0x17c
	pioINTS1    = 0x184

	// Offsets within a state machine's registers.
	smClkDiv   = 0x00
	smExecCtrl = 0x04
	smShift    = 0x08
	smAddr     = 0x0c
	smInstr    = 0x10
	smPinCtrl  = 0x14

	pioMachines = 4
	irqPIO0     = 15
)

// PIO is one of the three PIO blocks (datasheet 11): four state machines over a
// memory of 32 instructions.
//
// The machines are run by events at the cycles in which they do something, when
// somebody would notice the difference (a pin that is watched, an enabled
// interrupt, DMA, another PIO block). Otherwise they run late, in one go, when
// software looks at a register or a pin. Stalled machines cost nothing.
type PIO struct {
	storage
	n        int
	pins     *Pins
	requests *Requests
	// other are the three blocks, for the neighbours' flags and controls.
	other [3]*PIO

	mem    [32]uint16
	sm     [pioMachines]pioSM
	flags  uint8 // the IRQ flags
	fdebug uint32
	// setFlags and clrFlags collect what machines do to the flags in a cycle.
	setFlags, clrFlags uint8
	// out and oe are what the block drives, bit 0 being GPIOBASE.
	out, oe uint32
	base    uint

	event   Event
	cycle   uint64 // being processed
	working bool
	// jumpTaken is the outcome of the last JMP.
	jumpTaken bool
	active    bool // a machine is enabled or executes an instruction by hand
	probe     *Probe
	gated     bool
	gatedAt   uint64
}

func newPIO(n int, env Env, pins *Pins, requests *Requests) *PIO {
	p := &PIO{storage: newStorage("PIO"+string(rune('0'+n)), env, regs.PIO), n: n, pins: pins, requests: requests}
	for i := range p.sm {
		p.sm[i].init(p, i)
	}
	p.event.Fire = func(uint64) {
		p.runTo(p.env.Now())
		p.plan()
	}
	pins.setLazy(&p.active, p.catchUp)
	pins.follow(^uint64(0), func(c PinChange) { p.inputsChanged() })
	pins.onRoute(p.plan)
	for i := range 2 * pioMachines {
		requests.onWatch(DREQPIO0TX0+8*n+i, p.plan)
	}
	return p
}

// Reset stops the machines and empties everything but the instruction memory.
func (p *PIO) Reset() {
	p.storage.Reset()
	p.env.Cancel(&p.event)
	for i := range p.sm {
		p.sm[i].reset()
	}
	p.flags, p.setFlags, p.clrFlags, p.fdebug = 0, 0, 0, 0
	p.out, p.oe, p.base = 0, 0, 0
	p.active = false
	p.pins.function(FuncPIO0+p.n, ^uint64(0), 0, 0)
	p.update()
}

// raw are the interrupt sources: receive FIFOs not empty, transmit FIFOs not
// full, the flags.
func (p *PIO) raw() uint32 {
	v := uint32(p.flags) << 8
	for i := range p.sm {
		m := &p.sm[i]
		v |= bit(!m.rx.empty(), uint(i)) | bit(!m.tx.full(), uint(4+i))
	}
	return v
}

func (p *PIO) pending(line uint32) uint32 {
	return (p.raw() | p.get(pioINTF0+12*line)) & p.get(pioINTE0+12*line)
}

// update drives the interrupt lines and the requests.
func (p *PIO) update() {
	p.env.SetIRQ(irqPIO0+2*p.n, p.pending(0) != 0)
	p.env.SetIRQ(irqPIO0+2*p.n+1, p.pending(1) != 0)
	for i := range p.sm {
		m := &p.sm[i]
		p.requests.Set(DREQPIO0TX0+8*p.n+i, !m.tx.full())
		p.requests.Set(DREQPIO0TX0+8*p.n+4+i, !m.rx.empty())
	}
}

// Read returns a register.
func (p *PIO) Read(offset uint32, peek bool) uint32 {
	if !peek {
		p.catchUp()
	}
	switch {
	case offset == pioCtrl:
		var v uint32
		for i := range p.sm {
			v |= bit(p.sm[i].enabled, uint(i))
		}
		return v
	case offset == pioFStat:
		return p.fstat()
	case offset == pioFDebug:
		return p.fdebug
	case offset == pioFLevel:
		var v uint32
		for i := range p.sm {
			v |= uint32(p.sm[i].tx.len()|p.sm[i].rx.len()<<4) << (8 * i)
		}
		return v
	case offset >= pioRXF0 && offset < pioRXF0+16:
		return p.pop(int(offset-pioRXF0)/4, peek)
	case offset == pioIRQ:
		return uint32(p.flags)
	case offset == pioPadOut:
		return p.out
	case offset == pioPadOE:
		return p.oe
	case offset == pioCfgInfo:
		return 1<<28 | 32<<16 | pioMachines<<8 | 4
	case offset == pioINTR:
		return p.raw()
	case offset == pioINTS0, offset == pioINTS1:
		return p.pending((offset - pioINTS0) / 12)
	case offset >= pioPutGet0 && offset < pioPutGet0+64:
		m := &p.sm[(offset-pioPutGet0)/16]
		if m.shift()&(shPut|shGet) == shPut {
			return m.regs[offset/4&3^2]
		}
		return 0
	case offset >= pioSM0 && offset < pioPutGet0:
		m := &p.sm[(offset-pioSM0)/pioSMStride]
		switch (offset - pioSM0) % pioSMStride {
		case smExecCtrl:
			return p.get(offset)&^(1<<31) | bit(m.forced && m.blocked, 31)
		case smAddr:
			return uint32(m.pc)
		case smInstr:
			return uint32(m.current())
		}
	case offset >= pioInstr0 && offset < pioSM0:
		return 0 // write-only
	}
	return p.storage.Read(offset, peek)
}

func (p *PIO) fstat() uint32 {
	var v uint32
	for i := range p.sm {
		m := &p.sm[i]
		n := uint(i)
		v |= bit(m.rx.full(), n) | bit(m.rx.empty(), 8+n) | bit(m.tx.full(), 16+n) | bit(m.tx.empty(), 24+n)
	}
	return v
}

// Write writes a register.
func (p *PIO) Write(offset uint32, w Write) {
	p.catchUp()
	switch {
	case offset == pioCtrl:
		p.control(w)
	case offset == pioFDebug:
		p.fdebug &^= w.Ones(0x0f0f0f0f)
		for i := range p.sm {
			if m := &p.sm[i]; m.blocked && m.enabled {
				p.fdebug |= m.stallFlag
			}
		}
	case offset >= pioTXF0 && offset < pioTXF0+16:
		p.push(int(offset-pioTXF0)/4, w.Apply(0))
	case offset == pioIRQ:
		p.changeFlags(0, uint8(w.Ones(0xff)))
	case offset == pioIRQForce:
		p.changeFlags(uint8(w.Ones(0xff)), 0)
	case offset >= pioInstr0 && offset < pioSM0:
		p.mem[(offset-pioInstr0)/4] = uint16(w.Apply(0))
	case offset >= pioPutGet0 && offset < pioPutGet0+64:
		m := &p.sm[(offset-pioPutGet0)/16]
		if m.shift()&(shPut|shGet) == shGet {
			m.regs[offset/4&3^2] = w.Apply(0)
		}
	case offset >= pioSM0 && offset < pioPutGet0:
		p.sm[(offset-pioSM0)/pioSMStride].write((offset-pioSM0)%pioSMStride, w)
	case offset == pioGPIOBase:
		p.storage.Write(offset, w)
		p.base = uint(p.get(pioGPIOBase) & 16)
		p.commit()
	default:
		p.storage.Write(offset, w)
	}
	p.update()
	p.plan()
	p.tell()
}

// control is a write of CTRL.
func (p *PIO) control(w Write) {
	enable := w.Apply(p.Read(pioCtrl, true)) & 15
	restart, divs := w.Ones(0xf0)>>4, w.Ones(0xf00)>>8
	for i := range p.sm {
		m := &p.sm[i]
		if divs>>i&1 != 0 {
			m.restartDivider()
		}
		if restart>>i&1 != 0 {
			m.restart()
		}
		m.enable(enable>>i&1 != 0)
	}
	for dir, shift := range [2]uint{16, 20} {
		mask := w.Ones(0xf<<shift) >> shift
		q := p.neighbour(2*dir - 1)
		if mask == 0 || q == nil {
			continue
		}
		if q != p {
			q.catchUp()
		}
		for i := range q.sm {
			if mask>>i&1 == 0 {
				continue
			}
			if w.Ones(1<<26) != 0 {
				q.sm[i].restartDivider()
			}
			switch {
			case w.Ones(1<<25) != 0:
				q.sm[i].enable(false)
			case w.Ones(1<<24) != 0:
				q.sm[i].enable(true)
			}
		}
		q.update()
		q.plan()
	}
}

// neighbour is the block before (-1) or after (1), nil if there is none.
func (p *PIO) neighbour(dir int) *PIO { return p.other[(p.n+dir+3)%3] }

// push takes a word from software for machine n.
func (p *PIO) push(n int, v uint32) {
	m := &p.sm[n]
	if !m.tx.push(v) {
		p.fdebug |= 1 << (16 + n) // TXOVER
		return
	}
	m.fed = p.env.Now()
	m.wake(p.env.Now() + 1)
	p.tell()
}

// pop gives software a word from machine n.
func (p *PIO) pop(n int, peek bool) uint32 {
	m := &p.sm[n]
	if peek {
		return m.rx.peek()
	}
	v, ok := m.rx.pop()
	if !ok {
		p.fdebug |= 1 << (8 + n) // RXUNDER
		return 0
	}
	m.wake(p.env.Now() + 1)
	p.update()
	p.plan()
	p.tell()
	return v
}

// tell lets the probe look after software changed something.
func (p *PIO) tell() {
	if p.probe != nil {
		p.probe.PIO(p.n, p.env.Now())
	}
}

// changeFlags sets and clears IRQ flags and wakes whoever waits for them.
func (p *PIO) changeFlags(set, clr uint8) {
	old := p.flags
	p.flags = p.flags&^clr | set
	if p.flags == old {
		return
	}
	at := p.env.Now()
	if p.working {
		at = p.cycle
	}
	for _, q := range p.other {
		if q == nil {
			continue
		}
		for i := range q.sm {
			q.sm[i].wake(at + 1)
		}
		if q != p && !q.working {
			q.plan()
		}
	}
}
