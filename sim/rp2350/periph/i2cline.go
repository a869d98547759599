package periph

// The operations of the controller's bit engine.
const (
	opNone = iota
	opStart
	opRestart
	opBit
	opStop
)

// i2cLine drives the two open-drain lines and performs one operation at a time:
// a start, a stop, or a bit, of which each half takes its SCL count.
type i2cLine struct {
	c     *I2C
	event Event
	// gated: the lines are not looked at, and paused is the event.
	gated  bool
	paused pausedEvent
	// pullSDA and pullSCL say what this block holds low; the target and the
	// controller share them.
	pullSDA, pullSCL bool
	sda, scl         bool // last seen

	op    int
	phase int
	high  bool // the bit to send
	// rising: SCL was let go and is not up yet.
	rising bool
	then   i2cThen
}

func (l *i2cLine) init(c *I2C) {
	l.c, l.sda, l.scl = c, true, true
	l.event.Fire = func(uint64) { l.step() }
	c.tx.depth, c.rx.depth = icDepth, icDepth
}

// release lets both lines go and forgets the operation.
func (l *i2cLine) release() {
	l.c.env.Cancel(&l.event)
	l.paused = pausedEvent{}
	l.op, l.rising = opNone, false
	l.pull(false, false)
}

// pull holds lines low or lets them go.
func (l *i2cLine) pull(sda, scl bool) {
	l.pullSDA, l.pullSCL = sda, scl
	var oe uint64
	if sda {
		oe |= l.c.sdaPins
	}
	if scl {
		oe |= l.c.sclPins
	}
	l.c.pins.function(FuncI2C, l.c.sdaPins|l.c.sclPins, 0, oe)
}

// levels reads the lines; without pins they are high.
func (l *i2cLine) levels() (sda, scl bool) {
	a, noA := l.c.pins.inputOf(FuncI2C, l.c.sdaPins)
	b, noB := l.c.pins.inputOf(FuncI2C, l.c.sclPins)
	return a || noA, b || noB
}

// begin starts an operation; then is what the controller does behind it, told
// what SDA was while SCL was high.
func (l *i2cLine) begin(op int, high bool, then i2cThen) {
	l.op, l.phase, l.high, l.then = op, 0, high, then
	l.step()
}

func (l *i2cLine) after(cycles uint64) {
	l.phase++
	l.c.env.Schedule(&l.event, l.c.env.Now()+cycles)
}

// letUp lets SCL go and waits until it is high, which another device may delay.
func (l *i2cLine) letUp() {
	l.rising = true
	l.pull(l.pullSDA, false)
	l.up()
}

// up goes on once SCL is high.
func (l *i2cLine) up() {
	if _, scl := l.levels(); !l.rising || !scl {
		return
	}
	l.rising = false
	high, low := l.c.counts()
	if l.op == opRestart {
		high = low
	}
	l.after(high)
}

// step is one phase of the operation.
func (l *i2cLine) step() {
	high, low := l.c.counts()
	switch l.op {
	case opStart:
		switch l.phase {
		case 0:
			l.pull(true, false)
			l.after(high)
		case 1:
			l.pull(true, true)
			l.finish(true)
		}
	case opRestart:
		switch l.phase {
		case 0:
			l.pull(false, true)
			l.after(low)
		case 1:
			l.letUp()
		case 2:
			l.pull(true, false)
			l.after(high)
		case 3:
			l.pull(true, true)
			l.finish(true)
		}
	case opBit:
		switch l.phase {
		case 0:
			l.pull(!l.high, true)
			l.after(low)
		case 1:
			l.letUp()
		case 2:
			sda, _ := l.levels()
			l.pull(l.pullSDA, true)
			l.finish(sda)
		}
	case opStop:
		switch l.phase {
		case 0:
			l.pull(true, true)
			l.after(low)
		case 1:
			l.letUp()
		case 2:
			l.pull(false, false)
			l.after(low) // the bus stays free for a while
		case 3:
			l.finish(true)
		}
	}
}

func (l *i2cLine) finish(sampled bool) {
	l.op = opNone
	l.c.master.goOn(l.c, l.then, sampled)
}

// changed follows the lines: start and stop conditions, stretching, the target.
func (l *i2cLine) changed() {
	if l.gated {
		return
	}
	sda, scl := l.levels()
	oldSDA, oldSCL := l.sda, l.scl
	if sda == oldSDA && scl == oldSCL {
		return
	}
	l.sda, l.scl = sda, scl
	c := l.c
	if l.rising {
		l.up()
	}
	if !c.on() {
		return
	}
	switch {
	case oldSCL && scl && oldSDA && !sda:
		c.slave.start(c)
	case oldSCL && scl && !oldSDA && sda:
		c.slave.stop(c)
	case !oldSCL && scl:
		c.slave.rise(c, sda)
	case oldSCL && !scl:
		c.slave.fall(c)
	}
	if sda && scl {
		c.master.kick(c)
	}
}
