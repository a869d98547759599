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

// i2cThen is what the controller does when an operation on the lines is over. It
// is a number and not a function so that a transfer can be kept and resumed.
type i2cThen uint8

const (
	thenAddress  i2cThen = iota // send the address for the direction
	thenAddress1                // send the address again, to read
	thenSend                    // the next bit out
	thenSent                    // the acknowledgement came
	thenReceive                 // the next bit in
	thenAfter                   // the acknowledgement was sent
	thenStart                   // a start behind a stop
	thenIdle                    // the stop is over
	thenTarget                  // the address behind a START byte
)

// What a byte that is sent is.
const (
	sendAddress = iota
	sendAddress2
	sendData
	sendGeneral
	sendStart
)

// i2cMaster executes the commands in the transmit FIFO.
type i2cMaster struct {
	state   int
	read    bool // the direction of the transfer
	cmd     uint32
	byte    uint32
	bits    int
	sending int  // what byte is: sendAddress, …
	second  bool // the second byte of a ten-bit address
	ackHeld bool // the acknowledgement of a read waits for the next command
	stored  bool // the byte before it is in the FIFO already
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
		c.line.begin(opStart, true, thenAddress)
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
	m.send(c, b|bit(read, 0), sendAddress)
}

// goOn continues when an operation is over.
func (m *i2cMaster) goOn(c *I2C, then i2cThen, sampled bool) {
	switch then {
	case thenAddress:
		switch tar := c.get(icTAR); {
		case tar&tarSpecial == 0:
			m.address(c, m.read)
		case tar&tarStart != 0:
			m.send(c, 1, sendStart)
		default:
			m.send(c, 0, sendGeneral)
		}
	case thenTarget:
		m.address(c, m.read)
	case thenAddress1:
		m.address(c, true)
	case thenSend:
		m.shiftOut(c, sampled)
	case thenSent:
		m.sent(c, !sampled)
	case thenReceive:
		m.shiftIn(c, sampled)
	case thenAfter:
		m.after(c)
	case thenStart:
		c.line.begin(opStart, true, thenAddress)
	case thenIdle:
		m.state = mIdle
		c.latch(icStopDet)
		m.kick(c)
	}
}

// send shifts a byte out; sent is told whether it was acknowledged.
func (m *i2cMaster) send(c *I2C, b uint32, what int) {
	m.byte, m.bits, m.sending = b, 0, what
	m.shiftOut(c, true)
}

// shiftOut is one bit of send; sampled is what the line showed of the last one.
func (m *i2cMaster) shiftOut(c *I2C, sampled bool) {
	if m.bits > 0 && m.byte>>(8-m.bits)&1 != 0 && !sampled {
		m.giveUp(c, abrtArb)
		return
	}
	if m.bits == 8 {
		c.line.begin(opBit, true, thenSent)
		return
	}
	m.bits++
	c.line.begin(opBit, m.byte>>(8-m.bits)&1 != 0, thenSend)
}

// sent goes on behind a byte that was sent.
func (m *i2cMaster) sent(c *I2C, ack bool) {
	ten := c.get(icCon)&con10Master != 0
	switch m.sending {
	case sendAddress:
		switch {
		case !ack && ten:
			m.giveUp(c, abrt10Addr1)
		case !ack:
			m.giveUp(c, abrt7Addr)
		case ten && !m.second:
			m.second = true
			m.send(c, c.get(icTAR)&0xff, sendAddress2)
		default:
			m.next(c)
		}
	case sendAddress2:
		switch {
		case !ack:
			m.giveUp(c, abrt10Addr2)
		case m.read && c.get(icCon)&conRestart == 0:
			m.giveUp(c, abrt10NoRst)
		case m.read:
			c.line.begin(opRestart, true, thenAddress1)
		default:
			m.next(c)
		}
	case sendGeneral:
		switch {
		case !ack:
			m.giveUp(c, abrtGCNoAck)
		case m.read:
			m.giveUp(c, abrtGCRead)
		default:
			m.next(c)
		}
	case sendStart:
		switch {
		case ack:
			m.giveUp(c, abrtStart)
		case c.get(icCon)&conRestart == 0:
			m.giveUp(c, abrtNoStart)
		default:
			c.line.begin(opRestart, true, thenTarget)
		}
	default:
		if !ack {
			m.giveUp(c, abrtData)
			return
		}
		m.after(c)
	}
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
	m.send(c, v&0xff, sendData)
}

// receive shifts a byte in; its acknowledgement depends on what follows.
func (m *i2cMaster) receive(c *I2C) {
	m.byte, m.bits = 0, 0
	m.shiftIn(c, true)
}

// shiftIn is one bit of receive.
func (m *i2cMaster) shiftIn(c *I2C, sampled bool) {
	if m.bits > 0 {
		m.byte = m.byte<<1 | bit(sampled, 0)
	}
	if m.bits == 8 {
		// Software waits for the byte before it gives the next command.
		m.ackHeld, m.stored = true, false
		m.state = mHold
		m.proceed(c)
		return
	}
	m.bits++
	c.line.begin(opBit, true, thenReceive)
}

// proceed goes on from a hold.
func (m *i2cMaster) proceed(c *I2C) {
	if !m.ackHeld {
		m.after(c)
		return
	}
	if !m.stored && (!c.rx.full() || c.get(icCon)&conRXHold == 0) {
		m.stored = true
		c.store(m.byte)
	}
	if !m.stored || m.cmd&cmdStop == 0 && c.tx.empty() {
		c.update()
		return
	}
	m.ackHeld = false
	m.state = mRead
	next := c.tx.peek()
	last := m.cmd&cmdStop != 0 || next&cmdRead == 0 || next&cmdRestart != 0
	c.line.begin(opBit, last, thenAfter)
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
			c.line.begin(opStop, true, thenStart)
			return
		}
		c.latch(icStart)
		c.line.begin(opRestart, true, thenAddress)
		return
	}
	m.next(c)
}

// finish ends the transfer with a stop.
func (m *i2cMaster) finish(c *I2C) {
	m.state = mStop
	c.line.begin(opStop, true, thenIdle)
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
