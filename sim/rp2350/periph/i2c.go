package periph

import "github.com/stem-hw/stem-hw/sim/rp2350/periph/regs"

// Registers of I2C (datasheet 12.2.17; Synopsys DW_apb_i2c).
const (
	icCon       = 0x00
	icTAR       = 0x04
	icSAR       = 0x08
	icData      = 0x10
	icSSHCNT    = 0x14
	icSSLCNT    = 0x18
	icFSHCNT    = 0x1c
	icFSLCNT    = 0x20
	icIntrStat  = 0x2c
	icIntrMask  = 0x30
	icRawIntr   = 0x34
	icRXTL      = 0x38
	icTXTL      = 0x3c
	icClrIntr   = 0x40
	icClrFirst  = 0x44
	icClrLast   = 0x68
	icEnable    = 0x6c
	icStatus    = 0x70
	icTXFLR     = 0x74
	icRXFLR     = 0x78
	icAbort     = 0x80
	icNackOnly  = 0x84
	icDMACR     = 0x88
	icDMATDLR   = 0x8c
	icDMARDLR   = 0x90
	icAckGC     = 0x98
	icEnStatus  = 0x9c
	icSpkLen    = 0xa0
	icClrRestat = 0xa8

	conMaster   = 1 << 0
	conSpeed    = 3 << 1
	con10Slave  = 1 << 3
	con10Master = 1 << 4
	conRestart  = 1 << 5
	conNoSlave  = 1 << 6
	conStopAddr = 1 << 7
	conTXEmpty  = 1 << 8
	conRXHold   = 1 << 9

	tarStart   = 1 << 10 // a START byte, else a general call
	tarSpecial = 1 << 11

	cmdRead    = 1 << 8
	cmdStop    = 1 << 9
	cmdRestart = 1 << 10
	firstByte  = 1 << 11

	icRXUnder = 1 << 0
	icRXOver  = 1 << 1
	icRXFull  = 1 << 2
	icTXOver  = 1 << 3
	icTXEmpty = 1 << 4
	icRDReq   = 1 << 5
	icTXAbrt  = 1 << 6
	icRXDone  = 1 << 7
	icActive  = 1 << 8
	icStopDet = 1 << 9
	icStart   = 1 << 10
	icGenCall = 1 << 11
	icReStart = 1 << 12

	abrt7Addr   = 1 << 0
	abrt10Addr1 = 1 << 1
	abrt10Addr2 = 1 << 2
	abrtData    = 1 << 3
	abrtGCNoAck = 1 << 4
	abrtGCRead  = 1 << 5
	abrtStart   = 1 << 7 // somebody acknowledged a START byte
	abrtNoStart = 1 << 9 // a START byte needs restarts
	abrt10NoRst = 1 << 10
	abrtArb     = 1 << 12
	abrtSlave   = 1 << 13
	abrtUser    = 1 << 16

	icDepth = 16
	irqI2C0 = 36
)

// I2C is I2C0 or I2C1 (datasheet 12.2) as controller or target. Every bit is on
// the pins, open drain, in the time that the SCL counts say; whoever holds SCL
// low stretches it.
type I2C struct {
	storage
	n        int
	pins     *Pins
	requests *Requests
	sdaPins  uint64
	sclPins  uint64

	tx, rx  ring
	latched uint32 // the interrupts that are remembered
	source  uint32 // TX_ABRT_SOURCE
	blocked bool   // the transmit FIFO is held empty until the abort is read

	line   i2cLine
	master i2cMaster
	slave  i2cSlave
}

func newI2C(n int, env Env, pins *Pins, requests *Requests) *I2C {
	c := &I2C{storage: newStorage("I2C"+string(rune('0'+n)), env, regs.I2C), n: n, pins: pins, requests: requests}
	for pin := range 64 {
		if pin>>1&1 != n || pin >= 48 && pin < PinUSBDP {
			continue
		}
		if pin&1 == 0 {
			c.sdaPins |= 1 << pin
		} else {
			c.sclPins |= 1 << pin
		}
	}
	c.line.init(c)
	pins.follow(c.sdaPins|c.sclPins, func(PinChange) { c.line.changed() })
	pins.onRoute(c.line.changed)
	return c
}

// Reset releases the bus and empties the FIFOs.
func (c *I2C) Reset() {
	c.storage.Reset()
	c.disable()
	c.latched, c.source, c.blocked = 0, 0, false
	c.update()
}

// disable is what IC_ENABLE = 0 does.
func (c *I2C) disable() {
	c.tx.clear()
	c.rx.clear()
	c.tx.depth, c.rx.depth = icDepth, icDepth
	c.line.release()
	c.master.state = mIdle
	c.slave = i2cSlave{}
}

func (c *I2C) on() bool       { return c.get(icEnable)&1 != 0 }
func (c *I2C) isMaster() bool { return c.get(icCon)&conMaster != 0 }
func (c *I2C) isSlave() bool  { return c.get(icCon)&conNoSlave == 0 }

// counts are the cycles of clk_sys that SCL is high and low.
func (c *I2C) counts() (high, low uint64) {
	h, l := uint32(icFSHCNT), uint32(icFSLCNT)
	if c.get(icCon)&conSpeed == 1<<1 {
		h, l = icSSHCNT, icSSLCNT
	}
	// The filter and the synchronisers add to what is set (12.2.14).
	return uint64(c.get(h)) + uint64(c.get(icSpkLen)) + 7, uint64(c.get(l)) + 1
}

// raw are the interrupts before the mask: most are remembered, FIFO levels live.
func (c *I2C) raw() uint32 {
	v := c.latched
	if !c.on() {
		return v
	}
	empty := c.tx.len() <= int(c.get(icTXTL)) &&
		(c.get(icCon)&conTXEmpty == 0 || c.master.quiet() || !c.isMaster())
	return v | bit(c.rx.len() > int(c.get(icRXTL)), 2) | bit(empty && !c.blocked, 4)
}

func (c *I2C) update() {
	c.env.SetIRQ(irqI2C0+c.n, c.raw()&c.get(icIntrMask) != 0)
	dma := c.get(icDMACR)
	c.requests.Set(DREQI2C0TX+2*c.n, c.on() && dma&2 != 0 && c.tx.len() <= int(c.get(icDMATDLR)) && !c.tx.full())
	c.requests.Set(DREQI2C0TX+1+2*c.n, dma&1 != 0 && c.rx.len() > int(c.get(icDMARDLR)))
}

// latch remembers interrupts.
func (c *I2C) latch(v uint32) {
	c.latched |= v
	c.update()
}

// Read returns a register. The clear registers clear when they are read.
func (c *I2C) Read(offset uint32, peek bool) uint32 {
	switch offset {
	case icData:
		if peek {
			return c.rx.peek()
		}
		v, ok := c.rx.pop()
		if !ok {
			c.latch(icRXUnder)
		}
		c.master.kick(c)
		c.update()
		return v
	case icIntrStat:
		return c.raw() & c.get(icIntrMask)
	case icRawIntr:
		return c.raw()
	case icStatus:
		m, s := !c.master.idle(), c.slave.active
		return bit(m || s, 0) | bit(!c.tx.full(), 1) | bit(c.tx.empty(), 2) | bit(!c.rx.empty(), 3) |
			bit(c.rx.full(), 4) | bit(m, 5) | bit(s, 6)
	case icTXFLR:
		return uint32(c.tx.len())
	case icRXFLR:
		return uint32(c.rx.len())
	case icAbort:
		return c.source
	case icEnStatus:
		return bit(c.on(), 0)
	case icClrIntr, icClrRestat:
		return c.clear(offset, peek)
	}
	if offset >= icClrFirst && offset <= icClrLast {
		return c.clear(offset, peek)
	}
	return c.storage.Read(offset, peek)
}

// clear is a read of a clear register.
func (c *I2C) clear(offset uint32, peek bool) uint32 {
	mask := uint32(0)
	switch offset {
	case icClrIntr:
		mask = 0x1fff
	case icClrRestat:
		mask = icReStart
	default:
		mask = [...]uint32{icRXUnder, icRXOver, icTXOver, icRDReq, icTXAbrt, icRXDone, icActive, icStopDet, icStart,
			icGenCall}[(offset-icClrFirst)/4]
	}
	was := c.latched & mask
	if peek {
		return bit(was != 0, 0)
	}
	c.latched &^= mask
	if mask&icTXAbrt != 0 {
		c.source, c.blocked = 0, false
	}
	c.update()
	return bit(was != 0, 0)
}

// Write writes a register.
func (c *I2C) Write(offset uint32, w Write) {
	switch offset {
	case icData:
		c.command(w.Raw & 0x7ff)
		return
	case icEnable:
		was := c.on()
		c.storage.Write(offset, w)
		if was && !c.on() {
			c.disable()
		}
		if c.on() && w.Ones(2) != 0 && !c.master.idle() {
			c.master.giveUp(c, abrtUser)
		}
		if !c.master.idle() || !c.on() {
			c.set(icEnable, c.get(icEnable)&^2)
		}
		c.line.changed()
	case icCon, icTAR, icSAR, icSSHCNT, icSSLCNT, icFSHCNT, icFSLCNT, icSpkLen:
		if c.on() && offset != icTAR {
			return // these can only be written while disabled
		}
		c.storage.Write(offset, w)
	default:
		c.storage.Write(offset, w)
	}
	c.master.kick(c)
	c.update()
}

// command takes a word that software wrote to DATA_CMD.
func (c *I2C) command(v uint32) {
	if !c.on() || c.blocked {
		return
	}
	if !c.tx.push(v) {
		c.latch(icTXOver)
		return
	}
	if !c.isMaster() {
		c.slave.supplied(c)
	}
	c.master.kick(c)
	c.update()
}

// store puts a received byte into the FIFO.
func (c *I2C) store(v uint32) {
	if !c.rx.push(v) {
		c.latch(icRXOver)
	}
	c.update()
}
