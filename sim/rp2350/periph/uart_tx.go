package periph

// uartTX is the transmitter: FIFO, shift register, and where it is in a frame.
type uartTX struct {
	fifo ring
	step Event
	busy bool
	// word holds the frame, first bit lowest; data is the byte in it.
	word  uint32
	data  byte
	total int
	// next is the number of the bit that begins at the event; start and at are
	// counts of clk_peri.
	next  int
	start uint64
	at    uint64
	level bool
}

func (t *uartTX) reset(env Env) {
	env.Cancel(&t.step)
	t.fifo.clear()
	t.fifo.depth = 1
	t.busy, t.level = false, true
}

// transmit takes a byte that firmware wrote.
func (u *UART) transmit(v uint32) {
	if !u.tx.fifo.push(v) {
		u.env.Notice(u.name + ": a byte was written to the full transmit FIFO and is lost")
		return
	}
	if u.get(uartCR)&crUARTEN == 0 {
		u.env.Notice(u.name + ": data is written while the UART is disabled (UARTCR.UARTEN)")
	}
	if u.tx.fifo.len() > u.txTrigger() {
		u.ris &^= intTX
	}
	u.txKick()
	u.update()
}

// txTrigger is the level at or below which the transmit interrupt is due.
func (u *UART) txTrigger() int {
	if u.get(uartLCRH)&lcrFEN == 0 {
		return 0
	}
	return uartLevel(u.get(uartIFLS))
}

// txKick loads the shift register if it is free and may send.
func (u *UART) txKick() {
	if u.tx.busy || u.tx.fifo.empty() || !u.enabled(crTXE) || u.get(uartLCRH)&lcrBRK != 0 {
		return
	}
	if u.bit == 0 {
		u.env.Notice(u.name + ": nothing is sent, the baud rate divisor is 0 or was never latched by a write of UARTLCR_H")
		return
	}
	if !u.peri.Running() {
		u.env.Notice(u.name + ": nothing is sent, clk_peri does not run (CLOCKS.CLK_PERI_CTRL, or a gate in WAKE_EN)")
		return
	}
	if u.get(uartCR)&crCTSEN != 0 && !u.cts {
		if _, none := u.pins.inputOf(FuncUART, u.ctsPins); none {
			u.env.Notice(u.name + ": nothing is sent, flow control (CTSEN) is on and no pin has function UART CTS")
		}
		return
	}
	// The interrupt comes from going down through the level, not from being
	// below it (PL011 TRM 2.8.2).
	before := u.tx.fifo.len()
	v, _ := u.tx.fifo.pop()
	if t := u.txTrigger(); before > t && u.tx.fifo.len() <= t {
		u.ris |= intTX
	}
	data, total := u.frame()
	v &= 1<<data - 1
	word := v << 1
	if u.get(uartLCRH)&lcrPEN != 0 {
		word |= u.parity(v) << (1 + data)
		data++
	}
	word |= 3 << (1 + data) // stop bits
	u.tx.word, u.tx.total, u.tx.data = word, total, byte(v)
	u.tx.busy, u.tx.next, u.tx.start = true, 0, u.peri.Count()
	u.txStep()
	u.update()
}

// txStep begins bit next, and schedules the next bit of another level or the
// end of the frame.
func (u *UART) txStep() {
	t := &u.tx
	if t.next >= t.total {
		t.busy = false
		u.sent(t.data)
		u.txKick()
		if !t.busy {
			u.driveTX(true)
		}
		u.update()
		return
	}
	level := t.word >> t.next & 1
	u.driveTX(level != 0)
	for t.next++; t.next < t.total && t.word>>t.next&1 == level; t.next++ {
	}
	t.at = t.start + uint64(t.next)*u.bit/4
	schedule(u.env, &t.step, u.peri.When(t.at))
}

// driveTX puts a level on the line: a break holds it low between frames.
func (u *UART) driveTX(high bool) {
	if !u.tx.busy {
		high = u.get(uartLCRH)&lcrBRK == 0
	}
	u.tx.level = high
	for i, f := range uartFuncs {
		var out uint64
		if high {
			out = u.txPins[i]
		}
		u.pins.function(f, u.txPins[i], out, u.txPins[i])
	}
	if u.get(uartCR)&crLBE != 0 {
		u.rxLine()
	}
}

// sent hands a byte out if it reached a pin at which no wire leads elsewhere.
func (u *UART) sent(b byte) {
	if u.get(uartCR)&crLBE != 0 {
		return
	}
	for i, f := range uartFuncs {
		if at := u.pins.reaches(f, u.txPins[i]); at != 0 {
			if at&^u.pins.wired() == 0 {
				return
			}
			if u.output != nil {
				u.output(u.n, b)
			}
			return
		}
	}
	switch {
	case u.pins.selected[FuncUART]&u.txPins[0]|u.pins.selected[FuncUARTAlt]&u.txPins[1] == 0:
		u.env.Notice(u.name + ": what it sends reaches no pin, none has function UART TX (IO_BANK0 GPIOn_CTRL.FUNCSEL)")
	default:
		u.env.Notice(u.name + ": what it sends does not leave its pin (isolated, output disabled, or overridden)")
	}
}
