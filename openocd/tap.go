package openocd

// state is a state of a TAP controller (IEEE 1149.1).
type state uint8

const (
	stReset state = iota
	stIdle
	stSelectDR
	stCaptureDR
	stShiftDR
	stExit1DR
	stPauseDR
	stExit2DR
	stUpdateDR
	stSelectIR
	stCaptureIR
	stShiftIR
	stExit1IR
	stPauseIR
	stExit2IR
	stUpdateIR
)

// successor is the next state for TMS 0 and 1.
var successor = [...][2]state{
	stReset: {stIdle, stReset}, stIdle: {stIdle, stSelectDR},
	stSelectDR: {stCaptureDR, stSelectIR}, stCaptureDR: {stShiftDR, stExit1DR}, stShiftDR: {stShiftDR, stExit1DR},
	stExit1DR: {stPauseDR, stUpdateDR}, stPauseDR: {stPauseDR, stExit2DR}, stExit2DR: {stShiftDR, stUpdateDR},
	stUpdateDR: {stIdle, stSelectDR},
	stSelectIR: {stCaptureIR, stReset}, stCaptureIR: {stShiftIR, stExit1IR}, stShiftIR: {stShiftIR, stExit1IR},
	stExit1IR: {stPauseIR, stUpdateIR}, stPauseIR: {stPauseIR, stExit2IR}, stExit2IR: {stShiftIR, stUpdateIR},
	stUpdateIR: {stIdle, stSelectDR},
}

// Instructions and sizes of a RISC-V transport (RISC-V Debug Support 0.13.2, 6.1;
// the number of address bits is Hazard3's).
const (
	insIDCODE = 0x01
	insDTMCS  = 0x10
	insDMI    = 0x11

	irBits    = 5
	addrBits  = 8
	dmiBits   = 34 + addrBits
	idcode    = 0xdeadbeef
	dtmcs     = 1<<12 | addrBits<<4 | 1 // one idle cycle, version 0.13
	dmiFailed = 2
	dmiReset  = 1 << 16
	hardReset = 1 << 17
)

// tap is a RISC-V debug transport alone on a JTAG chain.
type tap struct {
	dmi dmi

	state  state
	clock  bool
	ins    uint32 // instruction
	irsh   uint32 // being shifted
	drsh   uint64
	drBits int
	addr   uint64
	data   uint32
	status uint64 // of the last access; sticky as a transport's is
}

// reset is TRST, and what Test-Logic-Reset does.
func (t *tap) reset() { t.state, t.ins = stReset, insIDCODE }

// pins sets the pins; a rising edge of tck is a step.
func (t *tap) pins(tck, tms, tdi bool) {
	if tck && !t.clock {
		t.step(tms, tdi)
	}
	t.clock = tck
}

// out is TDO.
func (t *tap) out() bool {
	switch t.state {
	case stShiftDR:
		return t.drsh&1 != 0
	case stShiftIR:
		return t.irsh&1 != 0
	}
	return true
}

// step is one rising edge.
func (t *tap) step(tms, tdi bool) {
	var in, next uint64
	if tdi {
		in = 1
	}
	if tms {
		next = 1
	}
	switch t.state {
	case stCaptureDR:
		t.capture()
	case stShiftDR:
		t.drsh = t.drsh>>1 | in<<(t.drBits-1)
	case stCaptureIR:
		t.irsh = 1
	case stShiftIR:
		t.irsh = t.irsh>>1 | uint32(in)<<(irBits-1)
	}
	t.state = successor[t.state][next]
	switch t.state {
	case stReset:
		t.ins = insIDCODE
	case stUpdateIR:
		t.ins = t.irsh
	case stUpdateDR:
		t.update()
	}
}

func (t *tap) capture() {
	switch t.ins {
	case insIDCODE:
		t.drsh, t.drBits = idcode, 32
	case insDTMCS:
		t.drsh, t.drBits = dtmcs|t.status<<10, 32
	case insDMI:
		t.drsh, t.drBits = t.addr<<34|uint64(t.data)<<2|t.status, dmiBits
	default:
		t.drsh, t.drBits = 0, 1
	}
}

// update performs an access; the next scan captures its result. After a failure
// nothing is done until the client resets the status.
func (t *tap) update() {
	if t.ins == insDTMCS && t.drsh&(dmiReset|hardReset) != 0 {
		t.status = 0
	}
	if t.ins != insDMI || t.drBits != dmiBits || t.status != 0 {
		return
	}
	const opRead, opWrite = 1, 2
	op := t.drsh & 3
	if op != opRead && op != opWrite {
		return
	}
	t.addr, t.data = t.drsh>>34, uint32(t.drsh>>2)
	ok := false
	if op == opRead {
		t.data, ok = t.dmi.read(uint32(t.addr))
	} else {
		ok = t.dmi.write(uint32(t.addr), t.data)
	}
	if !ok {
		t.status = dmiFailed
	}
}
