package periph

import "math/bits"

// Fields of SHIFTCTRL.
const (
	shGet      = 1 << 14 // FJOIN_RX_GET
	shPut      = 1 << 15 // FJOIN_RX_PUT
	shAutopush = 1 << 16
	shAutopull = 1 << 17
	shInRight  = 1 << 18
	shOutRight = 1 << 19
	shJoinTX   = 1 << 30
	shJoinRX   = 1 << 31
	shJoins    = shJoinTX | shJoinRX | shPut | shGet
)

// pioSM is one state machine.
type pioSM struct {
	p       *PIO
	n       int
	enabled bool

	pc                 uint8
	x, y, isr, osr     uint32
	isrCount, osrCount uint8
	tx, rx             ring
	regs               [4]uint32 // the receive FIFO as registers (PUT, GET)

	// phase is when the clock divider began, in 1/256 cycles; due the cycle of
	// the next step.
	phase uint64
	due   uint64
	kept  uint64 // due when the clock was gated
	tick  uint64 // the clock-enable of the last step, in 1/256 cycles

	// forced: an instruction other than the one at pc is to be executed; it was
	// written to INSTR (byHand) or comes from OUT EXEC or MOV EXEC.
	forced, byHand bool
	forcedIns      uint16
	manual         bool   // the instruction being executed was written to INSTR
	blocked        bool   // stalled: nothing to do until woken
	onPin          bool   // by a pin
	irqWait        bool   // an IRQ WAIT has raised its flag
	stallFlag      uint32 // the bit of FDEBUG that the stall holds up
	stalled        bool   // the present instruction has stalled before
	retry          bool   // the stall ends by itself in the next cycle
	idled          bool   // the last instruction had delay cycles
	fed            uint64

	wrote                                      bool
	outMask, outVal, oeMask, oeVal             uint32
	sideMask, sideVal, sideOEMask, sideOEVal   uint32
	execctrl, shiftctrl, pinctrl, clkdiv       uint32
	delayBits, sideCount, pushLevel, pullLevel uint8
}

func (m *pioSM) init(p *PIO, n int) {
	m.p, m.n = p, n
	m.due = Never
	m.tx.depth, m.rx.depth = 4, 4
	m.decode()
}

func (m *pioSM) reg(offset uint32) uint32 {
	return m.p.get(pioSM0 + uint32(m.n)*pioSMStride + offset)
}

// decode takes over the configuration registers.
func (m *pioSM) decode() {
	m.execctrl, m.shiftctrl, m.pinctrl = m.reg(smExecCtrl), m.reg(smShift), m.reg(smPinCtrl)
	d := m.reg(smClkDiv) >> 8 // 16.8
	if d>>8 == 0 {
		d += 1 << 24 // 65536
	}
	m.clkdiv = d
	m.sideCount = uint8(m.pinctrl >> 29)
	m.delayBits = 5 - min(m.sideCount, 5)
	m.pushLevel, m.pullLevel = uint8(m.shiftctrl>>20&31), uint8(m.shiftctrl>>25&31)
	if m.pushLevel == 0 {
		m.pushLevel = 32
	}
	if m.pullLevel == 0 {
		m.pullLevel = 32
	}
}

func (m *pioSM) shift() uint32 { return m.shiftctrl }

func (m *pioSM) sticky() bool { return m.execctrl&(1<<17) != 0 }

func (m *pioSM) reset() {
	m.enabled = false
	m.pc, m.x, m.y, m.osr = 0, 0, 0, 0
	m.tx.clear()
	m.rx.clear()
	m.regs = [4]uint32{}
	m.phase, m.due, m.tick = 0, Never, 0
	m.decode()
	m.joinFIFOs()
	m.restart()
	m.due = Never
}

// restart is CTRL.SM_RESTART.
func (m *pioSM) restart() {
	m.isr, m.isrCount, m.osrCount = 0, 0, 32
	m.forced, m.irqWait, m.stalled, m.blocked, m.onPin, m.idled = false, false, false, false, false, false
	m.outMask, m.oeMask, m.stallFlag = 0, 0, 0
	if m.enabled {
		m.due = m.nextTick(m.p.env.Now() + 1)
	} else {
		m.due = Never
	}
}

// restartDivider is CTRL.CLKDIV_RESTART.
func (m *pioSM) restartDivider() {
	m.phase = (m.p.env.Now() + 1) << 8
	if m.due != Never && !m.byHand {
		m.due = m.nextTick(m.p.env.Now() + 1)
	}
}

func (m *pioSM) enable(on bool) {
	if on == m.enabled {
		return
	}
	m.enabled = on
	switch {
	case !on && m.forced && m.byHand:
	case !on:
		m.due = Never
	case !m.blocked || !m.onPin:
		m.blocked = false
		m.due = m.nextTick(m.p.env.Now() + 1)
	default:
		m.wake(m.p.env.Now() + 1)
	}
}

// nextTick is the first cycle from c on in which the divided clock ticks.
func (m *pioSM) nextTick(c uint64) uint64 {
	want := c << 8
	if want <= m.phase {
		m.tick = m.phase
		return (m.phase + 255) >> 8
	}
	d := uint64(m.clkdiv)
	k := (want - m.phase + d - 1) / d
	m.tick = m.phase + k*d
	return m.tick >> 8
}

// wake lets a stalled machine look again at cycle c or later.
func (m *pioSM) wake(c uint64) {
	if !m.blocked || m.due != Never && m.due <= c || !m.enabled && !(m.forced && m.byHand) {
		return
	}
	if m.forced && m.byHand {
		m.due = c
		return
	}
	m.due = m.nextTick(c)
}

// joinFIFOs sets the depths and drops what the FIFOs hold.
func (m *pioSM) joinFIFOs() {
	m.tx.clear()
	m.rx.clear()
	m.tx.depth, m.rx.depth = 4, 4
	switch m.shiftctrl & (shJoinTX | shJoinRX) {
	case shJoinTX:
		m.tx.depth, m.rx.depth = 8, 0
	case shJoinRX:
		m.tx.depth, m.rx.depth = 0, 8
	case shJoinTX | shJoinRX:
		m.tx.depth, m.rx.depth = 0, 0
	}
	if m.shiftctrl&(shPut|shGet) != 0 {
		m.rx.depth = 0
	}
}

// write writes one of the machine's registers.
func (m *pioSM) write(offset uint32, w Write) {
	p := m.p
	at := pioSM0 + uint32(m.n)*pioSMStride + offset
	switch offset {
	case smAddr:
		return
	case smInstr:
		m.forced, m.byHand = true, true
		m.forcedIns = uint16(w.Apply(uint32(m.current())))
		m.blocked, m.stalled, m.irqWait = false, false, false
		m.due = p.env.Now()
		// It executes at once, so that what follows finds it done.
		p.active, p.working = true, true
		p.process(m.due)
		p.working = false
		p.pins.stamp = 0
		return
	}
	old := m.shiftctrl
	p.storage.Write(at, w)
	m.decode()
	if offset == smShift && (old^m.shiftctrl)&shJoins != 0 {
		m.joinFIFOs()
	}
	if offset == smClkDiv && m.due != Never && !m.byHand {
		m.phase = m.tick
		m.due = m.nextTick(p.env.Now() + 1)
	}
}

// current is the instruction being executed, or the next one.
func (m *pioSM) current() uint16 {
	if m.forced {
		return m.forcedIns
	}
	return m.p.mem[m.pc&31]
}

// step executes one instruction, or tries again.
func (m *pioSM) step(c uint64) {
	byHand := m.forced && m.byHand
	m.manual = byHand
	if !byHand {
		m.tick = max(m.tick, c<<8)
	}
	m.wrote = true
	if !m.sticky() {
		m.outMask, m.oeMask = 0, 0
	}
	m.sideMask, m.sideOEMask = 0, 0
	ins := m.current()
	wasForced := m.forced
	m.sideSet(ins)
	if ins>>13 != 3 { // not OUT: the shift register may be filled behind its back
		m.refill()
	}
	pc := m.pc
	m.forced, m.stallFlag = false, 0
	done := m.execute(ins)
	if !done {
		m.forced, m.byHand = wasForced, byHand
		m.blocked, m.stalled = true, true
		m.due = Never
		if m.retry || m.onPin && !m.p.settled() {
			m.retry = false
			m.due = m.resume(c, byHand)
		}
		return
	}
	m.blocked, m.stalled, m.onPin, m.stallFlag = false, false, false, 0
	if !wasForced && m.pc == pc && !m.jumped(ins) {
		m.advance()
	}
	if byHand {
		if m.enabled {
			m.due = m.nextTick(c + 1)
		} else if m.forced { // an EXEC by hand
			m.byHand, m.due = true, c+1
		} else {
			m.due = Never
		}
		return
	}
	var delay uint64
	if !m.forced {
		delay = uint64(ins >> 8 & (1<<m.delayBits - 1))
	}
	m.idled = delay > 0
	if !m.enabled {
		m.due = Never
		return
	}
	m.tick += (1 + delay) * uint64(m.clkdiv)
	m.due = max(m.tick>>8, c+1)
}

// stall sets a bit of FDEBUG, as the machine does in every cycle of the stall.
func (m *pioSM) stall(flag uint32) {
	m.p.fdebug |= flag
	m.stallFlag = flag
}

// resume is when a stalled machine tries again.
func (m *pioSM) resume(c uint64, byHand bool) uint64 {
	if byHand {
		return c + 1
	}
	return m.nextTick(c + 1)
}

// advance moves pc on, wrapping where the program does.
func (m *pioSM) advance() {
	if uint32(m.pc) == m.execctrl>>12&31 {
		m.pc = uint8(m.execctrl >> 7 & 31)
		return
	}
	m.pc = (m.pc + 1) & 31
}

// jumped reports whether an instruction that is done set pc, possibly to where
// it was.
func (m *pioSM) jumped(ins uint16) bool {
	switch ins >> 13 {
	case 0:
		return m.p.jumpTaken
	case 3:
		return ins>>5&7 == 5
	case 5:
		return ins>>5&7 == 5
	}
	return false
}

// sideSet applies the side-set field, stalled or not.
func (m *pioSM) sideSet(ins uint16) {
	n := m.sideCount
	if n == 0 {
		return
	}
	field := uint32(ins>>8&31) >> m.delayBits
	if m.execctrl&(1<<30) != 0 { // SIDE_EN: the top bit enables
		n--
		if field>>n&1 == 0 {
			return
		}
	}
	field &= 1<<n - 1
	mask, val := rotate(1<<n-1, field, m.pinctrl>>10)
	if m.execctrl&(1<<29) != 0 {
		m.sideOEMask, m.sideOEVal = mask, val
	} else {
		m.sideMask, m.sideVal = mask, val
	}
}

// rotate moves a field of pins to its base, wrapping at 32.
func rotate(mask, val, base uint32) (m, v uint32) {
	b := int(base & 31)
	return bits.RotateLeft32(mask, b), bits.RotateLeft32(val, b)
}

// refill is autopull on cycles that are not OUT.
func (m *pioSM) refill() {
	if m.shiftctrl&shAutopull == 0 || m.osrCount < m.pullLevel {
		return
	}
	if v, ok := m.tx.pop(); ok {
		m.osr, m.osrCount = v, 0
		m.p.update()
	}
}
