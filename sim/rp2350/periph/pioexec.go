package periph

import "math/bits"

// execute performs an instruction (datasheet 11.4). It reports false, and has
// no effect but on flags that say so, if it stalls.
func (m *pioSM) execute(ins uint16) bool {
	switch ins >> 13 {
	case 0:
		m.jmp(ins)
	case 1:
		return m.wait(ins)
	case 2:
		return m.in(ins)
	case 3:
		return m.outInstr(ins)
	case 4:
		switch {
		case ins&(1<<4) != 0:
			m.movRX(ins)
		case ins&(1<<7) == 0:
			return m.pushInstr(ins)
		default:
			return m.pullInstr(ins)
		}
	case 5:
		m.mov(ins)
	case 6:
		return m.irq(ins)
	case 7:
		m.setInstr(ins)
	}
	return true
}

func (m *pioSM) jmp(ins uint16) {
	var take bool
	switch ins >> 5 & 7 {
	case 0:
		take = true
	case 1:
		take = m.x == 0
	case 2:
		take = m.x != 0
		m.x--
	case 3:
		take = m.y == 0
	case 4:
		take = m.y != 0
		m.y--
	case 5:
		take = m.x != m.y
	case 6:
		take = m.p.inputs()>>(m.execctrl>>24&31)&1 != 0
	case 7:
		take = m.osrCount < m.pullLevel
	}
	m.p.jumpTaken = take
	if take {
		m.pc = uint8(ins & 31)
	}
}

// flagOf returns the block and number of an IRQ flag.
func (m *pioSM) flagOf(index uint16) (p *PIO, n uint) {
	p, n = m.p, uint(index&7)
	switch index >> 3 & 3 {
	case 1:
		p = p.neighbour(-1)
	case 2:
		n = n&4 | (n+uint(m.n))&3
	case 3:
		p = p.neighbour(1)
	}
	return p, n
}

func (m *pioSM) wait(ins uint16) bool {
	want := ins>>7&1 != 0
	index := uint32(ins & 31)
	switch ins >> 5 & 3 {
	case 2:
		p, n := m.flagOf(ins & 31)
		if p == nil || (p.flags>>n&1 != 0) != want {
			return false
		}
		if want {
			p.clrFlags |= 1 << n
			if p != m.p {
				p.applyFlags()
			}
		}
		return true
	case 1:
		index += m.pinctrl >> 15 & 31
		if n := m.inCount(); uint32(ins&31) >= n {
			return !want
		}
	case 3:
		index = index&3 + m.execctrl>>24&31
	}
	if (m.p.inputs()>>(index&31)&1 != 0) != want {
		m.onPin = true
		return false
	}
	return true
}

// applyFlags makes a neighbour's flags change at once.
func (p *PIO) applyFlags() {
	set, clr := p.setFlags, p.clrFlags
	p.setFlags, p.clrFlags = 0, 0
	p.changeFlags(set, clr)
	p.update()
}

// inCount is SHIFTCTRL.IN_COUNT, 0 standing for all 32.
func (m *pioSM) inCount() uint32 {
	if n := m.shiftctrl & 31; n != 0 {
		return n
	}
	return 32
}

// inPins are the pins of the IN mapping.
func (m *pioSM) inPins() uint32 {
	v := bits.RotateLeft32(m.p.inputs(), -int(m.pinctrl>>15&31))
	if n := m.inCount(); n < 32 {
		v &= 1<<n - 1
	}
	return v
}

func count32(n uint16) uint8 {
	if n &= 31; n == 0 {
		return 32
	}
	return uint8(n)
}

func low(n uint8) uint32 { return uint32(uint64(1)<<n - 1) }

func (m *pioSM) in(ins uint16) bool {
	n := count32(ins)
	count := min(m.isrCount+n, 32)
	push := m.shiftctrl&shAutopush != 0 && count >= m.pushLevel
	if push && m.rx.full() {
		m.stall(1 << m.n) // RXSTALL
		return false
	}
	var v uint32
	switch ins >> 5 & 7 {
	case 0:
		v = m.inPins()
	case 1:
		v = m.x
	case 2:
		v = m.y
	case 6:
		v = m.isr
	case 7:
		v = m.osr
	}
	v &= low(n)
	if m.shiftctrl&shInRight != 0 {
		m.isr = uint32((uint64(v)<<32 | uint64(m.isr)) >> n)
	} else {
		m.isr = uint32(uint64(m.isr)<<n) | v
	}
	m.isrCount = count
	if push {
		m.pushISR()
	}
	return true
}

func (m *pioSM) pushISR() {
	m.rx.push(m.isr)
	m.isr, m.isrCount = 0, 0
	m.p.update()
}

func (m *pioSM) outInstr(ins uint16) bool {
	if m.shiftctrl&shAutopull != 0 && m.osrCount >= m.pullLevel {
		// A word that came while the machine was idle was taken then; otherwise
		// the shift register is filled now and shifted in the next cycle.
		early := m.idled && !m.stalled && m.fed+uint64(m.clkdiv>>8) < m.p.cycle
		v, ok := m.tx.pop()
		if ok {
			m.osr, m.osrCount = v, 0
			m.p.update()
		} else {
			m.stall(1 << (24 + m.n)) // TXSTALL
		}
		if !ok || !early {
			m.retry = ok
			return false
		}
	}
	n := count32(ins)
	var v uint32
	if m.shiftctrl&shOutRight != 0 {
		v = m.osr & low(n)
		m.osr = uint32(uint64(m.osr) >> n)
	} else {
		v = uint32(uint64(m.osr) >> (32 - n))
		m.osr = uint32(uint64(m.osr) << n)
	}
	m.osrCount = min(m.osrCount+n, 32)
	switch ins >> 5 & 7 {
	case 0:
		m.outPins(v)
	case 1:
		m.x = v
	case 2:
		m.y = v
	case 4:
		m.outDirs(v)
	case 5:
		m.pc = uint8(v & 31)
	case 6:
		m.isr, m.isrCount = v, n
	case 7:
		m.forced, m.byHand, m.forcedIns = true, false, uint16(v)
	}
	// An OUT by hand leaves the shift register empty: software that drains the
	// FIFO with OUT NULL would otherwise keep the last word in it.
	if !m.manual {
		m.refill()
	}
	return true
}

func (m *pioSM) pushInstr(ins uint16) bool {
	if ins&(1<<6) != 0 && m.isrCount < m.pushLevel {
		return true
	}
	if m.rx.full() {
		m.stall(1 << m.n) // RXSTALL
		if ins&(1<<5) != 0 {
			return false
		}
		m.isr, m.isrCount = 0, 0
		return true
	}
	m.pushISR()
	return true
}

func (m *pioSM) pullInstr(ins uint16) bool {
	if ins&(1<<6) != 0 && m.osrCount < m.pullLevel {
		return true
	}
	if m.shiftctrl&shAutopull != 0 && m.osrCount == 0 {
		return true // the shift register is full already
	}
	v, ok := m.tx.pop()
	if !ok {
		if ins&(1<<5) != 0 {
			m.stall(1 << (24 + m.n)) // TXSTALL
			return false
		}
		v = m.x
	}
	m.osr, m.osrCount = v, 0
	m.p.update()
	return true
}

// movRX moves between ISR or OSR and the receive FIFO's registers.
func (m *pioSM) movRX(ins uint16) {
	i := m.y & 3
	if ins&(1<<3) != 0 {
		i = uint32(ins & 3)
	}
	if ins&(1<<7) != 0 {
		m.osr, m.osrCount = m.regs[i], 0
	} else {
		m.regs[i] = m.isr
		m.isrCount = 0
	}
}

func (m *pioSM) mov(ins uint16) {
	var v uint32
	switch ins & 7 {
	case 0:
		v = m.inPins()
	case 1:
		v = m.x
	case 2:
		v = m.y
	case 5:
		v = m.status()
	case 6:
		v = m.isr
	case 7:
		v = m.osr
	}
	switch ins >> 3 & 3 {
	case 1:
		v = ^v
	case 2:
		v = bits.Reverse32(v)
	}
	switch ins >> 5 & 7 {
	case 0:
		m.outPins(v)
	case 1:
		m.x = v
	case 2:
		m.y = v
	case 3:
		m.outDirs(v)
	case 4:
		m.forced, m.byHand, m.forcedIns = true, false, uint16(v)
	case 5:
		m.pc = uint8(v & 31)
	case 6:
		m.isr, m.isrCount = v, 0
	case 7:
		m.osr, m.osrCount = v, 0
	}
}

// status is the STATUS source: all ones or all zeros.
func (m *pioSM) status() uint32 {
	n := m.execctrl & 31
	var on bool
	switch m.execctrl >> 5 & 3 {
	case 0:
		on = uint32(m.tx.len()) < n
	case 1:
		on = uint32(m.rx.len()) < n
	case 2:
		p := m.p
		switch n >> 3 & 3 {
		case 1:
			p = p.neighbour(-1)
		case 2:
			p = p.neighbour(1)
		}
		on = p != nil && p.flags>>(n&7)&1 != 0
	}
	if on {
		return ^uint32(0)
	}
	return 0
}

func (m *pioSM) irq(ins uint16) bool {
	p, n := m.flagOf(ins & 31)
	if p == nil {
		return true
	}
	if ins&(1<<6) != 0 {
		p.clrFlags |= 1 << n
	} else if !m.irqWait {
		p.setFlags |= 1 << n
	}
	if p != m.p {
		p.applyFlags()
	}
	if ins&(1<<6) != 0 || ins&(1<<5) == 0 {
		return true
	}
	if m.irqWait && p.flags>>n&1 == 0 {
		m.irqWait = false
		return true
	}
	m.irqWait = true
	return false
}

func (m *pioSM) setInstr(ins uint16) {
	v := uint32(ins & 31)
	n := uint8(m.pinctrl >> 26 & 7)
	switch ins >> 5 & 7 {
	case 0:
		m.outMask, m.outVal = rotate(low(n), v&low(n), m.pinctrl>>5)
	case 1:
		m.x = v
	case 2:
		m.y = v
	case 4:
		m.oeMask, m.oeVal = rotate(low(n), v&low(n), m.pinctrl>>5)
	}
}

// outPins and outDirs write through the OUT mapping.
func (m *pioSM) outPins(v uint32) {
	n := uint8(min(m.pinctrl>>20&63, 32))
	m.outMask, m.outVal = rotate(low(n), v&low(n), m.pinctrl)
	if m.execctrl&(1<<18) != 0 && v>>(m.execctrl>>19&31)&1 == 0 {
		m.outMask = 0 // INLINE_OUT_EN
	}
}

func (m *pioSM) outDirs(v uint32) {
	n := uint8(min(m.pinctrl>>20&63, 32))
	m.oeMask, m.oeVal = rotate(low(n), v&low(n), m.pinctrl)
}
