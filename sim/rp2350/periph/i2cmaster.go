package periph

// The controller's states.
const (
	mIdle    = iota
	mAddress // sending an address byte
	mWrite
	mRead
	mHold // SCL is held low until the next command comes
	mStop
)

// i2cMaster executes the commands in the transmit FIFO.
type i2cMaster struct {
	state   int
	read    bool // the direction of the transfer
	cmd     uint32
	byte    uint32
	bits    int
	second  bool // the second byte of a ten-bit address
	ackHeld bool // the acknowledgement of a read waits for the next command
}

func (m *i2cMaster) idle() bool { return m.state == mIdle }

// quiet reports whether nothing is being shifted.
func (m *i2cMaster) quiet() bool { return m.state == mIdle || m.state == mHold }

// kick looks for work: a command, room for a byte, or a free bus.
func (m *i2cMaster) kick(c *I2C) {
	if !c.on() || !c.isMaster() || c.get(icEnable)&(1<<2) != 0 {
		return
	}
	switch {
	case m.state == mIdle && !c.tx.empty() && !c.blocked:
		if sda, scl := c.line.levels(); !sda || !scl {
			c.env.Notice(c.name + ": the bus is not free, a line is low (is there a pull-up?)")
			return
		}
		m.state = mAddress
		m.read = c.tx.peek()&cmdRead != 0
		m.second = false
		c.latch(icStart | icActive)
		c.line.begin(opStart, true, func(bool) { m.address(c, m.read) })
	case m.state == mHold && (!c.tx.empty() || m.ackHeld && !c.rx.full()):
		m.proceed(c)
	}
	c.update()
}

// address sends the address byte for a direction.
func (m *i2cMaster) address(c *I2C, read bool) {
	tar := c.get(icTAR)
	b := tar & 0x7f << 1
	if c.get(icCon)&con10Master != 0 {
		b = 0xf0 | tar>>7&6
		read = read && m.second // written first, then read after a restart
	}
	m.state = mAddress
	m.send(c, b|bit(read, 0), func(ack bool) {
		switch {
		case !ack && c.get(icCon)&con10Master != 0:
			m.giveUp(c, abrt10Addr1)
		case !ack:
			m.giveUp(c, abrt7Addr)
		case c.get(icCon)&con10Master != 0 && !m.second:
			m.second = true
			m.send(c, tar&0xff, func(ack bool) {
				switch {
				case !ack:
					m.giveUp(c, abrt10Addr2)
				case m.read:
					c.line.begin(opRestart, true, func(bool) { m.address(c, true) })
				default:
					m.next(c)
				}
			})
		default:
			m.next(c)
		}
	})
}

// send shifts a byte out and tells whether it was acknowledged.
func (m *i2cMaster) send(c *I2C, b uint32, done func(ack bool)) {
	m.byte, m.bits = b, 0
	var each func(bool)
	each = func(sampled bool) {
		if m.bits > 0 && m.byte>>(8-m.bits)&1 != 0 && !sampled {
			m.giveUp(c, abrtArb)
			return
		}
		if m.bits == 8 {
			c.line.begin(opBit, true, func(nack bool) { done(!nack) })
			return
		}
		m.bits++
		c.line.begin(opBit, m.byte>>(8-m.bits)&1 != 0, each)
	}
	each(true)
}

// next takes the next command, or holds the bus.
func (m *i2cMaster) next(c *I2C) {
	v, ok := c.tx.pop()
	if !ok {
		m.state = mHold
		c.update()
		return
	}
	m.cmd = v
	c.update()
	if v&cmdRead != 0 {
		m.state = mRead
		m.receive(c)
		return
	}
	m.state = mWrite
	m.send(c, v&0xff, func(ack bool) {
		if !ack {
			m.giveUp(c, abrtData)
			return
		}
		m.after(c)
	})
}

// receive shifts a byte in; its acknowledgement depends on what follows.
func (m *i2cMaster) receive(c *I2C) {
	m.byte, m.bits = 0, 0
	var each func(bool)
	each = func(sampled bool) {
		if m.bits > 0 {
			m.byte = m.byte<<1 | bit(sampled, 0)
		}
		if m.bits == 8 {
			m.ackHeld = true
			m.state = mHold
			m.proceed(c)
			return
		}
		m.bits++
		c.line.begin(opBit, true, each)
	}
	each(true)
}

// proceed goes on from a hold.
func (m *i2cMaster) proceed(c *I2C) {
	if !m.ackHeld {
		m.after(c)
		return
	}
	if c.rx.full() && c.get(icCon)&conRXHold != 0 || m.cmd&cmdStop == 0 && c.tx.empty() {
		c.update()
		return
	}
	m.ackHeld = false
	m.state = mRead
	next := c.tx.peek()
	last := m.cmd&cmdStop != 0 || next&cmdRead == 0 || next&cmdRestart != 0
	c.store(m.byte)
	c.line.begin(opBit, last, func(bool) { m.after(c) })
}

// after a byte: stop, restart, or the next one.
func (m *i2cMaster) after(c *I2C) {
	if m.cmd&cmdStop != 0 {
		m.cmd = 0
		m.finish(c)
		return
	}
	if c.tx.empty() {
		m.state = mHold
		c.update()
		return
	}
	if next := c.tx.peek(); next&cmdRestart != 0 || next&cmdRead != 0 != m.read {
		m.read = next&cmdRead != 0
		m.second = c.get(icCon)&con10Master != 0 && m.read
		m.state = mAddress
		if c.get(icCon)&conRestart == 0 {
			c.line.begin(opStop, true, func(bool) {
				c.line.begin(opStart, true, func(bool) { m.address(c, m.read) })
			})
			return
		}
		c.latch(icStart)
		c.line.begin(opRestart, true, func(bool) { m.address(c, m.read) })
		return
	}
	m.next(c)
}

// finish ends the transfer with a stop.
func (m *i2cMaster) finish(c *I2C) {
	m.state = mStop
	c.line.begin(opStop, true, func(bool) {
		m.state = mIdle
		c.latch(icStopDet)
		m.kick(c)
	})
}

// giveUp aborts: the FIFO is flushed and stays empty until the abort is read.
func (m *i2cMaster) giveUp(c *I2C, why uint32) {
	c.source |= why | uint32(c.tx.len())<<23
	c.tx.clear()
	c.blocked, m.ackHeld = true, false
	c.latch(icTXAbrt)
	c.set(icEnable, c.get(icEnable)&^2)
	if why == abrtArb {
		c.line.release()
		m.state = mIdle
		return
	}
	m.finish(c)
}
