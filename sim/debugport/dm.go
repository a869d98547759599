package debugport

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
	dmConfStrPtr0  = 0x19
	dmProgBuf0     = 0x20
	dmProgBuf1     = 0x21
	dmSBCS         = 0x38
	dmSBAddress0   = 0x39
	dmSBData0      = 0x3c
	dmHaltSum0     = 0x40
)

// DM is the Debug Module of both harts.
type DM struct {
	chip Chip

	active  bool
	ndm     bool
	hasel   bool
	hartsel int
	window  uint32

	// Levels that dmcontrol holds for each hart.
	haltReq   [Cores]bool
	resetHalt [Cores]bool // resethaltreq
	inReset   [Cores]bool

	haveReset [Cores]bool
	resumeReq [Cores]bool // and not running yet
	resumeAck [Cores]bool

	data0    uint32
	progbuf  [2]uint32
	cmderr   uint32
	auto     uint32
	last     uint32 // the last command, for abstractauto
	sbcs     uint32 // the writable bits and sberror
	sbaddr   uint32
	sbdata   uint32
	sbQueued sbQueue
}

// noCommand stands for the last command when there was none: repeating it is
// an error.
const noCommand = acType

// NewDM returns a Debug Module as after power-up.
func NewDM(chip Chip) *DM { return &DM{chip: chip, last: noCommand} }

// powerUp is a reset of the module with the chip, which let the harts go.
func (d *DM) powerUp() { *d = *NewDM(d.chip) }

// reset is what clearing dmactive does: the module takes back what it asked of
// the harts.
func (d *DM) reset() {
	d.powerUp()
	d.chip.HoldHarts(0)
	d.haltOnReset()
}

// haltOnReset says which harts enter Debug Mode when they leave reset: those of
// which it was asked, and those that haltreq halts at once.
func (d *DM) haltOnReset() {
	for i := range Cores {
		d.chip.HaltOnReset(i, d.resetHalt[i] || d.haltReq[i])
	}
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

// update follows what the harts did since the last access: resets, to which a
// halt request that still stands applies, and resumes that took effect.
func (d *DM) update() {
	for i := range Cores {
		h := d.hart(i)
		if h == nil {
			continue
		}
		if h.TakeReset() && d.active {
			d.haveReset[i] = true
		}
		if d.haltReq[i] && !h.Halted() {
			h.Halt()
		}
		if d.resumeReq[i] {
			d.resumeReq[i], d.resumeAck[i] = false, true
			if h.Halted() {
				h.Resume()
			}
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
		return 1<<12 | 0xbff // one data register, as CSR dmdata0
	case dmHaltSum0, dmHaltSum1:
		return d.haltSum(reg == dmHaltSum1)
	case dmHAWindow:
		return d.window
	case dmAbstractCS:
		return 2<<24 | d.cmderr<<8 | 1
	case dmAbstractAuto:
		return d.auto
	case dmConfStrPtr0, dmConfStrPtr0 + 1, dmConfStrPtr0 + 2, dmConfStrPtr0 + 3:
		// Not a pointer (dmstatus.confstrptrvalid is 0) but the author's name.
		return [4]uint32{0x4c296328, 0x20656b75, 0x6e657257, 0x31322720}[reg-dmConfStrPtr0]
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
		return d.readSBData()
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
		d.writeSBAddress(v)
	case dmSBData0:
		d.writeSBData(v)
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
	hartReset := false
	d.selected(func(i int) { hartReset = hartReset || d.inReset[i] })
	for _, b := range []struct {
		on  bool
		bit uint32
	}{{d.active, dmActive}, {d.ndm, dmNDMReset}, {d.hasel, dmHaSel}, {d.hartsel == 1, dmHartSel}, {hartReset, dmHartReset}} {
		if b.on {
			v |= b.bit
		}
	}
	return v
}

func (d *DM) writeControl(v uint32) {
	if v&dmActive == 0 {
		d.reset() // the harts go on as they are
		return
	}
	d.update() // while inactive, resets are forgotten
	if !d.active {
		d.active = true
		return
	}
	d.hartsel = int(v >> 16 & 1)
	d.hasel = v&dmHaSel != 0
	d.selected(func(i int) {
		if v&dmSetResetHalt != 0 {
			d.resetHalt[i] = true
		} else if v&dmClrResetHalt != 0 {
			d.resetHalt[i] = false
		}
		if v&dmAckReset != 0 {
			d.haveReset[i] = false
		}
		d.haltReq[i] = v&dmHaltReq != 0
		if v&dmResumeReq != 0 && v&dmHaltReq == 0 {
			d.resumeReq[i], d.resumeAck[i] = true, false
		}
	})
	d.haltOnReset()
	// hartreset and ndmreset: the harts are in reset for as long as the bits say.
	d.ndm = v&dmNDMReset != 0
	d.selected(func(i int) { d.inReset[i] = v&dmHartReset != 0 })
	d.chip.HoldHarts(d.held())
	d.update()
}

// held is the mask of the harts that the module holds in reset.
func (d *DM) held() uint8 {
	var m uint8
	for i := range Cores {
		if d.ndm || d.inReset[i] {
			m |= 1 << i
		}
	}
	return m
}

func (d *DM) readStatus() uint32 {
	d.update()
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
