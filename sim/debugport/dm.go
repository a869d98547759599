package debugport

import "github.com/stem-hw/stem-hw/sim/bus"

// DMI addresses (RISC-V Debug Support 0.13.2, table 3.8; what RP2350 has of
// them: Wren6991/Hazard3 hdl/debug/dm/hazard3_dm.v).
const (
	dmData0        = 0x04
	dmControl      = 0x10
	dmStatus       = 0x11
	dmHartInfo     = 0x12
	dmHaltSum1     = 0x13
	dmHAWindow     = 0x15
	dmAbstractCS   = 0x16
	dmCommand      = 0x17
	dmAbstractAuto = 0x18
	dmProgBuf0     = 0x20
	dmProgBuf1     = 0x21
	dmSBCS         = 0x38
	dmSBAddress0   = 0x39
	dmSBData0      = 0x3c
	dmHaltSum0     = 0x40
)

// Errors of abstract commands (0.13.2, 3.12.6).
const (
	cmdErrBusy        = 1
	cmdErrUnsupported = 2
	cmdErrException   = 3
	cmdErrHaltResume  = 4
)

// DM is the Debug Module of both harts.
type DM struct {
	chip Chip

	active  bool
	ndm     bool
	hasel   bool
	hartsel int
	window  uint32
	inReset [Cores]bool

	haveReset [Cores]bool
	resumeAck [Cores]bool

	data0    uint32
	progbuf  [2]uint32
	cmderr   uint32
	auto     uint32
	last     uint32 // the last command, for abstractauto
	sbcs     uint32 // the writable bits and sberror
	sbaddr   uint32
	sbdata   uint32
	sbQueued int8 // a stalled system bus access: 1 read, 2 write
}

// NewDM returns a Debug Module as after power-up: both harts have been reset.
func NewDM(chip Chip) *DM {
	return &DM{chip: chip, haveReset: [Cores]bool{true, true}}
}

// reset is a power-on reset of the module.
func (d *DM) reset() {
	*d = DM{chip: d.chip, haveReset: [Cores]bool{true, true}}
}

// hart returns a hart if it is available.
func (d *DM) hart(i int) Hart {
	if d.inReset[i] || d.ndm {
		return nil
	}
	return d.chip.Hart(i)
}

// selected calls f with each hart that dmcontrol acts on.
func (d *DM) selected(f func(i int)) {
	for i := range Cores {
		if i == d.hartsel || d.hasel && d.window>>i&1 != 0 {
			f(i)
		}
	}
}

// noteResets latches the havereset flags.
func (d *DM) noteResets() {
	for i := range Cores {
		if h := d.chip.Hart(i); h != nil && h.TakeReset() {
			d.haveReset[i] = true
		}
	}
}

// Read reads a register.
func (d *DM) Read(reg uint32) uint32 {
	switch reg {
	case dmData0:
		v := d.data0
		d.again(d.auto&1 != 0)
		return v
	case dmControl:
		return d.readControl()
	case dmStatus:
		return d.readStatus()
	case dmHartInfo:
		if d.hart(d.hartsel) == nil {
			return 0
		}
		return 1<<12 | 0xbff // one data register, as CSR dmdata0
	case dmHaltSum0, dmHaltSum1:
		return d.haltSum(reg == dmHaltSum1)
	case dmHAWindow:
		return d.window
	case dmAbstractCS:
		return 2<<24 | d.cmderr<<8 | 1
	case dmAbstractAuto:
		return d.auto
	case dmProgBuf0, dmProgBuf1:
		i := reg - dmProgBuf0
		v := d.progbuf[i]
		d.again(d.auto>>(16+i)&1 != 0)
		return v
	case dmSBCS:
		return d.readSBCS()
	case dmSBAddress0:
		return d.sbaddr
	case dmSBData0:
		v := d.sbdata
		if d.sbcs&sbReadOnData != 0 {
			d.systemRead()
		}
		return v
	}
	return 0
}

// Write writes a register. While dmactive is 0 only that bit can be written.
func (d *DM) Write(reg, v uint32) {
	if reg == dmControl {
		d.writeControl(v)
		return
	}
	if !d.active {
		return
	}
	switch reg {
	case dmData0:
		d.data0 = v
		d.again(d.auto&1 != 0)
	case dmHAWindow:
		d.window = v & (1<<Cores - 1)
	case dmAbstractCS:
		d.cmderr &^= v >> 8 & 7
	case dmCommand:
		if d.cmderr == 0 {
			d.last = v
			d.command(v)
		}
	case dmAbstractAuto:
		d.auto = v & 0x30001
	case dmProgBuf0, dmProgBuf1:
		i := reg - dmProgBuf0
		d.progbuf[i] = v
		d.again(d.auto>>(16+i)&1 != 0)
	case dmSBCS:
		d.writeSBCS(v)
	case dmSBAddress0:
		d.sbaddr = v
		if d.sbcs&sbReadOnAddr != 0 {
			d.systemRead()
		}
	case dmSBData0:
		d.sbdata = v
		d.systemWrite()
	}
}

// Bits of dmcontrol.
const (
	dmActive       uint32 = 1 << 0
	dmNDMReset     uint32 = 1 << 1
	dmClrResetHalt uint32 = 1 << 2
	dmSetResetHalt uint32 = 1 << 3
	dmHartSel      uint32 = 1 << 16
	dmHaSel        uint32 = 1 << 26
	dmAckReset     uint32 = 1 << 28
	dmHartReset    uint32 = 1 << 29
	dmResumeReq    uint32 = 1 << 30
	dmHaltReq      uint32 = 1 << 31
)

func (d *DM) readControl() uint32 {
	var v uint32
	for _, b := range []struct {
		on  bool
		bit uint32
	}{{d.active, dmActive}, {d.ndm, dmNDMReset}, {d.hasel, dmHaSel}, {d.hartsel == 1, dmHartSel}, {d.inReset[d.hartsel], dmHartReset}} {
		if b.on {
			v |= b.bit
		}
	}
	return v
}

func (d *DM) writeControl(v uint32) {
	if v&dmActive == 0 {
		d.deactivate()
		return
	}
	if !d.active {
		d.active = true
		return
	}
	d.noteResets()
	d.hartsel = int(v >> 16 & 1)
	d.hasel = v&dmHaSel != 0
	d.selected(func(i int) {
		if h := d.chip.Hart(i); h != nil {
			if v&dmClrResetHalt != 0 {
				h.HaltOnReset(false)
			} else if v&dmSetResetHalt != 0 {
				h.HaltOnReset(true)
			}
		}
		if v&dmAckReset != 0 {
			d.haveReset[i] = false
		}
	})
	d.resets(v)
	d.selected(func(i int) {
		h := d.hart(i)
		if h == nil {
			return
		}
		switch {
		case v&dmHaltReq != 0:
			h.Halt()
		case v&dmResumeReq != 0:
			// Already running: acknowledged at once.
			d.resumeAck[i] = true
			if h.Halted() {
				h.Resume()
			}
		}
	})
}

// resets performs hartreset and ndmreset; the harts leave reset when the bits
// fall.
func (d *DM) resets(v uint32) {
	var release uint8
	ndm := v&dmNDMReset != 0
	if d.ndm && !ndm {
		release = 1<<Cores - 1
	}
	d.ndm = ndm
	d.selected(func(i int) {
		hr := v&dmHartReset != 0
		if d.inReset[i] && !hr {
			release |= 1 << i
		}
		d.inReset[i] = hr
	})
	if release != 0 {
		d.chip.Reset(ResetHarts, release)
		d.noteResets()
		for i := range Cores {
			if release>>i&1 != 0 {
				d.haveReset[i] = true
			}
		}
	}
}

// deactivate resets the module's own state; the harts go on as they are.
func (d *DM) deactivate() {
	if !d.active {
		return
	}
	for i := range Cores {
		if h := d.chip.Hart(i); h != nil {
			h.HaltOnReset(false)
		}
	}
	*d = DM{chip: d.chip, haveReset: d.haveReset}
}

func (d *DM) readStatus() uint32 {
	d.noteResets()
	v := uint32(1<<22 | 1<<7 | 1<<5 | 2) // impebreak, authenticated, hasresethaltreq, version 0.13
	all := uint32(1<<9 | 1<<11 | 1<<13 | 1<<17 | 1<<19)
	d.selected(func(i int) {
		any := uint32(0)
		h := d.hart(i)
		switch {
		case h == nil:
			any |= 1 << 12
		case h.Halted():
			any |= 1 << 8
		default:
			any |= 1 << 10
		}
		if d.resumeAck[i] {
			any |= 1 << 16
		}
		if d.haveReset[i] {
			any |= 1 << 18
		}
		v |= any
		all &= any << 1
	})
	return v | all
}

func (d *DM) haltSum(one bool) uint32 {
	var v uint32
	for i := range Cores {
		if h := d.hart(i); h != nil && h.Halted() {
			v |= 1 << i
		}
	}
	if one && v != 0 {
		return 1
	}
	return v
}

// again repeats the last command for abstractauto.
func (d *DM) again(yes bool) {
	if yes && d.cmderr == 0 {
		d.command(d.last)
	}
}

// command executes an abstract command: Access Register on general registers,
// and the program buffer behind it.
func (d *DM) command(cmd uint32) {
	h := d.hart(d.hartsel)
	if h == nil || !h.Halted() {
		d.cmderr = cmdErrHaltResume
		return
	}
	transfer := cmd&(1<<17) != 0
	if cmd>>24 != 0 || cmd&(1<<19) != 0 || transfer && (cmd>>20&7 != 2 || cmd&0xffe0 != 0x1000) {
		d.cmderr = cmdErrUnsupported
		return
	}
	if transfer {
		n := int(cmd & 31)
		if cmd&(1<<16) != 0 {
			h.SetGPR(n, d.data0)
		} else {
			d.data0 = h.GPR(n)
		}
	}
	if cmd&(1<<18) != 0 {
		d.runBuffer(h)
	}
}

// runBuffer executes the program buffer, then the implicit ebreak. Two
// compressed instructions fit in a word, and a long one may straddle.
func (d *DM) runBuffer(h Hart) {
	halves := []uint16{
		uint16(d.progbuf[0]), uint16(d.progbuf[0] >> 16),
		uint16(d.progbuf[1]), uint16(d.progbuf[1] >> 16),
	}
	for len(halves) > 0 {
		raw := uint32(halves[0])
		n := 1
		if raw&3 == 3 {
			if len(halves) == 1 {
				return
			}
			raw |= uint32(halves[1]) << 16
			n = 2
		}
		switch h.Execute(raw, &d.data0) {
		case Ebreak:
			return
		case Exception:
			d.cmderr = cmdErrException
			return
		}
		halves = halves[n:]
	}
}

// Bits of sbcs.
const (
	sbReadOnData uint32 = 1 << 15
	sbAutoInc    uint32 = 1 << 16
	sbReadOnAddr uint32 = 1 << 20
	sbBusy       uint32 = 1 << 21
	sbBusyError  uint32 = 1 << 22
	sbError      uint32 = 7 << 12
	sbAccess     uint32 = 7 << 17
	sbWritable          = sbReadOnData | sbAutoInc | sbReadOnAddr | sbAccess
)

func (d *DM) readSBCS() uint32 {
	d.finish()
	v := d.sbcs | 1<<29 | 32<<5 | 7 // version 1, 32-bit address, 8, 16 and 32 bits
	if d.sbQueued != 0 {
		v |= sbBusy
	}
	return v
}

func (d *DM) writeSBCS(v uint32) {
	d.sbcs = d.sbcs&(sbError|sbBusyError)&^(v&(sbError|sbBusyError)) | v&sbWritable
}

// finish completes an access that stalled, if it can now.
func (d *DM) finish() {
	if d.sbQueued == 0 || d.chip.SystemBusStalled() {
		return
	}
	read := d.sbQueued == 1
	d.sbQueued = 0
	if read {
		d.doRead()
	} else {
		d.doWrite()
	}
}

// start begins an access; false if it has to wait or was refused.
func (d *DM) start(what int8) bool {
	d.finish()
	if d.sbQueued != 0 {
		d.sbcs |= sbBusyError
		return false
	}
	if d.chip.SystemBusStalled() {
		d.sbQueued = what
		return false
	}
	return true
}

// systemRead reads at sbaddress0. As in the silicon's version of the module, a
// pending sberror does not keep a read trigger from its access.
func (d *DM) systemRead() {
	if d.start(1) {
		d.doRead()
	}
}

func (d *DM) systemWrite() {
	if d.sbcs&(sbError|sbBusyError) != 0 {
		return
	}
	if d.start(2) {
		d.doWrite()
	}
}

// accessSize checks size and alignment; it sets sberror otherwise.
func (d *DM) accessSize() (uint8, bool) {
	n := d.sbcs & sbAccess >> 17
	if n > 2 {
		d.setSBError(4)
		return 0, false
	}
	size := uint8(1) << n
	if d.sbaddr&uint32(size-1) != 0 {
		d.setSBError(3)
		return 0, false
	}
	return size, true
}

func (d *DM) setSBError(code uint32) {
	if d.sbcs&sbError == 0 {
		d.sbcs |= code << 12
	}
}

func (d *DM) doRead() {
	size, ok := d.accessSize()
	if !ok {
		return
	}
	v, ok := d.chip.Load(1, d.sbaddr, size, bus.Privileged|bus.Debug)
	if !ok {
		d.setSBError(2)
		return
	}
	d.sbdata = v
	d.increment(size)
}

func (d *DM) doWrite() {
	size, ok := d.accessSize()
	if !ok {
		return
	}
	if !d.chip.Store(1, d.sbaddr, size, d.sbdata&mask(size), bus.Privileged|bus.Debug) {
		d.setSBError(2)
		return
	}
	d.increment(size)
}

func (d *DM) increment(size uint8) {
	if d.sbcs&sbAutoInc != 0 {
		d.sbaddr += uint32(size)
	}
}
