package debugport

import "math/bits"

// phase is where the SWD line stands within a packet.
type phase uint8

const (
	phIdle      phase = iota // waiting for a start bit
	phRequest                // the eight bits of a request
	phTurn                   // nobody drives, then the target
	phDrive                  // the target drives out
	phTurnBack               // nobody drives, then the host; the packet ends
	phTurnWrite              // nobody drives, then the host's data
	phData                   // the host's data
	phSkip                   // a data phase that nobody drives
)

// lineState is the state of the connection.
type lineState uint8

const (
	lnDormant lineState = iota
	lnReset             // after a line reset: only DPIDR or TARGETSEL
	lnActive
	lnLost // protocol error or deselected: silent until a line reset
)

const resetOnes = 50 // clocks of high that reset the line (IHI 0031, B4.3.3)

// selectionAlert is the 128-bit sequence that wakes a dormant port, the bit sent
// first lowest (IHI 0074, B5.3.4; RP2350 datasheet 3.5.1 lists its words in the
// other order).
var selectionAlert = [2]uint64{0x86852d956209f392, 0x19bc0ea2e3ddafe9}

// swdToDormant as the last bits of history: 16 of them, the bit sent first
// lowest, behind a line reset (IHI 0074, B5.3.2).
const swdToDormant uint64 = 0xe3bc<<48 | 1<<48 - 1

const activateSWD = 0x1a

// Line is the SWD line at the level of clock edges.
type Line struct {
	dp    *DP
	state lineState
	ph    phase

	ones    int
	history [2]uint64 // the last 128 bits, newest in the top bit of [1]
	seen    int       // bits since the port went dormant
	wake    int       // bits since the selection alert, 0 while it was not seen
	code    uint32

	req   uint8
	n     int
	out   uint64
	outN  int
	data  uint64
	ack   uint8
	reads int
	noise uint64 // of a floating line
}

// NewLine returns a line to dp, dormant as after power-up.
func NewLine(dp *DP) *Line { return &Line{dp: dp} }

// Dormant reports whether the port is dormant.
func (l *Line) Dormant() bool { return l.state == lnDormant }

// Level is what the line shows while the host does not drive it: the target's
// bit, or the pull-up.
func (l *Line) Level() bool {
	switch l.dp.Trouble.Line {
	case LineLow:
		return false
	case LineFloating:
		return l.noise>>63 != 0
	}
	if l.ph == phDrive && l.ack != AckNone {
		return l.out&1 != 0
	}
	return true
}

// Clock is one rising edge of SWCLK. level is the line, driven says whether the
// host drives it.
func (l *Line) Clock(level, driven bool) {
	if l.dp.follow() { // power came, or RUN went up
		*l = Line{dp: l.dp, noise: l.noise}
	}
	if l.dp.Trouble.Line != LineGood {
		l.noise = nextNoise(l.noise)
		return
	}
	bit := uint64(0)
	if level {
		bit = 1
	}
	l.history[0] = l.history[0]>>1 | l.history[1]<<63
	l.history[1] = l.history[1]>>1 | bit<<63
	if level && driven {
		l.ones++
	} else {
		l.ones = 0
	}
	if l.state == lnDormant {
		l.dormant(bit)
		return
	}
	if l.ones >= resetOnes {
		if l.ones == resetOnes {
			l.reset()
		}
		return
	}
	if l.history[1] == swdToDormant && l.history[0]>>62 == 3 {
		l.state, l.ph, l.seen, l.wake = lnDormant, phIdle, 0, 0
		return
	}
	if l.state == lnLost {
		return
	}
	l.packet(level, driven)
}

// reset is a line reset.
func (l *Line) reset() {
	l.dp.lineReset()
	l.state, l.ph = lnReset, phIdle
}

// dormant looks for the selection alert and the activation code behind it.
func (l *Line) dormant(bit uint64) {
	l.seen++
	if l.wake == 0 {
		if l.seen >= 128 && l.history == selectionAlert {
			l.wake = 1
			l.code = 0
		}
		return
	}
	// Four low bits, then eight of code.
	if l.wake > 4 {
		l.code |= uint32(bit) << (l.wake - 5)
	}
	l.wake++
	if l.wake == 13 {
		if l.code == activateSWD {
			l.state, l.ph = lnLost, phIdle
			l.ones = 0
		}
		l.wake, l.seen = 0, 0
	}
}

// packet advances a packet by one clock.
func (l *Line) packet(level, driven bool) {
	switch l.ph {
	case phIdle:
		if level && driven {
			l.req, l.n, l.ph = 1, 1, phRequest
		}
	case phRequest:
		if level {
			l.req |= 1 << l.n
		}
		if l.n++; l.n == 8 {
			l.requested()
		}
	case phTurn:
		if l.n--; l.n <= 0 {
			l.ph = phDrive
		}
	case phDrive:
		l.out >>= 1
		if l.outN--; l.outN == 0 {
			l.driven()
		}
	case phTurnBack:
		if l.n--; l.n <= 0 {
			l.ph = phIdle
		}
	case phTurnWrite:
		if l.n--; l.n <= 0 {
			l.ph, l.n, l.data = phData, 0, 0
		}
	case phData:
		if level {
			l.data |= 1 << l.n
		}
		if l.n++; l.n == 33 {
			l.ph = phIdle
			l.written()
		}
	case phSkip:
		if l.n++; l.n == 33 {
			l.ph, l.n = phTurnBack, l.dp.turnaround()
		}
	}
}

// targetSel is the request that writes TARGETSEL.
const targetSel Request = 0xc

// request returns the request without start, parity, stop and park.
func (l *Line) request() Request { return Request(l.req >> 1 & 0xf) }

// requested decides on a whole request.
func (l *Line) requested() {
	l.ph = phIdle
	parity := bits.OnesCount8(l.req>>1&0xf)&1 == int(l.req>>5&1)
	if !parity || l.req&0x40 != 0 || l.req&0x80 == 0 {
		// A broken request gets no answer. The high bits of a line reset look
		// like one: they must not end the reset that is under way.
		if l.state == lnActive || l.ones < 8 {
			l.state = lnLost
		}
		return
	}
	r := l.request()
	ack, ok := l.admit(r)
	if !ok {
		return
	}
	l.ack = ack
	l.ph, l.n = phTurn, l.dp.turnaround()
	if r == targetSel && l.state == lnReset {
		l.ack, l.outN = AckNone, 3
		return
	}
	l.out, l.outN = uint64(ack), 3
	if r.Read() && ack == AckOK {
		v := l.dp.Transact(r, 0)
		p := uint64(bits.OnesCount32(v) & 1)
		if l.spoil() {
			p ^= 1
		}
		l.out |= uint64(v)<<3 | p<<35
		l.outN = 36
	}
}

// admit applies the rule that only DPIDR or TARGETSEL may follow a line reset.
func (l *Line) admit(r Request) (ack uint8, ok bool) {
	if l.state == lnReset {
		switch r {
		case targetSel:
			return AckNone, true
		case 2: // DPIDR
			l.state = lnActive
		default:
			l.state = lnLost
			return 0, false
		}
	}
	return l.dp.Acknowledge(r), true
}

func (l *Line) spoil() bool {
	every := l.dp.Trouble.ParityEvery
	if every <= 0 {
		return false
	}
	l.reads++
	return l.reads%every == 0
}

// driven decides what follows when the target has driven its bits.
func (l *Line) driven() {
	r := l.request()
	l.n = l.dp.turnaround()
	switch {
	case l.ack == AckNone: // TARGETSEL
		l.ph = phTurnWrite
	case l.ack == AckOK && r.Read():
		l.ph = phTurnBack
	case l.ack == AckOK:
		l.ph = phTurnWrite
	case !l.dp.overrunDetect():
		l.ph = phTurnBack
	case r.Read():
		l.ph, l.n = phSkip, 0
	default:
		l.ph = phTurnWrite
	}
}

// written takes the data of a write.
func (l *Line) written() {
	v := uint32(l.data)
	r := l.request()
	good := bits.OnesCount32(v)&1 == int(l.data>>32&1)
	if l.ack == AckNone {
		if !good || !Selects(v) {
			l.state = lnLost
		}
		return
	}
	if l.ack != AckOK {
		return
	}
	if !good {
		l.dp.sticky |= wdataErr
		return
	}
	l.dp.Transact(r, v)
}

// Selects reports whether a value written to TARGETSEL names this port:
// instance 0 of the part.
func Selects(v uint32) bool { return v == TARGETID }

// nextNoise is a step of what a floating line does: a fixed sequence without a
// pattern that a debugger could take for an answer.
func nextNoise(v uint64) uint64 { return v*6364136223846793005 + 1442695040888963407 }
