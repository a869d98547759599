package periph

// The receiver's states.
const (
	rxIdle  = iota
	rxFrame // sampling a frame from the line
	rxHost  // a byte from the host is on its way
)

// hostQueue is how much of the host's input waits in the UART.
const hostQueue = 4096

// uartRX is the receiver: FIFO, sampling, and the bytes from the host.
type uartRX struct {
	fifo    ring
	sample  Event
	timeout Event
	state   int
	line    bool // the level last seen
	held    bool // low since a break: wait for high
	// word collects the samples; bits is how many there are.
	word  uint32
	bits  int
	start uint64
	at    uint64

	waiting   bool // the receive timeout runs
	timeoutAt uint64
	overrun   bool
	rts       bool

	host []byte
}

func (r *uartRX) reset(env Env) {
	env.Cancel(&r.sample)
	env.Cancel(&r.timeout)
	r.fifo.clear()
	r.fifo.depth = 1
	r.state, r.line, r.held, r.waiting, r.overrun = rxIdle, true, false, false, false
}

// Input queues bytes that the host sends and returns how many were taken: none
// before the receiver is on.
func (u *UART) Input(p []byte) int {
	if !u.enabled(crRXE) {
		return 0 // nobody listens yet: the bytes stay where they are
	}
	n := min(len(p), hostQueue-len(u.rx.host))
	u.rx.host = append(u.rx.host, p[:n]...)
	if n > 0 && !u.routedRX() {
		u.env.Notice(u.name + ": input waits, no pin has function UART RX with its input enabled")
	}
	u.rxKick()
	return n
}

// InputPending is the number of bytes from the host not yet received.
func (u *UART) InputPending() int {
	n := len(u.rx.host)
	if u.rx.state == rxHost {
		n++
	}
	return n
}

func (u *UART) routedRX() bool {
	return u.pins.receives(FuncUART, u.rxPins[0])|u.pins.receives(FuncUARTAlt, u.rxPins[1]) != 0
}

// rxTrigger is the level at which the receive interrupt is due.
func (u *UART) rxTrigger() int {
	if u.get(uartLCRH)&lcrFEN == 0 {
		return 1
	}
	return uartLevel(u.get(uartIFLS) >> 3)
}

// rxLine looks at the line for the beginning of a frame.
func (u *UART) rxLine() {
	r := &u.rx
	old := r.line
	r.line = u.lineLevel()
	if r.line {
		r.held = false
	}
	if r.state != rxIdle || r.held || r.line || !old || !u.enabled(crRXE) || u.bit == 0 {
		return
	}
	r.state, r.word, r.bits = rxFrame, 0, 0
	r.start = u.peri.Count()
	u.planSample()
}

// lineLevel is the level of RXD: the transmitter with LBE, else the pins, and
// high if there are none.
func (u *UART) lineLevel() bool {
	if u.get(uartCR)&crLBE != 0 {
		return u.tx.level
	}
	a, noneA := u.pins.inputOf(FuncUART, u.rxPins[0])
	b, noneB := u.pins.inputOf(FuncUARTAlt, u.rxPins[1])
	return noneA && noneB || a || b
}

// planSample schedules the middle of the next bit.
func (u *UART) planSample() {
	u.rx.at = u.rx.start + (2*uint64(u.rx.bits)+1)*u.bit/8
	schedule(u.env, &u.rx.sample, u.peri.When(u.rx.at))
}

// rxSample takes a sample, or delivers the host's byte.
func (u *UART) rxSample() {
	r := &u.rx
	data, total := u.frame()
	if r.state == rxHost {
		r.state = rxIdle
		u.deliver(r.word & (1<<data - 1))
		u.rxKick()
		return
	}
	r.word |= bit(u.lineLevel(), uint(r.bits))
	r.bits++
	if r.bits == 1 && r.word&1 != 0 { // a glitch, no start bit
		r.state = rxIdle
		u.rxKick()
		return
	}
	if stops := int(u.get(uartLCRH) >> 3 & 1); r.bits < total-stops {
		u.planSample()
		return
	}
	// The first stop bit decides; a second one is not looked at.
	r.state = rxIdle
	v := r.word >> 1 & (1<<data - 1)
	if u.get(uartLCRH)&lcrPEN != 0 && r.word>>(1+data)&1 != u.parity(v) {
		v |= 1 << 9
	}
	if r.word>>(r.bits-1)&1 == 0 {
		v |= 1 << 8
		if r.word == 0 { // a break: one null, then nothing until the line is high
			v = 1 << 10
			r.held = true
		}
	}
	u.deliver(v)
	u.rxLine()
	u.rxKick()
}

// deliver puts a character with its error bits (as in DR) into the FIFO.
func (u *UART) deliver(v uint32) {
	r := &u.rx
	if !u.enabled(crRXE) {
		return
	}
	if v&(1<<8) != 0 {
		u.ris |= intFE
	}
	if v&(1<<9) != 0 {
		u.ris |= intPE
	}
	if v&(1<<10) != 0 {
		u.ris |= intBE
	}
	if r.fifo.push(v) {
		r.overrun = false
	} else {
		r.overrun = true
		u.rsr |= 1 << 3
		u.ris |= intOE
		u.env.Notice(u.name + ": the receive FIFO overran, input is lost")
	}
	if r.fifo.len() >= u.rxTrigger() {
		u.ris |= intRX
	}
	r.waiting = true
	r.timeoutAt = u.peri.Count() + 32*u.bit/4
	schedule(u.env, &r.timeout, u.peri.When(r.timeoutAt))
	u.driveRTS()
	u.update()
}

// rxTimeout: data waits and none came for 32 bit times.
func (u *UART) rxTimeout() {
	u.rx.waiting = false
	if !u.rx.fifo.empty() {
		u.ris |= intRT
		u.update()
	}
}

func (u *UART) stopTimeout() {
	u.rx.waiting = false
	u.env.Cancel(&u.rx.timeout)
	u.ris &^= intRT
}

// receive gives firmware the oldest character.
func (u *UART) receive() uint32 {
	r := &u.rx
	v, _ := r.fifo.pop()
	v |= bit(r.overrun, 11)
	u.rsr = u.rsr&(1<<3) | v>>8&7
	if r.fifo.len() < u.rxTrigger() {
		u.ris &^= intRX
	}
	if r.fifo.empty() {
		u.stopTimeout()
	}
	u.driveRTS()
	u.update()
	u.rxKick()
	return v
}

// rxKick starts the host's next byte when the receiver can take it.
func (u *UART) rxKick() {
	r := &u.rx
	if len(r.host) == 0 || r.state != rxIdle || u.bit == 0 || !u.enabled(crRXE) ||
		u.get(uartCR)&crLBE != 0 || !u.peri.Running() || !u.routedRX() {
		return
	}
	if u.get(uartCR)&crRTSEN != 0 && !r.rts {
		return
	}
	r.state, r.word = rxHost, uint32(r.host[0])
	r.host = r.host[1:]
	if len(r.host) == 0 {
		r.host = nil
	}
	_, total := u.frame()
	r.start = u.peri.Count()
	r.at = r.start + uint64(total)*u.bit/4
	schedule(u.env, &r.sample, u.peri.When(r.at))
}
