package periph

// i2cSlave is the target's side: it follows the lines and answers its address.
type i2cSlave struct {
	active bool // addressed
	listen bool // between a start and the end of an address byte that is not ours
	read   bool // the controller reads
	first  bool // the next byte is the first one of a write
	ack    bool // the ninth bit is next, or being sent
	shift  uint32
	bits   int
	out    uint32
	wait   bool // SCL is held low until software supplies data
	begun  bool
	// ten: the first byte of our ten-bit address came; whole: all of it did, in
	// this transfer.
	ten, whole bool
}

func (s *i2cSlave) enabled(c *I2C) bool { return c.isSlave() && !c.isMaster() }

// start is a start condition on the bus.
func (s *i2cSlave) start(c *I2C) {
	if !s.enabled(c) {
		return
	}
	again := s.begun
	*s = i2cSlave{listen: true, begun: true, whole: s.whole}
	c.latch(icStart | icActive)
	if again {
		c.latch(icReStart)
	}
}

// stop is a stop condition.
func (s *i2cSlave) stop(c *I2C) {
	if !s.enabled(c) {
		return
	}
	mine := s.active
	*s = i2cSlave{}
	c.line.pull(false, false)
	if mine || c.get(icCon)&conStopAddr == 0 {
		c.latch(icStopDet)
	}
	c.update()
}

// rise is a rising clock: the time to sample.
func (s *i2cSlave) rise(c *I2C, sda bool) {
	if !s.enabled(c) || !s.listen && !s.active {
		return
	}
	switch {
	case s.ack && s.active && s.read && !s.listen:
		if sda { // not acknowledged: the controller wants no more
			s.active = false
			c.latch(icRXDone)
		}
	case s.ack, s.read && !s.listen:
	default:
		s.shift = s.shift<<1 | bit(sda, 0)
		s.bits++
	}
}

// fall is a falling clock: the time to change SDA.
func (s *i2cSlave) fall(c *I2C) {
	if !s.enabled(c) || !s.listen && !s.active {
		if s.enabled(c) && c.line.pullSDA {
			c.line.pull(false, false)
		}
		return
	}
	switch {
	case s.ack: // the ninth bit is over
		s.ack = false
		s.shift, s.bits = 0, 0
		c.line.pull(false, false)
		if s.active && s.read {
			s.supply(c)
		}
	case s.listen && s.bits == 8:
		s.addressed(c)
	case s.active && !s.read && s.bits == 8:
		s.received(c)
	case s.active && s.read:
		s.bits++
		if s.bits == 8 {
			s.ack = true
			c.line.pull(false, false)
			return
		}
		c.line.pull(s.out>>(7-s.bits)&1 == 0, false)
	}
}

// addressed looks at the address byte.
func (s *i2cSlave) addressed(c *I2C) {
	s.listen = false
	if c.get(icCon)&con10Slave != 0 && (s.ten || s.shift>>3 == 0xf0>>3) {
		s.addressed10(c)
		return
	}
	general := s.shift == 0 && c.get(icAckGC)&1 != 0
	mine := c.get(icCon)&con10Slave == 0 && s.shift>>1 == c.get(icSAR)&0x7f
	if !mine && !general {
		return
	}
	s.active, s.ack, s.first = true, true, true
	s.read = s.shift&1 != 0
	if general {
		c.latch(icGenCall)
	}
	c.line.pull(true, false)
}

// addressed10 looks at a byte of a ten-bit address: 11110 and the upper two bits,
// then the lower eight; a read repeats the first of them behind a restart.
func (s *i2cSlave) addressed10(c *I2C) {
	sar := c.get(icSAR)
	switch {
	case s.ten:
		s.ten = false
		if s.shift&0xff != sar&0xff {
			return
		}
		s.whole, s.active, s.first, s.read = true, true, true, false
	case s.shift>>1&3 != sar>>8&3:
		s.whole = false
		return
	case s.shift&1 == 0:
		s.ten, s.listen = true, true
	case s.whole:
		s.active, s.first, s.read = true, true, true
	default:
		return
	}
	s.ack = true
	c.line.pull(true, false)
}

// received takes a byte that the controller wrote.
func (s *i2cSlave) received(c *I2C) {
	s.ack = true
	if c.get(icNackOnly)&1 != 0 || c.rx.full() && c.get(icCon)&conRXHold == 0 {
		if c.get(icNackOnly)&1 == 0 {
			c.latch(icRXOver)
		}
		return
	}
	v := s.shift & 0xff
	if s.first {
		v |= firstByte
		s.first = false
	}
	c.line.pull(true, false)
	c.store(v)
}

// supply gets the next byte to send, or holds the clock and asks for it.
func (s *i2cSlave) supply(c *I2C) {
	if s.first && !c.tx.empty() {
		// What was left from an earlier transfer is stale.
		c.source |= abrtSlave | uint32(c.tx.len())<<23
		c.tx.clear()
		c.blocked = true
		c.latch(icTXAbrt)
	}
	s.first = false
	if c.tx.empty() {
		s.wait = true
		c.line.pull(false, true)
		c.latch(icRDReq)
		return
	}
	s.send(c)
}

// supplied goes on when software has written data.
func (s *i2cSlave) supplied(c *I2C) {
	if s.wait && !c.tx.empty() {
		s.wait = false
		s.send(c)
	}
}

// send puts the first bit of the next byte on the line.
func (s *i2cSlave) send(c *I2C) {
	v, _ := c.tx.pop()
	s.out, s.bits = v&0xff, 0
	c.line.pull(s.out>>7&1 == 0, false)
	c.update()
}
