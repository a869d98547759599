package debugport

// The JTAG chain of the simulation: a RISC-V debug transport next to TDI, as
// Hazard3 has one, and nothing else. The chip has none; stock OpenOCD reaches
// RISC-V in no other way.

// tapState is a state of the TAP controller (IEEE 1149.1).
type tapState uint8

const (
	tapReset tapState = iota
	tapIdle
	tapSelectDR
	tapCaptureDR
	tapShiftDR
	tapExit1DR
	tapPauseDR
	tapExit2DR
	tapUpdateDR
	tapSelectIR
	tapCaptureIR
	tapShiftIR
	tapExit1IR
	tapPauseIR
	tapExit2IR
	tapUpdateIR
)

// tapNext is the next state for TMS 0 and 1.
var tapNext = [16][2]tapState{
	tapReset:     {tapIdle, tapReset},
	tapIdle:      {tapIdle, tapSelectDR},
	tapSelectDR:  {tapCaptureDR, tapSelectIR},
	tapCaptureDR: {tapShiftDR, tapExit1DR},
	tapShiftDR:   {tapShiftDR, tapExit1DR},
	tapExit1DR:   {tapPauseDR, tapUpdateDR},
	tapPauseDR:   {tapPauseDR, tapExit2DR},
	tapExit2DR:   {tapShiftDR, tapUpdateDR},
	tapUpdateDR:  {tapIdle, tapSelectDR},
	tapSelectIR:  {tapCaptureIR, tapReset},
	tapCaptureIR: {tapShiftIR, tapExit1IR},
	tapShiftIR:   {tapShiftIR, tapExit1IR},
	tapExit1IR:   {tapPauseIR, tapUpdateIR},
	tapPauseIR:   {tapPauseIR, tapExit2IR},
	tapExit2IR:   {tapShiftIR, tapUpdateIR},
	tapUpdateIR:  {tapIdle, tapSelectDR},
}

// Instructions and parameters of the transport (RISC-V Debug Support 0.13.2,
// 6.1; abits and idle as Hazard3's hdl/debug/dtm has them).
const (
	irLength = 5
	irIDCODE = 0x01
	irDTMCS  = 0x10
	irDMI    = 0x11

	dtmABits  = 8
	dtmIdle   = 4
	idcode    = 0xdeadbeef
	dmiLength = 34 + dtmABits
)

// JTAG is the chain.
type JTAG struct {
	dm    *DM
	state tapState
	ir    uint32
	irSh  uint32
	dr    uint64
	drLen int
	addr  uint64
	data  uint32
	dp    *DP
	noise uint64 // of a floating line
}

// NewJTAG returns a chain to the Debug Module behind dp, whose troubles it
// shares, in its reset state.
func NewJTAG(dp *DP) *JTAG { return &JTAG{dp: dp, dm: dp.aps.dm, ir: irIDCODE} }

// Reset is TRST.
func (j *JTAG) Reset() { j.state, j.ir = tapReset, irIDCODE }

// TDO is the chain's output.
func (j *JTAG) TDO() bool {
	switch j.dp.Trouble.Line {
	case LineHigh:
		return true
	case LineLow:
		return false
	case LineFloating:
		j.noise = nextNoise(j.noise)
		return j.noise>>63 != 0
	}
	switch j.state {
	case tapShiftDR:
		return j.dr&1 != 0
	case tapShiftIR:
		return j.irSh&1 != 0
	}
	return true
}

// Clock is one rising edge of TCK.
func (j *JTAG) Clock(tms, tdi bool) {
	in := uint64(0)
	if tdi {
		in = 1
	}
	switch j.state {
	case tapCaptureDR:
		j.capture()
	case tapShiftDR:
		j.dr = j.dr>>1 | in<<(j.drLen-1)
	case tapCaptureIR:
		j.irSh = 1
	case tapShiftIR:
		j.irSh = j.irSh>>1 | uint32(in)<<(irLength-1)
	}
	next := 0
	if tms {
		next = 1
	}
	j.state = tapNext[j.state][next]
	switch j.state {
	case tapReset:
		j.ir = irIDCODE
	case tapUpdateIR:
		j.ir = j.irSh
	case tapUpdateDR:
		j.update()
	}
}

func (j *JTAG) capture() {
	switch j.ir {
	case irIDCODE:
		j.dr, j.drLen = idcode, 32
	case irDTMCS:
		j.dr, j.drLen = dtmIdle<<12|dtmABits<<4|1, 32
	case irDMI:
		j.dr, j.drLen = j.addr<<34|uint64(j.data)<<2, dmiLength
	default:
		j.dr, j.drLen = 0, 1
	}
}

// update performs a DMI access; its result is captured by the next scan.
func (j *JTAG) update() {
	if j.ir != irDMI || j.drLen != dmiLength {
		return
	}
	j.dp.accesses++
	j.dp.aps.follow()
	op := j.dr & 3
	addr := j.dr >> 34 & (1<<dtmABits - 1)
	if op == 1 || op == 2 {
		j.addr = addr
		j.data = uint32(j.dr >> 2)
	}
	unlocked := j.dp.chip.Auth().DM
	switch {
	case !unlocked:
		j.data = 0 // the module is cut off
	case op == 1:
		j.data = j.dm.Read(uint32(addr))
	case op == 2:
		j.dm.Write(uint32(addr), j.data)
	}
}
