package periph

import "github.com/stem-hw/stem-hw/sim/rp2350/periph/regs"

// Registers of a UART (datasheet 12.1.8; Arm PrimeCell PL011).
const (
	uartDR    = 0x00
	uartRSR   = 0x04
	uartFR    = 0x18
	uartILPR  = 0x20
	uartIBRD  = 0x24
	uartFBRD  = 0x28
	uartLCRH  = 0x2c
	uartCR    = 0x30
	uartIFLS  = 0x34
	uartIMSC  = 0x38
	uartRIS   = 0x3c
	uartMIS   = 0x40
	uartICR   = 0x44
	uartDMACR = 0x48

	frCTS  = 1 << 0
	frBUSY = 1 << 3
	frRXFE = 1 << 4
	frTXFF = 1 << 5
	frRXFF = 1 << 6
	frTXFE = 1 << 7

	lcrBRK = 1 << 0
	lcrPEN = 1 << 1
	lcrEPS = 1 << 2
	lcrSTP = 1 << 3
	lcrFEN = 1 << 4
	lcrSPS = 1 << 7

	crUARTEN = 1 << 0
	crSIREN  = 1 << 1
	crLBE    = 1 << 7
	crTXE    = 1 << 8
	crRXE    = 1 << 9
	crRTS    = 1 << 11
	crRTSEN  = 1 << 14
	crCTSEN  = 1 << 15

	intCTS = 1 << 1
	intRX  = 1 << 4
	intTX  = 1 << 5
	intRT  = 1 << 6
	intFE  = 1 << 7
	intPE  = 1 << 8
	intBE  = 1 << 9
	intOE  = 1 << 10

	dmaRX      = 1 << 0
	dmaTX      = 1 << 1
	dmaOnError = 1 << 2

	uartDepth = 32
)

// UART is UART0 or UART1 (datasheet 12.1). Bits take their time in clk_peri and
// appear on the pins; bytes count as sent where they reach a pin. Bytes from the
// host (Input) arrive at the pace of the configured baud rate.
type UART struct {
	storage
	n        int
	peri     *Clock
	pins     *Pins
	requests *Requests
	output   func(uart int, b byte)

	// The pins of the four signals, for function UART and its alternative.
	txPins, rxPins [2]uint64
	ctsPins        uint64
	rtsPins        uint64

	// bit is the length of a bit in quarters of clk_peri, as latched by the
	// last write of LCR_H: 64*IBRD+FBRD. lcr is the format then.
	bit uint64
	ris uint32
	rsr uint32

	tx  uartTX
	rx  uartRX
	cts bool
}

// Rate is the rate in baud: clk_peri over sixteen times the divisor. It is 0
// while there is none.
func (u *UART) Rate() float64 {
	if u.bit == 0 || !u.peri.Running() {
		return 0
	}
	return 4 * u.peri.Rate().Float() / float64(u.bit)
}

// uartFuncs are the functions whose pins txPins and rxPins hold.
var uartFuncs = [2]int{FuncUART, FuncUARTAlt}

func newUART(n int, env Env, peri *Clock, pins *Pins, requests *Requests, output func(int, byte)) *UART {
	u := &UART{storage: newStorage("UART"+string(rune('0'+n)), env, regs.UART), n: n, peri: peri, pins: pins,
		requests: requests, output: output}
	u.wire()
	u.tx.step.Fire = func(uint64) { u.txStep() }
	u.rx.sample.Fire = func(uint64) { u.rxSample() }
	u.rx.timeout.Fire = func(uint64) { u.rxTimeout() }
	peri.OnChange(u.replan)
	pins.follow(u.rxPins[0]|u.rxPins[1]|u.ctsPins, func(PinChange) { u.lineChanged() })
	pins.onRoute(u.rerouted)
	return u
}

// wire finds the UART's pins (datasheet 9.4): the GPIOs go by fours, UART0 and
// UART1 alternate by eights with an offset of four; the QSPI and USB pins have
// functions of their own.
func (u *UART) wire() {
	for pin := range 48 {
		if (pin+4)/8&1 != u.n {
			continue
		}
		b := uint64(1) << pin
		switch pin & 3 {
		case 0:
			u.txPins[0] |= b
		case 1:
			u.rxPins[0] |= b
		case 2:
			u.ctsPins |= b
			u.txPins[1] |= b
		case 3:
			u.rtsPins |= b
			u.rxPins[1] |= b
		}
	}
	if u.n == 0 {
		u.txPins[0] |= 1 << PinQSPISD0
		u.rxPins[0] |= 1 << (PinQSPISD0 + 1)
		u.ctsPins |= 1 << (PinQSPISD0 + 2)
		u.rtsPins |= 1 << (PinQSPISD0 + 3)
		u.txPins[1] |= 1 << (PinQSPISD0 + 2)
		u.rxPins[1] |= 1 << (PinQSPISD0 + 3)
		return
	}
	u.txPins[0] |= 1 << PinUSBDP
	u.rxPins[0] |= 1 << PinUSBDM
	u.ctsPins |= 1 << PinQSPISCK
	u.rtsPins |= 1 << PinQSPISS
	u.txPins[1] |= 1 << PinQSPISCK
	u.rxPins[1] |= 1 << PinQSPISS
}

// Reset stops both directions and empties the FIFOs. What the host has sent and
// firmware has not received yet stays in the queue.
func (u *UART) Reset() {
	u.storage.Reset()
	u.bit, u.ris, u.rsr = 0, 0, 0
	u.tx.reset(u.env)
	u.rx.reset(u.env)
	u.driveTX(true)
	u.driveRTS()
	u.update()
}

// enabled reports whether the UART and the direction (crTXE, crRXE) are on.
func (u *UART) enabled(dir uint32) bool { return u.get(uartCR)&(crUARTEN|dir) == crUARTEN|dir }

// frame returns the number of data bits and of bits in all.
func (u *UART) frame() (data, total int) {
	lcr := u.get(uartLCRH)
	data = 5 + int(lcr>>5&3)
	total = 1 + data + 1
	if lcr&lcrPEN != 0 {
		total++
	}
	if lcr&lcrSTP != 0 {
		total++
	}
	return data, total
}

// parity returns the parity bit for v in the present format.
func (u *UART) parity(v uint32) uint32 {
	lcr := u.get(uartLCRH)
	if lcr&lcrSPS != 0 { // stick: the complement of EPS
		return lcr>>2&1 ^ 1
	}
	p := v ^ v>>4
	p ^= p >> 2
	p = (p ^ p>>1) & 1
	if lcr&lcrEPS == 0 {
		p ^= 1
	}
	return p
}

// level is the FIFO level of a field of IFLS.
func uartLevel(sel uint32) int {
	return [8]int{4, 8, 16, 24, 28, 28, 28, 28}[sel&7]
}

func (u *UART) depth() int {
	if u.get(uartLCRH)&lcrFEN != 0 {
		return uartDepth
	}
	return 1
}

// update drives the interrupt and the requests from the present state.
func (u *UART) update() {
	u.env.SetIRQ(33+u.n, u.ris&u.get(uartIMSC) != 0)
	dma := u.get(uartDMACR)
	u.requests.Set(DREQUART0TX+2*u.n, dma&dmaTX != 0 && !u.tx.fifo.full())
	rx := dma&dmaRX != 0 && !u.rx.fifo.empty()
	if dma&dmaOnError != 0 && u.ris&(intFE|intPE|intBE|intOE) != 0 {
		rx = false
	}
	u.requests.Set(DREQUART0TX+1+2*u.n, rx)
}

// replan moves the events to where clk_peri now has them.
func (u *UART) replan() {
	if u.tx.busy {
		schedule(u.env, &u.tx.step, u.peri.When(u.tx.at))
	}
	if u.rx.state != rxIdle {
		schedule(u.env, &u.rx.sample, u.peri.When(u.rx.at))
	}
	if u.rx.waiting {
		schedule(u.env, &u.rx.timeout, u.peri.When(u.rx.timeoutAt))
	}
	u.txKick()
	u.rxKick()
}

// rerouted follows a change of function selects and pads.
func (u *UART) rerouted() {
	u.pins.plugTerminal(u.n, u.pins.selected[FuncUART]&u.rxPins[0]|u.pins.selected[FuncUARTAlt]&u.rxPins[1])
	u.lineChanged()
}

// lineChanged follows a change of the pins.
func (u *UART) lineChanged() {
	high, none := u.pins.inputOf(FuncUART, u.ctsPins)
	if cts := !none && !high; cts != u.cts {
		u.cts = cts
		u.ris |= intCTS
		u.update()
		u.txKick()
	}
	u.rxLine()
	u.rxKick()
}

// driveRTS drives the RTS pins, which are low while asserted: with RTSEN while
// the receive FIFO is below its trigger level, else as CR.RTS says.
func (u *UART) driveRTS() {
	on := u.get(uartCR)&crRTS != 0
	if u.get(uartCR)&crRTSEN != 0 {
		on = u.rx.fifo.len() < u.rxTrigger()
	}
	u.rx.rts = on
	var out uint64
	if !on {
		out = u.rtsPins
	}
	u.pins.function(FuncUART, u.rtsPins, out, u.rtsPins)
}

// Read returns a register.
func (u *UART) Read(offset uint32, peek bool) uint32 {
	switch offset {
	case uartDR:
		if peek {
			return u.rx.fifo.peek()
		}
		return u.receive()
	case uartRSR:
		return u.rsr
	case uartFR:
		return u.flags()
	case uartRIS:
		return u.ris
	case uartMIS:
		return u.ris & u.get(uartIMSC)
	case uartICR:
		return 0
	}
	return u.storage.Read(offset, peek)
}

func (u *UART) flags() uint32 {
	return bit(u.cts, 0) | bit(u.tx.busy || !u.tx.fifo.empty(), 3) | bit(u.rx.fifo.empty(), 4) |
		bit(u.tx.fifo.full(), 5) | bit(u.rx.fifo.full(), 6) | bit(u.tx.fifo.empty(), 7)
}

// Write writes a register.
func (u *UART) Write(offset uint32, w Write) {
	switch offset {
	case uartDR:
		// The alias interposer reads DR first, so SET and the like are of no
		// use here; what arrives is the byte.
		u.transmit(w.Raw & 0xff)
		return
	case uartRSR: // any write clears the errors
		u.rsr = 0
		return
	case uartICR:
		u.ris &^= w.Raw & 0x7ff
		u.update()
		return
	}
	old := u.get(offset)
	u.storage.Write(offset, w)
	switch offset {
	case uartLCRH:
		u.bit = uint64(u.get(uartIBRD))*64 + uint64(u.get(uartFBRD))
		if u.get(uartIBRD) == 0 {
			u.bit = 0
		}
		if (old^u.get(offset))&lcrFEN != 0 {
			u.tx.fifo.clear()
			u.rx.fifo.clear()
			u.stopTimeout()
		}
		u.tx.fifo.depth, u.rx.fifo.depth = u.depth(), u.depth()
		u.driveTX(true)
		u.txKick()
		u.rxKick()
	case uartCR:
		if u.get(uartCR)&crSIREN != 0 {
			u.unmodelled(offset, "infrared (SIREN) sends like a plain UART")
		}
		u.driveRTS()
		u.txKick()
		u.rxLine()
		u.rxKick()
	case uartILPR:
		u.unmodelled(offset, "infrared")
	case uartIFLS:
		u.driveRTS()
	}
	u.update()
}
